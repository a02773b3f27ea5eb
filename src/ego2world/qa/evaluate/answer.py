"""Models answer questions, turn by turn, with their own earlier answers as history. Stage: qa, evaluation.

answers.jsonl   one prediction per line, appended as it comes; an interrupted run resumes with what is missing
manifest.json   which items, which model, how clips were sampled, which prompts: what results need in common to be
compared
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ego2world import __version__
from ego2world.core.breaker import Breaker
from ego2world.core.canonical import canonical_json, sha256
from ego2world.core.folder import open_folder
from ego2world.core.journal import Records, read_as, rewrite
from ego2world.core.lock import writing
from ego2world.core.models import Message, ModelClient, Part, Reply, Request, Stop, Text
from ego2world.core.prompting import prompt, prompts_sha256
from ego2world.core.provenance import Product, code_sha256
from ego2world.errors import ModelError, UsageError, VideoError
from ego2world.qa.evaluate.media import Clips, ClipSampling
from ego2world.qa.items import Item
from ego2world.qa.records import QuestionRecord

HERE = "ego2world.qa.evaluate"
PROMPTS = ("answer_system.txt", "answer_user.txt.j2")
ANSWERS, MANIFEST = "answers.jsonl", "manifest.json"
Progress = Callable[[str, int, int], None]


class Prediction(QuestionRecord, frozen=True):
    """What a model said to one turn. ``error``: why it said nothing; such turns are asked again by the same command."""

    item: str
    group: str
    round: int
    rotation: int = 0  # by how many places the options were turned
    options: dict[str, str] | None = None  # as they were shown
    text: str | None = None
    stop: str = ""
    error: str = ""
    history_source: str = "own"
    frames: int = 0
    audio: bool = False
    request: str = ""
    served: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cached: bool = False


@dataclass(frozen=True)
class AnswerSettings:
    """How a model is asked; stored in the manifest, concurrency apart."""

    media: Path | None = None  # folder of videos; None: text only
    look: ClipSampling = field(default_factory=ClipSampling)
    circular: bool = False
    max_tokens: int | None = 512
    temperature: float | None = 0.0
    seed: int = 0
    concurrency: int = 4

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "mode": "text" if self.media is None else "video",
            "look": self.look.plain() if self.media else None,
            "circular": self.circular,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "seed": self.seed,
        }


def answer(
    items: Sequence[Item],
    source: str,
    out: Path,
    client: ModelClient,
    settings: AnswerSettings,
    progress: Progress | None = None,
    accept_code: bool = False,
) -> dict[str, Any]:
    """Ask a model every item; return the manifest with ``errors`` (turns without an answer) and their most frequent
    ``reasons`` added.

    Args:
        items: turns of one group in the order of their rounds.
        source: what the items are called in the manifest.
        out: the folder of the answers; unfinished answers in it are resumed.
        client: the model.
        settings: see ``AnswerSettings``.
        progress: called with (group, finished, total).
        accept_code: resume what other code began.

    Raises:
        UsageError: no items, an id twice, or settings that differ from those the folder was begun with.
    """
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.group].append(item)
    ids = [item.id for item in items]
    if not ids or len(set(ids)) < len(ids):
        raise UsageError(
            f"{source}: {'no questions' if not ids else 'duplicate ids'}; see: ego2world qa check {source}"
        )
    manifest = {
        "source": source,
        "items_sha256": membership(items),
        "items": sorted(ids),
        "model": client.name,
        "settings": settings.plain(),
        "prompts_sha256": prompts_sha256(HERE, PROMPTS),
        "ego2world": __version__,
        "code_sha256": code_sha256(Product.ANSWERS),
    }
    with writing(out):
        open_folder(out / MANIFEST, manifest, "answers", accept_code)
        done = {(row.item, row.rotation): row for row in read_predictions(out) if not row.error}
        _keep(out, done.values())
        records = Records(out)
        work = _Work(client, settings, records, done, Clips(settings.media, settings.look) if settings.media else None)
        try:
            work.all(groups, progress)
        finally:
            records.close()
        rows = {(row.item, row.rotation): row for row in read_predictions(out)}
        _keep(out, (rows[key] for key in sorted(rows)))
    answered = {row.item for row in rows.values() if not row.error}
    reasons = Counter(row.error for row in rows.values() if row.error)
    return manifest | {"errors": len(set(ids) - answered), "reasons": dict(reasons.most_common(3))}


def membership(items: Iterable[Item]) -> str:
    """Return the hash of what is asked: ids, questions, options and keys; results of other memberships are not
    compared."""
    return sha256(
        canonical_json(sorted([item.id, item.question, item.options, list(item.key), item.answer] for item in items))
    )


def _keep(out: Path, rows: Iterable[Prediction]) -> None:
    """Write the answers file with these rows alone, where it holds anything else, in order of item and rotation."""
    rewrite(out / ANSWERS, sorted(rows, key=lambda row: (row.item, row.rotation)))


def read_predictions(out: Path) -> list[Prediction]:
    """Read the answers of a folder; a last line that a kill tore is left out.

    Raises:
        RecordError: another line is no prediction.
    """
    return read_as(out / ANSWERS, Prediction)


class _Work:
    def __init__(
        self,
        client: ModelClient,
        settings: AnswerSettings,
        records: Records,
        done: Mapping[tuple[str, int], Prediction],
        clips: Clips | None,
    ) -> None:
        self.client, self.settings, self.records, self.done, self.clips = client, settings, records, done, clips
        self.halt = threading.Event()
        self.breaker = Breaker()  # of groups that the service failed in

    def all(self, groups: Mapping[str, Sequence[Item]], progress: Progress | None) -> None:
        """Ask all groups, several at a time; the turns of one follow each other."""
        if progress:
            progress("", 0, len(groups))
        with ThreadPoolExecutor(self.settings.concurrency) as pool:
            futures = {pool.submit(self.group, turns): name for name, turns in groups.items()}
            try:
                for count, future in enumerate(as_completed(futures), 1):
                    future.result()
                    if progress:
                        progress(futures[future], count, len(groups))
            except BaseException:
                self.halt.set()
                raise

    def group(self, turns: Sequence[Item]) -> None:
        """Ask the turns of a group, once for each turning of the options where that is asked for (single questions
        only)."""
        ordered = sorted(turns, key=lambda item: item.round)
        circular = self.settings.circular and len(ordered) == 1 and ordered[0].options and len(ordered[0].key) == 1
        for rotation in range(len(ordered[0].options or {}) if circular else 1):
            if not self.halt.is_set() and not self._dialogue([rotated(item, rotation) for item in ordered], rotation):
                return

    def _dialogue(self, turns: Sequence[Item], rotation: int) -> bool:
        messages = [Message("system", (Text(prompt(HERE, "answer_system.txt")),))]
        for number, item in enumerate(turns):
            known = self.done.get((item.id, rotation))
            asked = prompt(
                HERE, "answer_user.txt.j2", question=item.question, options=item.options or {}, many=len(item.key) > 1
            )
            row = Prediction(item=item.id, group=item.group, round=item.round, rotation=rotation, options=item.options)
            try:
                media = self._media(item) if number == 0 or known is None else ()
                messages.append(Message("user", (*(media if number == 0 else ()), Text(asked))))
                if known is None:
                    row = self._ask(messages, replace(row, **_seen(media)), item)
            except (ModelError, VideoError) as error:
                self.records.add(ANSWERS, _plain(replace(row, error=f"{type(error).__name__}: {error}")))
                if isinstance(error, ModelError) and self.breaker.note(True):
                    self.halt.set()
                return False
            if known is None:
                self.records.add(ANSWERS, _plain(row))
            messages.append(Message("assistant", (Text((known or row).text or ""),)))
        self.breaker.note(False)
        return True

    def _media(self, item: Item) -> tuple[Part, ...]:
        if self.clips is None:
            return ()
        frames, sound = self.clips.of(item)
        return (frames, sound) if sound is not None else (frames,)

    def _ask(self, messages: Sequence[Message], row: Prediction, item: Item) -> Prediction:
        request = Request(
            tuple(messages),
            temperature=self.settings.temperature,
            seed=self.settings.seed,
            max_tokens=self.settings.max_tokens,
            tag=item.id,
        )
        reply: Reply = self.client.generate(request)
        usage = reply.usage
        error = (
            "the reply ran out of time"
            if reply.stop is Stop.TIMED_OUT
            else "longer than the model's context"
            if reply.stop is Stop.CONTEXT
            else ""
        )
        return replace(
            row,
            text=None if error else reply.text,
            stop=reply.stop.value,
            error=error,
            request=request.key,
            served=reply.model,
            tokens_in=usage.input_tokens if usage else 0,
            tokens_out=usage.output_tokens if usage else 0,
            cached=reply.cached,
        )


def _seen(media: Sequence[Part]) -> dict[str, Any]:
    frames = next((len(part.images) for part in media if hasattr(part, "images")), 0)
    return {"frames": frames, "audio": any(hasattr(part, "format") for part in media)}


def _plain(row: Prediction) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(row)
    return plain


def rotated(item: Item, places: int) -> Item:
    """Return an item whose option texts have moved on by some places; the key moves with its text."""
    if not item.options or not places:
        return item
    letters, texts = list(item.options), list(item.options.values())
    moved = texts[-places:] + texts[:-places]
    key = tuple(letters[(letters.index(letter) + places) % len(letters)] for letter in item.key)
    return replace(item, options=dict(zip(letters, moved, strict=True)), key=key)


def mock_answer(request: Request) -> str:
    """Answer without a model: an option by the hash of what is asked; open questions are not known. For trying things
    out."""
    text = request.messages[-1].text
    letters = [line[0] for line in text.splitlines() if len(line) > 2 and line[1] == "." and line[0].isupper()]
    return letters[int(request.key[:8], 16) % len(letters)] if letters else "I do not know."
