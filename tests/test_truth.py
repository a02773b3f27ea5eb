"""Worlds that are true: hands, the ledger, quantities, subjects and sources; right values from outside the code."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from conftest import SHARED, needs_data
from ego2world.annotations.formats import read_source
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.records import Dataset, Narration
from ego2world.collection import build_episode, build_worlds
from ego2world.errors import AnnotationError, UsageError
from ego2world.language.intents import read_intents
from ego2world.language.quantities import Quantity, number_of, quantity_in, setting_in, with_quantities
from ego2world.language.roles import NotActed
from ego2world.tasks.audit import audit

COLUMNS = ("unique_narration_id", "video_id", "narration", "start_timestamp", "end_timestamp")
VIDEO = "P90-20250101-000000"


def dataset_of(*texts: str, every_s: float = 3.0) -> Dataset:
    """Return a data set of one video with a narration every few seconds."""
    rows = tuple(
        Narration(f"{VIDEO}-{i}", VIDEO, text, every_s * i, every_s * i + 1.5) for i, text in enumerate(texts, 1)
    )
    return Dataset("texts", {VIDEO: rows})


class World:
    """One compiled video, read from the bytes of its files."""

    def __init__(self, *texts: str, every_s: float = 3.0) -> None:
        parts, self.totals, _, _ = build_episode(VIDEO, dataset_of(*texts, every_s=every_s))
        self.episode = json.loads(parts["episode.json"])
        self.operations = [json.loads(line) for line in parts["operations.jsonl"].splitlines()]
        self.transitions = [json.loads(line) for line in parts["transitions.jsonl"].splitlines()]
        self.notes = [json.loads(line) for line in parts["notes.jsonl"].splitlines()]
        self.names = {e["id"]: e["name"] for e in self.episode["entities"]}

    @property
    def outcomes(self) -> list[str]:
        return [n["outcome"] for n in self.episode["narrations"]]

    @property
    def said(self) -> list[str]:
        return [o["says"] for o in self.operations if not o["inferred"]]

    def end(self) -> dict[tuple[str, str], object]:
        """Return the facts at the end, by fluent and the entity's name."""
        facts: dict[tuple[str, str], object] = {}
        for row in [*self.episode["initial_state"], *(row for t in self.transitions for row in t["after"])]:
            value = row[2]
            if row[0] == "place":
                value = (value[0], self.names.get(value[1], value[1]))
            facts[row[0], self.names.get(row[1], row[1])] = value
        return facts

    def held(self) -> dict[str, str]:
        """Return what is held at the end: name -> hand."""
        return {name: where[1] for (fluent, name), where in self.end().items()  # type: ignore[index]
                if fluent == "place" and where[0] == "held"}  # type: ignore[index]  # fmt: skip


# --- hands ---------------------------------------------------------------------------------------------------------


def test_the_hand_that_is_named_wins() -> None:
    world = World(
        "Pick up the knife with the right hand.",
        "Pick up the onion with the left hand.",
        "Put the onion on the chopping board with the left hand.",
        "Pick up the fork from the drawer with the right hand.",
    )
    assert world.held() == {"fork": "right hand"}


def test_what_is_next_used_stays_in_the_hand_that_is_named() -> None:
    world = World(
        "Pick up the knife with the right hand.",
        "Turn on the tap with the right hand.",
        "Rinse the knife.",
        "Put the knife in the sink with the left hand.",
    )
    assert world.held() == {}
    assert [o["action"] for o in world.operations if o["inferred"]].count("pass_hand") >= 1


def test_a_hold_that_is_said_beside_an_act() -> None:
    world = World("Cut the onion by holding the onion with the left hand, holding the knife with the right hand.")
    assert world.held() == {"onion": "left hand", "knife": "right hand"}


def test_a_guessed_hand_is_corrected_by_what_is_said_later() -> None:
    world = World("Pick up the cup.", "Put the cup on the table with the left hand.")
    assert [o["roles"]["hand"] for o in world.operations if o["action"].startswith("pick_up")] == ["left_hand"]


def test_holds_end_when_a_thing_is_long_not_spoken_of() -> None:
    world = World("Pick up the cup.", "Open the drawer.", "Close the drawer.", "Wipe the table.", every_s=15.0)
    assert world.held() == {}


# --- the ledger ----------------------------------------------------------------------------------------------------


def test_every_narration_has_one_outcome_and_the_totals_count_them() -> None:
    world = World(
        "Open the drawer.",
        "The drawer is full.",
        "Try to open the jar, but it is stuck.",
        "The man closes the fridge.",
        "Look at the recipe.",
        "Zorble.",
    )
    assert world.outcomes[:5] == ["acted", "statement", "attempt", "other_person", "event_only"]
    for outcome in set(world.outcomes):
        assert world.totals[outcome] == world.outcomes.count(outcome)
    assert not any("compiled" in name for name in world.totals)


def test_each_fact_says_what_it_rests_on() -> None:
    world = World("Pick up the cup from the table with the left hand.", "Put it down.")
    assert {len(t["after"]) == len(t["basis"]) for t in world.transitions} == {True}
    assert {len(o["effects"]) == len(o["basis"]) for o in world.operations} == {True}
    assert len(world.episode["initial_state"]) == len(world.episode["initial_basis"])
    take, put = (o for o in world.operations if not o["inferred"])
    assert take["roles_basis"]["hand"] == take["basis"][0] == "said"
    assert put["roles_basis"]["target"] == "inferred" and put["basis"][0] == "inferred"
    assert {"words": "the cup", "role": "object", "entity": take["roles"]["object"]} in take["mentions"]


def test_a_verb_that_fits_nothing_is_lost_and_changes_no_meaning() -> None:
    world = World("Fold the water.")
    assert world.outcomes == ["lost"] or world.operations[0]["family"] == "fold"


def test_one_bad_video_is_reported_and_the_others_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ego2world.compiler.episode as episode

    good = dataset_of("Open the drawer.")
    bad = Narration("bad-1", "bad", "Open the fridge.", 1.0, 2.0)
    real = episode._Worker.narration

    def breaks(worker: object, narration: Narration, intents: object) -> None:
        if narration.video_id == "bad":
            raise IndexError("out of range")
        real(worker, narration, intents)  # type: ignore[arg-type]

    monkeypatch.setattr(episode._Worker, "narration", breaks)
    manifest = build_worlds(Dataset("two", {**good.narrations, "bad": (bad,)}), tmp_path)
    assert list(manifest["episodes"]) == [VIDEO] and (tmp_path / "manifest.json").is_file()
    assert "bad-1" in manifest["failed"]["bad"] and "Open the fridge." in manifest["failed"]["bad"]


# --- parts of fixtures ---------------------------------------------------------------------------------------------


def test_one_rack_of_a_dishwasher_stays_one_rack_and_slides() -> None:
    pulls = "With my right hand, pull the dishwasher bottom rack out of the dishwasher."
    world = World("Open the dishwasher.", pulls, "Push the dishwasher bottom rack into the dishwasher.", pulls,
                  "Put the plate in the dishwasher bottom rack.", "Push the dishwasher lower rack.")  # fmt: skip
    racks = [e for e in world.episode["entities"] if e["type"] == "rack"]
    assert len(racks) == 1
    assert world.end()["pulled_out", racks[0]["name"]] is False


def test_a_part_of_a_movable_thing_is_no_furniture() -> None:
    world = World("Lift the shelf of the coffee machine with the left hand.")
    lifted = next(o["roles"]["object"] for o in world.operations if not o["inferred"])
    kinds = {e["id"]: e["type"] for e in world.episode["entities"]}
    assert kinds[lifted] == "part"


# --- reading: the cases --------------------------------------------------------------------------------------------


def test_c143_the_acts_of_others_are_theirs() -> None:
    world = World("#C C opens the drawer", "#O man X closes the fridge", "#C C picks up #unsure")
    assert world.outcomes == ["acted", "other_person", "lost"]
    assert not any("unsure" in e["name"] for e in world.episode["entities"])
    for text in ("The man closes the fridge", "She puts the pan on the hob"):
        assert [i.not_acted for i in read_intents(text)] == [NotActed.OTHER_PERSON]


def test_c157_a_thing_that_is_only_a_number() -> None:
    for texts in (
        ("pick up 3 from the plate with the right hand", "put the mug on the counter"),
        ("take 5", "put the mug on the counter"),
        ("take 5 in number broccoli florets", "add 2 cloves minced garlic to the bowl"),
    ):
        world = World(*texts)
        assert world.outcomes[1] == "acted"
    assert World("pick up 3 from the plate").outcomes == ["lost"]


def test_c158_sentences_that_begin_with_c() -> None:
    world = World(
        "C picks up the knife with her right hand.",
        "C cuts the tomato with the knife.",
        "C opens the fridge door with his left hand.",
        "C places the tomato in the fridge.",
    )
    assert world.outcomes == ["acted"] * 4
    families = [o["family"] for o in world.operations if not o["inferred"]]
    assert families == ["pick_up", "cut", "open", "put_in"]


def test_c160_units_with_a_point_are_no_things() -> None:
    world = World(
        "Coat a 6-oz. ramekin cup with cooking spray",
        "take out a 6 oz. cup from the cupboard",
        "heat 2 tbsp. oil in the pan",
    )
    assert world.outcomes == ["acted"] * 3
    names = {e["name"] for e in world.episode["entities"]}
    assert not any({"oz", "tbsp", "6"} & set(name.split()) for name in names)
    coat, take, heat = (o for o in world.operations if not o["inferred"])
    assert "cooking spray" in world.names[coat["roles"]["object"]] and "ramekin" in world.names[coat["roles"]["target"]]
    assert (take["family"], heat["family"], world.names[heat["roles"]["object"]]) == ("take_out", "cook", "oil")


def test_c161_a_setting_is_no_place() -> None:
    world = World(
        "Microwave the cup on high for 30 seconds", "turn the hob on high", "put the pan on high heat",
        "set the oven to high",
    )  # fmt: skip
    facts = world.end()
    assert facts["temperature", "cup"] == "hot" and facts["power", "oven"] == "on" and facts["power", "hob"] == "on"
    assert facts["place", "pan"] == ("on", "hob")
    assert not any("high" in e["name"] for e in world.episode["entities"])


def test_c162_add_without_a_target() -> None:
    world = World("Add salt to the bowl", "Add the butter")
    last = [o for o in world.operations if not o["inferred"]][-1]
    assert last["family"] == "add" and world.names[last["roles"]["target"]] == "bowl"
    assert last["roles_basis"]["target"] == "inferred"


def test_c163_what_is_laid_on_the_object() -> None:
    world = World("Line the plate with lettuce", "Top the cup with salsa")
    line, top = (o for o in world.operations if not o["inferred"])
    assert world.names[line["roles"]["target"]] == "plate" and "lettuce" in world.names[line["roles"]["object"]]
    assert world.names[top["roles"]["target"]] == "cup" and "salsa" in world.names[top["roles"]["object"]]


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("2 tbsp. oil", Quantity(2, 2, "tbsp")),
        ("1/4 cup milk", Quantity(0.25, 0.25, "cup")),
        ("1 1/2 teaspoons of salt", Quantity(1.5, 1.5, "tsp")),
        ("2-3 tablespoons of oil", Quantity(2, 3, "tbsp")),
        ("200g flour", Quantity(200, 200, "g")),
        ("½ onion", Quantity(0.5, 0.5, "")),
    ],
)
def test_quantities(text: str, quantity: Quantity) -> None:
    assert quantity_in(with_quantities(text).split()[0]) == quantity
    (intent,) = read_intents(f"Add {text} to the bowl")
    assert intent.of("object")[0].quantity == quantity and intent.of("target")[0].head == "bowl"


def test_what_looks_like_a_quantity_and_is_none() -> None:
    assert with_quantities("take 2 cups from the shelf") == "take 2 cups from the shelf"
    assert with_quantities("put it on the high shelf") == "put it on the high shelf"
    with pytest.raises(ValueError):
        number_of("1/0")


def test_settings() -> None:
    words = with_quantities("bake at 350°F for 20-25 mins. Then wait").split()
    assert [setting_in(w) for w in words if setting_in(w)] == [("temperature_c", 176.7), ("time_s", 1200.0)]
    assert words[-2:] == ["Then", "wait"]


_WORDS = st.sampled_from(
    [
        *"take put 3 1/4 2-3 ½ oz. tbsp. cup of the a in on with left right hand knife pan water 9 0/0".split(),
        *"x y z é 水 на nan #C".split(),
        "°C", "for 5", "1.5", "--", "@left", "qty_", "set_", "qty_x_y", "set_time_a_b", "'", '"', "(", "…", "🙂",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(_WORDS, max_size=9).map(" ".join), min_size=1, max_size=3))
def test_no_sentence_stops_the_compiler(texts: list[str]) -> None:
    world = World(*texts)
    assert len(world.outcomes) == len(texts)


# --- sources -------------------------------------------------------------------------------------------------------


def table(folder: Path, name: str, rows: list[dict[str, str]]) -> Path:
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return folder


def test_a_plain_table_of_narrations(tmp_path: Path) -> None:
    table(tmp_path, "a.csv", [
        {"video": "v1", "text": "Open the drawer.", "start": "1", "end": "2", "activity": "lay the table"},
        {"video": "v1", "text": "Take the fork.", "start": "3", "end": "", "activity": "lay the table"},
        {"video": "v1", "text": "", "start": "5", "end": "6", "activity": ""},
    ])  # fmt: skip
    (tmp_path / "b.jsonl").write_text('{"video": "v2", "text": "Close the fridge", "start": 0.5}\n[1]\n', "utf-8")
    dataset = read_source(tmp_path, "table")
    assert {v: len(rows) for v, rows in dataset.narrations.items()} == {"v1": 2, "v2": 1}
    assert [(a.label, a.start_s, a.end_s) for a in dataset.activities["v1"]] == [("lay the table", 1.0, 3.0)]
    assert [(p.file, p.row) for p in dataset.left_out] == [("a.csv", 3), ("b.jsonl", 2)]
    with pytest.raises(AnnotationError):
        read_source(tmp_path, "table", strict=True)


def test_c139_times_of_moments_are_sorted_and_have_no_end(tmp_path: Path) -> None:
    rows = [{"timestamp_sec": 19.2, "text": "C opens drawer"}, {"timestamp_sec": 18.7, "text": "C walks"}]
    (tmp_path / "clip.json").write_text(json.dumps(rows))
    (found,) = read_source(tmp_path, "ego4d").narrations.values()
    assert [(n.start_s, n.end_s, n.text) for n in found] == [(18.7, 18.7, "C walks"), (19.2, 19.2, "C opens drawer")]


def test_c141_a_malformed_class_row_leaves_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "narrations-and-action-segments"
    folder.mkdir()
    row = dict(zip(COLUMNS, (f"{VIDEO}-1", VIDEO, "Open the drawer", "1", "2"), strict=True))
    table(folder, "HD_EPIC_Narrations.csv", [row])
    (folder / "HD_EPIC_noun_classes.csv").write_text(
        "id,key,instances\n8,bowl,\"['bowl of 'old' sauce', 'pan']\"\n9,cup,\"['cup']\"\n", "utf-8"
    )
    dataset = read_hd_epic(tmp_path)
    assert dataset.vocabulary.nouns == {"cup": "cup"}
    assert [(p.row, p.field) for p in dataset.left_out] == [(1, "instances")]


def test_c144_the_masks_of_a_track_by_their_time(tmp_path: Path) -> None:
    (tmp_path / "narrations-and-action-segments").mkdir()
    table(tmp_path / "narrations-and-action-segments", "HD_EPIC_Narrations.csv",
          [dict(zip(COLUMNS, (f"{VIDEO}-1", VIDEO, "Take the knife", "10", "12"), strict=True))])  # fmt: skip
    scene = tmp_path / "scene-and-object-movements"
    scene.mkdir()
    tracks = [{"track_id": "a", "time_segment": [10.0, 12.0], "masks": []},
              {"track_id": "b", "time_segment": [20.0, 22.0], "masks": ["m9"]}]  # fmt: skip
    (scene / "assoc_info.json").write_text(json.dumps({VIDEO: {"k": {"name": "knife", "tracks": tracks}}}))
    mask = {"frame_number": 659, "fixture": "P90_drawer.002"}
    (scene / "mask_info.json").write_text(json.dumps({VIDEO: {"m9": mask}}))
    a, b = read_hd_epic(tmp_path).associations[VIDEO][0].tracks
    assert (a.start_fixture, a.end_fixture) == (None, None)
    assert (b.start_fixture, b.end_fixture) == (None, "P90_drawer.002")


@needs_data
def test_c164_epic_kitchens_55() -> None:
    dataset = read_source(SHARED / "epic55", "epic-kitchens-55", ["P01_01"])
    assert dataset.narrations["P01_01"][0].text == "open door" and not dataset.left_out
    with pytest.raises(AnnotationError, match="epic-kitchens-55"):
        read_source(SHARED / "epic55", "epic-kitchens")
    _, totals, *_ = build_episode("P01_01", dataset)
    assert totals["acted"] > 0.8 * totals["narrations"]


@needs_data
def test_captaincook_recordings_graphs_and_mistakes() -> None:
    dataset = read_source(SHARED / "captaincook4d", "captaincook4d")
    assert len(dataset.narrations) == 384 and not dataset.left_out
    first = dataset.narrations["1_7"][0]
    assert first.text == "Coat a 6-oz. ramekin cup with cooking spray"
    recipe = dataset.recipes[dataset.activities["1_7"][0].recipe_ids[0]]
    assert recipe.order and {step for edge in recipe.order for step in edge} <= set(recipe.steps)
    assert sum(map(len, dataset.mistakes.values())) > 500


@needs_data
def test_ego4d_narrations_and_goalstep() -> None:
    dataset = read_source(SHARED / "easg_bench", "ego4d")
    assert len(dataset.narrations) >= 219
    assert {n.start_s == n.end_s for rows in dataset.narrations.values() for n in rows} == {True}
    steps = read_source(SHARED / "goalstep", "ego4d")
    assert len(steps.narrations) == 134 and all(steps.activities[v] for v in steps.narrations)


def test_a_reader_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="no format"):
        read_source(Path(__file__).parent, "nothing")


# --- truth from outside --------------------------------------------------------------------------------------------


@needs_data
def test_against_blind_labels_of_unseen_videos() -> None:
    labels = unseen.read_labels()
    videos = list(dict.fromkeys(label.video for label in labels))
    found = unseen.truth(labels, unseen.drafts_of(unseen.unseen(videos)))
    assert found.narrations[0] / found.narrations[1] >= 0.80, found.misses
    assert found.hands[0] / found.hands[1] >= 0.80
    assert found.operations_f1 >= 0.84 and found.identity_f1 >= 0.86


def test_the_audit_says_how_far_to_trust(sample_worlds: Path) -> None:
    found = audit(sample_worlds)["truth"]
    assert 0 <= found["held_3_share"] <= 0.05 and 0 <= found["idle_hold_share"] <= 0.1
    assert 0 < found["one_action_share"] <= 1
    for kind in ("track", "hand", "place"):
        row = found["hidden"][f"{kind}s"]
        assert found[f"{kind}_agreement"] == row["share"]
        assert row["share"] is None or row["low"] <= row["share"] <= row["high"]
