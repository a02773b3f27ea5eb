"""Write the generated pages: docs/ACTIONS.md from the declarations, docs/EXIT_CODES.md from the exception tree.

python tools/make_docs.py
"""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from ego2world.agents.replies import ALIASES
from ego2world.cli.common import AUDIT_FAILED, INCOMPLETE
from ego2world.errors import Ego2WorldError
from ego2world.qa.codes import CODES, severity
from ego2world.world.actions import ACTIONS, THEMES, ActionType
from ego2world.world.actions.base import (
    Apart,
    Assign,
    Attach,
    Effect,
    EmptyOut,
    HandFree,
    HandRoom,
    HandSpace,
    Held,
    Holds,
    Is,
    Move,
    NotAt,
    PourAll,
    Precondition,
    Reach,
    SetContent,
    Travel,
    Within,
)

DOCS = Path(__file__).parent.parent / "docs"


def need_text(need: Precondition) -> str:
    """Return a precondition as text."""
    role = need.role
    match need:
        case Is():
            values = " or ".join(str(v).lower() for v in need.values)
            return f"{need.fluent}({role}) is {values}" + (" or not known" if need.may_be_unknown else "")
        case Reach():
            return f"can reach {role}"
        case Held():
            return f"holding {role}"
        case HandFree():
            return f"{role} free"
        case HandRoom():
            return f"{role} holding something, with room"
        case HandSpace():
            return f"room in {role}"
        case NotAt():
            return f"not at {role}"
        case Within():
            return f"{role} in or on {need.inside}"
        case Holds():
            return f"{role} contains {need.content}"
        case Apart():
            return f"{need.other} outside {role}"
        case _:
            assert_never(need)


def effect_text(effect: Effect) -> str:
    """Return an effect as text."""
    role = effect.role
    match effect:
        case Assign():
            return f"{effect.fluent}({role}) := {str(effect.value).lower()}"
        case Move():
            return f"place({role}) := {effect.how} {effect.to}"
        case Attach():
            return f"attached({role}) := {effect.to or 'no'}"
        case SetContent():
            return f"contains({role}, {effect.content}) := {str(effect.value).lower()}"
        case PourAll():
            return f"{role} contains what {effect.source} contains"
        case EmptyOut():
            return f"{role} contains nothing"
        case Travel():
            return f"at(agent) := {role}"
        case _:
            assert_never(effect)


def roles_text(action: ActionType) -> str:
    """Return the declared roles; optional ones in brackets."""
    return ", ".join(f"[{v.role}]" if v.optional else v.role for v in action.roles[: action.declared])


def actions_page() -> str:
    """Return docs/ACTIONS.md."""
    lines = [
        "# Action types",
        "",
        (
            f"{len(ACTIONS)} executable action types, generated from `ego2world.world.actions` by `tools/make_docs.py`."
            " Roles in brackets are optional; every type may also record hand, instrument, source and target. An"
            " action whose preconditions are not all true is refused and changes nothing. Types without effects are"
            " events: they count in event contracts and change no fluent."
        ),
        "",
    ]
    for theme in THEMES:
        doc = (theme.__doc__ or "").strip()
        lines += [
            f"## {theme.__name__.rsplit('.', 1)[1].capitalize()}",
            "",
            doc,
            "",
            "| type | family | says | roles | preconditions | effects | source |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        for action in theme.ACTIONS:
            preconditions = "; ".join(need_text(n) for n in action.preconditions) or "nothing"
            effects = "; ".join(effect_text(e) for e in action.effects) or "event only"
            says = action.says.replace("|", "\\|")
            lines.append(
                f"| `{action.name}` | {action.family} | {says} | {roles_text(action)} | {preconditions} | {effects} |"
                f" {action.source} |"
            )
        lines.append("")
    return "\n".join(lines)


def exit_codes_page() -> str:
    """Return docs/EXIT_CODES.md."""
    lines = [
        "# Exit codes",
        "",
        "Generated from `ego2world.errors` by `tools/make_docs.py`.",
        "",
        "| code | meaning |",
        "| --- | --- |",
        "| 0 | done |",
    ]
    errors: list[type[Ego2WorldError]] = [Ego2WorldError, *Ego2WorldError.__subclasses__()]
    for error in sorted(errors, key=lambda e: e.exit_code):
        lines.append(
            f"| {error.exit_code} | {error.__name__}: {(error.__doc__ or '').split(';')[0].strip().splitlines()[0]} |"
        )
    lines += [
        (
            f"| {AUDIT_FAILED} | `audit`, `demo`, `qa check`, `qa audit`, `judge init`, `judge check`: what was checked"
            " did not pass |"
        ),
        (
            f"| {INCOMPLETE} | `run`, `qa answer`, `qa build`, `judge plan`, `judge run`: stopped before its end, by an"
            " error of a model's service or a spent budget; the same command goes on |"
        ),
        "| 130 | interrupted; files written so far are complete |",
        "",
    ]
    return "\n".join(lines)


def aliases_page() -> str:
    """Return docs/ALIASES.md."""
    lines = [
        "# Wordings that models use for actions",
        "",
        (
            "Generated from `ego2world.agents.replies` by `tools/make_docs.py`. A plan should name an action family or"
            " an action type"
        ),
        (
            "(docs/ACTIONS.md). These wordings are read as well, each use is counted in the run's records"
            " (`planner_notes`, `alias:...`), and"
        ),
        "nothing else is mended. `put_in_or_on` is `put_in` where the target takes things in, else `put_on`.",
        "",
        "| wording | before the second thing | action |",
        "| --- | --- | --- |",
    ]
    for alias, words in ALIASES.items():
        for word, action in words.items():
            lines.append(f"| `{alias}` | {f'`{word}`' if word else '(none)'} | `{action}` |")
    return "\n".join([*lines, ""])


def codes_page() -> str:
    """Return docs/CODES.md."""
    lines = [
        "# Codes of the validators",
        "",
        (
            "Generated from `ego2world.qa.codes` by `tools/make_docs.py`. An error refuses a question (or has it"
            " repaired), review leaves it to a"
        ),
        "person, a warning is kept and marked.",
        "",
        "| code | says | follows |",
        "| --- | --- | --- |",
    ]
    lines += [f"| `{code}` | {says} | {severity(code)} |" for code, says in CODES.items()]
    return "\n".join([*lines, ""])


PAGES = {
    "CODES.md": codes_page,
    "ACTIONS.md": actions_page,
    "ALIASES.md": aliases_page,
    "EXIT_CODES.md": exit_codes_page,
}

if __name__ == "__main__":
    DOCS.mkdir(exist_ok=True)
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), "utf-8")
