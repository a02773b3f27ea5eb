"""The typed records that every reader fills and the compiler reads. Missing values are None or empty, never NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Ingredient:
    """One ingredient of a capture; ``amount`` is None when the source does not say."""

    id: str
    name: str
    amount: float | None
    unit: str | None


@dataclass(frozen=True)
class Recipe:
    """A recipe: its steps in listed order, when each was done (step -> (video, start_s, end_s)), its ingredients."""

    id: str
    name: str
    steps: Mapping[str, str]
    times: Mapping[str, tuple[tuple[str, float, float], ...]]
    ingredients: tuple[Ingredient, ...] = ()


@dataclass(frozen=True)
class Sound:
    """One sound event."""

    video_id: str
    label: str
    start_s: float
    end_s: float


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
    sources: Mapping[str, str] = field(default_factory=dict)
