"""One action group: the planner is asked, the executor answers, until nothing is left to do or the limit is reached."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ego2world.agents import Act, Belief, Context, Decoding, Done, Look, MemoryPolicy, Planner
from ego2world.agents.vision import read_picture
from ego2world.core.journal import Recorder
from ego2world.run.chat import NO_CALLS, EpisodeChat
from ego2world.run.endings import Block, Ending
from ego2world.run.environment import Environment
from ego2world.run.frames import FrameSource
from ego2world.run.quality import BeliefScorer
from ego2world.tasks.contract import Event
from ego2world.world.actions import BY_NAME
from ego2world.world.episode import Group
from ego2world.world.explain import explain_failure
from ego2world.world.observation import Feedback, Proposal, RegionView

COUNTS = (
    "attempts",
    "accepted",
    "repairs",
    "visual_queries",
    "visual_answers",
    "repeated_region_queries",
    "needless_looks",
    "conflicts",
    "repeats",
)


@dataclass
class Player:
    """An agent in an episode: the planner, its belief and memory, the world it meets, and where the records go."""

    environment: Environment
    planner: Planner
    belief: Belief
    memory: MemoryPolicy
    watch: BeliefScorer
    records: Recorder
    limit: int
    no_progress: int = 0
    chat: EpisodeChat | None = None
    frames: FrameSource | None = None
    sampling: Decoding = field(default_factory=Decoding)


@dataclass
class _Course:
    """What has happened in the group so far."""

    counts: Counter[str] = field(default_factory=Counter)
    events: list[Event] = field(default_factory=list)
    families: set[str] = field(default_factory=set)
    looks_in_a_row: int = 0
    last: object = None
    same: int = 0  # how often the last step was repeated without any change


def run_group(player: Player, group: Group) -> tuple[Ending, list[Event], dict[str, Any]]:
    """Run one group to one of its endings.

    Returns:
        The ending, the events of the accepted attempts, and
        the group's record.

    Raises:
        ModelError, BudgetSpent: the group could not be played to an end; nothing of it counts.
    """
    environment, belief = player.environment, player.belief
    belief.begin_group(group.id)
    player.memory.at_group(belief)
    hits = belief.cross_group_hits
    if player.chat is not None:
        player.chat.begin_group(group.id)
    context = Context(environment.brief(group), environment.local(), belief, None, player.limit)
    _observe(player, context)
    player.planner.begin_group(context)
    course = _Course()
    ending, reason = _play(player, group, context, course)
    operations = environment.episode.operations[group.first : group.last + 1]
    row = {
        "ending": ending.value,
        "reason": reason,
        **{name: course.counts[name] for name in COUNTS},
        "cross_group_hits": belief.cross_group_hits - hits,
        **(player.chat.counts() if player.chat is not None else NO_CALLS),
        "planner_notes": dict(context.notes),
        "belief": player.watch.judge(belief, environment.state),
        "reference_families": sorted({o["family"] for o in operations if not o["inferred"]}),
        "attempted_families": sorted(course.families),
    }
    return ending, course.events, row


def _play(player: Player, group: Group, context: Context, course: _Course) -> tuple[Ending, str]:
    """Ask and answer until the group ends; return its ending and the reason."""
    while True:
        step = player.planner.next_step(context)
        context.feedback = None
        if isinstance(step, Done):
            if step.unread:
                return Ending.PARSE_FAILURE, step.detail
            return (Ending.COMPLETED if course.counts["attempts"] else Ending.EMPTY_PLAN), ""
        before = player.environment.state
        if isinstance(step, Look):
            course.looks_in_a_row += 1
            if course.looks_in_a_row > player.limit:
                return Ending.EXECUTION_BLOCKED, Block.LIMIT.value
            _look(player, group, step, context, course)
        else:
            course.looks_in_a_row = 0
            if course.counts["attempts"] >= player.limit:
                return Ending.EXECUTION_BLOCKED, Block.LIMIT.value
            context.feedback = _attempt(player, group, step, course)
            player.belief.tick()
            context.local = player.environment.local()
            context.attempts_left = player.limit - course.counts["attempts"]
        _observe(player, context)
        repeated = step == course.last and player.environment.state is before
        course.same = course.same + 1 if repeated else 0
        course.counts["repeats"] += repeated
        course.last = step
        if player.no_progress and course.same >= player.no_progress:
            return Ending.EXECUTION_BLOCKED, Block.NO_PROGRESS.value


def _observe(player: Player, context: Context) -> None:
    """Take in the local observation and what an accepted action is declared to do; then let the memory policy
    forget."""
    player.belief.see_local(context.local)
    if context.feedback is not None:
        player.belief.learn(context.feedback)
    player.memory.after_step(player.belief)


def _look(player: Player, group: Group, step: Look, context: Context, course: _Course) -> None:
    """Answer a visual query: from a picture, by the model, where there is one; else from the recorded content."""
    environment, belief, counts = player.environment, player.belief, course.counts
    view = environment.look()
    picture = player.frames.picture(view.zone) if player.frames is not None and player.chat is not None else None
    if picture is not None and player.chat is not None:
        view = read_picture(
            player.chat, RegionView.of(view.zone, (), view.delta), step.seeking, context, picture, player.sampling
        )
    known = {key: entry.value for key, entry in belief.entries.items()}
    answered, repeated, conflict = (
        any(thing.id == step.seeking for thing in view.content),
        view.zone in belief.queried,
        view.conflict_about(step.seeking),
    )
    belief.see_region(view)
    taught = any(known.get(key) != entry.value for key, entry in belief.entries.items())
    counts["visual_queries"] += 1
    counts["visual_answers"] += answered
    counts["repeated_region_queries"] += repeated
    counts["conflicts"] += conflict
    counts["needless_looks"] += not taught
    row = {
        "episode": environment.episode.id,
        "group": group.id,
        "number": counts["visual_queries"],
        "after": counts["attempts"],
        "zone": view.zone,
        "seeking": step.seeking,
        "answered": answered,
        "repeated": repeated,
        "conflict": conflict,
        "needless": not taught,
        "picture": picture is not None,
    }
    if picture is not None:  # what a model saw cannot be worked out again from the world
        row["content"] = [[thing.id, *thing.place] for thing in view.content if thing.place is not None]
    player.records.add("looks.jsonl", row)


def _attempt(player: Player, group: Group, step: Act, course: _Course) -> Feedback:
    environment, counts = player.environment, course.counts
    before = environment.state
    attempt, feedback = environment.attempt(step.proposal)
    if attempt.accepted:
        player.watch.note(before, environment.state, player.belief.step + 1)
    counts["attempts"] += 1
    counts["accepted"] += attempt.accepted
    counts["repairs"] += step.proposal.by == "repair"
    if attempt.action is not None:
        course.families.add(_family(feedback.proposal))
        if attempt.accepted:
            course.events.append(Event.of(attempt.action))
    player.records.add(
        "attempts.jsonl",
        {
            "episode": environment.episode.id,
            "group": group.id,
            "number": counts["attempts"],
            "by": step.proposal.by,
            "action": step.proposal.action,
            "roles": {r: list(v) if isinstance(v, tuple) else v for r, v in step.proposal.roles.items()},
            "accepted": attempt.accepted,
            "failures": [f.plain() | {"says": explain_failure(f)} for f in attempt.failures],
            "repair": [a.plain() for a in attempt.repair],
        },
    )
    return feedback


def _family(proposal: Proposal) -> str:
    kind = BY_NAME.get(proposal.action)
    return kind.family if kind is not None else proposal.action
