"""Measurements of the compiler against outside evidence: a gold set, official main actions, track fixtures, identity.

    python tests/measures.py [DATA]      # DATA defaults to ../shared/data/hd-epic

Prints the figures; the tests hold them to their bounds.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset
from ego2world.compiler.episode import compile_video
from ego2world.compiler.freeze import EpisodeDraft, draft_episode
from ego2world.language.lexicon import singular
from ego2world.tasks.derive import borders
from ego2world.world.state import root_fixture

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data" / "hd-epic"
GOLD = HERE / "gold" / "narrations.jsonl"
_SAME = (
    {"countertop", "counter", "top", "surface", "worktop"},
    {"fridge", "refrigerator"},
    {"bin", "rubbish", "trash"},
    {"hob", "stove"},
    {"cup", "mug"},
    {"hand", "hands"},
)
NEAR_S = 2.5


def drafts(data: Path = DATA) -> tuple[Dataset, dict[str, EpisodeDraft]]:
    """Compile all videos of a folder to drafts."""
    dataset = read_hd_epic(data)
    return dataset, {
        v: draft_episode(compile_video(v, dataset), dataset, borders(v, dataset)) for v in dataset.narrations
    }


def _words(text: str) -> set[str]:
    return {singular(word.removesuffix("'s")) for word in text.lower().replace("-", " ").replace("_", " ").split()}


def names_match(label: str | None, ids: tuple[str, ...], draft: EpisodeDraft) -> bool:
    """Say whether one of the entities goes by a word of the label (or its synonym)."""
    if label is None:
        return True
    wanted = _words(label)
    for identifier in ids:
        entity = draft.world.entities[identifier]
        names = set().union(*(_words(text) for text in (*entity.names, entity.name, entity.type)))
        if wanted & names or any(wanted & same and names & same for same in _SAME):
            return True
    return False


@dataclass
class Faithfulness:
    """Counts against a gold set: an operation is right when family, object and every labelled role agree."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    family_and_object: int = 0
    roles: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    facts: list[int] = field(default_factory=lambda: [0, 0, 0])
    misses: list[tuple[str, str]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def faithfulness(made: dict[str, EpisodeDraft], gold: Path = GOLD) -> Faithfulness:
    """Compare narrated operations with a gold file of {"id", "operations": [{family, object, source, target,
    instrument}]}."""
    said: dict[str, list[tuple[EpisodeDraft, Any, int]]] = defaultdict(list)
    for draft in made.values():
        for index, operation in enumerate(draft.operations):
            if not operation.inferred:
                said[operation.narration_ids[0]].append((draft, operation, index))
    result = Faithfulness()
    for line in gold.read_text("utf-8").splitlines():
        row = json.loads(line)
        left = list(row["operations"])
        for draft, operation, index in said[row["id"]]:
            fitting = next(
                (
                    g
                    for g in left
                    if g["family"] == operation.family
                    and names_match(
                        g.get("object"), operation.action.ids("object") or operation.action.ids("target"), draft
                    )
                ),
                None,
            )
            if fitting is None:
                result.wrong += 1
                result.misses.append((row["id"], f"not in gold: {operation.family} {operation.action}"))
                continue
            left.remove(fitting)
            result.family_and_object += 1
            whole = True
            for role in ("source", "target", "instrument"):
                if role in fitting and fitting[role] not in {"hand", "hands"}:  # hands have a role of their own
                    fits = names_match(fitting[role], operation.action.ids(role), draft)
                    result.roles[role][0] += fits
                    result.roles[role][1] += 1
                    whole &= fits
            if whole:
                result.right += 1
            else:
                result.wrong += 1
                result.missed += 1
                result.misses.append((row["id"], f"roles differ: {fitting} / {operation.action}"))
            _count_facts(result, fitting, operation, draft, index)
        result.missed += len(left)
        result.misses += [(row["id"], f"missing: {g}") for g in left]
        for g in left:
            result.facts[2] += len(gold_facts(g))
    return result


def gold_facts(label: dict[str, str]) -> list[tuple[str, str]]:
    """Return the facts that a gold operation implies by its family alone, as (fluent, value or place)."""
    family = label["family"]
    simple = {
        "open": ("openness", "open"),
        "close": ("openness", "closed"),
        "turn_on": ("power", "on"),
        "turn_off": ("power", "off"),
        "pick_up": ("place", "held"),
        "take_out": ("place", "held"),
        "wash": ("cleanliness", "clean"),
        "rinse": ("cleanliness", "clean"),
        "wipe": ("cleanliness", "clean"),
        "scrub": ("cleanliness", "clean"),
        "dry": ("wetness", "dry"),
        "wear": ("worn", "True"),
        "take_off": ("worn", "False"),
        "fold": ("form", "folded"),
        "peel": ("peeled", "True"),
        "grate": ("form", "grated"),
    }
    if family in simple and not (family in {"pick_up", "take_out"} and label.get("instrument")):
        return [simple[family]]
    if family in {"put_on", "put_in"} and "target" in label:
        return [("place", label["target"])]
    return []


def _count_facts(result: Faithfulness, label: dict[str, str], operation: Any, draft: EpisodeDraft, index: int) -> None:
    wanted = gold_facts(label)
    after = draft.states[index + 1]
    for fluent, value in wanted:
        found = False
        for thing in operation.action.ids("object"):
            now = after.facts.get((fluent, thing))
            if fluent == "place" and isinstance(now, tuple):
                found |= (
                    now[0] == value or names_match(value, (now[1],), draft) if value != "held" else now[0] == "held"
                )
            else:
                found |= str(now) == value
        result.facts[0 if found else 1] += 1
        if not found:
            result.facts[2] += 1


def main_actions(dataset: Dataset, made: dict[str, EpisodeDraft]) -> tuple[int, int, list[str]]:
    """Return (agreeing, all, misses) over rows with official main actions: verb's class and noun of some operation
    agree."""
    verbs = dataset.vocabulary.verbs
    agree, total, misses = 0, 0, []
    for video, rows in dataset.narrations.items():
        draft = made[video]
        said = defaultdict(list)
        for operation in draft.operations:
            if not operation.inferred:
                said[operation.narration_ids[0]].append(operation)
        for row in rows:
            if not row.main_actions:
                continue
            total += 1
            verb, noun = row.main_actions[0]
            key = verbs.get(verb.replace(" ", "-")) or verbs.get(verb)
            fits = any(
                class_agrees(key, operation.family)
                and (
                    names_match(
                        noun,
                        tuple(i for _, v in operation.action.roles for i in ((v,) if isinstance(v, str) else v)),
                        draft,
                    )
                )
                for operation in said[row.id]
            )
            agree += fits
            if not fits:
                misses.append(
                    f"{row.id} {row.text.strip()!r} {row.main_actions[0]} [{key}]"
                    f" {[str(o.action) for o in said[row.id]]}"
                )
    return agree, total, misses


# Which operation families a verb class of HD-EPIC may become, bound as it may be (the class file's own keys).
_CLASS_FAMILIES = {
    "take": "pick_up take_out lift uncover detach pass_hand take_off scoop move",
    "put": "put_on put_in move cover wear drop hold other",
    "wash": "wash rinse wipe dry scrub",
    "open": "open turn_on uncover",
    "close": "close turn_off cover attach",
    "insert": "put_in put_on wear attach add",
    "turn-on": "turn_on press adjust",
    "cut": "cut open",
    "turn-off": "turn_off press other",
    "pour": "pour add empty",
    "mix": "mix",
    "move": "move pass_hand put_on put_in adjust",
    "remove": "take_out pick_up detach uncover take_off wipe empty move",
    "throw": "throw_away put_in drop add put_on",
    "dry": "dry",
    "shake": "shake",
    "scoop": "scoop",
    "adjust": "adjust move turn",
    "squeeze": "squeeze fold crush",
    "peel": "peel",
    "empty": "empty pour",
    "press": "press turn_on turn_off move crush",
    "flip": "flip turn",
    "turn": "turn adjust flip open close turn_on turn_off move detach",
    "check": "check",
    "scrape": "scrub wipe move",
    "fill": "fill add",
    "apply": "spread sprinkle",
    "fold": "fold",
    "scrub": "scrub",
    "break": "break cut tear",
    "pull": "move open take_out detach pick_up",
    "pat": "other wipe dry press",
    "lift": "lift pick_up tilt uncover open",
    "hold": "hold wear pick_up",
    "eat": "eat",
    "wrap": "wrap cover close attach fold",
    "filter": "empty",
    "look": "check",
    "unroll": "unwrap open fold",
    "sort": "move put_on",
    "hang": "put_on pass_hand",
    "sprinkle": "sprinkle add crush",
    "rip": "tear open",
    "spray": "sprinkle",
    "cook": "cook mix",
    "add": "add put_in mix put_on",
    "roll": "fold form",
    "search": "check",
    "crush": "crush",
    "stretch": "form fold",
    "knead": "knead",
    "divide": "separate detach",
    "set": "put_on adjust press turn_on",
    "feel": "check other",
    "rub": "scrub wipe",
    "soak": "soak rinse",
    "brush": "wipe scrub",
    "drop": "drop put_in put_on throw_away add",
    "drink": "drink",
    "slide": "move put_on wear open close take_out put_in",
    "water": "soak",
    "gather": "move pick_up",
    "attach": "attach put_on",
    "wear": "wear",
    "measure": "weigh check",
    "unscrew": "uncover detach open turn",
    "wait": "wait",
    "lower": "lift move put_on",
    "form": "form",
    "screw": "turn attach cover close detach uncover",
    "serve": "put_on",
    "uncover": "uncover",
    "unwrap": "unwrap",
    "lock": "attach close",
    "switch": "turn_on turn_off press adjust",
    "carry": "move put_on pick_up",
    "season": "sprinkle",
    "mark": "record",
    "bend": "fold other",
    "write": "record",
    "reach": "other",
    "stab": "cut",
    "grate": "grate",
    "smell": "check",
    "use": "",
    "transition": "navigate",
    "let-go": "drop",
    "increase": "adjust",
    "turn-down": "adjust",
    "coat": "spread soak",
    "prepare": "cook",
    "choose": "pick_up",
    "balance": "hold",
    "finish": "other",
    "work": "other",
    "scan": "check",
}


def class_agrees(key: str | None, family: str) -> bool:
    """Say whether an operation family is a reading of a verb class."""
    return key is not None and family in _CLASS_FAMILIES.get(key, "").split()


def track_fixtures(dataset: Dataset, made: dict[str, EpisodeDraft]) -> tuple[int, int, Counter[str], list[str]]:
    """Return (agreeing, matched, reasons, examples): pick-ups and put-downs against the fixtures of their tracks."""
    agree, matched = 0, 0
    reasons: Counter[str] = Counter()
    examples: list[Any] = []
    for video, draft in made.items():
        owner = {
            a.id: i
            for i, e in draft.world.entities.items()
            for a in dataset.associations.get(video, ())
            if a.id in e.evidence
        }
        fixture_of = {name: i for i, e in draft.world.entities.items() if i in draft.world.zone_of for name in e.names}
        for association in dataset.associations.get(video, ()):
            entity = owner.get(association.id)
            if entity is None:
                continue
            for track in association.tracks:
                for side, moment_s, name in (
                    ("pick", track.start_s, track.start_fixture),
                    ("put", track.end_s, track.end_fixture),
                ):
                    if name is None or name not in fixture_of:
                        continue
                    families = (
                        {"pick_up", "take_out", "lift"}
                        if side == "pick"
                        else {"put_on", "put_in", "drop", "throw_away"}
                    )
                    near = [
                        (abs((o.span_s[0] + o.span_s[1]) / 2 - moment_s), i)
                        for i, o in enumerate(draft.operations)
                        if not o.inferred
                        and o.family in families
                        and entity in o.action.ids("object")
                        and o.span_s[0] - NEAR_S <= moment_s <= o.span_s[1] + NEAR_S
                    ]
                    if not near:
                        continue
                    index = min(near)[1]
                    state = draft.states[index] if side == "pick" else draft.states[index + 1]
                    found = root_fixture(draft.world, state, entity)
                    matched += 1
                    if found == fixture_of[name]:
                        agree += 1
                        continue
                    reason = _why_not(draft, index, found, fixture_of[name])
                    reasons[f"{side}: {reason}"] += 1
                    examples.append(
                        f"{video} {moment_s:.1f}s {side} {entity} at {found}, track says {fixture_of[name]}:"
                        f" {draft.operations[index].says} ({reason})"
                    )
    return agree, matched, reasons, examples


def _why_not(draft: EpisodeDraft, index: int, found: str | None, wanted: str) -> str:
    if found is None:
        return "held by a hand, its putting down was not said"
    one, other = draft.world.entities[found], draft.world.entities[wanted]
    if not any(name.split("_")[0][:1] == "P" and "." in name for name in one.names):
        return f"the narration names a {one.type} that no track knows"
    return f"same kind ({one.type}), another one" if one.type == other.type else f"{one.type} instead of {other.type}"


def identity(dataset: Dataset, made: dict[str, EpisodeDraft]) -> list[tuple[str, int, int, int, int]]:
    """Return (video, movable entities, associations, associations bound, entities with two associations) per video."""
    rows = []
    for video, draft in made.items():
        ids = {a.id for a in dataset.associations.get(video, ()) if not a.placeholder}
        bound = Counter(i for e in draft.world.entities.values() for i in e.evidence if i in ids)
        double = sum(len([i for i in e.evidence if i in ids]) > 1 for e in draft.world.entities.values())
        movable = sum(
            e.id not in draft.world.zone_of and e.type not in {"hand", "zone", "agent", "face"}
            for e in draft.world.entities.values()
        )
        rows.append((video, movable, len(ids), len(bound), double))
    return rows


def main() -> None:
    """Print every figure."""
    data = next((Path(a) for a in sys.argv[1:] if a != "-v"), DATA)
    dataset, made = drafts(data)
    for gold in sorted((HERE / "gold").glob("*.jsonl")):
        found = faithfulness(made, gold)
        print(
            f"{gold.name}: operations precision {found.precision:.3f} recall {found.recall:.3f} F1 {found.f1:.3f}; "
            + "; ".join(f"{role} {a}/{b}" for role, (a, b) in sorted(found.roles.items()))
        )
        right, wrong, missed = found.facts
        print(f"  facts precision {right / (right + wrong):.3f} recall {right / (right + missed):.3f}")
        if "-v" in sys.argv:
            print("\n".join(f"    {a} {b}" for a, b in found.misses))
    agree, total, misses = main_actions(dataset, made)
    print(f"main actions: {agree}/{total} = {agree / total:.3f}")
    print("\n".join("    " + miss[:250] for miss in misses[: 200 if "-v" in sys.argv else 0]))
    agree, matched, reasons, examples = track_fixtures(dataset, made)
    print(f"track fixtures: {agree}/{matched} = {agree / matched:.3f}")
    for reason, count in reasons.most_common():
        print(f"    {count} {reason}")
    print("\n".join("    " + e[:220] for e in examples[: 400 if "-v" in sys.argv else 0]))
    for row in identity(dataset, made):
        print("identity {}: {} movable entities, {} associations, {} bound, {} entities with two".format(*row))


if __name__ == "__main__":
    main()
