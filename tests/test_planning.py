"""Tasks as PDDL: the text agrees with the executor, planners' plans replay, references are valid plans, names come
back."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyval.validator import PDDLValidator
from typer.testing import CliRunner

import pddl_law
from conftest import SHARED, make_world, needs_data
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.cli import build_app
from ego2world.collection import build_worlds
from ego2world.errors import RecordError, UsageError
from ego2world.planning import Dialect, make_problem, reference_plan
from ego2world.planning.audit import solve_tasks
from ego2world.planning.export import task_problem, task_reference
from ego2world.planning.solve import Outcome, replayed, search, solve, to_unified_planning, validate
from ego2world.samples import sample_source
from ego2world.tasks.contract import Contract, Event
from ego2world.world.conditions import AnyCondition, CountCondition, EventCondition, FactCondition
from ego2world.world.episode import Episode, load_episode, load_manifest, reference_states
from ego2world.world.fluents import Truth
from ego2world.world.refusal import Refusal
from ego2world.world.state import Action, State, World

unified_io = pytest.importorskip("unified_planning.io", reason="needs the extra planning")


# unified-planning leaves the pipes of a planner's process to the garbage collector
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # its reader calls pyparsing by old names
]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture(scope="module")
def sample_episodes(sample_worlds: Path) -> list[Episode]:
    return [load_episode(sample_worlds, name) for name in load_manifest(sample_worlds)["episodes"]]


@pytest.fixture(scope="module")
def few_worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("few") / "worlds"
    build_worlds(read_hd_epic(sample_source(), ["K01-20250301-080000", "K02-20250411-080000"]), out)
    return out


@pytest.fixture(scope="module")
def real_worlds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("real") / "worlds"
    build_worlds(read_hd_epic(SHARED / "hd-epic", ["P01-20240203-093333", "P08-20240613-122900"]), out)
    return out


def kitchen() -> tuple[World, State]:
    """A pan with an egg in it, a lid, a fridge that is shut, a full right hand; two zones."""
    return make_world(
        {
            "pan_1": "pan",
            "egg_1": "egg",
            "lid_1": "lid",
            "milk_1": "milk",
            "bottle_1": "bottle",
            "cup_1": "cup",
            "table_1": "table",
            "fridge_1": "fridge",
            "spoon_1": "spoon",
        },
        {"table_1": "zone_1", "fridge_1": "zone_2"},
        {
            ("place", "pan_1"): ("on", "table_1"),
            ("place", "egg_1"): ("in", "pan_1"),
            ("place", "lid_1"): ("held", "right_hand"),
            ("place", "bottle_1"): ("in", "fridge_1"),
            ("openness", "fridge_1"): "closed",
            ("contains", "bottle_1", "milk_1"): True,
            ("place", "cup_1"): ("on", "table_1"),
            ("place", "spoon_1"): ("in", "cup_1"),
        },
    )


fact = FactCondition


# --- the text agrees with the executor -----------------------------------------------------------------------------


def test_text_and_executor_agree(sample_episodes: list[Episode]) -> None:
    """Every ground action in random states: no difference in applicability or successor facts (case C064)."""
    tests = successors = 0
    for episode in sample_episodes:
        _, tested, compared, found = pddl_law.compare(episode, 120, most_tasks=2)
        assert not found, found[:3]
        tests, successors = tests + tested, successors + compared
    assert tests > 50_000 and successors > 2_000


@pytest.mark.parametrize(
    "dialect", [Dialect("flat", "adl"), Dialect("typed", "conditional"), Dialect("flat", "conditional")]
)
def test_other_dialects_agree_too(sample_episodes: list[Episode], dialect: Dialect) -> None:
    _, tested, compared, found = pddl_law.compare(sample_episodes[0], 40, dialect, most_tasks=1)
    assert tested > 500 and compared > 50 and not found, found[:3]


@needs_data
@pytest.mark.slow
def test_text_and_executor_agree_on_real_episodes(real_worlds: Path) -> None:
    for name in load_manifest(real_worlds)["episodes"]:
        _, tested, _, found = pddl_law.compare(load_episode(real_worlds, name), 400)
        assert tested > 10_000 and not found, found[:3]


def test_a_full_bowl_takes_more(tmp_path: Path) -> None:
    """The example of case C064: an egg into a bowl that already holds one."""
    world, start = make_world(
        {"egg_1": "egg", "egg_2": "egg", "bowl_1": "bowl", "table_1": "table"},
        {"table_1": "zone_1"},
        {
            ("place", "egg_1"): ("held", "left_hand"),
            ("place", "egg_2"): ("in", "bowl_1"),
            ("place", "bowl_1"): ("on", "table_1"),
        },
    )
    problem = make_problem(
        "eggs", world, start, [fact("place", "egg_1", ["in", "bowl_1"]), fact("place", "egg_2", ["on", "table_1"])]
    )
    _, _, compared, found = pddl_law.differences(problem, start, 200, 0)
    assert compared > 100 and not found, found[:3]


def test_a_wrong_domain_is_noticed() -> None:
    """The comparison can fail: an effect taken out of the text is reported, with the action and the facts."""
    world, start = kitchen()
    problem = make_problem("t", world, start, [fact("openness", "fridge_1", "open")])
    schema = next(s for s in problem.domain.schemas if s.shape.name.startswith("navigate"))
    broken = [
        s if s is not schema else type(s)(s.shape, s.parameters, s.precondition, ("and", *s.effect[1:-1]))
        for s in problem.domain.schemas
    ]
    problem.domain.schemas[:] = broken
    *_, found = pddl_law.differences(problem, start, 50, 0)
    assert found and "navigate" in found[0] and "here" in found[0]


# --- plans -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_sample_task_is_solved_and_replays(sample_worlds: Path) -> None:
    result = solve_tasks(sample_worlds, 30, 2)
    assert result["tasks"] == result["solved"] > 5, result["plans"]
    assert all(plan["plan_steps"] >= 1 for plan in result["plans"].values())


@needs_data
@pytest.mark.slow
def test_every_task_of_real_episodes_is_solved(real_worlds: Path) -> None:
    result = solve_tasks(real_worlds, 60, 2)
    assert result["tasks"] == result["solved"] > 3, result["plans"]


def test_a_plan_through_a_shut_fridge_with_full_hands() -> None:
    world, start = kitchen()
    goal = Contract(
        "terminal-state", (fact("place", "bottle_1", ["on", "table_1"]), fact("openness", "fridge_1", "closed"))
    )
    solution = solve(world, start, goal.conditions)
    assert solution.outcome is Outcome.SOLVED
    end = replayed(world, start, solution.plan)
    assert isinstance(end, State) and goal.holds(end) is Truth.TRUE
    families = [action.name for action in solution.plan]
    assert families.count("navigate") == 2 and any(name.startswith("open") for name in families)


def test_what_a_carrier_carries_comes_along() -> None:
    world, start = kitchen()
    goal = (fact("place", "pan_1", ["in", "fridge_1"]), fact("place", "egg_1", ["in", "pan_1"]))
    solution = solve(world, start, goal)
    end = replayed(world, start, solution.plan)
    assert isinstance(end, State) and Contract("terminal-state", goal).holds(end) is Truth.TRUE


def test_what_cannot_be_is_proved() -> None:
    world, start = make_world({"cup_1": "cup", "table_1": "table"}, {"table_1": "zone_1"}, {})
    assert (
        solve(world, start, [fact("place", "cup_1", ["on", "table_1"])]).outcome is Outcome.IMPOSSIBLE
    )  # nobody knows where it is


def test_conditions_of_every_type_become_goals() -> None:
    world, start = kitchen()
    either = AnyCondition([fact("openness", "fridge_1", "open"), EventCondition("knead", "egg_1")])
    many = CountCondition(["egg_1", "spoon_1", "lid_1"], "place", ["on", "table_1"], 2)
    event = EventCondition("check", "pan_1")
    without = fact("contains", "bottle_1", ["milk_1", False])
    goal = Contract("event", (either, many, event, without))
    solution = solve(world, start, goal.conditions)
    assert solution.outcome is Outcome.SOLVED
    end = replayed(world, start, solution.plan)
    assert isinstance(end, State) and goal.holds(end, [Event.of(action) for action in solution.plan]) is Truth.TRUE


def test_what_can_never_be_is_an_empty_disjunction() -> None:
    """A goal that asks for more of a kind than there is: readable PDDL, and proved impossible."""
    world, start = kitchen()
    many = CountCondition(["egg_1"], "place", ["on", "table_1"], 2)
    problem = make_problem("t", world, start, [many])
    assert "(:goal (or))" in problem.problem_text()
    unified_io.PDDLReader().parse_problem_string(problem.domain_text(), problem.problem_text())
    assert search(problem, 10).outcome is Outcome.IMPOSSIBLE


def test_an_unknown_planner_is_named() -> None:
    world, start = kitchen()
    with pytest.raises(UsageError, match="planner 'no-such'"):
        search(make_problem("t", world, start, [fact("openness", "fridge_1", "open")]), 5, "no-such")


# --- references and independent validators ---------------------------------------------------------------------------


def short_tasks(episode: Episode, longest: int = 12) -> list[tuple[object, State]]:
    states = list(reference_states(episode))
    return [
        (task, states[episode.groups[task.first_group].first])
        for task in episode.tasks
        if episode.groups[task.last_group].last - episode.groups[task.first_group].first < longest
    ]


@pytest.mark.parametrize("tasks", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_references_are_valid_plans(sample_episodes: list[Episode], tmp_path: Path, tasks: int) -> None:
    """By unified-planning's validator and by pyval, which reads nothing but the files; a plan cut short is refused by
    both."""
    judged = 0
    for episode in sample_episodes:
        for task, start in short_tasks(episode, 8)[:tasks]:
            problem, plan = task_reference(episode, task, start)  # type: ignore[arg-type]
            assert validate(problem, plan) == ""
            assert [str(a).split("(")[0] for a in problem.read_plan(plan)]
            cut = "".join(plan.splitlines(keepends=True)[:-1])
            names = ("domain.pddl", "problem.pddl", "plan.txt", "cut.txt")
            texts = (problem.domain_text(), problem.problem_text(), plan, cut)
            for name, text in zip(names, texts, strict=True):
                (tmp_path / name).write_text(text)
            validator = PDDLValidator()
            files = [str(tmp_path / name) for name in names]
            assert validator.validate(files[0], files[1], files[2]).is_valid
            if validate(problem, cut):
                assert not validator.validate(files[0], files[1], files[3]).is_valid
            judged += 1
    assert judged >= 5


def test_reading_the_text_gives_the_same_problem(sample_episodes: list[Episode]) -> None:
    """What unified-planning reads from the files is what is built without them."""
    episode = sample_episodes[0]
    task, start = short_tasks(episode, 99)[0]
    problem = task_problem(episode, task, start)  # type: ignore[arg-type]
    read = unified_io.PDDLReader().parse_problem_string(problem.domain_text(), problem.problem_text())
    built = to_unified_planning(problem)
    assert {a.name for a in read.actions} == {a.name for a in built.actions}
    assert {f.name for f in read.fluents} == {f.name for f in built.fluents}
    assert {str(k) for k, v in read.initial_values.items() if v.is_true()} == {
        str(k) for k, v in built.initial_values.items() if v.is_true()
    }
    for action in read.actions:
        assert len(action.effects) == len(built.action(action.name).effects), action.name


def test_names_come_back() -> None:
    """Keywords and names that differ in case only survive export and import (case C060)."""
    kinds = {
        "and_1": "cup",
        "from": "cup",
        "not": "plate",
        "At": "cup",
        "at": "cup",
        "held": "cup",
        "in": "cup",
        "table_1": "table",
    }
    world, start = make_world(
        kinds, {"table_1": "zone_1"}, {("place", k): ("on", "table_1") for k in kinds if k != "table_1"}
    )
    goal = [fact("place", name, ["on", "not"]) for name in ("and_1", "from", "At", "at", "held", "in")]
    solution = solve(world, start, goal)
    assert solution.outcome is Outcome.SOLVED
    assert {thing for action in solution.plan for thing in action.things} >= {"and_1", "from", "At", "at", "held", "in"}
    problem = make_problem("not", world, start, goal)
    names = problem.domain.names
    assert len(set(names.values())) == len(names)
    with pytest.raises(RecordError, match="no action"):
        problem.read_plan("(fly and_1)")


def test_a_recorded_run_with_several_things_at_once() -> None:
    world, start = make_world(
        {"fork_1": "fork", "fork_2": "fork", "table_1": "table", "drawer_1": "drawer"},
        {"table_1": "zone_1", "drawer_1": "zone_1"},
        {
            ("place", "fork_1"): ("on", "table_1"),
            ("place", "fork_2"): ("on", "table_1"),
            ("openness", "drawer_1"): "open",
        },
    )
    both = {"object": ["fork_1", "fork_2"]}
    run = [Action.of("pick_up", both), Action.of("put_in_storage", {**both, "target": "drawer_1"})]
    problem, plan = reference_plan("forks", world, start, [fact("place", "fork_2", ["in", "drawer_1"])], run)
    assert validate(problem, plan) == ""
    assert [action.ids("object") for action in problem.read_plan(plan)] == [("fork_1", "fork_2")] * 2
    with pytest.raises(RecordError, match="does not replay"):
        reference_plan("forks", world, start, [], run[1:])


# --- the commands ----------------------------------------------------------------------------------------------------


def test_export_writes_whole_folders(few_worlds: Path, tmp_path: Path) -> None:
    arguments = ["export", str(few_worlds), "--to", "pddl", "--out", str(tmp_path / "a"), "--dialect", "flat"]
    done = CliRunner().invoke(build_app(arguments), arguments)
    assert done.exit_code == 0, done.output
    folders = [path.parent for path in (tmp_path / "a").rglob("names.json")]
    assert len(folders) > 5
    for folder in folders:
        names = json.loads((folder / "names.json").read_text())
        assert len(set(names.values())) == len(names)
        text = (folder / "domain.pddl").read_text()
        assert ":typing" not in text and " - " not in text
        pddl_law.Law(text, (folder / "problem.pddl").read_text())
    assert sum((folder / "reference.plan").is_file() for folder in folders) == len(folders) // 2
    wrong = ["export", str(few_worlds), "--to", "pddl", "--out", str(tmp_path / "b"), "--dialect", "lisp"]
    with pytest.raises(UsageError, match="no dialect 'lisp'"):
        CliRunner().invoke(build_app(wrong), wrong, catch_exceptions=False)


def test_audit_reports_the_planner_beside_the_reference(few_worlds: Path) -> None:
    arguments = ["audit", str(few_worlds), "--solve", "--jobs", "2", "--json"]
    done = CliRunner().invoke(build_app(arguments), arguments)
    result = json.loads(done.stdout)
    assert done.exit_code == 0 and result["verdict"] == "pass"
    plans = result["solve"]["plans"]
    assert result["solve"]["solved"] == len(plans)
    assert all({"outcome", "plan_steps", "reference_steps", "plan"} <= plan.keys() for plan in plans.values())


def test_replay_names_the_refusal() -> None:
    world, start = kitchen()
    assert isinstance(replayed(world, start, [Action.of("pick_up", {"object": "bottle_1"})]), Refusal)
