"""Faults that people met with symbolic kitchens (cases/open.jsonl, areas "world" and "contracts")."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from conftest import make_world
from ego2world.compiler.reason import Why
from ego2world.errors import TaskError
from ego2world.run.environment import Environment
from ego2world.tasks.contract import Contract, check_goal, make_contract
from ego2world.world.actions import BY_NAME
from ego2world.world.codes import Code
from ego2world.world.conditions import AnyCondition, Condition, CountCondition, EventCondition, FactCondition
from ego2world.world.episode import Episode
from ego2world.world.explain import found, needed
from ego2world.world.fluents import Truth
from ego2world.world.names import planning_names
from ego2world.world.observation import Proposal
from ego2world.world.observe import Viewer, visible
from ego2world.world.refusal import Refusal
from ego2world.world.repair import repair_plan
from ego2world.world.state import Action, State, World
from ego2world.world.step import step
from naive import differences

ON, IN = "on", "in"


def refused(world: World, state: State, name: str, **roles: str) -> Refusal:
    before = state.digest()
    result = step(world, state, Action.of(name, roles))
    assert isinstance(result, Refusal) and result.failures
    assert state.digest() == before
    return result


def done(world: World, state: State, name: str, **roles: str | tuple[str, ...]) -> State:
    result = step(world, state, Action.of(name, roles))
    assert isinstance(result, State), str(result)
    return result


def episode(world: World, state: State) -> Episode:
    return Episode("e", world, state, (), (), (), (), dict.fromkeys(world.zones, "here"), {}, "")


KITCHEN: Mapping[str, str] = {
    "counter_1": "counter",
    "table_1": "table",
    "shelf_1": "shelf",
    "fridge_1": "fridge",
    "sink_1": "sink",
    "hob_1": "hob",
    "cupboard_1": "cupboard",
    "cup_1": "cup",
    "cup_2": "cup",
    "cup_3": "cup",
    "tray_1": "tray",
    "bowl_1": "bowl",
    "egg_1": "egg",
    "egg_2": "egg",
    "glass_1": "glass",
    "glass_2": "glass",
    "glass_3": "glass",
    "water_1": "water",
    "tap_1": "tap",
    "pan_1": "pan",
    "plate_1": "plate",
    "key_1": "tool",
    "jar_1": "jar",
    "biscuit_1": "food",
    "lamp_1": "light",
    "plug_1": "plug",
    "drawer_1": "drawer",
    "drawer_2": "drawer",
    "drawer_10": "drawer",
    "drawer_3": "drawer",
    "cloth_1": "cloth",
}
FIXED = (
    "counter_1",
    "table_1",
    "shelf_1",
    "fridge_1",
    "sink_1",
    "hob_1",
    "cupboard_1",
    "tap_1",
    "lamp_1",
    "drawer_1",
    "drawer_2",
    "drawer_10",
    "drawer_3",
)


def kitchen(facts: Mapping, far: tuple[str, ...] = ()) -> tuple[World, State]:
    zones = {f: "zone_1" for f in FIXED if f not in far} | dict.fromkeys(far, "zone_2")
    return make_world(KITCHEN, zones, facts)


def test_c043_every_container_around_counts() -> None:
    world, state = kitchen(
        {("place", "bowl_1"): (IN, "fridge_1"), ("place", "egg_1"): (IN, "bowl_1"), ("openness", "fridge_1"): "closed"}
    )
    failure = refused(world, state, "pick_up", object="egg_1").failures[0]
    assert failure.code is Code.CLOSED_AROUND and (failure.blocker, failure.found) == ("fridge_1", "closed")
    opened = done(world, state, "open_fridge", object="fridge_1")
    assert done(world, opened, "pick_up", object="egg_1").get("place", "egg_1")[0] == "held"


def test_c045_water_is_not_held() -> None:
    world, state = kitchen({("place", "cup_1"): (ON, "counter_1"), ("power", "tap_1"): "on"})
    assert refused(world, state, "pick_up", object="water_1").failures[0].code in {Code.NOT_PORTABLE, Code.WRONG_KIND}
    filled = done(world, state, "fill_from_tap", object="cup_1", source="tap_1", content="water_1")
    assert filled.get("contains", "cup_1", "water_1") is True


def test_c046_refused_is_not_accepted_and_known_is_not_invented() -> None:
    world, state = kitchen(
        {
            ("place", "cup_1"): ("held", "right_hand"),
            ("place", "plug_1"): (ON, "counter_1"),
            ("openness", "cupboard_1"): "closed",
        }
    )
    refusal = refused(world, state, "put_in_storage", object="cup_1", target="cupboard_1")
    assert all(needed(f) and found(f) for f in refusal.failures)
    done(world, state, "unplug", object="plug_1")
    assert refused(world, state, "put_back", object="cup_1").failures[0].code is Code.UNKNOWN_ACTION


def test_c048_the_glass_that_was_taken_is_held() -> None:
    world, state = kitchen({("place", f"glass_{i}"): (ON, "shelf_1") for i in (1, 2, 3)})
    state = done(world, state, "pick_up", object="glass_2")
    assert [thing for _, thing in state.held] == ["glass_2"]
    assert refused(world, state, "put_on_worktop", object="glass_1", target="table_1").failures[0].code is Code.NOT_HELD
    assert done(world, state, "put_on_worktop", object="glass_2", target="table_1").get("place", "glass_2") == (
        ON,
        "table_1",
    )


def test_c050_same_source_and_destination() -> None:
    world, state = kitchen({("place", "cup_1"): (ON, "counter_1")})
    assert done(world, state, "move_to", object="cup_1", source="counter_1", target="counter_1").get(
        "place", "cup_1"
    ) == (ON, "counter_1")


def test_c051_a_tray_carries_its_cargo() -> None:
    world, state = kitchen(
        {
            ("place", "tray_1"): (ON, "counter_1"),
            ("place", "cup_1"): (ON, "tray_1"),
            ("place", "cup_2"): (ON, "tray_1"),
        },
        far=("table_1",),
    )
    state = done(world, state, "pick_up", object="tray_1", hand="both_hands")
    state = done(world, state, "navigate", target="zone_2")
    state = done(world, state, "put_on_worktop", object="tray_1", target="table_1")
    assert [state.get("place", c) for c in ("cup_1", "cup_2", "tray_1")] == [
        (ON, "tray_1"),
        (ON, "tray_1"),
        (ON, "table_1"),
    ]
    assert not [k for k, v in state.facts.items() if v == (ON, "counter_1")] and not state.held


fact = FactCondition


def test_c052_goal_true_at_start_is_refused() -> None:
    world, state = kitchen({("place", "plate_1"): (ON, "table_1")})
    contract, _ = make_contract("t", "terminal-state", [fact("place", "plate_1", [ON, "table_1"])])
    with pytest.raises(TaskError, match="goal true at start"):
        check_goal("t", contract, world, state)


def test_c054_existential_goals_look_at_every_instance() -> None:
    _, state = kitchen({("place", "cup_1"): (ON, "table_1"), ("place", "cup_2"): (IN, "sink_1")})
    exists = CountCondition(["cup_1", "cup_2"], "place", [IN, "sink_1"], 1)
    either = AnyCondition([fact("place", "cup_1", [IN, "sink_1"]), fact("place", "cup_2", [IN, "sink_1"])])
    for condition in (exists, either):
        assert Contract("terminal-state", (condition,)).holds(state) is Truth.TRUE


def test_c056_contradictory_goals_are_refused_with_the_pair() -> None:
    with pytest.raises(TaskError, match="openness of fridge_1 cannot be both open and closed"):
        make_contract(
            "t", "terminal-state", [fact("openness", "fridge_1", "open"), fact("openness", "fridge_1", "closed")]
        )
    with pytest.raises(TaskError, match="place of pan_1"):
        make_contract(
            "t", "terminal-state", [fact("place", "pan_1", [ON, "table_1"]), fact("place", "pan_1", [IN, "sink_1"])]
        )
    contract, notes = make_contract("t", "terminal-state", [fact("place", "egg_1", [IN, "bowl_1"])] * 2)
    assert len(contract.conditions) == 1 and len(notes) == 1


def test_c057_distinct_instances_are_counted() -> None:
    world, state = kitchen({("place", f"cup_{i}"): (ON, "counter_1") for i in (1, 2, 3)})
    goal = Contract("terminal-state", (CountCondition(["cup_1", "cup_2", "cup_3"], "place", [IN, "sink_1"], 2),))

    def sink(state: State, cup: str) -> State:
        return done(world, done(world, state, "pick_up", object=cup), "put_in_sink", object=cup, target="sink_1")

    assert goal.holds(sink(sink(state, "cup_1"), "cup_1")) is not Truth.TRUE
    assert goal.holds(sink(sink(state, "cup_2"), "cup_3")) is Truth.TRUE


def test_c053_goals_that_can_never_hold_are_refused() -> None:
    world, state = kitchen({("place", "cup_1"): (ON, "table_1")})
    for condition in (
        CountCondition([], "place", [IN, "sink_1"], 1),
        CountCondition(["cup_1"], "place", [IN, "sink_1"], 3),
        CountCondition(["cup_1"], "place", [IN, "sink_1"], 0),
        AnyCondition([]),
    ):
        with pytest.raises(TaskError) as caught:
            make_contract("t", "terminal-state", [condition])
        assert caught.value.because.why in {Why.IMPOSSIBLE_COUNT, Why.NO_OPTIONS}
    wanted: Condition
    for wanted, why in (
        (fact("place", "cup_99", [IN, "sink_1"]), Why.UNKNOWN_THING),
        (fact("place", "cup_1", [IN, "sink_99"]), Why.UNKNOWN_THING),
        (EventCondition("wash", "cup_99"), Why.UNKNOWN_THING),
        (fact("shininess", "cup_1", "high"), Why.UNKNOWN_FLUENT),
    ):
        contract, _ = make_contract("t", "terminal-state", [wanted])
        with pytest.raises(TaskError) as caught:
            check_goal("t", contract, world, state)
        assert caught.value.because.why is why


def test_c059_a_wrong_state_fails_whatever_is_said() -> None:
    _, state = kitchen({("place", "pan_1"): (ON, "table_1")})
    assert Contract("terminal-state", (fact("place", "pan_1", [ON, "hob_1"]),)).holds(state) is Truth.FALSE


def test_c060_planning_names_round_trip() -> None:
    ids = ["at", "and_1", "from", "not", "and", "Cup", "cup", "1/20th measure"]
    names = planning_names(ids)
    assert len(set(names.values())) == len(ids)
    assert not set(names.values()) & {"and", "not", "at", "from"}
    assert sorted({name: i for i, name in names.items()}.values()) == sorted(ids)


def test_c062_class_names_that_fit_several_things() -> None:
    world, state = kitchen({("openness", d): "closed" for d in ("drawer_1", "drawer_2", "drawer_10", "drawer_3")})
    hidden = World(
        {i: e for i, e in world.entities.items() if i != "drawer_3"},
        world.zones,
        {f: z for f, z in world.zone_of.items() if f != "drawer_3"},
    )
    environment = Environment(episode(hidden, state))
    attempt, feedback = environment.attempt(Proposal("open", {"object": "drawer"}))
    assert not attempt.accepted and feedback.failures[0].code == "ambiguous"
    assert attempt.failures[0].found == ("drawer_1", "drawer_10", "drawer_2")
    assert environment.attempt(Proposal("open", {"object": "drawer_1"}))[0].accepted
    assert (
        environment.state.get("openness", "drawer_1") == "open"
        and environment.state.get("openness", "drawer_10") == "closed"
    )


@pytest.mark.parametrize(("states", "least"), [(70, 20_000), pytest.param(200, 60_000, marks=pytest.mark.slow)])
def test_c064_declarations_and_executor_agree(states: int, least: int) -> None:
    world, state = kitchen(
        {
            ("place", "bowl_1"): (ON, "counter_1"),
            ("place", "egg_1"): (ON, "counter_1"),
            ("place", "egg_2"): (IN, "bowl_1"),
            ("place", "cup_1"): (IN, "cupboard_1"),
            ("openness", "cupboard_1"): "closed",
            ("power", "tap_1"): "off",
            ("place", "jar_1"): (ON, "shelf_1"),
            ("openness", "jar_1"): "closed",
            ("place", "cloth_1"): (IN, "sink_1"),
            ("contains", "jar_1", "water_1"): True,
            ("openness", "fridge_1"): "closed",
            ("place", "biscuit_1"): (IN, "fridge_1"),
        },
        far=("table_1",),
    )
    checked, differ = differences(world, state, states=states, seed=5, most=6)
    assert differ == [] and checked > least
    put = Action.of("put_in_vessel", {"object": "egg_1", "target": "bowl_1"})
    assert isinstance(step(world, done(world, state, "pick_up", object="egg_1"), put), State)


def test_c065_what_is_held_is_shown_as_held() -> None:
    world, state = kitchen({("place", "key_1"): (ON, "table_1")})
    after = done(world, state, "pick_up", object="key_1")
    seen = Viewer(world, state, {}).local(after)
    assert [(hand, thing.id) for hand, thing in seen.holding] == [("right_hand", "key_1")]
    assert "key_1" not in visible(world, after, "zone_1")


def test_c066_seeing_is_not_reaching() -> None:
    world, state = kitchen(
        {
            ("place", "jar_1"): (ON, "shelf_1"),
            ("openness", "jar_1"): "closed",
            ("place", "biscuit_1"): (IN, "jar_1"),
            ("openness", "cupboard_1"): "closed",
            ("place", "cup_1"): (IN, "cupboard_1"),
        }
    )
    seen = visible(world, state, "zone_1")
    assert "biscuit_1" in seen and "cup_1" not in seen
    environment = Environment(episode(world, state))
    _, feedback = environment.attempt(Proposal("take", {"object": "biscuit_1"}))
    assert feedback.failures[0].code == "closed_around" and "jar_1 open" in feedback.failures[0].needed
    _, feedback = environment.attempt(Proposal("take", {"object": "cup_1"}))
    assert (
        feedback.failures[0].code == "not_visible" and "cupboard" not in str(feedback.failures) and not feedback.repair
    )


def test_c067_three_different_reasons() -> None:
    world, state = kitchen({("place", "cloth_1"): (IN, "drawer_3"), ("openness", "drawer_3"): "closed"})
    environment = Environment(episode(world, state))
    codes = [
        environment.attempt(Proposal(*p))[1].failures[0].code
        for p in (
            ("navigate", {"target": "zone_1"}),
            ("navigate", {"target": "drawer_99"}),
            ("take", {"object": "cloth_1"}),
        )
    ]
    assert codes == ["already_there", "unknown_object", "not_visible"]


def test_c069_same_bytes_under_any_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom ego2world.annotations.hd_epic import read_hd_epic\n"
        "from ego2world.samples import sample_source\nfrom ego2world.collection import build_worlds\n"
        "build_worlds(read_hd_epic(sample_source(), ['K01-20250301-080000', 'K03-20250520-170000']), Path(sys.argv[1]))"
    )
    made = []
    for seed in ("0", "1", "2"):
        out = tmp_path / seed
        subprocess.run([sys.executable, "-c", code, str(out)], check=True, env={"PYTHONHASHSEED": seed})
        made.append({p.relative_to(out).as_posix(): p.read_bytes() for p in sorted(out.rglob("*")) if p.is_file()})
    assert made[0] == made[1] == made[2] and len(made[0]) == 9


def test_a_repair_plan_makes_the_action_valid() -> None:
    world, state = kitchen(
        {
            ("place", "egg_1"): (IN, "bowl_1"),
            ("place", "bowl_1"): (IN, "fridge_1"),
            ("openness", "fridge_1"): "closed",
            ("place", "cup_1"): ("held", "right_hand"),
            ("place", "cup_2"): ("held", "left_hand"),
        },
        far=("fridge_1",),
    )
    refusal = refused(world, state, "pick_up", object="egg_1")
    plan = repair_plan(world, state, refusal)
    assert plan is not None and {a.name for a in plan} >= {"navigate", "open_fridge"}
    for action in plan:
        state = step(world, state, action)  # type: ignore[assignment]
        assert isinstance(state, State)
    assert isinstance(step(world, state, refusal.action), State)
    assert all(a.name in BY_NAME for a in plan)
