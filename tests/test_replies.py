"""Model replies to plans: the structure is normalised and every repair is named, what the planner meant is never
mended."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_world
from ego2world.agents.replies import ParsedPlan, ParseStatus, read_plan
from ego2world.run.environment import Environment
from ego2world.world.episode import Episode
from ego2world.world.observation import Proposal

OPEN_FRIDGE = (Proposal("open", {"object": "fridge_1"}),)


def test_c071_a_fence_that_is_not_the_json_and_back_ticks_in_a_value() -> None:
    plan = read_plan(
        'I checked `fridge_1` first.\n```bash\nls\n```\n```json\n{"action":"open","args":["fridge_1"],"why":"use `open`'
        ' now"}\n```'
    )
    assert plan.actions == OPEN_FRIDGE and plan.status is ParseStatus.FENCED
    assert plan.extras == {"why": "use `open` now"}
    assert plan.repairs == ("single_action_taken_as_list", "positional_arguments_named")


@pytest.mark.parametrize("opening", ["<think>", ""])
def test_c073_a_draft_in_the_thinking_is_not_the_answer(opening: str) -> None:
    draft = opening + 'maybe {"action":"close","args":["fridge_1"]}</think>\n'
    plan = read_plan(draft + '{"action":"open","args":["fridge_1"]}')
    assert plan.actions == OPEN_FRIDGE and "reasoning_removed" in plan.repairs
    nothing = read_plan(draft)
    assert nothing.status is ParseStatus.NO_ANSWER and not nothing.readable and nothing.actions == ()


def test_c075_an_invented_observation_and_a_second_action_are_dropped() -> None:
    plan = read_plan("Action: open(fridge_1)\nObservation: you see egg_1\nAction: take(egg_1)")
    assert plan.actions == OPEN_FRIDGE and plan.status is ParseStatus.LINES
    assert plan.dropped == ("Observation: you see egg_1", "Action: take(egg_1)")


def sink_and_cup() -> Environment:
    world, state = make_world(
        {"cup_1": "cup", "sink_1": "sink"}, {"sink_1": "zone_1"}, {("place", "cup_1"): ("held", "right_hand")}
    )
    return Environment(Episode("e", world, state, (), (), (), (), {"zone_1": "sink"}, {}, ""))


@pytest.mark.parametrize(
    ("said", "alias"),
    [
        ("put cup_1 in/on sink_1", "put in/on"),
        ("put cup_1 into sink_1", "put into"),
        ("move cup_1 to sink_1", "move to"),
        ("PUT_IN(Cup_1, Sink_1)", None),
    ],
)
def test_c076_wordings_of_one_action_are_one_action(said: str, alias: str | None) -> None:
    plan = read_plan(json.dumps({"actions": [said]}))
    assert plan.aliases == ((alias,) if alias else ())
    attempt, feedback = sink_and_cup().attempt(plan.actions[0])
    assert attempt.accepted and feedback.proposal.action.startswith("put_in")
    assert feedback.proposal.roles == {"object": "cup_1", "target": "sink_1"}


def test_c076_a_missing_destination_is_named() -> None:
    attempt, feedback = sink_and_cup().attempt(read_plan(json.dumps({"actions": ["put down cup_1"]})).actions[0])
    assert not attempt.accepted
    assert [(f.code, f.entity) for f in feedback.failures] == [("missing_role", "target")]


@pytest.mark.parametrize(
    ("reply", "status", "actions", "repairs"),
    [
        ('{"actions": [{"action": "open", "object": ["fridge_1"], "target": ""}]}', "plain", 1, ()),
        ('{"actions": []}', "plain", 0, ()),
        ('Sure!\n{"actions": [{"action": "open", "object": "fridge_1"}]} Done.', "embedded", 1, ()),
        (
            '```json\n{"actions": [{"action": "open", "object": "fridge_1"},]}\n```',
            "fenced",
            1,
            ("trailing_comma_removed",),
        ),
        (
            '<tool_call>{"name": "open", "arguments": {"object": "fridge_1"}}</tool_call>',
            "embedded",
            1,
            ("single_action_taken_as_list", "tool_call_taken_as_action", "nested_roles_lifted"),
        ),
        ('{"actions": [{"action": "open", "object": ["fridge_1"]}, {"action": "clo', "unreadable", 0, ()),
        ('```json\n{"actions": [{"action": "open", "object": ["fridge_1"]}, ', "unreadable", 0, ()),
        ("I'm sorry, I can't help with that.", "unreadable", 0, ()),
        ("", "no_answer", 0, ()),
        ("[1, 2, 3]", "unreadable", 0, ()),
        ('{"actions": "open fridge"}', "unreadable", 0, ()),
    ],
)
def test_shapes(reply: str, status: str, actions: int, repairs: tuple[str, ...]) -> None:
    plan = read_plan(reply)
    assert (plan.status.value, len(plan.actions), plan.repairs) == (status, actions, repairs)
    if actions:
        assert plan.actions == OPEN_FRIDGE


def test_meaning_is_not_mended() -> None:
    plan = read_plan(
        '{"actions": [{"action": "opne", "object": "fridge_1"}, {"action": "open", "object": "no such thing"}]}'
    )
    assert [(a.action, a.roles["object"]) for a in plan.actions] == [("opne", "fridge_1"), ("open", "no such thing")]


@given(
    st.text(max_size=300)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=10),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.sampled_from(["actions", "action", "args", "object", "x"]), inner)
        ),
        max_leaves=12,
    ).map(json.dumps)
)
def test_any_text_is_read_or_refused_without_an_error(reply: str) -> None:
    plan = read_plan(reply)
    assert isinstance(plan, ParsedPlan) and (plan.readable or not plan.actions)
