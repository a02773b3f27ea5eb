"""Memory policies: what each forgets, and the counters that a memory study stands on."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from conftest import make_world
from ego2world.agents import MEMORIES, Belief, make_memory
from ego2world.agents.mock import mock_reply
from ego2world.core.journal import read_rows
from ego2world.core.models import Image, MockModel, ModelClient, Request
from ego2world.errors import UsageError
from ego2world.evaluate import score_run
from ego2world.report import write_report
from ego2world.run.loop import RunSettings, run
from ego2world.run.quality import BeliefScorer
from ego2world.world.observation import Change, Feedback, Local, Proposal, RegionView, Seen
from ego2world.world.state import State


def seen(name: str, place: tuple[str, str] = ("on", "counter_1")) -> Seen:
    return Seen(name, name, "cup", place)


def filled(count: int, policy: str) -> Belief:
    """Return a belief that saw one thing after the other, a step each."""
    belief, memory = Belief(), make_memory(policy)
    belief.begin_group("g1")
    memory.at_group(belief)
    for n in range(count):
        belief.see_local(Local("z", "z", (seen(f"cup_{n:02d}"),), (), ()))
        memory.after_step(belief)
        belief.tick()
    return belief


def things(belief: Belief) -> list[str]:
    return sorted(thing for _, thing in belief.entries)


def test_every_policy_by_its_name() -> None:
    for name in MEMORIES:
        assert make_memory(name).name.partition(":")[0] == name
    assert make_memory("recency:7").name == "recency:7"
    for wrong in ("forever", "recency:", "recency:0", "recency:x", "reset:3", ""):
        with pytest.raises(UsageError, match="memory policy"):
            make_memory(wrong)


def test_persistent_keeps_reset_forgets_at_a_group_and_none_at_a_step() -> None:
    assert len(filled(9, "persistent").entries) == 9
    reset = filled(9, "reset")
    assert len(reset.entries) == 9
    make_memory("reset").at_group(reset)
    assert not reset.entries and not reset.images
    assert not filled(9, "none").entries


def test_recency_keeps_what_was_learnt_last() -> None:
    belief = filled(9, "recency:3")
    make_memory("recency:3").after_step(belief)
    assert things(belief) == ["cup_06", "cup_07", "cup_08"]


def test_the_present_observation_is_no_memory() -> None:
    belief, memory = Belief(), make_memory("recency:2")
    belief.see_local(Local("z", "z", tuple(seen(f"cup_{n}") for n in range(8)), (), ()))
    memory.after_step(belief)
    assert len(belief.entries) == 8
    belief.tick()
    memory.after_step(belief)
    assert len(belief.entries) == 2


def test_uncertainty_forgets_what_was_seen_to_change_before_what_is_merely_older() -> None:
    belief, memory = Belief(), make_memory("uncertainty:2")
    belief.see_local(Local("z", "z", (seen("still"), seen("restless"), seen("other")), (), ()))
    for step in range(6):
        belief.tick()
        where = ("on", "counter_1") if step % 2 else ("in", "sink_1")
        belief.see_local(Local("z", "z", (), (), (Change("restless", "restless", "cup", "place", where),)))
    for _ in range(5):
        belief.tick()
    memory.after_step(belief)
    assert things(belief) == ["other", "still"], "the restless one was learnt last and is the least certain"
    recent = make_memory("recency:2")
    belief.see_local(Local("z", "z", (), (), (Change("restless", "restless", "cup", "place", ("in", "sink_1")),)))
    belief.tick()
    recent.after_step(belief)
    assert "restless" in things(belief)


def test_a_forgotten_place_makes_its_picture_incomplete() -> None:
    belief = Belief()
    belief.see_region(RegionView.of("z", [seen("cup_1"), seen("cup_2")], ()))
    assert set(belief.images) == {"z"}
    belief.drop(("place", "cup_1"))
    assert not belief.images and belief.place("cup_2") == ("on", "counter_1")


def test_own_actions_teach_their_effects() -> None:
    belief = Belief()
    belief.learn(Feedback(True, Proposal("put_in_storage", {"object": "cup_1", "target": "cupboard_1"})))
    belief.learn(Feedback(True, Proposal("open_cupboard", {"object": "cupboard_1"})))
    belief.learn(Feedback(False, Proposal("open_cupboard", {"object": "cupboard_2"})))
    assert belief.place("cup_1") == ("in", "cupboard_1") and belief.state("openness", "cupboard_1") == "open"
    assert belief.state("openness", "cupboard_2") is None


def test_where_picture_and_delta_disagree_the_delta_wins() -> None:
    gone = Change("cup_1", "cup_1", "cup", "place", None)
    moved = Change("cup_2", "cup_2", "cup", "place", ("in", "sink_1"))
    new = Change("cup_3", "cup_3", "cup", "place", ("on", "counter_1"))
    view = RegionView.of("z", [seen("cup_1"), seen("cup_2")], (gone, moved, new))
    assert {t.id: t.place for t in view.content} == {"cup_2": ("in", "sink_1"), "cup_3": ("on", "counter_1")}
    assert view.conflict_about("cup_1") and view.conflict_about("cup_2") and not view.conflict_about("cup_3")


def test_a_longer_memory_asks_less(sample_worlds: Path, tmp_path: Path) -> None:
    queries = {}
    for policy in ("persistent", "recency:20", "uncertainty:20", "reset", "none"):
        run(sample_worlds, tmp_path / policy, RunSettings("symbolic", policy))
        score = score_run(tmp_path / policy)
        queries[policy] = score["resources"]["visual_queries"]
        assert score["belief"]["precision"] == 1.0, (
            "what is observed is right, and the world changes before the agent's eyes"
        )
        groups = read_rows(tmp_path / policy / "groups.jsonl")
        looks = read_rows(tmp_path / policy / "looks.jsonl")
        assert sum(g["visual_queries"] for g in groups) == len(looks)
        assert sum(g["needless_looks"] for g in groups) == sum(look["needless"] for look in looks)
        assert all(
            b["right"] + b["wrong"] == b["entries"] and b["right"] <= b["facts"] for b in (g["belief"] for g in groups)
        )
    assert queries["persistent"] < queries["recency:20"] <= queries["none"]
    assert queries["persistent"] < queries["uncertainty:20"] <= queries["none"] and queries["reset"] < queries["none"]


def test_stale_is_what_the_world_overtook_and_wrong_what_never_held() -> None:
    world, start = make_world(
        {"cup_1": "cup", "pan_1": "pan", "counter_1": "counter", "sink_1": "sink", "drawer_1": "drawer"},
        dict.fromkeys(("counter_1", "sink_1", "drawer_1"), "zone_1"),
        {
            ("place", "cup_1"): ("on", "counter_1"),
            ("place", "pan_1"): ("on", "counter_1"),
            ("openness", "drawer_1"): "closed",
        },
    )
    belief, watch = Belief(), BeliefScorer(world)
    belief.see_local(Local("z", "z", (seen("cup_1"), seen("pan_1", ("in", "sink_1"))), (), ()))
    belief.tick()
    moved = State.of({**start.facts, ("place", "cup_1"): ("in", "sink_1")})
    watch.note(start, moved, belief.step)
    judged = watch.judge(belief, moved)
    assert judged == {"entries": 2, "right": 0, "wrong": 2, "stale": 1, "facts": 3}
    assert watch.is_stale(("place", "cup_1"), belief.entries["place", "cup_1"])
    assert not watch.is_stale(("place", "pan_1"), belief.entries["place", "pan_1"])
    belief.see_local(Local("z", "z", (seen("cup_1", ("on", "sink_1")),), (), ()))
    assert watch.judge(belief, moved)["right"] == 1, "a place counts by where, whether in or on"


def test_a_model_that_misreads_pictures_believes_wrongly_and_the_trace_says_so(
    sample_worlds: Path, tmp_path: Path
) -> None:
    def misreads(request: Request) -> str:
        text = request.messages[-1].text
        if not any(isinstance(part, Image) for part in request.messages[-1].parts):
            return mock_reply(request)
        things, fixtures = (re.findall(r"^- (\S+):", part, re.M) for part in text.split("Fixtures in the picture:"))
        return json.dumps({"things": [{"id": t, "where": fixtures[-1], "how": "on"} for t in things]})

    settings = RunSettings("llm", "persistent", frames="drawn")
    run(sample_worlds, tmp_path / "r", settings, client=ModelClient(MockModel(misreads)))
    quality = score_run(tmp_path / "r")["belief"]
    assert 0.5 < quality["precision"] < 1.0
    write_report([tmp_path / "r"], tmp_path / "rep", resamples=200)
    page = (tmp_path / "rep/index.html").read_text()
    packed = re.search(r'id="trace-0">([^<]*)<', page)
    assert packed
    traces = json.loads(gzip.decompress(base64.b64decode(packed.group(1))))
    wrong = [
        row for e in traces.values() for t in e["tasks"].values() for row in t["belief"] if row[4] in {"wrong", "stale"}
    ]
    assert wrong and all(row[2] != row[3] for row in wrong)
