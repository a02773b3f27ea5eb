"""The typed records that every reader fills and the compiler reads. Missing values are None or empty, never NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ego2world.errors import Problem


@dataclass(frozen=True)
class Narration:
    """One narrated, timed step. Times are seconds of the video; None where the source has none.

    ``verbs``, ``nouns``, ``pairs``, ``main_actions`` and ``hands`` are official annotations where present, else empty.
    ``nouns_resolved`` says that the nouns name what the annotators resolved, not just words of the sentence.
    """

    id: str
    video_id: str
    text: str
    start_s: float
    end_s: float
    verbs: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    main_actions: tuple[tuple[str, str], ...] = ()
    hands: tuple[str, ...] = ()
    narration_timestamp_s: float | None = None
    nouns_resolved: bool = False
    erratum: bool = False
    file: str = ""
    row: int = 0


@dataclass(frozen=True)
class Track:
    """One movement of an object, from picked up to put down. Fixtures are None where not known."""

    id: str
    start_s: float
    end_s: float
    start_fixture: str | None = None
    end_fixture: str | None = None


@dataclass(frozen=True)
class Association:
    """All movements of one object, in time order. ``placeholder`` marks skipped, unnamed ones."""

    id: str
    video_id: str
    name: str
    tracks: tuple[Track, ...]
    placeholder: bool = False


@dataclass(frozen=True)
class Activity:
    """One high-level activity of a video; ``end_s`` is None when it runs to an unknown end of the video."""

    video_id: str
    label: str
    start_s: float
    end_s: float | None
    recipe_ids: tuple[str, ...] = ()
    row: int = 0
    file: str = ""


@dataclass(frozen=True)
class Segment:
    """A stretch of a video."""

    video_id: str
    start_s: float
    end_s: float


NUTRIENTS = ("calories", "fat", "carbs", "protein")


@dataclass(frozen=True)
class Ingredient:
    """One ingredient of a capture; ``amount`` and each of NUTRIENTS are None when the source does not say.

    ``nutrition`` is of the whole amount: kilocalories, then grams.
    """

    id: str
    name: str
    amount: float | None
    unit: str | None
    nutrition: Mapping[str, float | None] = field(default_factory=dict)
    weighed: tuple[Segment, ...] = ()
    added: tuple[Segment, ...] = ()


@dataclass(frozen=True)
class Capture:
    """One time that a recipe was cooked: the videos, what went in, and when each step was done and prepared (by step
    id)."""

    videos: tuple[str, ...]
    ingredients: tuple[Ingredient, ...]
    times: Mapping[str, tuple[Segment, ...]]
    preparations: Mapping[str, tuple[Segment, ...]]


@dataclass(frozen=True)
class Recipe:
    """A recipe: its steps in listed order and the times that it was cooked."""

    id: str
    name: str
    steps: Mapping[str, str]
    captures: tuple[Capture, ...] = ()
    participant: str = ""
    order: tuple[tuple[str, str], ...] = ()  # (before, after): what a task graph demands

    @cached_property
    def times(self) -> Mapping[str, tuple[Segment, ...]]:
        """When each step was done, over all captures, in order of video and time."""
        found: dict[str, list[Segment]] = {}
        for capture in self.captures:
            for step, segments in capture.times.items():
                found.setdefault(step, []).extend(segments)
        return {
            step: tuple(sorted(rows, key=lambda one: (one.video_id, one.start_s, one.end_s)))
            for step, rows in found.items()
        }

    @cached_property
    def ingredients(self) -> tuple[Ingredient, ...]:
        """What went in, the first capture's where several used it."""
        found: dict[str, Ingredient] = {}
        for capture in self.captures:
            for ingredient in capture.ingredients:
                found.setdefault(ingredient.id, ingredient)
        return tuple(found.values())


@dataclass(frozen=True)
class Sound:
    """One sound event."""

    video_id: str
    label: str
    start_s: float
    end_s: float
    file: str = ""
    row: int = 0


@dataclass(frozen=True)
class Mistake:
    """One labelled error in a step: its kind (as the data set names it) and what was wrong."""

    video_id: str
    narration_id: str
    kind: str
    text: str


@dataclass(frozen=True)
class Priming:
    """Whether gaze came to an object before its pick-up ("start") or put-down ("end").

    ``frame`` is None unless primed; ``excluded`` marks samples that do not count.
    """

    video_id: str
    object_id: str
    moment: str
    frame: int | None
    excluded: bool


@dataclass(frozen=True)
class Vocabulary:
    """The data set's own classes: word -> class key, with the words that stand in several classes."""

    verbs: Mapping[str, str] = field(default_factory=dict)
    nouns: Mapping[str, str] = field(default_factory=dict)
    ambiguous: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Dataset:
    """Everything read from one source folder."""

    name: str
    narrations: Mapping[str, tuple[Narration, ...]]
    associations: Mapping[str, tuple[Association, ...]] = field(default_factory=dict)
    activities: Mapping[str, tuple[Activity, ...]] = field(default_factory=dict)
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    sounds: Mapping[str, tuple[Sound, ...]] = field(default_factory=dict)
    priming: tuple[Priming, ...] = ()
    durations_s: Mapping[str, float] = field(default_factory=dict)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    warnings: tuple[Problem, ...] = ()
    mistakes: Mapping[str, tuple[Mistake, ...]] = field(default_factory=dict)
    left_out: tuple[Problem, ...] = ()  # malformed rows; the rest is read without them
    sources: Mapping[str, str] = field(default_factory=dict)
