"""Memory policies: what each forgets, and the counters that a memory study stands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from ego2world.agents import MEMORIES, Belief, make_memory
from ego2world.errors import UsageError
from ego2world.evaluate import score_run
from ego2world.run.loop import Settings, run
from ego2world.run.records import read_rows
from ego2world.world.observation import Change, Feedback, Local, Proposal, RegionView, Seen


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
        run(sample_worlds, tmp_path / policy, Settings("symbolic", policy))
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
