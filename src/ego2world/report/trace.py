"""The traces of a run: what every task came from, what the agent did, saw and believed, and how its contract ended.

Everything is worked out by replaying the records in the worlds. Texts stay plain; the page sets them as text, never as
markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ego2world.agents.belief import BeliefKey, Estimate
from ego2world.agents.prompting import call_text
from ego2world.evaluate.replay import Played, PlayedGroup, RunRecords
from ego2world.run.quality import FLUENTS, BeliefScorer, holds
from ego2world.tasks.contract import Event, describe, truth
from ego2world.world.conditions import Condition
from ego2world.world.episode import Episode, TaskRecord
from ego2world.world.fluents import Truth
from ego2world.world.observation import Change, Local
from ego2world.world.observe import Viewer
from ego2world.world.state import Action, State

_ByGroup = Mapping[str, Sequence[Mapping[str, Any]]]


def episode_trace(episode: Episode, played: Sequence[PlayedGroup], records: RunRecords) -> dict[str, Any]:
    """Return the traces of one replayed episode: names, narrations, groups, and tasks with conditions and belief."""
    viewer = Viewer(episode.world, episode.initial, episode.zone_names)
    names = {e.id: e.name for e in episode.world.entities.values()}
    watch, believed, step = BeliefScorer(episode.world), dict[BeliefKey, Estimate](), 0
    looks, calls = records.by_group("looks", episode.id), records.by_group("calls", episode.id)
    beliefs = {row["group"]: row for row in records.of("beliefs", episode.id)}
    tasks_ending: dict[int, list[TaskRecord]] = {}
    for task in episode.tasks:
        tasks_ending.setdefault(task.last_group, []).append(task)
    groups: list[dict[str, Any]] = []
    tasks: dict[str, Any] = {}
    for number, group in enumerate(played):
        for one in group.attempts:
            step += 1
            watch.note(one.before, one.after, step)
        _take_over(believed, beliefs.get(group.group.id, {}))
        groups.append(_group(episode, viewer, group, looks, calls, names))
        for task in tasks_ending.get(number, ()):
            own = played[task.first_group : task.last_group + 1]
            tasks[task.id] = _task(episode, task, own, names) | {
                "belief": _belief(episode, believed, group.end, watch, {o for g in own for o in g.group.objects})
            }
    return {"names": names, "groups": groups, "tasks": tasks, "narrations": _narrations(episode)}


def _narrations(episode: Episode) -> dict[str, list[Any]]:
    """Return every narration with its text and the time span of what was compiled from it, in seconds."""
    spans: dict[str, tuple[float, float]] = {}
    for operation in episode.operations:
        start, end = operation["span_s"]
        for identifier in operation["narration_ids"]:
            before = spans.get(identifier, (start, end))
            spans[identifier] = (min(start, before[0]), max(end, before[1]))
    return {i: [text, *spans.get(i, (None, None))] for i, text in episode.narrations.items()}


def _take_over(believed: dict[BeliefKey, Estimate], row: Mapping[str, Any]) -> None:
    for fluent, thing in row.get("drop", ()):
        believed.pop((fluent, thing), None)
    for fluent, thing, value, source, step, group in row.get("set", ()):
        believed[fluent, thing] = Estimate(tuple(value) if isinstance(value, list) else value, source, step, group)


def _belief(
    episode: Episode, believed: Mapping[BeliefKey, Estimate], state: State, watch: BeliefScorer, things: set[str]
) -> list[list[Any]]:
    """Return rows of (fluent, thing, believed, true, mark, source, step); what is not believed of the task's things
    comes last."""
    rows: list[list[Any]] = []
    for key, entry in sorted(believed.items(), key=lambda item: (item[0][1], item[0][0])):
        mark = "right" if holds(key, entry.value, state) else "stale" if watch.is_stale(key, entry) else "wrong"
        rows.append(
            [*key, _value(entry.value), _value(state.facts.get(key, "unknown")), mark, entry.source, entry.step]
        )
    for fact, value in sorted(state.facts.items(), key=lambda item: item[0]):
        if (
            fact[0] in FLUENTS
            and fact[1] in things
            and (fact[0], fact[1]) not in believed
            and fact[1] not in episode.world.substances
        ):
            rows.append([fact[0], fact[1], "", _value(value), "not known", "", 0])
    return rows


def _value(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _group(
    episode: Episode, viewer: Viewer, group: PlayedGroup, looks: _ByGroup, calls: _ByGroup, names: Mapping[str, str]
) -> dict[str, Any]:
    source = group.group
    steps: list[dict[str, Any]] = []
    last: Local | None = None
    states = [group.start, *(one.after for one in group.attempts)]
    for number, state in enumerate(states):
        if number:
            steps.append(_attempt(group.attempts[number - 1]))
        now = last if last is not None and state is states[number - 1] else viewer.local(state)
        saw = _news(last, now)
        if saw:
            steps.append({"kind": "saw", "lines": saw})
        last = now
        for row in looks.get(source.id, ()):
            if row["after"] == number:
                steps.append(_look(viewer, state, row, names))
    return {
        "id": source.id,
        "instruction": source.instruction,
        "span_s": list(source.span_s),
        "narrations": list(source.narration_ids),
        "reference": [
            episode.operations[i]["says"] + (" (inferred)" if episode.operations[i]["inferred"] else "")
            for i in range(source.first, source.last + 1)
        ],
        "ending": group.row["ending"],
        "reason": group.row.get("reason", ""),
        "steps": steps,
        "calls": [
            {
                "prompt": row["request"]["messages"][-1]["parts"][0]["text"],
                "reply": row["reply"]["text"],
                "stop": row["reply"]["stop"],
                "usage": row["reply"]["usage"],
                "errors": row["reply"]["errors"],
            }
            for row in calls.get(source.id, ())
        ],
    }


def _news(before: Local | None, now: Local) -> list[str]:
    """Return what a local observation shows that the one before did not."""
    known: set[Change] = set(before.delta) if before is not None and before.zone == now.zone else set()
    lines = [] if before is not None and before.zone == now.zone else [f"in {now.zone_name}"]
    held = [f"{thing.name} in {hand.replace('_', ' ')}" for hand, thing in now.holding]
    held += [f"{thing.name} {_value(thing.place)}" for thing in now.carried]
    if before is None or (before.holding, before.carried) != (now.holding, now.carried):
        lines.append("holding " + (", ".join(held) or "nothing"))
    for change in now.delta:
        if change not in known:
            lines.append(f"{change.name}: {'gone' if change.now is None else _value(change.now)}")
    return lines


def _attempt(one: Played) -> dict[str, Any]:
    return {
        "kind": "attempt",
        "number": one.row["number"],
        "by": one.row["by"],
        "said": call_text(one.attempt.proposal),
        "done": str(one.attempt.action) if one.attempt.action is not None else "",
        "accepted": one.row["accepted"],
        "failures": [{"code": f["code"], "says": f["says"]} for f in one.row["failures"]],
        "told": [{"code": f.code, "entity": f.entity, "needed": f.needed} for f in one.feedback.failures],
        "repair": [str(Action.of(r["action"], r["roles"])) for r in one.row["repair"]],
    }


def _look(viewer: Viewer, state: State, row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    if "content" in row:
        shown = [f"{names.get(i, i)}: {how} {names.get(where, where)}" for i, how, where in row["content"]]
    else:
        view = viewer.look(state)
        shown = [
            f"{t.name}: {t.place[0]} {names.get(t.place[1], t.place[1])}" for t in view.content if t.place is not None
        ]
    return {
        "kind": "look",
        "seeking": names.get(row["seeking"], row["seeking"]),
        "answered": row["answered"],
        "repeated": row["repeated"],
        "conflict": row["conflict"],
        "picture": row["picture"],
        "lines": shown,
    }


def _task(
    episode: Episode, task: TaskRecord, groups: Sequence[PlayedGroup], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return the task's instruction and its conditions: how each ended, what made it true, and what had made it true
    in the source."""
    operations = {o["id"]: o for o in episode.operations}
    conditions = []
    for condition in task.conditions:
        ended, made, lost = _course(condition, groups)
        witness = operations.get(condition.witness or "")
        conditions.append(
            {
                "words": describe(condition, names),
                "truth": ended.value,
                "made_true_by": made,
                "undone_by": lost,
                "witness": (
                    None
                    if witness is None
                    else {
                        "says": witness["says"],
                        "span_s": witness["span_s"],
                        "inferred": witness["inferred"],
                        "narrations": list(witness["narration_ids"]),
                    }
                ),
            }
        )
    return {
        "instruction": task.instruction,
        "tier": task.tier,
        "first_group": task.first_group,
        "last_group": task.last_group,
        "source": dict(task.source),
        "conditions": conditions,
    }


def _course(condition: Condition, groups: Sequence[PlayedGroup]) -> tuple[Truth, str, str]:
    """Follow a condition through the task's attempts: its last truth, the attempt that made it true last, and one that
    undid it."""
    events: list[Event] = []
    now = truth(condition, groups[0].start, events)
    made, lost = ("before the task" if now is Truth.TRUE else ""), ""
    for group in groups:
        for one in group.attempts:
            if one.attempt.accepted and one.attempt.action is not None:
                events.append(Event.of(one.attempt.action))
            after = truth(condition, one.after, events)
            if after is not now:
                label = f"{group.group.id} attempt {one.row['number']}: {one.attempt.action}"
                if after is Truth.TRUE:
                    made, lost = label, ""
                elif now is Truth.TRUE:
                    lost = label
            now = after
    return now, made, lost
