"""Agents in the sample kitchens: bounds, memory, records, resuming, metrics against hand-computed values."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from ego2world.agents import Belief, make_memory
from ego2world.errors import RecordError, UsageError
from ego2world.evaluate import score_run
from ego2world.report import write_report
from ego2world.run.loop import RunSettings, run
from ego2world.run.records import RECORDS
from ego2world.world.episode import load_episode, load_manifest
from ego2world.world.observation import Change, Local, RegionView, Seen

EPISODES = ("K01-20250301-080000", "K02-20250410-093000")


def settings(planner: str = "symbolic", memory: str = "persistent", **more: object) -> RunSettings:
    return RunSettings(planner, memory, episodes=EPISODES, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def scores(sample_worlds: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    out = tmp_path_factory.mktemp("runs")
    found = {}
    for planner, memory in (
        ("reference", "persistent"),
        ("symbolic", "persistent"),
        ("symbolic", "reset"),
        ("symbolic", "none"),
        ("random", "persistent"),
    ):
        folder = out / f"{planner}-{memory}"
        run(sample_worlds, folder, RunSettings(planner, memory))
        found[folder.name] = score_run(folder)
    return found


def test_the_reference_is_the_upper_bound(scores: dict[str, dict]) -> None:
    assert set(scores["reference-persistent"]["metrics"].values()) == {1.0}
    assert scores["reference-persistent"]["endpoints"]["completed_all"] == scores["reference-persistent"]["tasks"]


def test_random_is_far_below_symbolic(scores: dict[str, dict]) -> None:
    random, symbolic = scores["random-persistent"]["metrics"], scores["symbolic-persistent"]["metrics"]
    assert random["operational_tsr"] < 0.2 < 0.7 < symbolic["operational_tsr"]
    assert random["reference_coverage"] < symbolic["reference_coverage"]


def test_persistence_saves_visual_queries(scores: dict[str, dict], sample_worlds: Path) -> None:
    persistent, reset, none = (scores[f"symbolic-{m}"]["resources"] for m in ("persistent", "reset", "none"))
    assert persistent["visual_queries"] < 0.5 * reset["visual_queries"] <= none["visual_queries"]
    assert persistent["cross_group_hits"] > 0 == reset["cross_group_hits"]
    assert reset["visual_answers"] <= reset["visual_queries"]
    assert persistent["repeated_region_queries"] < 0.2 * reset["repeated_region_queries"]
    episodes = [load_episode(sample_worlds, e) for e in load_manifest(sample_worlds)["episodes"]]
    regions = sum(len(episode.world.zones) for episode in episodes)  # every further query of one repeats it
    assert reset["repeated_region_queries"] >= reset["visual_queries"] - regions


def test_every_task_stays_in_the_denominator(scores: dict[str, dict]) -> None:
    assert len({s["tasks"] for s in scores.values()}) == 1
    for score in scores.values():
        assert sum(score["endpoints"].values()) == score["tasks"] == score["tasks_terminal"] + score["tasks_event"]


@pytest.mark.parametrize("cut", ["attempts.jsonl", "groups.jsonl", "tasks.jsonl"])
def test_a_killed_run_resumes_to_the_same_records(tmp_path: Path, sample_worlds: Path, cut: str) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(sample_worlds, whole, settings())
    shutil.copytree(whole, broken)
    for name in RECORDS:  # as if killed in the second episode: rows missing, one line half-written
        rows = (broken / name).read_bytes().splitlines(keepends=True)
        keep = len(rows) * 3 // 4
        (broken / name).write_bytes(b"".join(rows[:keep]) + (rows[keep][:20] if name == cut else b""))
    run(sample_worlds, broken, settings())
    for name in RECORDS:
        assert (broken / name).read_bytes() == (whole / name).read_bytes()


def test_a_run_folder_of_other_worlds_or_settings_is_refused(tmp_path: Path, sample_worlds: Path) -> None:
    run(sample_worlds, tmp_path / "r", settings())
    with pytest.raises(UsageError, match="different settings"):
        run(sample_worlds, tmp_path / "r", settings(memory="reset"))
    record = json.loads((tmp_path / "r/run.json").read_text())
    record["episode_sha256"] = dict.fromkeys(record["episode_sha256"], "0" * 64)
    (tmp_path / "r/run.json").write_text(json.dumps(record))
    with pytest.raises(RecordError, match="other worlds"):
        run(sample_worlds, tmp_path / "r", settings())


def test_changed_artefacts_are_refused(tmp_path: Path, sample_worlds: Path) -> None:
    worlds = tmp_path / "w"
    shutil.copytree(sample_worlds, worlds)
    path = worlds / "episodes" / EPISODES[0] / "episode.json"
    path.write_bytes(path.read_bytes().replace(b"mug", b"jug", 1))
    with pytest.raises(RecordError, match="content hash"):
        load_episode(worlds, EPISODES[0])


def test_a_scripted_plan_and_its_endings(tmp_path: Path, sample_worlds: Path) -> None:
    episode = load_episode(sample_worlds, EPISODES[0])
    first = episode.groups[0]
    rows = [
        {"group": first.id, "action": a.name, "roles": dict(a.roles)}
        for a in episode.actions[first.first : first.last + 1]
    ]
    rows.append({"group": episode.groups[1].id, "action": "pick_up", "roles": {"object": "no such thing"}})
    script = tmp_path / "plan.jsonl"
    script.write_text("".join(json.dumps(r) + "\n" for r in rows))
    run(sample_worlds, tmp_path / "r", RunSettings("scripted", "none", script=str(script), episodes=(EPISODES[0],)))
    groups = [json.loads(line) for line in (tmp_path / "r/groups.jsonl").read_text().splitlines()]
    assert [g["ending"] for g in groups[:3]] == ["completed", "completed", "empty_plan"]
    assert (groups[0]["accepted"], groups[0]["attempts"]) == (len(rows) - 1,) * 2 and (
        groups[1]["accepted"],
        groups[1]["attempts"],
    ) == (0, 1)


def test_the_limit_blocks(tmp_path: Path, sample_worlds: Path) -> None:
    run(sample_worlds, tmp_path / "r", settings("reference", limit=2))
    endings = {json.loads(line)["ending"] for line in (tmp_path / "r/groups.jsonl").read_text().splitlines()}
    assert endings == {"execution_blocked", "completed"}


def test_metrics_by_hand(tmp_path: Path) -> None:
    """Three tasks, worked out on paper: one full success, one half of its conditions, one blocked."""
    group = {
        "episode": "e",
        "repairs": 0,
        "visual_queries": 1,
        "visual_answers": 1,
        "repeated_region_queries": 0,
        "cross_group_hits": 2,
        "conflicts": 0,
        "tokens_in": 0,
        "tokens_out": 0,
        "quarter": 1,
    }
    groups = [
        {
            **group,
            "group": "g1",
            "ending": "completed",
            "attempts": 4,
            "accepted": 3,
            "reference_families": ["open", "pick_up"],
            "attempted_families": ["open"],
        },
        {
            **group,
            "group": "g2",
            "ending": "completed",
            "attempts": 0,
            "accepted": 0,
            "reference_families": ["close"],
            "attempted_families": [],
        },
        {
            **group,
            "group": "g3",
            "ending": "execution_blocked",
            "attempts": 2,
            "accepted": 2,
            "reference_families": ["pour"],
            "attempted_families": ["pour"],
        },
    ]
    task = {"type": "task", "episode": "e", "tier": "terminal-state", "contract_sha256": ""}
    tasks = [
        {
            **task,
            "task": "t1",
            "completed": True,
            "first_group": 0,
            "last_group": 0,
            "endings": ["completed"],
            "conditions": ["true"],
        },
        {
            **task,
            "task": "t2",
            "completed": True,
            "first_group": 1,
            "last_group": 1,
            "endings": ["completed"],
            "conditions": ["true", "unknown"],
        },
        {
            **task,
            "task": "t3",
            "tier": "event",
            "completed": False,
            "first_group": 2,
            "last_group": 2,
            "endings": ["execution_blocked"],
            "conditions": ["true"],
        },
        {"type": "episode_end", "episode": "e", "state_sha256": ""},
    ]
    (tmp_path / "run.json").write_text(
        json.dumps(
            {
                "planner": "p",
                "memory": "reset",
                "suite": "all",
                "seed": 0,
                "limit": 80,
                "episodes": ["e"],
                "episode_sha256": {"e": "h"},
            }
        )
    )
    for name, rows in (("groups.jsonl", groups), ("tasks.jsonl", tasks), ("attempts.jsonl", [])):
        (tmp_path / name).write_text("".join(json.dumps(r) + "\n" for r in rows))
    score = score_run(tmp_path)
    assert score["metrics"] == pytest.approx(
        {
            "operational_tsr": 1 / 3,
            "strict_tsr": 1 / 2,
            "gcr": (1 + 0.5 + 0) / 3,
            "action_validity": (0.75 + 0 + 1) / 3,
            "completed_rate": 2 / 3,
            "reference_coverage": (0.5 + 0 + 1) / 3,
        }
    )
    assert score["tasks_without_attempts"] == ["e/t2"]
    assert {k: v for k, v in score["endpoints"].items() if v} == {
        "completed_all": 1,
        "completed_some": 1,
        "execution_blocked": 1,
    }
    assert score["resources"]["cross_group_hits"] == 6 and score["pooled"]["attempts"] == 6
    page = write_report([tmp_path], tmp_path / "report")
    assert page[0]["tasks"] == 3 and "http" not in (tmp_path / "report/index.html").read_text().replace(
        "http-equiv", ""
    )


def test_belief_delta_wins_and_removal_leaves_the_place_unknown() -> None:
    belief = Belief()
    belief.begin_group("g1")
    cup = Seen("cup_1", "cup", "cup", ("on", "counter_1"))
    belief.see_local(Local("z", "z", (cup,), (), ()))
    assert belief.place("cup_1") == ("on", "counter_1") and belief.cross_group_hits == 0
    belief.begin_group("g2")
    assert belief.place("cup_1") == ("on", "counter_1") and belief.cross_group_hits == 1
    belief.see_local(Local("z", "z", (), (), (Change("cup_1", "cup", "cup", "place", None),)))
    assert belief.place("cup_1") is None
    belief.see_local(Local("z", "z", (), (), (Change("cup_1", "cup", "cup", "place", ("in", "sink_1")),)))
    assert belief.place("cup_1") == ("in", "sink_1")
    reset = Belief()
    reset.see_local(Local("z", "z", (cup,), (), ()))
    reset.begin_group("g2")
    make_memory("reset").at_group(reset)
    assert reset.place("cup_1") is None


def test_a_conflict_is_about_the_sought_thing() -> None:
    cup, pan = (Seen(f"{n}_1", n, n, ("on", "counter_1")) for n in ("cup", "pan"))
    gone = (Change("cup_1", "cup", "cup", "place", None), Change("jar_1", "jar", "jar", "place", ("on", "counter_1")))
    view = RegionView("z", (cup, pan), gone, (pan,))
    assert view.conflict_about("cup_1")
    assert not view.conflict_about("pan_1")  # shown, and still there
    assert not view.conflict_about("jar_1")  # came after the image was taken: nothing in the image contradicts it


def test_the_agents_form_of_a_refusal_gives_no_hidden_place_away(sample_worlds: Path) -> None:
    from ego2world.run.environment import Environment
    from ego2world.world.observation import Proposal
    from ego2world.world.observe import visible

    for episode_id in load_manifest(sample_worlds)["episodes"]:
        episode = load_episode(sample_worlds, episode_id)
        environment = Environment(episode)
        seen = visible(episode.world, environment.state, environment.state.zone)
        hidden = [
            e
            for e in episode.world.entities.values()
            if e.id not in seen and e.id not in episode.world.zone_of and ("place", e.id) in environment.state.facts
        ]
        for entity in hidden:
            attempt, feedback = environment.attempt(Proposal("pick_up", {"object": entity.id}))
            if attempt.accepted:
                continue
            around = environment.state.get("place", entity.id)[1]
            told = json.dumps([f.__dict__ for f in feedback.failures]) + json.dumps([r.roles for r in feedback.repair])
            assert str(around) not in told.replace(entity.id, "")


def test_the_instructions_say_what_the_references_do(sample_worlds: Path) -> None:
    """Each operation's sentence, read alone by the planner, gives one act of the operation's own family."""
    from ego2world.agents.base import Context
    from ego2world.agents.symbolic import SymbolicPlanner
    from ego2world.run.environment import Environment

    wrong, said = [], 0
    for episode_id in load_manifest(sample_worlds)["episodes"]:
        episode = load_episode(sample_worlds, episode_id)
        environment = Environment(episode)
        for group in episode.groups:
            for operation in episode.operations[group.first : group.last + 1]:
                if operation["inferred"]:
                    continue
                alone = replace(group, instruction=operation["says"].capitalize() + ".")
                planner = SymbolicPlanner()
                brief, local = environment.brief(alone), environment.local()
                planner.begin_group(Context(brief, local, Belief(), None, 80))
                said += 1
                if [goal.kind.family for goal in planner._goals] != [operation["family"]]:
                    wrong.append((operation["says"], [goal.kind.name for goal in planner._goals]))
    assert said > 300 and len(wrong) <= 0.03 * said, wrong
