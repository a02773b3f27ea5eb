"""ego2world play"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import typer

from ego2world.agents.symbolic import SymbolicPlanner
from ego2world.cli.common import out
from ego2world.errors import UsageError
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, Event
from ego2world.world.episode import Group, load_episode
from ego2world.world.observation import Proposal

HELP = """look                         see what is in this zone (a visual query)
put the mug on counter 1     act, in a sentence
put_on mug to=counter 1      act, by family or action type; roles: from=, to=, with=, hand=
go zone_2                    walk to another zone
next                         go on to the next group
help, quit"""
_ROLES = {"to": "target", "from": "source", "with": "instrument", "hand": "hand", "of": "content"}


def register(app: typer.Typer) -> None:
    """Add the command."""

    @app.command("play")
    def play_command(
        worlds: Path = typer.Argument(help="A compiled collection."),
        episode: str = typer.Argument(help="An episode in the collection."),
        group: int = typer.Option(1, min=1, help="Start at this group (earlier groups are played by the reference)."),
    ) -> None:
        """Act in a world yourself, with an agent's observations; reads commands from the terminal or a pipe.

        Example: ego2world play worlds P01-20240202-110250
        """
        loaded = load_episode(worlds, episode)
        if group > len(loaded.groups):
            raise UsageError(f"{episode} has {len(loaded.groups)} groups")
        environment = Environment(loaded)
        for action in loaded.actions[: loaded.groups[group - 1].first]:
            environment.attempt(Proposal(action.name, dict(action.roles)))
        _play(environment, group - 1)


def _play(environment: Environment, number: int) -> None:
    groups = environment.episode.groups
    events: dict[int, list[Event]] = {}
    _announce(environment, groups[number])
    while True:
        try:
            line = input("> " if sys.stdin.isatty() else "").strip()
        except EOFError:
            return
        if not line:
            continue
        word = line.split()[0]
        if word in {"quit", "exit"}:
            return
        if word == "help":
            out.print(HELP, markup=False)
        elif word == "look":
            view = environment.look()
            for thing in view.content:
                place = f" ({thing.place[0]} {environment.world.entities[thing.place[1]].name})" if thing.place else ""
                out.print(f"  {thing.name}{place}{', ' + thing.openness if thing.openness else ''}", markup=False)
        elif word == "next":
            _tasks_ended(environment, number, events)
            number += 1
            if number == len(groups):
                out.print("that was the last group")
                return
            _announce(environment, groups[number])
        else:
            attempt, feedback = environment.attempt(read_line(environment, groups[number], line))
            if attempt.accepted and attempt.action is not None:
                events.setdefault(number, []).append(Event.of(attempt.action))
                held = ", ".join(f"{t.name} in {hand.replace('_', ' ')}" for hand, t in environment.local().holding)
                out.print("  done." + (f" Holding: {held}." if held else ""), markup=False)
            else:
                for failure in feedback.failures:
                    out.print(f"  refused ({failure.code}): {failure.entity} - needed {failure.needed}", markup=False)
                for repair in feedback.repair:
                    out.print(f"    try: {write_command(repair)}", markup=False)


def read_line(environment: Environment, group: Group, line: str) -> Proposal:
    """Read a sentence as its first act, as a planner would; anything else as a command."""
    if "=" not in line and not line.startswith("go "):
        acts = SymbolicPlanner().read(environment.brief(replace(group, instruction=line + ".")))
        if acts and acts[0].roles:
            return acts[0]
    return read_command(line)


def read_command(line: str) -> Proposal:
    """Read "put_on mug to=counter 1" as a proposal: an action, its object, and further roles."""
    action, _, rest = line.partition(" ")
    roles: dict[str, str | tuple[str, ...]] = {}
    role = "object"
    words: list[str] = []
    for word in rest.split():
        key, equals, value = word.partition("=")
        if equals and key in _ROLES:
            if words:
                roles[role] = " ".join(words)
            role, words = _ROLES[key], [value]
        else:
            words.append(word)
    if words:
        roles[role] = " ".join(words)
    if action == "go":
        return Proposal("navigate", {"target": str(roles.get("object", ""))})
    return Proposal(action, roles)


def write_command(proposal: Proposal) -> str:
    """Return the command that ``read_command`` reads as this proposal."""
    said = {role: value if isinstance(value, str) else ", ".join(value) for role, value in proposal.roles.items()}
    if proposal.action == "navigate":
        return f"go {said['target']}"
    keys = {role: key for key, role in _ROLES.items()}
    parts = [proposal.action, said.pop("object", "")]
    return " ".join(part for part in (*parts, *(f"{keys[role]}={value}" for role, value in said.items())) if part)


def _announce(environment: Environment, group: Group) -> None:
    local = environment.local()
    out.print(f"\n{group.id}: {group.instruction}", soft_wrap=True, markup=False)
    out.print(f"You are in {local.zone}: {', '.join(f.name for f in local.fixtures)}", soft_wrap=True, markup=False)


def _tasks_ended(environment: Environment, number: int, events: dict[int, list[Event]]) -> None:
    for task in environment.episode.tasks:
        if task.last_group == number:
            own = [e for g in range(task.first_group, number + 1) for e in events.get(g, [])]
            truths = Contract.of(task).each(environment.state, own)
            out.print(
                f"  {task.id}: {sum(t == 'true' for t in truths)} of {len(truths)} conditions true -"
                f" {task.instruction}",
                soft_wrap=True,
                markup=False,
            )
