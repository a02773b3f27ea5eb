"""How true the compiled worlds are to videos that no rule was written on, by hand labels: gold/unseen.txt.

    python tests/unseen.py [--misses]

The narrations of these videos are whole, but many lack their time: it is interpolated between the neighbours that have
one. A video without any time is read three seconds a narration, and without its object tracks.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset, Narration
from ego2world.compiler.episode import compile_video
from ego2world.compiler.freeze import EpisodeDraft, draft_episode
from ego2world.world.state import BOTH, LEFT, RIGHT
from measures import DATA, names_match

LABELS = Path(__file__).parent / "gold" / "unseen.txt"
INCOMPLETE = DATA / "narrations-and-action-segments" / "HD_EPIC_Narrations_incomplete.csv"
STEP_S = 3.0
_ROLES = {">": "target", "<": "source", "^": "instrument"}


@dataclass(frozen=True)
class Named:
    """A labelled role: the words that may name the entity, and which thing it is ("" where that is not told)."""

    words: str
    thing: str


@dataclass(frozen=True)
class Act:
    """A labelled operation."""

    families: frozenset[str]
    roles: Mapping[str, Named]


@dataclass(frozen=True)
class Label:
    """What is labelled of one narration; ``hands`` gives, for each hand, the sets of words that may be right."""

    video: str
    number: int
    acts: tuple[Act, ...]
    hands: Mapping[str, frozenset[frozenset[str]] | None]

    @property
    def id(self) -> str:
        """The narration."""
        return f"{self.video}-{self.number}"


def read_labels(path: Path = LABELS) -> list[Label]:
    """Read a file of labels; its head says how."""
    labels, video = [], ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("=="):
            video = line.removeprefix("==").strip()
        elif line and not line.startswith("#"):
            number, _, rest = line.partition(":")
            said, _, hands = rest.partition("|")
            acts = tuple(_act(one.split()) for one in said.split(";") if one.strip())
            labels.append(Label(video, int(number), acts, dict(_hand(one.strip()) for one in hands.split(","))))
    return labels


def _act(words: Sequence[str]) -> Act:
    roles = {}
    for word in words[1:]:
        role = _ROLES.get(word[0], "object")
        name, _, thing = word.lstrip("<>^").partition("#")
        roles[role] = Named(name.replace("/", " "), thing)
    return Act(frozenset(words[0].split("/")), roles)


def _hand(text: str) -> tuple[str, frozenset[frozenset[str]] | None]:
    side, held = text.split()
    hand = {"L": LEFT, "R": RIGHT}[side]
    if held == "?":
        return hand, None
    return hand, frozenset(frozenset(w for w in one.split("+") if w != "-") for one in held.split("/"))


def unseen(videos: Sequence[str]) -> Dataset:
    """Return the data set of videos whose narrations are whole but not all timed."""
    dataset = read_hd_epic(DATA, whole=True)
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with INCOMPLETE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["video_id"] in videos:
                rows[row["video_id"]].append(row)
    narrations, tracks = {}, dict(dataset.associations)
    for video in videos:
        found = sorted(rows[video], key=lambda row: int(row["unique_narration_id"].split("-")[-1]))
        if not any(row["start_timestamp"] for row in found):
            tracks.pop(video, None)
        narrations[video] = tuple(_timed(video, found))
    return replace(dataset, narrations=narrations, associations={v: tracks.get(v, ()) for v in videos})


def _timed(video: str, rows: Sequence[Mapping[str, str]]) -> Iterator[Narration]:
    known = [
        (index, float(row["start_timestamp"]), float(row["end_timestamp"]))
        for index, row in enumerate(rows)
        if row["start_timestamp"]
    ]
    last_s = 0.0
    for index, row in enumerate(rows):
        before = max((k for k in known if k[0] <= index), default=None)
        after = min((k for k in known if k[0] >= index), default=None)
        if before is not None and before[0] == index:
            start_s, end_s = before[1], before[2]
        elif before is None or after is None:
            start_s = (before[1] if before else 0.0) + STEP_S * (index - (before[0] if before else 0))
            end_s = start_s + STEP_S
        else:
            share = (after[1] - before[1]) / (after[0] - before[0])
            start_s = before[1] + share * (index - before[0])
            end_s = start_s + max(share, 0.1)
        last_s = start_s = max(start_s, last_s)
        yield Narration(row["unique_narration_id"], video, row["narration"].strip(), start_s, max(end_s, start_s))


@dataclass
class Truth:
    """Counts against the labels."""

    narrations: list[int] = field(default_factory=lambda: [0, 0])  # fully right, all
    right: int = 0
    extra: int = 0
    missed: int = 0
    hands: list[int] = field(default_factory=lambda: [0, 0])
    moments: list[int] = field(default_factory=lambda: [0, 0])  # both hands right, all
    told: list[tuple[str, str]] = field(default_factory=list)  # labelled thing, entity, for every matched role
    misses: list[str] = field(default_factory=list)

    @property
    def operations_f1(self) -> float:
        """F1 of operations with all their roles."""
        return 2 * self.right / max(2 * self.right + self.extra + self.missed, 1)

    @property
    def identity_f1(self) -> float:
        """B-cubed F1 of the entities that the labelled things were bound to."""

        def mean(of: int, other: int) -> float:
            shares = []
            for pair in self.told:
                same = [p for p in self.told if p[of] == pair[of]]
                shares.append(sum(p[other] == pair[other] for p in same) / len(same))
            return sum(shares) / len(shares)

        recall, precision = mean(0, 1), mean(1, 0)
        return 2 * precision * recall / (precision + recall)


def truth(labels: Sequence[Label], drafts: Mapping[str, EpisodeDraft]) -> Truth:
    """Compare drafts with labels."""
    found = Truth()
    for label in labels:
        draft = drafts[label.video]
        indices = [i for i, o in enumerate(draft.operations) if label.id in o.narration_ids]
        wrong = _acts(found, label, draft, indices)
        found.narrations[0] += not wrong
        found.narrations[1] += 1
        if any(held is not None for held in label.hands.values()):
            wrong += _hands(found, label, draft)
        if wrong:
            found.misses.append(f"{label.id}: " + "; ".join(wrong))
    return found


def _acts(found: Truth, label: Label, draft: EpisodeDraft, indices: Sequence[int]) -> list[str]:
    wrong, left = [], list(indices)
    for act in label.acts:
        fitting = [i for i in left if draft.operations[i].family in act.families and _named(act, draft, i, "object")]
        if not fitting:
            found.missed += 1
            wrong.append(f"missing {'/'.join(sorted(act.families))} {act.roles.get('object')}")
            continue
        index = fitting[0]
        left.remove(index)
        action = draft.operations[index].action
        bad = [role for role in act.roles if role != "object" and not _named(act, draft, index, role)]
        for role, named in act.roles.items():
            if named.thing and role not in bad and _ids(draft, index, role):
                found.told.append((f"{label.video} {named.thing}", f"{label.video} {_ids(draft, index, role)[0]}"))
        if bad:
            wrong.append(f"{action} wants {[(role, act.roles[role].words) for role in bad]}")
            found.missed += 1
            found.extra += 1
        else:
            found.right += 1
    found.extra += len(left)
    wrong += [f"not done: {draft.operations[i].action}" for i in left]
    return wrong


def _ids(draft: EpisodeDraft, index: int, role: str) -> tuple[str, ...]:
    action = draft.operations[index].action
    return action.ids(role) or (action.ids("content") or action.ids("target") if role == "object" else ())


def _named(act: Act, draft: EpisodeDraft, index: int, role: str) -> bool:
    named = act.roles.get(role)
    return named is None or names_match(named.words, _ids(draft, index, role), draft)


def _hands(found: Truth, label: Label, draft: EpisodeDraft) -> list[str]:
    last = max(
        (i for i, o in enumerate(draft.operations) if _number(o.narration_ids) <= label.number and o.narration_ids),
        default=-1,
    )
    state, wrong, exact = draft.states[last + 1], [], True
    for hand, allowed in label.hands.items():
        if allowed is None:
            continue
        held = [thing for busy, thing in state.held if busy in (hand, BOTH)]
        fits = any(
            len(words) == len(held) and all(any(names_match(w, (t,), draft) for t in held) for w in words)
            for words in allowed
        )
        found.hands[0] += fits
        found.hands[1] += 1
        exact &= fits
        if not fits:
            wrong.append(f"{hand} {held} wants {sorted('+'.join(sorted(w)) or '-' for w in allowed)}")
    if None not in label.hands.values():
        found.moments[0] += exact
        found.moments[1] += 1
    return wrong


def _number(narration_ids: Sequence[str]) -> int:
    return max((int(one.split("-")[-1]) for one in narration_ids), default=-1)


def drafts_of(dataset: Dataset) -> dict[str, EpisodeDraft]:
    """Compile every video of a data set to a draft."""
    return {video: draft_episode(compile_video(video, dataset), dataset, ()) for video in dataset.narrations}


def main() -> None:
    """Print the figures."""
    labels = read_labels()
    videos = list(dict.fromkeys(label.video for label in labels))
    made = drafts_of(unseen(videos))
    for group in ([*videos], *([video] for video in videos)):
        found = truth([label for label in labels if label.video in group], made)
        print(
            f"{' '.join(group) if len(group) == 1 else 'all'}: fully right {found.narrations[0]}/{found.narrations[1]}"
            f" = {found.narrations[0] / found.narrations[1]:.3f}; operations F1 {found.operations_f1:.3f};"
            f" hands {found.hands[0]}/{found.hands[1]} = {found.hands[0] / found.hands[1]:.3f}; moments"
            f" {found.moments[0]}/{found.moments[1]}; identity F1 {found.identity_f1:.3f} of {len(found.told)}"
        )
        if "--misses" in sys.argv and len(group) == 1:
            print("\n".join(f"   {miss}" for miss in found.misses))


if __name__ == "__main__":
    main()
