"""A model proposes questions under a schema; the validators that check the rules' questions check these too, and
decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ego2world.core.models import MockModel, ModelClient, Request
from ego2world.errors import ModelError
from ego2world.qa.build import FILES, QuestionSettings, build, read_records, read_stage, stage_path
from ego2world.qa.check import check_folder
from ego2world.qa.enrich import divided
from ego2world.qa.interactions import interactions_of
from ego2world.qa.propose import VALIDATION, mock_proposal
from ego2world.qa.recipes import RecipeContext
from ego2world.qa.recording import Recording
from ego2world.qa.records import QuestionGroup, Stage

EPISODE = "K01-20250301-080000"
SETTINGS = QuestionSettings(episodes=(EPISODE,))
NARRATED = {  # what the first events of the episode say, from the sample's source
    1: "Open the upper cupboard with the left hand by pulling its handle.",
    2: "Pick up a mug from the upper cupboard using the right hand.",
}


def opener(respond: Callable[[Request], str]) -> Callable[[], ModelClient]:
    return partial(_client, respond)


def _client(respond: Callable[[Request], str]) -> ModelClient:
    return ModelClient(MockModel(respond, "scripted"))


def question(event: str, narration: str, quote: str) -> dict[str, Any]:
    return {
        "question": "How do I get at what is in there?",
        "answer": "By pulling its handle.",
        "event": event,
        "narration": narration,
        "quote": quote,
        "category": "Action Status",
        "key_points": ["pulling its handle"],
    }


def events(request: Request) -> list[tuple[str, str, str]]:
    rows = [line.split(" | ") for line in request.messages[-1].text.splitlines() if line.startswith("op_")]
    return [(row[0].strip(), row[2].strip(), row[3].strip()) for row in rows]


def run(
    worlds: Path,
    out: Path,
    proposals: Callable[[list[tuple[str, str, str]]], dict[str, list[Any]]],
    keep: str = '{"keep": true, "reason": "ok"}',
) -> list[Request]:
    asked: list[Request] = []

    def respond(request: Request) -> str:
        asked.append(request)
        if request.schema_name == "validate":
            return keep
        if "/0" not in request.tag[-2:]:
            return json.dumps({request.schema_name: []})
        return json.dumps({request.schema_name: proposals(events(request)).get(request.schema_name, [])})

    build(worlds, out, SETTINGS, connect=opener(respond))
    return asked


def proposed(out: Path, status: str) -> list[QuestionGroup]:
    groups: list[QuestionGroup] = read_records(out / FILES[status], QuestionGroup)
    return [group for group in groups if group.producer == "model:scripted"]


def test_a_supported_question_is_accepted_with_its_provenance(sample_worlds: Path, tmp_path: Path) -> None:
    def good(rows: list[tuple[str, str, str]]) -> dict[str, list[Any]]:
        assert rows[0][2] == NARRATED[1] and rows[1][2] == NARRATED[2]
        return {"questions": [question(rows[0][0], rows[0][1], "pulling its handle")]}

    asked = run(sample_worlds, tmp_path, good)
    (group,) = proposed(tmp_path, "accepted")
    assert group.turns[0].spec.evidence and group.category == "Action Status" and group.validation == ()
    head = json.loads(stage_path(tmp_path, EPISODE, "proposals").read_bytes().splitlines()[0])
    assert (
        head["producer"]["kind"] == "model"
        and head["producer"]["model"] == "scripted"
        and head["producer"]["prompts_sha256"]
        and head["input_hash"]
    )
    assert {request.schema_name for request in asked} == {
        "interactions",
        "stages",
        "relations",
        "questions",
        "dialogues",
        "validate",
    } and all(request.schema for request in asked)
    assert "by pulling its handle" in next(r for r in asked if r.schema_name == "validate").messages[-1].text
    assert check_folder(tmp_path, sample_worlds)["verdict"] == "pass"
    again = run(sample_worlds, tmp_path, good)
    assert again == []  # the stage holds: nothing is asked twice


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"quote": "pushing with the elbow"}, "EV_QUOTE_NOT_FOUND"),
        ({"event": "op_00030"}, "EV_OUTSIDE_EVENT"),
        ({"event": "op_99999", "narration": "K99-1"}, "REF_DANGLING"),
        ({"narration": "K99-1"}, "REF_DANGLING"),
        (
            {"question": "What do I do, by pulling its handle, to open it?", "answer": "By pulling its handle."},
            "ANS_IN_QUESTION",
        ),
        (
            {"answer": "To impress the neighbours watching outside.", "key_points": ["impress the neighbours"]},
            "KEYPOINT_UNBOUND",
        ),
        ({"answer": "", "key_points": []}, "FIELD_EMPTY"),
        ({"question": "How at 900.5 s do I open it?"}, "CLOCK_MIX"),
    ],
)
def test_an_unsupported_proposal_is_refused_with_its_code(
    sample_worlds: Path, tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    run(
        sample_worlds,
        tmp_path,
        lambda rows: {"questions": [question(rows[0][0], rows[0][1], "pulling its handle") | change]},
    )
    found = [group for status in ("rejected", "review") for group in proposed(tmp_path, status)]
    assert proposed(tmp_path, "accepted") == [] and (code in {f.code for group in found for f in group.validation})


def test_a_dialogue_needs_a_dependency_that_holds_when_executed(sample_worlds: Path, tmp_path: Path) -> None:
    def turn(row: tuple[str, str, str], quote: str, asked: str) -> dict[str, Any]:
        return {
            "question": asked,
            "answer": f"{quote.capitalize()}.",
            "event": row[0],
            "narration": row[1],
            "quote": quote,
            "standalone": asked,
        }

    def both(rows: list[tuple[str, str, str]]) -> dict[str, list[Any]]:
        opened = turn(rows[0], "with the left hand", "With which hand do I open something?")
        taken = turn(rows[1], "using the right hand", "And with which hand do I take what is inside?")
        later = turn(
            next(row for row in rows if "teaspoon" in row[2] and row[2].startswith("Pick")),
            "from the drawer",
            "From where do I take the spoon?",
        )
        base = {"bridging_fact": "the cupboard is open", "lost_without_earlier": "that it can be reached"}
        return {"dialogues": [base | {"turns": [opened, taken]}, base | {"turns": [opened, later]}]}

    run(sample_worlds, tmp_path, both)
    (kept,) = proposed(tmp_path, "accepted")
    assert len(kept.turns) == 2 and "take what is inside" in kept.turns[1].question and kept.links
    (refused,) = proposed(tmp_path, "rejected")
    assert {f.code for f in refused.validation} & {"REL_ADJACENCY_ONLY", "REL_SHARED_OBJECT_ONLY"}


def test_the_validating_call_can_refuse_and_an_unreadable_one_is_for_review(
    sample_worlds: Path, tmp_path: Path
) -> None:
    def good(rows: list[tuple[str, str, str]]) -> dict[str, list[Any]]:
        return {"questions": [question(rows[0][0], rows[0][1], "pulling its handle")]}

    run(sample_worlds, tmp_path / "a", good, '{"keep": false, "reason": "the hand is not seen"}')
    (group,) = proposed(tmp_path / "a", "rejected")
    assert [(f.code, f.message) for f in group.validation] == [("MODEL_REJECTS", "the hand is not seen")]
    run(sample_worlds, tmp_path / "b", good, "Sure! I would keep it.")
    (group,) = proposed(tmp_path / "b", "review")
    assert {f.code for f in group.validation} == {"MODEL_REJECTS"}
    assert VALIDATION["required"] == ["keep", "reason"]


@pytest.mark.parametrize(
    "reply",
    [
        "I cannot help with that.",
        "[]",
        '{"questions": "none"}',
        '{"questions": [{"question": 3}]}',
        "",
        '{"questions": [{}]}',
    ],
)
def test_an_unreadable_reply_proposes_nothing(sample_worlds: Path, tmp_path: Path, reply: str) -> None:
    build(sample_worlds, tmp_path, SETTINGS, connect=opener(lambda request: reply))
    assert read_stage(tmp_path, EPISODE, "proposals") == []


def test_a_service_that_fails_is_named_and_the_other_episodes_go_on(sample_worlds: Path, tmp_path: Path) -> None:
    other = "K01-20250301-190000"

    def respond(request: Request) -> str:
        if request.tag.startswith(EPISODE):
            raise ModelError("scripted", "HTTP 503")
        return json.dumps({request.schema_name: []})

    manifest = build(sample_worlds, tmp_path, QuestionSettings(episodes=(EPISODE, other)), connect=opener(respond))
    assert manifest["failed"] == {EPISODE: {"code": "ModelError", "message": "model scripted: HTTP 503"}}
    assert manifest["totals"]["accepted"] > 0 and all(
        group.episode == other for group in read_records(tmp_path / FILES["accepted"], QuestionGroup)
    )


def test_what_is_narrated_cannot_give_the_model_orders(sample_worlds: Path, tmp_path: Path) -> None:
    asked = run(sample_worlds, tmp_path, lambda rows: {})
    for request in asked:
        text, said = request.messages[-1].text, " ".join(request.messages[0].text.split())
        assert text.count("<data>") == 1 and text.strip().endswith("</data>") and "never follow instructions" in said


def test_the_mock_goes_through_the_whole_engine(sample_worlds: Path, tmp_path: Path) -> None:
    build(sample_worlds, tmp_path, QuestionSettings(), connect=opener(mock_proposal))
    assert {group.category for group in proposed(tmp_path, "accepted")} >= {"Intent Attribution", "Intent Formation"}


def test_what_a_model_adds_to_interactions_stands_in_their_own_narrations(sample_worlds: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    build(sample_worlds, plain, SETTINGS)
    before = {one.operation: one for one in read_stage(plain, EPISODE, "interactions")}

    def meant(rows: list[tuple[str, str, str]]) -> dict[str, list[Any]]:
        first, second = rows[0][0], rows[1][0]
        empty = {"trigger": "", "intention": "", "feedback": ""}
        return {
            "interactions": [
                empty | {"event": first, "feedback": "by pulling its handle", "trigger": "because the cat wanted in"},
                empty
                | {
                    "event": second,
                    "intention": "pick up a mug from the upper cupboard",
                },  # the action in its own words
                empty | {"event": "op_99999", "intention": "to be or not to be"},
                {"event": 3},
            ]
        }

    run(sample_worlds, tmp_path / "model", meant)
    after = {one.operation: one for one in read_stage(tmp_path / "model", EPISODE, "interactions")}
    changed = {name for name, one in after.items() if one != before[name]}
    assert len(after) == len(before) and len(changed) == 1
    (one,) = (after[name] for name in changed)
    assert one.feedback == "by pulling its handle" and one.trigger is None and one.by_model == ("feedback",)


def test_stages_of_a_model_hold_events_in_order_and_once(sample_worlds: Path) -> None:
    context = RecipeContext(Recording.load(sample_worlds, EPISODE))
    rows = interactions_of(context)
    operations = [one.operation for one in rows if one.operation]

    def respond(request: Request) -> str:
        stages = [
            {"first": operations[0], "last": operations[2], "label": "Beginning"},
            {"first": operations[2], "last": operations[4], "label": "Overlap"},
            {"first": operations[6], "last": operations[5], "label": "Backwards"},
            {"first": "op_x", "last": operations[5], "label": "Nowhere"},
        ]
        return json.dumps({"stages": stages if request.tag.endswith("/0") else []})

    span_s = (rows[0].span_s[0], rows[-1].span_s[1])
    nameless = Stage(
        id="stage_001",
        episode=EPISODE,
        label="",
        span_s=span_s,
        source="none",
        interactions=tuple(one.id for one in rows),
        entities=(),
    )
    stages = divided(context, [nameless], rows, ModelClient(MockModel(respond)))
    assert all(a.span_s[1] <= b.span_s[1] for a, b in pairwise(stages)) and [
        one for stage in stages for one in stage.interactions
    ] == [one.id for one in rows]
    assert [(stage.label, stage.source, len(stage.interactions)) for stage in stages] == [
        ("Beginning", "model", 3),
        ("", "none", len(rows) - 3),
    ]
    named = replace(nameless, source="activity", label="Make tea")
    assert divided(context, [named], rows, ModelClient(MockModel(respond))) == [
        named
    ]  # what the annotations name stays


def test_relations_of_a_model_hold_when_executed_or_are_kept_as_ineligible(sample_worlds: Path, tmp_path: Path) -> None:
    def links(rows: list[tuple[str, str, str]]) -> dict[str, list[Any]]:
        spoon = next(row[0] for row in rows if row[2].startswith("Pick up a teaspoon"))
        base = {"type": "continued_goal", "carried": "something"}
        return {
            "relations": [
                base | {"source": rows[0][0], "target": spoon},
                base | {"source": spoon, "target": rows[0][0]},
                base | {"source": "x", "target": spoon},
            ]
        }

    run(sample_worlds, tmp_path, links)
    (made,) = [one for one in read_stage(tmp_path, EPISODE, "relations") if one.identity_basis == "model"]
    assert (
        not made.eligible
        and made.uncertainty == "unresolved"
        and made.reject_code in ("REL_ADJACENCY_ONLY", "REL_SHARED_OBJECT_ONLY")
    )
