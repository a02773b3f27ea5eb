"""The records of the judge, as they stand in its files. Stage: judge, declarations.

Every line carries ``schema_version``. All times are seconds from a video's first frame. A missing answer is None,
never 0.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec

from ego2world.core.video import FileStatus

SCHEMA_VERSION = 1


class Setting(StrEnum):
    """Where a case comes from."""

    KITCHEN = "kitchen_and_food"
    HOUSEHOLD = "household_and_storage"
    PERSONAL = "personal_care_and_utilities"
    OFFICE = "office_and_study"
    OTHER = "other"


class Clutter(StrEnum):
    """How much else is in the scene."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class VideoSource(StrEnum):
    """Where a video comes from."""

    SUCCESS = "human_success"
    FAILURE = "human_failure"
    MODEL = "model"


class SubgoalCategory(StrEnum):
    """What kind of change a subgoal asks for."""

    RELOCATION = "relocation_or_arrangement"
    ATTACHMENT = "attachment_or_connection"
    TRANSFER = "material_transfer_or_mixing"
    ARTICULATION = "opening_or_closing"
    OTHER = "other"


class GateVerdict(StrEnum):
    """An answer to one gate. ERROR: nobody could be asked, or the reply was unreadable; it enters no score."""

    PASS = "pass"
    FAIL = "fail"
    UNCLEAR = "unclear"
    ERROR = "error"
    NOT_REACHED = "not_reached"


class ReplyStatus(StrEnum):
    """How an answer or a rating came about, or why it could not."""

    NONE = ""  # nothing to say: a rating without a reply, an answer that was taken over
    PARSED = "parsed"  # a model's reply, read
    MEASURED = "measured"  # from the pixels
    ANNOTATED = "annotated"  # by a person
    CUT = "cut"  # a reply that ends at its token limit
    REFUSED = "refused"
    UNPARSED = "unparsed"
    INVALID = "invalid"  # read, and no answer of the gate
    CONTRADICTORY = "contradictory"
    SERVICE = "service"  # what a service did not give: asked for again by the same command
    VIDEO = "video"  # the video could not be read
    NO_LEGEND = "no_legend"  # the detector knows nothing of the case, or of a thing in it
    ABSENT = "absent"  # a file of answers without this one
    NOT_REACHED = "not_reached"


class ScoreStatus(StrEnum):
    """Whether a video has a score."""

    SCORED = "scored"
    INCOMPLETE = "incomplete"  # answers are missing
    UNUSABLE = "unusable"  # the video is


class Lack(StrEnum):
    """Why a video whose answers are incomplete has no score."""

    NO_PLAN = "no_plan"
    NO_RATING = "no_rating"
    NOT_ANSWERED = "gate_not_answered"
    GATE_ERROR = "gate_error"
    TOO_FEW_RATERS = "too_few_raters"


class FailureType(StrEnum):
    """Why a gate fails: the paper's taxonomy, and the two that it leaves without a name [D]."""

    SKIPPED_PREREQUISITE = "skipped_prerequisite"
    INCOMPLETE_OUTCOME = "incomplete_outcome"
    DOMAIN_OPERATION = "domain_specific_operation"
    OBJECT_INCONSISTENCY = "object_inconsistency"
    BOUNDARY_VIOLATION = "boundary_violation"
    MECHANISM_VIOLATION = "mechanism_violation"
    CONTACT_VIOLATION = "contact_violation"  # moved by nothing, or before anything touches it [D]
    INSTABILITY = "instability"  # does not stay where it was left, or hangs in the air [D]


TASK_FAILURES = (FailureType.SKIPPED_PREREQUISITE, FailureType.INCOMPLETE_OUTCOME, FailureType.DOMAIN_OPERATION)


class BenchmarkRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Base of all records: frozen and strict."""

    schema_version: int = SCHEMA_VERSION

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        row: dict[str, Any] = msgspec.to_builtins(self)
        return row


class Case(BenchmarkRecord, frozen=True):
    """One goal in one scene. ``goal`` says what is true at the end, never the steps; ``reference_sequences``: distinct
    ways to it."""

    case_id: str
    domain: Setting
    goal: str
    scene_image: str
    scene_sha256: str
    clutter: Clutter
    objects: tuple[str, ...]
    panel: bool = False
    reference_sequences: tuple[tuple[str, ...], ...] = ()


class Video(BenchmarkRecord, frozen=True):
    """One video that is expected, and what was found at its path. ``take``: which of several recordings or samples."""

    video_id: str
    case_id: str
    source: VideoSource
    path: str
    model: str = ""
    seed: int | None = None
    take: int = 1
    sha256: str = ""
    status: FileStatus = FileStatus.MISSING
    reason: str = ""
    n_frames: int = 0
    duration_s: float = 0.0
    width_px: int = 0
    height_px: int = 0
    rotation: int = 0
    codec: str = ""
    rate: str = ""

    @property
    def origin(self) -> str:
        """The model, or the kind of human recording: a row of a leaderboard."""
        return self.model if self.source is VideoSource.MODEL else self.source.value


class Subgoal(BenchmarkRecord, frozen=True):
    """One observable step of a plan: what is done, to which objects, and what is seen once it is done."""

    sid: str
    text: str
    objects: tuple[str, ...]
    post_state: str
    category: SubgoalCategory


class SubgoalPlan(BenchmarkRecord, frozen=True):
    """The subgoals of a case, derived from its goal and scene alone; ``video_id`` where it was derived for one
    video."""

    plan_id: str
    case_id: str
    video_id: str | None
    subgoals: tuple[Subgoal, ...]
    backbone: str
    prompt_sha: str
    scene_sha256: str
    attempts: int = 1
    error: str = ""


class Rater(BenchmarkRecord, frozen=True):
    """Who answers: a human, a model, the oracle of a rendered rollout, or a detector of pixels."""

    kind: str  # human, model, oracle, pixel, file
    id: str


class GateAnswer(BenchmarkRecord, frozen=True):
    """What one rater says to one gate of one subgoal in one video, and everything that it rests on."""

    video_id: str
    plan_id: str
    sid: str
    gate: str
    answer: GateVerdict
    rater: Rater
    asked: str = "seq"  # seq: gates after a failure were not asked; all: every gate was asked
    t_start: float | None = None
    t_end: float | None = None
    failure: str = ""
    rationale: str = ""
    frame_spec: str = ""
    frame_pts: tuple[float, ...] = ()
    prompt_sha: str = ""
    raw_sha: str = ""
    raw: str = ""
    parse_status: ReplyStatus = ReplyStatus.NONE
    attempt: int = 1
    served: str = ""
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """What an answer is to: equal for a second answer of the same rater."""
        return (self.rater.id, self.video_id, self.plan_id, self.sid, self.gate)


class Rating(BenchmarkRecord, frozen=True):
    """A score on 0-100 of a whole video by a rater that knows no gates. ``physics`` None: it has no such axis, or
    found nothing to judge.

    Where there is none, ``parse_status`` is the kind of the reason (as of an answer) and ``error`` the reason.
    """

    video_id: str
    rater: Rater
    task: float | None
    physics: float | None
    final: float | None
    parse_status: ReplyStatus = ReplyStatus.NONE
    error: str = ""
    questions: tuple[dict[str, Any], ...] = ()
    frame_spec: str = ""
    frame_pts: tuple[float, ...] = ()
    prompt_sha: str = ""
    raw: str = ""
    served: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Score(BenchmarkRecord, frozen=True):
    """The scores of one video by one rater, on 0-100."""

    video_id: str
    case_id: str
    rater: str
    T: float | None
    P: float | None
    S: float | None
    S_lo: float | None = None
    S_hi: float | None = None
    n_sub: int = 0
    n_attempted: int = 0
    status: ScoreStatus = ScoreStatus.SCORED
    cause: str = ""  # a Lack, a ReplyStatus, or the status of an unusable video
    reason: str = ""  # the same in words
    policy_sha: str = ""
    subgoals: tuple[dict[str, Any], ...] = ()
