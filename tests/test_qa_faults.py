"""A planted fault for every validator code: each is caught with its code, and clean items are not flagged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from ego2world.core.models import MockModel, ModelClient
from ego2world.errors import UsageError
from ego2world.qa.audit import audit
from ego2world.qa.build import FILES, read_manifest, read_records, read_stage
from ego2world.qa.checks import CheckContext, check_group
from ego2world.qa.checks.collection import collection_findings, drift, position_findings
from ego2world.qa.checks.items import item_findings
from ego2world.qa.checks.repairs import repair_findings
from ego2world.qa.codes import CODES, severity
from ego2world.qa.evaluate.answer import AnswerSettings, answer
from ego2world.qa.evaluate.judge import Judge, JudgeRecord
from ego2world.qa.evaluate.score import compare, figure_findings, score, score_findings
from ego2world.qa.export.rows import media_findings, placeholder_findings
from ego2world.qa.items import Item, items_of
from ego2world.qa.queries import (
    ActQuery,
    Amount,
    ChangeQuery,
    ClauseQuery,
    During,
    Enabler,
    Fact,
    Heard,
    Holding,
    Linked,
    NextStep,
)
from ego2world.qa.records import QuestionGroup, Relation, Repair, Turn
from ego2world.qa.replay import EpisodeReplayer
from ego2world.qa.review import ReviewDecision, review_findings
from ego2world.world.episode import load_episode


class Bench:
    """The accepted sample questions with what checks them."""

    def __init__(self, qa: Path, worlds: Path) -> None:
        self.qa = qa
        self.groups: list[QuestionGroup] = read_records(qa / FILES["accepted"], QuestionGroup)
        self.cases: dict[str, CheckContext] = {}
        for name in read_manifest(qa)["episodes"]:
            evidence = {one.id: one for one in read_stage(qa, name, "evidence")}
            relations = {one.id: one for one in read_stage(qa, name, "relations")}
            self.cases[name] = CheckContext(EpisodeReplayer(load_episode(worlds, name)), evidence, relations)

    def find(self, test: Callable[[QuestionGroup], bool]) -> QuestionGroup:
        return next(group for group in self.groups if test(group))

    def by_query(self, kind: type, test: Callable[[Turn], bool] = lambda turn: True) -> QuestionGroup:
        return self.find(lambda g: isinstance(g.turns[0].spec.query, kind) and test(g.turns[0]))

    def codes(self, group: QuestionGroup) -> set[str]:
        return {found.code for found in check_group(group, self.cases[group.episode])}


@pytest.fixture(scope="module")
def bench(sample_questions: Path, sample_worlds: Path) -> Bench:
    return Bench(sample_questions, sample_worlds)


def turn(group: QuestionGroup, n: int = 0, **fields: Any) -> QuestionGroup:
    turns = list(group.turns)
    turns[n] = replace(turns[n], **fields)
    return replace(group, turns=tuple(turns))


def spec(group: QuestionGroup, n: int = 0, **fields: Any) -> QuestionGroup:
    return turn(group, n, spec=replace(group.turns[n].spec, **fields))


def multiple_choice(group: QuestionGroup) -> bool:
    return group.format == "multiple_choice" and len(group.turns[0].options or {}) == 4


def dialogue(group: QuestionGroup) -> bool:
    return group.category == "Chain" and len(group.turns) == 2


def visual(group: QuestionGroup) -> bool:
    return group.modality == "visual" and group.category == "World State"


# --- faults of single groups: code -> how to make one from an accepted group ----------------------------------


def _options(bench: Bench, **changes: Any) -> QuestionGroup:
    group = bench.find(multiple_choice)
    first = group.turns[0]
    made = dict(first.options or {})
    other = next(letter for letter in made if letter not in first.key)
    key = first.key[0]
    values = {
        "dup": made[key].upper() + " ",
        "longer": made[key].rstrip(".") + " and another thing",
        "none": "None of the above.",
    }
    made[other] = values[changes["how"]]
    return turn(group, options=made)


def _also_true(bench: Bench) -> QuestionGroup:
    def place(g: QuestionGroup) -> bool:
        q = g.turns[0].spec.query
        return multiple_choice(g) and isinstance(q, Fact) and q.fluent == "place"

    group = bench.find(place)
    first = group.turns[0]
    other = next(letter for letter in first.options or {} if letter not in first.key)
    values = dict(first.option_values or {})
    values[other] = first.spec.value  # in other words, the same place
    return turn(group, option_values=values)


def _stale(bench: Bench) -> QuestionGroup:
    group = bench.by_query(Holding)
    query = group.turns[0].spec.query
    return spec(group, query=Holding(query.at_s + 500.0, query.hand))


def _collapsed(bench: Bench) -> QuestionGroup:
    def many(t: Turn) -> bool:
        return isinstance(t.spec.query, Fact) and t.spec.query.fluent == "place"

    for group in bench.groups:
        t = group.turns[0]
        if not many(t):
            continue
        case = bench.cases[group.episode]
        key = (t.spec.query.fluent, t.spec.query.entity)
        changes = [
            row["id"]
            for i, row in enumerate(case.replayer.episode.operations)
            if case.replayer.state(i).facts.get(key) != case.replayer.state(i + 1).facts.get(key)
        ]
        if len(changes) > 1:
            return spec(group, direct=tuple(changes[:2]))
    raise AssertionError("no thing is moved twice")


def _merge(bench: Bench) -> QuestionGroup:
    for group in bench.groups:
        tracks = [one for one in bench.cases[group.episode].evidence.values() if one.kind == "track"]
        if isinstance(group.turns[0].spec.query, ChangeQuery) and len({t.source.key.split("/")[1] for t in tracks}) > 1:
            first = tracks[0]
            other = next(t for t in tracks if t.source.key.split("/")[1] != first.source.key.split("/")[1])
            return spec(group, direct=(*group.turns[0].spec.direct, first.id, other.id))
    raise AssertionError


def _redundant(bench: Bench) -> QuestionGroup:
    group = bench.by_query(During)
    action = next(one for one in group.turns[0].spec.evidence if one.startswith("op_"))
    row = bench.cases[group.episode].replayer.episode.operations[bench.cases[group.episode].numbers[action]]
    start_s, end_s = row["span_s"]
    return spec(group, query=ActQuery(start_s, end_s))  # the time is said: the sound is not needed


def _unlinked(bench: Bench) -> QuestionGroup:
    group = bench.by_query(During)
    case = bench.cases[group.episode]
    far = max((one for one in case.evidence.values() if one.kind == "sound"), key=lambda one: one.span_s[0])
    action = next(one for one in group.turns[0].spec.evidence if one.startswith("op_"))
    early = next(one for one in case.evidence.values() if one.kind == "replay")
    return spec(group, direct=(far.id, early.id if action else action))


def _not_needed(bench: Bench) -> QuestionGroup:
    for group in bench.groups:
        query = group.turns[0].spec.query
        case = bench.cases[group.episode]
        for row in case.replayer.episode.operations if isinstance(query, Enabler) else ():
            other = row["id"]
            if (
                other < query.operation
                and row["narration_ids"]
                and case.replayer.answer(Enabler(query.operation, other)) is None
            ):
                return spec(group, query=Enabler(query.operation, other), direct=(query.operation, other))
    raise AssertionError


def _shared_only(bench: Bench, share: bool) -> QuestionGroup:
    group = bench.find(dialogue)
    case = bench.cases[group.episode]
    rows = case.replayer.episode.operations
    for i, first in enumerate(rows):
        for second in rows[i + 1 : i + 40]:
            common = set(case.action(first["id"]).things) & set(case.action(second["id"]).things)
            if bool(common) == share and case.replayer.answer(Linked(first["id"], second["id"])) is None:
                return replace(group, links=((first["id"], second["id"]),))
    raise AssertionError


def _loop(bench: Bench, **roles: str) -> QuestionGroup:
    group = bench.find(lambda g: g.category == "Loop")
    return replace(group, loop_roles=dict(group.loop_roles or {}) | roles)


def _order_only(bench: Bench) -> QuestionGroup:
    group = bench.find(lambda g: g.category == "Loop")
    case = bench.cases[group.episode]
    after = case.numbers[(group.loop_roles or {})["feedback"]]
    other = next(row["id"] for row in case.replayer.episode.operations[after + 2 :] if row["family"] == "pick_up")
    return _loop(bench, adjustment=other)


def _no_feedback(bench: Bench) -> QuestionGroup:
    group = bench.find(lambda g: g.category == "Loop")
    case = bench.cases[group.episode]
    act = case.numbers[(group.loop_roles or {})["action"]]
    return _loop(bench, feedback=case.replayer.episode.operations[act + 1]["id"])


def _goal(bench: Bench, **fields: Any) -> QuestionGroup:
    return bench.find(lambda g: g.category == "Goal Planning" and isinstance(g.turns[0].spec.query, NextStep))


def _late(bench: Bench) -> QuestionGroup:
    group = _goal(bench)
    case = bench.cases[group.episode]
    late = max((one for one in case.evidence.values() if one.kind == "step"), key=lambda one: one.span_s[1])
    return spec(group, direct=(*group.turns[0].spec.direct, late.id))


def _many_goals(bench: Bench) -> QuestionGroup:
    group = _goal(bench)
    return spec(group, query=NextStep(1e6))


def _cue(bench: Bench) -> QuestionGroup:
    group = bench.find(lambda g: g.category == "Intent Formation")
    case = bench.cases[group.episode]
    last = max((one for one in case.evidence.values() if one.kind == "narration"), key=lambda one: one.span_s[0])
    action = next(one for one in group.turns[0].spec.evidence if one.startswith("op_"))
    return spec(group, direct=(last.id, action))


def _percept(bench: Bench) -> QuestionGroup:
    group = bench.by_query(Heard)
    case = bench.cases[group.episode]
    silent = next(one for one in case.evidence.values() if one.kind == "replay")
    return replace(spec(group, direct=(silent.id,)), modality="visual")


def _tell_action(bench: Bench) -> QuestionGroup:
    group = bench.find(lambda g: g.category == "Action Status" and isinstance(g.turns[0].spec.query, ActQuery))
    case = bench.cases[group.episode]
    counted: dict[str, int] = {}
    for row in case.replayer.episode.operations:
        for narration in row["narration_ids"] if not row["inferred"] else ():
            counted[narration] = counted.get(narration, 0) + 1
    return spec(group, anchors=(next(n for n, count in counted.items() if count > 1),))


def _overlap(bench: Bench) -> tuple[QuestionGroup, CheckContext]:
    group = bench.find(lambda g: g.category == "Action Effects")
    case = bench.cases[group.episode]
    track = next(one for one in case.evidence.values() if one.kind == "track")
    twin = replace(track, id="track_twin", span_s=(track.span_s[0] + 0.01, track.span_s[1] + 0.01))
    made = CheckContext(case.replayer, {**case.evidence, twin.id: twin}, case.relations)
    return spec(group, direct=(*group.turns[0].spec.direct, track.id, twin.id)), made


def _point(bench: Bench) -> tuple[QuestionGroup, CheckContext]:
    group = bench.find(lambda g: visual(g) and bool(g.turns[0].spec.anchors))
    case = bench.cases[group.episode]
    anchor = case.evidence[group.turns[0].spec.anchors[0]]
    made = CheckContext(
        case.replayer,
        {**case.evidence, anchor.id: replace(anchor, span_s=(anchor.span_s[0], anchor.span_s[0]))},
        case.relations,
    )
    return spec(group, anchors=(anchor.id,)), made


def _unresolved(bench: Bench) -> tuple[QuestionGroup, CheckContext]:
    group = bench.find(dialogue)
    case = bench.cases[group.episode]
    relation = Relation(
        id="r",
        type="state_transfer",
        source="a",
        target="b",
        events=("x", "y"),
        carried="",
        identity_basis="name",
        uncertainty="unresolved",
        eligible=False,
    )
    return replace(group, relation="r"), CheckContext(case.replayer, case.evidence, {"r": relation})


def _deaf(bench: Bench) -> tuple[QuestionGroup, CheckContext]:
    group = bench.by_query(Heard)
    case = bench.cases[group.episode]
    silent = {name: one for name, one in case.evidence.items() if one.kind != "sound"}
    return group, CheckContext(case.replayer, silent, case.relations)


def _rewrite(bench: Bench, text: str) -> QuestionGroup:
    return turn(bench.find(visual), question=text)


GROUPS: dict[str, Callable[[Bench], QuestionGroup | tuple[QuestionGroup, CheckContext]]] = {
    "FIELD_EMPTY": lambda b: _rewrite(b, "HOLD"),
    "REF_DANGLING": lambda b: spec(b.find(visual), direct=("op_99999",)),
    "CLASS_CONFLICT": lambda b: replace(b.find(visual), level="Loop"),
    "ACT_MERGED": _tell_action,
    "SRC_MEDIA_MISSING": lambda b: replace(b.find(visual), clip=replace(b.find(visual).clip, video="nowhere")),
    "SRC_PART_MISSING": lambda b: replace(
        (g := b.find(lambda g: visual(g) and g.clip.start_s > 30)), clip=replace(g.clip, start_s=0.0, end_s=5.0)
    ),
    "TIME_FORMAT": lambda b: _rewrite(b, "Where is the mug at 00:03:1.8?"),
    "UNIT_AMBIG": lambda b: _rewrite(b, "Where is the mug at 12?"),
    "UNIT_SCALE": lambda b: replace((g := b.find(visual)), clip=replace(g.clip, end_s=g.clip.end_s * 1000)),
    "CLOCK_MIX": lambda b: _rewrite(b, "Where is the mug at 907.3 s?"),
    "IVL_EMPTY": lambda b: replace((g := b.find(visual)), clip=replace(g.clip, end_s=g.clip.start_s)),
    "IVL_OUT_OF_MEDIA": lambda b: replace(
        (g := b.find(visual)), clip=replace(g.clip, end_s=b.cases[g.episode].end_s + 60)
    ),
    "IVL_OUTSIDE_PARENT": lambda b: spec(
        (g := b.by_query(Fact)), query=replace(g.turns[0].spec.query, at_s=g.clip.end_s + 30)
    ),
    "IVL_OVERLAP_SAME_ENTITY": _overlap,
    "NAR_POINT_ONLY": _point,
    "NAR_ORDER": lambda b: spec(
        (g := b.find(visual)),
        anchors=tuple(list(one.id for one in b.cases[g.episode].evidence.values() if one.kind == "narration")[5:3:-1]),
    ),
    "ENT_NAME_ONLY_MERGE": _merge,
    "ENT_STATE_COLLAPSED": _collapsed,
    "STATE_CONTRADICTION": lambda b: spec(b.by_query(Fact), value="nowhere at all"),
    "STATE_STALE": _stale,
    "DELTA_NONE": lambda b: spec(
        (g := b.by_query(ChangeQuery)), query=replace(g.turns[0].spec.query, fluent="written")
    ),
    "EFFECT_RULE_ONLY": lambda b: spec((g := b.by_query(ChangeQuery)), direct=(g.turns[0].spec.query.operation,)),
    "EV_NONE": lambda b: spec(b.find(visual), direct=()),
    "EV_NARRATION_ONLY": lambda b: spec(
        (g := b.find(lambda g: visual(g) and bool(g.turns[0].spec.anchors))), direct=g.turns[0].spec.anchors
    ),
    "EV_OUTSIDE_EVENT": lambda b: spec(
        b.find(lambda g: visual(g) and bool(g.turns[0].spec.anchors) and g.clip.start_s > 40), direct=("op_00001",)
    ),
    "EV_QUOTE_NOT_FOUND": lambda b: spec(b.by_query(ClauseQuery), value="to conquer the moon"),
    "EV_FROM_QA": lambda b: spec(b.find(visual), direct=("qa_0123456789ab",)),
    "MOD_STREAM_ABSENT": _deaf,
    "MOD_LABEL_EXTRA": lambda b: replace(b.find(visual), modality="audio-visual"),
    "MOD_LABEL_MISSING": lambda b: replace(b.by_query(During), modality="visual"),
    "MOD_REDUNDANT": _redundant,
    "AV_UNLINKED": _unlinked,
    "ANS_IN_QUESTION": lambda b: turn(
        (g := b.find(lambda g: visual(g) and g.format == "open" and g.subtype == "place")),
        question=f"It is {g.turns[0].answer} Where is it?",
    ),
    "ANS_IN_HISTORY": lambda b: turn((g := b.find(dialogue)), 0, answer=g.turns[1].answer),
    "ANS_NOT_UNIQUE": lambda b: spec(b.by_query(ActQuery), query=ActQuery(0.0, 1e5)),
    "KEYPOINT_UNBOUND": lambda b: turn(b.find(visual), key_points=("a purple elephant",)),
    "OPT_DUP": lambda b: _options(b, how="dup"),
    "OPT_SUBSUMES_KEY": lambda b: _options(b, how="longer"),
    "OPT_ALSO_TRUE": _also_true,
    "OPT_ELIMINABLE": lambda b: _options(b, how="none"),
    "KEY_OUT_OF_RANGE": lambda b: turn(b.find(multiple_choice), key=("H",)),
    "KEY_VOCAB": lambda b: turn(b.find(multiple_choice), answer="Something else entirely."),
    "EDGE_ENDPOINT_MISSING": lambda b: spec((g := b.by_query(Enabler)), direct=(g.turns[0].spec.query.operation,)),
    "EDGE_DIRECTION": lambda b: replace(b.by_query(Enabler), category="Action Effects"),
    "INTENT_IS_ACTION": lambda b: spec(
        (g := b.find(lambda g: g.category == "Intent Attribution" and isinstance(g.turns[0].spec.query, ClauseQuery))),
        value=next(one.text for one in b.cases[g.episode].named(g.turns[0]) if one.kind == "replay"),
    ),
    "INTENT_UNSUPPORTED": lambda b: spec(
        (g := b.find(lambda g: g.category == "Intent Attribution" and isinstance(g.turns[0].spec.query, ClauseQuery))),
        query=ClauseQuery(
            next(
                one.id
                for one in b.cases[g.episode].evidence.values()
                if one.kind == "narration" and " to " not in one.text and " so " not in one.text
            ),
            "purpose",
        ),
    ),
    "GOAL_AFTER_CUTOFF": _late,
    "CLIP_NOT_CUTOFF_SAFE": lambda b: replace((g := _goal(b)), clip=replace(g.clip, end_s=g.clip.end_s + 20)),
    "GOAL_MULTI_ENABLED": _many_goals,
    "GROUND_NOT_NECESSARY": _not_needed,
    "CUE_AFTER_ACTION": _cue,
    "PERCEPT_UNOBSERVED": _percept,
    "REL_ADJACENCY_ONLY": lambda b: replace(b.find(dialogue), links=()),
    "REL_SHARED_OBJECT_ONLY": lambda b: _shared_only(b, True),
    "REL_UNRESOLVED": _unresolved,
    "CHAIN_LINK_UNUSED": lambda b: turn(b.find(dialogue), 1, depends_on=()),
    "CHAIN_CLOSES": lambda b: replace(b.find(dialogue), loop_roles={"goal": "tea"}),
    "LOOP_ROLE_MISSING": lambda b: _loop(b, goal=""),
    "LOOP_ROLE_REUSED": lambda b: _loop(
        b, feedback=(b.find(lambda g: g.category == "Loop").loop_roles or {})["action"]
    ),
    "LOOP_NO_FEEDBACK": _no_feedback,
    "LOOP_ORDER_ONLY": _order_only,
    "LOOP_SUCCESS_ASSUMED": lambda b: _loop(b, outcome="it worked out well"),
    "XLOOP_BRIDGE_MISSING": lambda b: replace(
        b.find(lambda g: g.category == "Loop"), category="Cross-loop", bridging_fact=""
    ),
    "XLOOP_FIRST_UNUSED": lambda b: replace(b.find(lambda g: g.category == "Loop"), category="Cross-loop", links=()),
    "TURN_COUNT": lambda b: replace((g := b.find(dialogue)), turns=g.turns * 3),
    "TURN_NO_NEW_EVIDENCE": lambda b: spec((g := b.find(dialogue)), 1, new=g.turns[0].spec.direct),
    "TURN_NO_INHERITED": lambda b: spec(b.find(dialogue), 1, inherited=()),
    "TURN_STANDALONE_DIFF": lambda b: turn(b.find(dialogue), 1, standalone=""),
}


@pytest.mark.parametrize("code", GROUPS)
def test_a_planted_fault_is_caught_with_its_code(bench: Bench, code: str) -> None:
    made = GROUPS[code](bench)
    group, case = made if isinstance(made, tuple) else (made, bench.cases[made.episode])
    assert code in {found.code for found in check_group(group, case)}


def test_clean_items_are_not_flagged(bench: Bench) -> None:
    flagged = [
        (group.id, found)
        for group in bench.groups
        for found in check_group(group, bench.cases[group.episode])
        if found.severity != "warning"
    ]
    assert len(bench.groups) > 400 and flagged == []
    assert collection_findings(bench.groups) == {}


# --- faults of collections, items, repairs, judgements, exports, reviews ---------------------------------------


def of_collection(groups: Iterable[QuestionGroup]) -> set[str]:
    return {found.code for findings in collection_findings(list(groups)).values() for found in findings}


def of_items(*items: Item) -> set[str]:
    return {found.code for findings in item_findings(items, {"v1": 239.0}).values() for found in findings}


def test_faults_of_a_collection(bench: Bench) -> None:
    group, other = bench.groups[0], bench.groups[1]
    assert "ID_DUP" in of_collection([group, replace(other, id=group.id)])
    assert "DUP_GROUP" in of_collection([group, replace(group, id="qa_again")])
    assert "ANS_CONFLICT_GROUP" in of_collection([group, turn(replace(group, id="qa_again"), answer="Something else.")])
    assert "DUP_EVENT" in of_collection(
        [group, turn(replace(group, id="qa_again"), question="Otherwise put: " + group.turns[0].question)]
    )
    long = turn(
        group,
        question=(
            "What is it that I do with the mug that stands on the counter beside the kettle and the tea and the milk"
            " and the spoon and the sugar, after I have come in, have opened the window, have looked around and have"
            " thought about what there is to do next in this part of the clip?"
        ),
    )
    near = spec(
        turn(replace(long, id="qa_near"), question=long.turns[0].question.replace("part", "piece")),
        query=Amount("x", 0.0, 1.0),
    )
    assert "DUP_NEAR" in of_collection([long, near])
    assert "SPLIT_LEAK_VIDEO" in of_collection(
        [
            replace(group, split="train"),
            replace(next(g for g in bench.groups[1:] if g.clip.video == group.clip.video), split="test"),
        ]
    )
    assert {f.code for f in position_findings([(4, ("A",))] * 60 + [(4, ("B",))] * 10)} == {"KEY_POSITION_BIAS"}
    assert position_findings([(4, (letter,)) for letter in "ABCD"] * 25) == []
    manifest = read_manifest(bench.qa)
    assert drift(manifest, {"accepted": bench.groups}) == []
    assert {f.code for f in drift(manifest, {"accepted": bench.groups[1:]})} == {"COUNT_DRIFT"}


def test_field_type_is_said_with_its_path(bench: Bench) -> None:
    row = msgspec.to_builtins(bench.groups[0])
    row["turns"][0]["question"] = 7
    with pytest.raises(msgspec.ValidationError, match=r"question"):
        msgspec.convert(row, QuestionGroup)


def test_faults_of_anybodys_items() -> None:
    options = dict(zip("ABCDE", ["by hand", "with the towel", "with the cloth", "by air", "By air. "], strict=True))
    item = Item(id="i", group="i", question="How?", options=options, key=("E",), answer="By air.", videos=("v1",))
    assert "OPT_DUP" in of_items(item)  # C105
    found = next(iter(item_findings([item]).values()))
    assert any(f.message == "duplicate choices D and E" for f in found)
    late = Item(id="i", group="i", question="When?", answer="then", videos=("v1",), start_s=240.0, end_s=245.0)
    assert "IVL_OUT_OF_MEDIA" in of_items(late)  # C106
    messages = [f.message for f in item_findings([replace(late, end_s=240.0, start_s=230.0)], {"v1": 239.0})["i"]]
    assert messages == ["evidence 240.0 s after end 239.0 s"]
    hold = Item(
        id="i",
        group="i",
        question="HOLD",
        answer="169",
        options=dict(zip("ABCD", ["168", "167", "15", "416"], strict=True)),
        key=("A",),
    )
    assert {"FIELD_EMPTY", "KEY_VOCAB"} <= of_items(hold)  # C107: refused twice over
    said = " ".join(f.message for f in item_findings([hold])["i"])
    assert "placeholder question" in said and "not in choices" in said
    box = Item(
        id="i", group="i", question="What is <BBOX 900 100 800 200> at <TIME 00:03:1.8 video 1>?", answer="a mug"
    )
    assert {"BOX_ORDER"} <= of_items(box) and "TIME_FORMAT" not in of_items(
        replace(box, question="<TIME 00:03:01.800 video 1>?")
    )
    assert "BOX_OOB" in of_items(replace(box, question="What is <BBOX 100 100 2000 200>?"))
    assert {"ID_DUP"} <= {f.code for f in item_findings([late, late])["i"]}


def test_faults_of_repairs(bench: Bench) -> None:
    group = bench.find(lambda g: g.category == "Goal Planning")
    codes = {
        found.code
        for after in (
            replace(group, category="World State"),
            spec(group, direct=(*group.turns[0].spec.direct, "op_00001")),
            spec(group, query=NextStep(1.0)),
            spec(group, cutoff_s=1.0),
            replace(group, repairs=tuple(Repair(code=str(n), path="", before=0, after=1) for n in range(3))),
        )
        for found in repair_findings(group, after)
    }
    assert codes == {"REP_LEVEL_CHANGED", "REP_NEW_FACT", "REP_TARGET_CHANGED", "REP_CUTOFF_CHANGED", "REP_LIMIT"}
    assert list(repair_findings(group, group)) == []


def judged(**fields: Any) -> JudgeRecord:
    base: dict[str, Any] = {
        "item": "i",
        "group": "g",
        "round": 0,
        "verdict": "judged",
        "correct": 1,
        "score": 5,
        "judge": {"kind": "rule", "name": "ego2world rules", "rubric": "0-5"},
    }
    return JudgeRecord(**(base | fields))


def test_faults_of_judgements_figures_and_protocols(bench: Bench, tmp_path: Path) -> None:
    unread = tuple({"stage": "decide", "parse": "unparsed"} for _ in range(3))
    codes = {
        row["code"]
        for record in (
            judged(verdict="error", correct=None, score=0),
            judged(correct=1, score=2),
            judged(judge={"kind": "model", "name": "m", "rubric": "0-5"}),
            judged(stages=unread),
        )
        for row in score_findings([record])
    }
    assert codes == {"JUDGE_FAIL_AS_SCORE", "JUDGE_SCORE_CONFLICT", "JUDGE_IDENTITY", "PARSE_RATE"}
    assert score_findings([judged(), judged(correct=0, score=3)]) == []
    assert [row["code"] for row in figure_findings([{"name": "Ego State", "percent": "73.13", "n": 345}])] == [
        "DEN_MISMATCH"
    ]
    assert figure_findings([{"name": "Ego State", "percent": "73.13", "n": 67}]) == []
    items = [item for item in items_of(bench.groups) if item.options][:4]
    client = ModelClient(MockModel(lambda request: "A"))
    for name, settings in (("a", AnswerSettings()), ("b", AnswerSettings(max_tokens=7))):
        answer(items, "q", tmp_path / name, client, settings)
        score(items, tmp_path / name, Judge())
    with pytest.raises(UsageError, match="PROTO_DRIFT"):
        compare(items, [tmp_path / "a", tmp_path / "b"])


def test_faults_that_audits_find() -> None:
    def made(n: int, key: str) -> Item:
        options = {letter: f"option {letter} {n}" for letter in "ABCD"}
        options[key] = f"a much longer right answer than any other, number {n}"
        return Item(
            id=f"i{n}",
            group=f"i{n}",
            question=f"Question {n}?",
            dataset="d",
            prototype="p",
            options=options,
            key=(key,),
            answer=options[key],
            videos=(f"v{n % 9}",),
        )

    report = audit([made(n, "ABCD"[n % 4]) for n in range(120)])
    flagged = [row for row in report["blind"] if row["code"] == "SHORTCUT_ITEMSET"]
    assert {row["guesser"] for row in flagged} >= {"longest"} and all(row["caught"] for row in flagged)
    assert report["shortcut_items"]["code"] == "SHORTCUT_ITEM" and len(report["shortcut_items"]["items"]) == 120


def test_faults_of_exports_and_reviews(bench: Bench) -> None:
    row = {
        "messages": [{"role": "user", "content": "<video>What?"}, {"role": "assistant", "content": "A mug."}],
        "videos": [],
        "audios": [],
    }
    assert {f.code for f in media_findings([row])} == {"EXP_MEDIA_COUNT"}
    assert media_findings([row | {"videos": ["a.mp4"]}]) == []
    assert {f.code for f in placeholder_findings([("q", "Where is {thing}?")])} == {"EXP_PLACEHOLDER"}
    group = bench.groups[0]
    kept = ReviewDecision(
        id="review_000001",
        item=group.id,
        reviewer="anna",
        version=0,
        decision="accept",
        content_hash=group.content_hash,
        media_verified=True,
    )
    assert review_findings([kept], {group.id: group}) == []
    codes = {
        f.code
        for f in review_findings(
            [replace(kept, content_hash="old"), replace(kept, media_verified=False)], {group.id: group}
        )
    }
    assert codes == {"REVIEW_STALE", "REVIEW_MEDIA_UNVERIFIED"}


def test_every_code_has_a_planted_fault() -> None:
    """The tests above name every code; a new code without a fault fails here."""
    text = "".join(
        (Path(__file__).parent / name).read_text("utf-8") for name in ("test_qa_faults.py", "test_qa_propose.py")
    )
    missing = [code for code in CODES if f'"{code}"' not in text and code not in ("FIELD_TYPE",)]
    assert missing == [] and "test_field_type_is_said_with_its_path" in text
    assert {severity(code) for code in CODES} == {"error", "review", "warning"}
