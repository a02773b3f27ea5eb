"""What binding remembers of the discourse: who was mentioned how, when last, and what "it" may mean. Stage: bind."""

from __future__ import annotations

from dataclasses import dataclass, field

from ego2world.compiler.scene import Scene
from ego2world.compiler.tracks import NamedTrack
from ego2world.language.lexicon import singular
from ego2world.language.phrases import ORDINALS, NounPhrase

_EXCLUSIVE = (
    frozenset(ORDINALS),
    frozenset({"left", "right"}),
    frozenset({"upper", "lower", "top", "bottom", "middle"}),
    frozenset({"big", "small", "large", "little", "smaller", "larger"}),
    frozenset("red green blue yellow orange white black brown grey gray pink purple silver".split()),
    frozenset({"wooden", "plastic", "metal", "glass"}),
)


@dataclass
class Known:
    """What binding remembers about an entity beside its scene record."""

    heads: set[str] = field(default_factory=set)
    modifiers: set[str] = field(default_factory=set)
    plural: bool = False
    track: NamedTrack | None = None
    owner: str | None = None
    mentioned_s: float = -1e9
    order: int = -1


@dataclass(frozen=True)
class Mention:
    """Where a phrase stands: its role in which act, when, and said by which narration."""

    role: str
    sense: str
    prep: str
    start_s: float
    end_s: float
    narration_id: str


class Memory:
    """The entities of one scene as they were spoken of."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.known: dict[str, Known] = {}
        self.last: list[tuple[str, ...]] = []
        self._narration = ""
        self._here: list[tuple[str, ...]] = []
        self.count = 0
        self.called: dict[str, set[str]] = {}  # the last word of a head -> the entities that were called so

    def spoke(self, found: tuple[str, ...], mention: Mention) -> None:
        """Remember that a narration spoke of things as the object of an act."""
        if found:
            self.last.append(found)
            if self._narration != mention.narration_id:
                self._narration, self._here = mention.narration_id, []
            self._here.append(found)

    def spoken_in(self, narration_id: str) -> list[tuple[str, ...]]:
        """Return what a narration has spoken of so far."""
        return self._here if self._narration == narration_id else []

    @staticmethod
    def conflict(wanted: set[str], has_: set[str]) -> bool:
        return any(wanted & group and has_ & group and not wanted & has_ & group for group in _EXCLUSIVE)

    def touch(self, identifier: str, phrase: NounPhrase, mention: Mention) -> None:
        record = self.known.setdefault(identifier, Known())
        record.heads.add(phrase.head)
        for head in record.heads:
            self.called.setdefault(head.split()[-1], set()).add(identifier)
        if identifier not in self.scene.zone_of:
            record.modifiers |= {singular(m) for m in phrase.modifiers if m not in {"other", "same", "next"}}
        record.mentioned_s = max(record.mentioned_s, mention.start_s)
        record.order = self.count = self.count + 1
        self.scene.learn(identifier, self.name(phrase) if not phrase.pronoun else "", mention.narration_id)

    def name(self, phrase: NounPhrase) -> str:
        words = [m for m in phrase.modifiers if m not in {"other", "same", "new"}]
        name = " ".join([*words, phrase.head])
        if phrase.of is not None and not phrase.of.pronoun:
            name += f" of {phrase.of.phrase}"
        return name
