"""The records of the question engine, as they stand in its files. Stage: qa, declarations.

All times are seconds of the video's clock, intervals are half-open, unless a field says "clip".
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from ego2world.core.canonical import canonical_json, sha256
from ego2world.qa.queries import AnyQuery


class GroupStatus(StrEnum):
    """What the checks made of a group of questions."""

    CANDIDATE = "candidate"
    ACCEPTED = "accepted"
    REPAIRED = "repaired"
    REJECTED = "rejected"
    REVIEW = "review"


class QuestionRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Base of all records: frozen, strict, and short in files (defaults are left out)."""


class Source(QuestionRecord, frozen=True):
    """Where something was read: a file of the data set and the row or key in it."""

    file: str
    key: str


class Evidence(QuestionRecord, frozen=True):
    """One thing that can be named as evidence. ``anchor_only``: gives the time of an event and is no proof of it."""

    id: str
    kind: str  # narration, replay, track, sound, step, preparation, weighing, adding, activity, model
    modality: str  # visual, audio
    span_s: tuple[float, float]
    text: str
    source: Source
    entities: tuple[str, ...] = ()
    anchor_only: bool = False


class Interaction(QuestionRecord, frozen=True):
    """One action and what it belongs to. What no source says is None or empty, never filled in."""

    id: str
    episode: str
    span_s: tuple[float, float]
    operation: str | None  # None: tried and not done
    narrations: tuple[str, ...]
    action: dict[str, Any]
    progress: str  # completed, failed
    pre_state: tuple[Any, ...] = ()
    delta: tuple[Any, ...] = ()
    post_state: tuple[Any, ...] = ()
    preconditions: tuple[str, ...] = ()
    trigger: str | None = None
    intention: str | None = None
    subgoal: str | None = None
    manner: str | None = None
    feedback: str | None = None
    attention: str | None = None
    sounds: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    by_model: tuple[str, ...] = ()  # fields that a model filled


class Stage(QuestionRecord, frozen=True):
    """A stage of the activity: the interactions that serve one step or activity."""

    id: str
    episode: str  # the compiled episode it is part of
    label: str
    span_s: tuple[float, float]
    source: str  # step, preparation, activity, model, none
    interactions: tuple[str, ...]
    entities: tuple[str, ...]
    opening: tuple[Any, ...] = ()
    result: tuple[Any, ...] = ()
    failures: tuple[str, ...] = ()
    unfinished: bool = False
    merged_from: tuple[str, ...] = ()


class Relation(QuestionRecord, frozen=True):
    """What an earlier stage hands on to a later one."""

    id: str
    type: str  # state_transfer, resumed_work, preparation, instruction_following, failure_correction, continued_goal
    source: str
    target: str
    events: tuple[str, str]
    carried: str
    identity_basis: str
    uncertainty: str = "none"  # none, some, unresolved
    eligible: bool = True
    reject_code: str | None = None


class Spec(QuestionRecord, frozen=True):
    """What a turn rests on, fixed before its wording."""

    id: str
    query: AnyQuery
    value: Any
    direct: tuple[str, ...] = ()
    inherited: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()  # narrations that give the time
    span_s: tuple[float, float] = (0.0, 0.0)
    modality: str = "visual"
    cutoff_s: float | None = None

    @property
    def evidence(self) -> tuple[str, ...]:
        """All that the answer rests on."""
        return (*self.direct, *self.inherited, *self.new)


class Turn(QuestionRecord, frozen=True):
    """One question with its answer. ``options`` and ``key`` (letters) only where it is multiple choice."""

    question: str
    answer: str
    spec: Spec
    key_points: tuple[str, ...] = ()
    options: dict[str, str] | None = None
    option_values: dict[str, Any] | None = None
    key: tuple[str, ...] = ()
    depends_on: tuple[int, ...] = ()
    new_observation: str = ""
    standalone: str = ""


class Clip(QuestionRecord, frozen=True):
    """The part of a video that a question is asked on; times in question texts count from its start."""

    video: str
    start_s: float
    end_s: float
    cutoff_safe: bool = False


class Finding(QuestionRecord, frozen=True):
    """What a validator says: a code of ``codes``, where, and what was found."""

    code: str
    path: str
    message: str
    severity: str = "error"


class Repair(QuestionRecord, frozen=True):
    """One change of a candidate: which finding it answers, and what stood there before."""

    code: str
    path: str
    before: Any
    after: Any


class QuestionGroup(QuestionRecord, frozen=True):
    """One question, or one dialogue of two to four turns."""

    id: str
    episode: str
    level: str
    category: str
    subtype: str
    format: str  # open, multiple_choice
    clip: Clip
    turns: tuple[Turn, ...]
    modality: str
    producer: str = "rule"  # rule, model:NAME
    template: str = ""
    bridging_fact: str = ""
    lost_without_earlier: str = ""
    loop_roles: dict[str, str] | None = None
    relation: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    interactions: tuple[str, ...] = ()
    status: GroupStatus = GroupStatus.CANDIDATE
    split: str = ""
    validation: tuple[Finding, ...] = ()
    repairs: tuple[Repair, ...] = ()

    @property
    def content_hash(self) -> str:
        """Hash of what is asked and answered; equal for the same question whatever its id and status."""
        clip = [self.clip.video, self.clip.start_s, self.clip.end_s]
        return sha256(
            canonical_json([clip, self.category, [[t.question, t.answer, t.options, t.key] for t in self.turns]])
        )


def plain(record: QuestionRecord) -> Any:
    """Return the JSON form of a record."""
    return msgspec.to_builtins(record)
