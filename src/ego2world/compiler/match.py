"""How well a phrase fits the things and tracks of a scene: name, hands, recency and the times of movements. Stage:
bind.

A fit is a sum: about 1 for the name, up to 0.35 for recency, up to 1 for a movement at the right time, 0.8 for a thing
in the hands when one is put down or used; contradicting words ("red", "blue") take 0.6 away.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from ego2world.compiler.memory import Known, Memory, Mention
from ego2world.compiler.tracks import NamedTrack, described, described_otherwise, name_fit, put_fit, take_fit, use_fit
from ego2world.language.lexicon import singular
from ego2world.language.phrases import NounPhrase
from ego2world.ontology.kinds import Trait, kinds_with
from ego2world.ontology.senses import Tag, senses
from ego2world.world.state import carriers


class Match:
    """Fits of phrases within one scene; `entity_of` maps the tracks that are bound already to their entities."""

    def __init__(self, memory: Memory, tracks: list[NamedTrack], entity_of: Mapping[str, str]) -> None:
        self.memory, self.scene, self.known = memory, memory.scene, memory.known
        self.tracks, self.entity_of = tracks, entity_of
        self._fits: dict[tuple[str, tuple[str, ...], str], dict[str, tuple[NamedTrack, float]]] = {}
        self._timely: tuple[NounPhrase, Mention, list[NamedTrack]] | None = None

    def fits(self, phrase: NounPhrase) -> dict[str, tuple[NamedTrack, float]]:
        """Return the tracks that a phrase may name, each with its name fit above 0, by association."""
        key = (phrase.head, phrase.modifiers, phrase.of.head if phrase.of is not None else "")
        if key not in self._fits:
            scored = ((track, name_fit(phrase, track)) for track in self.tracks)
            self._fits[key] = {track.association.id: (track, fit) for track, fit in scored if fit > 0.0}
        return self._fits[key]

    def candidates(self, phrase: NounPhrase, kind: str) -> list[str]:
        """Return the things mentioned before that a phrase may mean at all, oldest first."""
        words = {part.split()[-1] for part in (phrase.head, phrase.piece) if part}
        may = {e for word in words for e in self.memory.called.get(word, ())}
        may |= {self.entity_of[track] for track in self.fits(phrase) if track in self.entity_of}
        if phrase.head in {"thing", "object", "item"}:
            may |= {thing for _, thing in self.scene.state.held}
        if phrase.head in {kind, kind.replace("_", " ")}:
            may |= {e for e in self.known if self.scene.entities[e].type == kind}
        may -= self.scene.zone_of.keys()
        return [e for e in self.known if e in may and self.known[e].order >= 0]

    def _timely_tracks(self, phrase: NounPhrase, mention: Mention) -> list[NamedTrack]:
        """Return the tracks that a phrase names well and that move at the right time."""
        if self._timely is None or self._timely[0] is not phrase or self._timely[1] is not mention:
            well = [track for track, fit in self.fits(phrase).values() if fit >= 0.8]
            self._timely = (phrase, mention, [t for t in well if self.time_fit(t, mention) > 0.5])
        return self._timely[2]

    def score(self, identifier: str, record: Known, phrase: NounPhrase, kind: str, mention: Mention) -> float:
        entity = self.scene.entities[identifier]
        track = record.track
        named_so = self.fits(phrase).get(track.association.id, (track, 0.0))[1] if track is not None else 0.0
        if phrase.head in record.heads:
            fit = 1.0
        elif phrase.piece and phrase.piece in record.heads:
            fit = 0.95
        elif (
            phrase.head in {"thing", "object", "item"}
            and mention.sense in senses(Tag.PUTTING)
            and self.scene.held(identifier)
        ):
            fit = 0.5
        elif any(phrase.head.split()[-1] == head.split()[-1] for head in record.heads):
            fit = 0.85
        elif named_so >= 0.5:
            fit = named_so
        elif (
            entity.type == kind
            and kind not in kinds_with(Trait.GENERIC)
            and phrase.head in {kind, kind.replace("_", " ")}
        ):
            fit = 0.7
        else:
            return 0.0
        mine = set(phrase.modifiers) - {"same"}
        its = record.modifiers | {word for head in record.heads for word in head.split()[:-1]}
        if self.memory.conflict(mine, record.modifiers):
            fit -= 0.6
        elif described_otherwise(described(phrase), its):
            fit -= 0.35
        fit += 0.1 * len(mine & record.modifiers) - 0.05 * len((mine ^ record.modifiers) - {"other"})
        if phrase.of is not None and phrase.relation == "owner" and record.owner is not None:
            if not self._called(record.owner, phrase.of):
                fit -= 0.6  # the lid of the frother is no lid of the bottle
        if phrase.of is not None and not phrase.of.pronoun:
            about = phrase.of.head in entity.name or phrase.of.head in record.modifiers
            fit += 0.2 if about else -0.25 if phrase.relation == "content" and " of " in entity.name else 0.0
        if record.plural and not phrase.plural:
            fit -= 0.2
        away_s = max(0.0, mention.start_s - record.mentioned_s)
        fit += 0.35 * math.exp(-away_s / 90.0)
        if "other" in mine and self.memory.last and identifier in self.memory.last[-1]:
            fit -= 0.9
        held = self.scene.held(identifier)
        if any(self.scene.facts.get(("openness", c)) == "closed" for c in carriers(self.scene.facts, identifier)):
            fit -= 0.4  # what lies in something closed is rarely what is meant
        if mention.role == "object" and mention.sense in senses(Tag.TAKING):
            fit += -0.5 if held else 0.0
            if phrase.determiner in {"another"}:
                fit -= 0.5
        elif (mention.role == "object" and mention.sense in senses(Tag.PUTTING)) or mention.role == "instrument":
            fit += 0.8 if held else -0.15
        if track is not None:
            timely = self.time_fit(track, mention)
            fit += timely
            moved = (
                mention.role == "object"
                and mention.sense in senses(Tag.TAKING) | senses(Tag.PUTTING)
                and track.association.tracks
            )
            if moved and timely == 0 and any(t is not track for t in self._timely_tracks(phrase, mention)):
                fit -= 0.5
        return fit

    def _called(self, owner: str, phrase: NounPhrase) -> bool:
        """Say whether an entity may be what a phrase names as an owner."""
        if phrase.pronoun or owner not in self.known:
            return True
        word = singular(phrase.head.split()[-1])
        return any(singular(head.split()[-1]) == word for head in self.known[owner].heads) or (
            word in {singular(one) for one in self.scene.entities[owner].name.split()}
        )

    def time_fit(self, track: NamedTrack, mention: Mention) -> float:
        movements = track.association.tracks
        if mention.role == "object" and mention.sense in senses(Tag.TAKING):
            return max((take_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)
        if mention.role == "object" and mention.sense in senses(Tag.PUTTING):
            return max((put_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)
        return 0.7 * max((use_fit(m, mention.start_s, mention.end_s) for m in movements), default=0.0)

    def best_track(
        self, phrase: NounPhrase, mention: Mention, exclude: tuple[str, ...] = ()
    ) -> tuple[NamedTrack | None, float]:
        """Return the best track without an entity yet, scored like entities are."""
        best: tuple[NamedTrack | None, float] = (None, 0.0)
        for track, fit in self.fits(phrase).values():
            if fit < 0.3 or track.association.id in self.entity_of or not track.association.tracks:
                continue
            time = self.time_fit(track, mention)
            first_s = track.association.tracks[0].start_s
            if time == 0.0:
                fit -= 0.15 if first_s >= mention.start_s - 5.0 else 0.3
                fit -= 0.0 if abs(first_s - mention.start_s) < 60 else 0.1
            elif time > 0:
                fit += time
            if "other" in phrase.modifiers:
                fit += 0.1
            if fit > best[1]:
                best = (track, fit)
        return best

    def in_hand(self, phrase: NounPhrase, kind: str, exclude: tuple[str, ...]) -> str | None:
        """Return a held thing that a phrase may well mean: of its kind, or sharing its noun, and not contrasted with
        it."""
        word = phrase.head.split()[-1]
        for _, thing in self.scene.state.held:
            record = self.known.get(thing)
            if thing in exclude or record is None or self.memory.conflict(set(phrase.modifiers), record.modifiers):
                continue
            entity = self.scene.entities[thing]
            names = {singular(words.split()[-1]) for words in (*record.heads, re.sub(r"[ \d]+$", "", entity.name))}
            generic = kind == "lid" or kind in kinds_with(Trait.GENERIC)
            if singular(word) in names or (entity.type == kind and not generic):
                return thing
        return None
