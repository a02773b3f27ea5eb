"""Which drafts become questions, and which of these are multiple choice. Stage: qa, questions.

Quota: at most so many questions of a category in a window of time, the kinds of question taking turns, and one action
asked about once in a category, so that no question gives away the answer of another.

Multiple choice comes in blocks: as many questions as there are options, with answers that exclude each other; all
questions of a block have the same options in the same order, and each is the key exactly once. So neither an option's
wording, length or frequency nor its position says anything about the key, whatever a blind guesser has learnt
elsewhere. Answers that fit in no block stay open.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ego2world.core.canonical import canonical_json, sha256
from ego2world.qa.checks.answers import about_itself, also_true
from ego2world.qa.checks.case import CheckContext
from ego2world.qa.queries import Linked
from ego2world.qa.recipes import DraftTurn, QuestionDraft
from ego2world.qa.records import QuestionGroup, Spec, Turn
from ego2world.qa.replay import EpisodeReplayer
from ego2world.qa.taxonomy import LEVELS, modality_of

LETTERS = "ABCDEFGH"


@dataclass(frozen=True)
class Quota:
    """How many questions are made, and how many options they have.

    window_s: length of the windows that the quota counts in, in seconds.
    per_window: questions of one category in one window, at most.
    options: of a multiple choice; questions with two possible answers have two.
    """

    window_s: float = 30.0
    per_window: int = 3
    options: int = 4

    def plain(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"window_s": self.window_s, "per_window": self.per_window, "options": self.options}


def choose(drafts: Iterable[QuestionDraft], plan: Quota, replayer: EpisodeReplayer) -> list[QuestionDraft]:
    """Return the drafts within quota, in order of category and time, and those on the way that do not hold when
    replayed.

    What does not hold takes no place of the quota; it goes on to the checks, which say why.
    """
    places: dict[tuple[str, int], dict[str, list[QuestionDraft]]] = defaultdict(lambda: defaultdict(list))
    for draft in sorted(drafts, key=lambda d: (d.at_s, d.subtype, d.turns[0].question)):
        places[(draft.category.value, int(draft.at_s // plan.window_s))][draft.subtype].append(draft)
    chosen: list[QuestionDraft] = []
    taken: set[tuple[str, int]] = set()
    for (category, window), kinds in sorted(places.items()):
        queues = [
            deque(kinds[kind])
            for kind in sorted(kinds, key=lambda kind: sha256(f"{category} {window} {kind}".encode()))
        ]
        count = 0
        while count < plan.per_window and any(queues):
            for queue in queues:
                while queue and count < plan.per_window:
                    draft = queue.popleft()
                    mark = (category, draft.operations[-1] if draft.operations else -1)
                    if draft.operations and mark in taken:
                        continue
                    chosen.append(draft)
                    if _holds(draft, replayer):
                        taken.add(mark)
                        count += 1
                        break
    return chosen


def _holds(draft: QuestionDraft, replayer: EpisodeReplayer) -> bool:
    linked = all(replayer.answer(Linked(*link)) is not None for link in draft.links)
    return linked and all(replayer.answer(turn.query) == turn.value for turn in draft.turns)


def blocks(drafts: Sequence[QuestionDraft], case: CheckContext, plan: Quota) -> dict[int, list[tuple[str, Any]]]:
    """Return options for the drafts that become multiple choice: position of the draft -> (text, value), the key among
    them."""
    families: dict[str, list[int]] = defaultdict(list)
    for number, draft in enumerate(drafts):
        if len(draft.turns) == 1 and draft.turns[0].family and _holds(draft, case.replayer):
            families[f"{draft.category.value} {draft.subtype} {draft.turns[0].family}"].append(number)
    made: dict[int, list[tuple[str, Any]]] = {}
    for name in sorted(families):
        size = 2 if " state:" in name else plan.options
        for block in _blocks([(n, drafts[n].turns[0]) for n in families[name]], size, case):
            offset = int(sha256(" ".join(t.question for _, t in block).encode())[:8], 16)
            turned = [(t.answer, t.value) for _, t in block[offset % size :] + block[: offset % size]]
            made |= {number: turned for number, _ in block}
    return made


def _blocks(members: list[tuple[int, DraftTurn]], size: int, case: CheckContext) -> list[list[tuple[int, DraftTurn]]]:
    """Partition questions into blocks of different answers, the most frequent answers first; what is left over stays
    open."""
    queues: dict[str, list[tuple[int, DraftTurn]]] = defaultdict(list)
    for member in members:
        queues[member[1].answer].append(member)
    found: list[list[tuple[int, DraftTurn]]] = []
    while True:
        block: list[tuple[int, DraftTurn]] = []
        for answer in sorted(queues, key=lambda a: (-len(queues[a]), a)):
            if len(block) == size:
                break
            for at, member in enumerate(queues[answer][:8]):
                if all(_exclude(member[1], other, case) and _exclude(other, member[1], case) for _, other in block):
                    block.append(queues[answer].pop(at))
                    break
        if len(block) < size:
            return found
        found.append(block)
        queues = defaultdict(list, {answer: queue for answer, queue in queues.items() if queue})


def _exclude(turn: DraftTurn, other: DraftTurn, case: CheckContext) -> bool:
    """Whether the answer of another question is false for this one, and neither contains the other."""
    mine, theirs = turn.value, other.value
    if turn.answer == other.answer or also_true(turn.query, mine, theirs, case):
        return False
    if about_itself(turn.query, other.answer, case):
        return False
    if turn.answer.rstrip(".") in other.answer or other.answer.rstrip(".") in turn.answer:
        return False
    if isinstance(mine, dict):
        return _kind(mine) != _kind(theirs)
    longest, shortest = max(len(turn.answer), len(other.answer)), min(len(turn.answer), len(other.answer))
    return longest <= 2 * shortest or longest <= 20


def _kind(action: dict[str, Any]) -> str:
    """Return the kind of an action apart from where it leads, so that "pick it up" never stands beside "pick it up
    from ..."."""
    return str(action["action"]).split("_")[0]


def groups_of(
    episode: str, drafts: Sequence[QuestionDraft], options: dict[int, list[tuple[str, Any]]]
) -> list[QuestionGroup]:
    """Return the candidates."""
    return [_group(episode, draft, options.get(number)) for number, draft in enumerate(drafts)]


def _group(episode: str, draft: QuestionDraft, options: list[tuple[str, Any]] | None) -> QuestionGroup:
    modality = modality_of(draft.streams).value
    turns = []
    for number, turn in enumerate(draft.turns):
        spec = Spec(
            id="",
            query=turn.query,
            value=turn.value,
            direct=_once(turn.direct),
            inherited=_once(turn.inherited),
            new=_once(turn.new),
            anchors=_once(turn.anchors),
            span_s=(draft.clip.start_s, draft.clip.end_s),
            modality=modality,
            cutoff_s=draft.cutoff_s,
        )
        spec = with_id(spec)
        letters = dict(zip(LETTERS, options, strict=False)) if options and number == len(draft.turns) - 1 else None
        key = tuple(letter for letter, (text, _) in letters.items() if text == turn.answer) if letters else ()
        turns.append(
            Turn(
                question=turn.question,
                answer=turn.answer,
                spec=spec,
                key_points=turn.key_points or (turn.answer.rstrip("."),),
                options={letter: text for letter, (text, _) in letters.items()} if letters else None,
                option_values={letter: value for letter, (_, value) in letters.items()} if letters else None,
                key=key,
                depends_on=turn.depends_on,
                new_observation=turn.observation,
                standalone=turn.standalone,
            )
        )
    group = QuestionGroup(
        id="",
        episode=episode,
        level=LEVELS[draft.category].value,
        category=draft.category.value,
        subtype=draft.subtype,
        format="multiple_choice" if options else "open",
        clip=draft.clip,
        turns=tuple(turns),
        modality=modality,
        bridging_fact=draft.bridging_fact,
        lost_without_earlier=draft.lost_without_earlier,
        relation=draft.relation,
        links=draft.links,
        loop_roles=dict(draft.loop_roles) if draft.loop_roles else None,
        template=f"{draft.category.value}/{draft.subtype}",
    )
    return named(group)


def with_id(spec: Spec) -> Spec:
    """Return the spec under the id of its content."""
    return msgspec.structs.replace(spec, id="spec_" + sha256(canonical_json(msgspec.to_builtins(spec)))[:12])


def named(group: QuestionGroup) -> QuestionGroup:
    """Return the group under the id of its content."""
    return msgspec.structs.replace(group, id="qa_" + sha256(canonical_json([group.episode, group.content_hash]))[:12])


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
