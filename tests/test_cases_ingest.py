"""Faults that people met with annotations of this kind (cases/open.jsonl, areas "ingest"): each with its right
value."""

from __future__ import annotations

import csv
import json
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy
import pytest

from ego2world.annotations.cells import (
    canonical_unit,
    class_name,
    frame_time_s,
    grams,
    one_line,
    parse_amount,
    parse_list,
)
from ego2world.annotations.epic_kitchens import read_epic_kitchens, read_segment
from ego2world.annotations.hd_epic import read_hd_epic
from ego2world.annotations.pickles import read_table
from ego2world.annotations.records import Capture, Recipe, Segment
from ego2world.annotations.rows import read_activity, read_classes, read_priming, read_sound, track_base_name
from ego2world.annotations.videos import clamp_segment, find_videos, look_up, verify
from ego2world.collection import build_episode
from ego2world.compiler.episode import compile_video
from ego2world.errors import AnnotationError, Problem, VideoError
from ego2world.language.forms import form_sense
from ego2world.tasks.derive import order_differs

EPIC = (
    "narration_id,participant_id,video_id,narration_timestamp,"
    "start_timestamp,stop_timestamp,narration,verb,noun,all_nouns"
)


def epic_folder(tmp_path: Path, rows: list[str], name: str = "EPIC_100_validation.csv") -> Path:
    (tmp_path / name).write_text("\n".join([EPIC, *rows]) + "\n", "utf-8")
    return tmp_path


def segment(
    number: int, start: str, stop: str, text: str, verb: str, noun: str, nouns: str = "", video: str = "P90_01"
) -> str:
    return f'{video}_{number},P90,{video},{start},{start},{stop},"{text}",{verb},{noun},"{nouns}"'


def hd_epic_folder(tmp_path: Path, narrations: list[tuple[str, float, float]], **files: object) -> Path:
    """Write a minimal HD-EPIC folder of one video with (text, start, end) narrations and JSON or text files by path."""
    base = tmp_path / "narrations-and-action-segments"
    base.mkdir(parents=True, exist_ok=True)
    with (base / "HD_EPIC_Narrations.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["unique_narration_id", "video_id", "narration", "start_timestamp", "end_timestamp"])
        for number, (text, start_s, end_s) in enumerate(narrations, 1):
            writer.writerow([f"P90-20240101-101010-{number}", "P90-20240101-101010", text, start_s, end_s])
    for name, content in files.items():
        path = tmp_path / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return tmp_path


VIDEO = "P90-20240101-101010"


def test_c001_rows_in_text_order_are_replayed_in_time_order(tmp_path: Path) -> None:
    rows = [
        segment(1, "00:00:01.00", "00:00:02.00", "open fridge", "open", "fridge"),
        segment(10, "00:00:20.00", "00:00:21.00", "close fridge", "close", "fridge"),
        segment(2, "00:00:05.00", "00:00:06.00", "take egg", "take", "egg"),
    ]
    bytes_made = set()
    for number, order in enumerate((rows, rows[::-1], [rows[1], rows[0], rows[2]])):
        folder = tmp_path / str(number)
        folder.mkdir()
        dataset = read_epic_kitchens(epic_folder(folder, order))
        assert [n.id for n in dataset.narrations["P90_01"]] == ["P90_01_1", "P90_01_2", "P90_01_10"]
        parts, totals, *_ = build_episode("P90_01", dataset)
        assert totals["operations_inferred"] == 0
        operations = [json.loads(line) for line in parts["operations.jsonl"].splitlines()]
        assert [o["family"] for o in operations] == ["open", "pick_up", "close"]
        bytes_made.add(parts["transitions.jsonl"])
    assert len(bytes_made) == 1


def test_c003_end_as_a_word() -> None:
    row = {
        "video_id": VIDEO,
        "recipe_id": "R01",
        "high_level_activity_label": "Chop",
        "start_time": "0.0",
        "end_time": "end",
    }
    warnings: list = []
    assert read_activity("f", 1, row, {VIDEO: 396.27}, [], warnings).end_s == 396.27
    assert warnings == []
    assert read_activity("f", 1, row, {}, [], warnings).end_s is None
    assert len(warnings) == 1 and warnings[0].field == "end_time"


def test_c004_enclosing_segments_are_kept_and_reported(tmp_path: Path) -> None:
    rows = [
        segment(1, "00:11:10.00", "00:11:18.80", "pick up broccoli", "pick-up", "broccoli"),
        segment(2, "00:11:11.00", "00:11:11.40", "put broccoli into pan", "put-into", "broccoli"),
        segment(3, "00:11:18.40", "00:11:19.80", "put broccoli into pan", "put-into", "broccoli"),
    ]
    finals = set()
    for number, order in enumerate((rows, rows[::-1])):
        folder = tmp_path / str(number)
        folder.mkdir()
        dataset = read_epic_kitchens(epic_folder(folder, order))
        compiled = compile_video("P90_01", dataset)
        overlaps = [n["evidence"] for n in compiled.scene.notes if "overlap" in n["reason"]]
        assert overlaps == [["P90_01_1", "P90_01_2"], ["P90_01_1", "P90_01_3"]]
        assert len(dataset.narrations["P90_01"]) == 3
        place = compiled.scene.state.get("place", "broccoli_1")
        assert place == ("in", "pan_1")
        finals.add(compiled.scene.state.digest())
    assert len(finals) == 1


def test_c006_frames_at_the_extraction_rate(tmp_path: Path) -> None:
    assert frame_time_s(7254, 60.0, 1) == pytest.approx(120.88, abs=0.02)
    errors: list = []
    row = {
        "narration_id": "P90_08_7",
        "video_id": "P90_08",
        "start_timestamp": "00:02:00.90",
        "stop_timestamp": "00:02:01.90",
        "narration": "take cup",
        "verb": "take",
        "noun": "cup",
        "start_frame": "7254",
    }
    assert read_segment("f", 1, row, {}, errors).start_s == 120.9 and errors == []


def test_c007_frame_bases() -> None:
    assert frame_time_s(1, 60, 1) == 0.0
    assert frame_time_s(0, 30, 0) == 0.0
    assert frame_time_s(446, 30, 0) == pytest.approx(14.8667, abs=1e-4)


def test_c009_seconds_in_a_sample_column() -> None:
    errors: list = []
    good = {
        "video_id": VIDEO,
        "start_timestamp": "00:00:00.476",
        "stop_timestamp": "00:00:02.520",
        "start_sample": "22848",
        "stop_sample": "120960",
        "class": "rustle",
    }
    assert read_sound("f", 1, good, errors).end_s == 2.52
    bad = {
        "video_id": VIDEO,
        "start_timestamp": "00:00:03.000",
        "stop_timestamp": "00:00:04.000",
        "start_sample": "3.0",
        "stop_sample": "4.0",
        "class": "rustle",
    }
    assert read_sound("f", 2, bad, errors) is None
    assert errors[0].found == "start_sample 3.0 is not an integer sample index for 3.000 s (144000 expected)"


def test_c011_missing_narration_time_is_null(tmp_path: Path) -> None:
    row = segment(293, "00:04:01.00", "00:04:02.50", "take plate", "take", "plate").replace(
        ",00:04:01.00,00:04:01.00", ",,00:04:01.00"
    )
    narration = read_epic_kitchens(epic_folder(tmp_path, [row])).narrations["P90_01"][0]
    assert narration.narration_timestamp_s is None and narration.start_s == 241.0
    parts, *_ = build_episode("P90_01", read_epic_kitchens(tmp_path))
    for data in parts.values():
        assert b"NaN" not in data


def test_c012_no_numeric_match_of_ids() -> None:
    with pytest.raises(VideoError, match=r"unknown video P90_05 \(nearest: P90_105\)"):
        look_up({"P90_105": Path("P90_105.MP4")}, "P90_05")
    with pytest.raises(VideoError):
        look_up({"P90_5": Path("P90_5.MP4")}, "P90_05")


def test_c014_extensions_in_any_case(tmp_path: Path) -> None:
    for name in ("P90_01.MP4", "P90_02.Mp4", "P90_03.mp4"):
        (tmp_path / name).touch()
    assert list(find_videos(tmp_path)) == ["P90_01", "P90_02", "P90_03"]
    (tmp_path / "P90_01.mp4").touch()
    with pytest.raises(VideoError, match="two files for P90_01"):
        find_videos(tmp_path)


def test_c015_wrong_manifest(tmp_path: Path) -> None:
    path = tmp_path / "P90_06.MP4"
    path.write_bytes(b"frames")
    with pytest.raises(VideoError) as caught:
        verify(path, "0" * 31 + "1", 0.667, lambda _: 40.0)
    text = str(caught.value)
    assert "0" * 31 + "1" in text and "0.667 s" in text and "40.0 s" in text
    accepted = verify(path, "0" * 31 + "1", 0.667, lambda _: 40.0, override=True)
    assert not accepted.verified and "40.0 s" in accepted.note


def test_c016_apostrophes_in_lists(tmp_path: Path) -> None:
    assert parse_list("['knife', \"chef's knife\", 'edge:knife']") == ("knife", "chef's knife", "edge:knife")
    path, errors = tmp_path / "nouns.csv", list[Problem]()
    path.write_text('id,key,instances\n7,knife,"[\'knife\', ""chef\'s knife"", \'edge:knife\']"\n', "utf-8")
    assert read_classes(path, "nouns.csv", errors, []) == dict.fromkeys(
        ("knife", "chef's knife", "edge:knife"), "knife"
    )
    assert errors == []


def test_c018_amounts() -> None:
    amounts = [parse_amount("404", "g"), parse_amount("N/A", "N/A"), parse_amount(0, "")]
    assert amounts == [(404.0, "g"), (None, None), (None, None)]
    assert [grams(*amount) for amount in amounts] == [404.0, None, None], "a sum of masses names what it does not know"


def test_c020_line_breaks_inside_a_narration(tmp_path: Path) -> None:
    folder = hd_epic_folder(tmp_path, [("put lid\non pan", 1.0, 2.0), ("open tab", 3.0, 4.0)])
    classes = "id,key,instances,category\n0,tap,\"['tap', 'tab']\",appliances\n"
    (folder / "narrations-and-action-segments/HD_EPIC_noun_classes.csv").write_text(classes, "utf-8")
    dataset = read_hd_epic(folder)
    assert [n.text for n in dataset.narrations[VIDEO]] == ["put lid on pan", "open tab"]
    operation = compile_video(VIDEO, dataset).scene.operations[-1]
    assert operation.family == "turn_on"
    assert compile_video(VIDEO, dataset).scene.entities[operation.action.ids("object")[0]].type == "tap"


def test_c021_byte_order_mark_and_curly_apostrophe(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfvideo_id,label\nP90-20240101-101010,that\xe2\x80\x99s done\n")
    code = (
        "from pathlib import Path\nfrom ego2world.annotations.cells import"
        f" read_csv\nprint(ascii(list(read_csv(Path({str(path)!r}), ('video_id',)))))"
    )
    out = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code], capture_output=True, text=True, check=True, env={"LC_ALL": "C"}
    )
    assert out.stdout.strip() == "[(1, {'video_id': 'P90-20240101-101010', 'label': 'that\\u2019s done'})]"


def test_c022_compound_nouns() -> None:
    given = ["maker:coffee", "top:counter", "liquid:washing:up", "filter:coffee:maker"]
    assert [class_name(n) for n in given] == ["coffee maker", "counter top", "washing up liquid", "coffee maker filter"]


def test_c023_particle_verbs() -> None:
    classes = {"turn-on": "turn-on", "turn-of": "turn-off", "turn-off": "turn-off", "turn": "turn"}
    assert [form_sense(f, classes) for f in ("turn-on", "turn-of", "turn", "turn-off")] == [
        "turn_on",
        "turn_off",
        "turn",
        "turn_off",
    ]


def test_c024_resolved_nouns_win(tmp_path: Path) -> None:
    rows = [
        segment(1, "00:00:01.00", "00:00:02.00", "pick up slice", "pick-up", "onion", "['onion']"),
        segment(1, "00:00:01.00", "00:00:02.00", "pick up slice", "pick-up", "slice:ham", "['slice:ham']", "P91_01"),
    ]
    dataset = read_epic_kitchens(epic_folder(tmp_path, rows))
    found = {}
    for video in ("P90_01", "P91_01"):
        scene = compile_video(video, dataset).scene
        found[video] = [scene.entities[o.action.ids("object")[0]].name for o in scene.operations]
        assert "slice" not in [e.name for e in scene.entities.values()]
    assert found == {"P90_01": ["onion"], "P91_01": ["ham slice"]}


def test_c026_several_actions_in_one_row(tmp_path: Path) -> None:
    row = segment(
        67,
        "00:00:01.00",
        "00:00:03.00",
        "put cup on table and milk on table and jam on table",
        "put-on",
        "cup",
        "['cup','table','milk','table','jam','table']",
    )
    scene = compile_video("P90_01", read_epic_kitchens(epic_folder(tmp_path, [row]))).scene
    said = [o for o in scene.operations if not o.inferred]
    assert [o.family for o in said] == ["put_on"] * 3
    assert {scene.entities[o.action.ids("target")[0]].type for o in said} == {"table"}
    assert [scene.entities[o.action.ids("object")[0]].name for o in said] == ["cup", "milk", "jam"]


def test_c027_one_word_in_two_classes(tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    path.write_text("id,key,instances\n1,put,\"['put','bin']\"\n11,throw,\"['throw','bin']\"\n", "utf-8")
    code = (
        "from pathlib import Path\nfrom ego2world.annotations.rows import read_classes\n"
        f"a = []\nprint(read_classes(Path({str(path)!r}), 'f', [], a)['bin'], a)"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert answers == {"throw [('bin', ('put', 'throw'))]\n"}
    assert read_classes(path, "f", [], []) == {"put": "put", "bin": "throw", "throw": "throw"}


ASSOCIATION = {
    VIDEO: {"a1": {"name": "glass", "tracks": [{"track_id": "t1", "time_segment": [1.0, 4.0], "masks": ["m1", "m2"]}]}}
}


@pytest.mark.parametrize(
    "mask", [{"frame_number": 10, "fixture": "Null"}, {"frame_number": 20, "fixture": None}, {"frame_number": 30}]
)
def test_c029_missing_fixtures(tmp_path: Path, mask: dict) -> None:
    folder = hd_epic_folder(
        tmp_path,
        [("Pick up the glass.", 1.0, 2.0), ("Put the glass on the table.", 3.0, 4.0)],
        **{
            "scene-and-object-movements__assoc_info.json": ASSOCIATION,
            "scene-and-object-movements__mask_info.json": {VIDEO: {"m1": mask}},
        },
    )
    dataset = read_hd_epic(folder)
    assert dataset.associations[VIDEO][0].tracks[0].start_fixture is None
    scene = compile_video(VIDEO, dataset).scene
    assert not any("null" in e.name.lower() for e in scene.entities.values())


def test_c031_placeholder_and_numbered_names(tmp_path: Path) -> None:
    names = ["Track 31 (skipped)", "plate", "plate2", "galss2", "carrot10", "1/20th measure"]
    data = {VIDEO: {f"a{i}": {"name": n, "tracks": []} for i, n in enumerate(names)}}
    dataset = read_hd_epic(
        hd_epic_folder(
            tmp_path, [("Pick up the plate.", 1.0, 2.0)], **{"scene-and-object-movements__assoc_info.json": data}
        )
    )
    assert sum(a.placeholder for a in dataset.associations[VIDEO]) == 1
    assert [track_base_name(n) for n in names[1:]] == [
        ("plate", ""),
        ("plate", "2"),
        ("galss", "2"),
        ("carrot", "10"),
        ("1/20th measure", ""),
    ]
    notes = compile_video(VIDEO, dataset).scene.notes
    assert any("1 placeholder" in n["reason"] for n in notes)


def test_c032_repeated_and_reversed_movements(tmp_path: Path) -> None:
    tracks = [("c", [316.9, 327.3]), ("a", [116.5, 127.6]), ("b", [116.5, 127.6])]
    data = {
        VIDEO: {"x": {"name": "glass", "tracks": [{"track_id": t, "time_segment": s, "masks": []} for t, s in tracks]}}
    }
    dataset = read_hd_epic(
        hd_epic_folder(
            tmp_path, [("Pick up the glass.", 1.0, 2.0)], **{"scene-and-object-movements__assoc_info.json": data}
        )
    )
    assert [t.start_s for t in dataset.associations[VIDEO][0].tracks] == [116.5, 316.9]
    assert [w for w in dataset.warnings if "same movement" in w.found]


def test_c035_codes_are_not_frames() -> None:
    data = {VIDEO: {str(i): {"start": {"prime_stats": {"frame_primed": f}}} for i, f in enumerate((120, -1, -2))}}
    rows = list(read_priming(data))
    primed = [r.frame for r in rows if r.frame is not None]
    counted = [r for r in rows if not r.excluded]
    assert primed == [120] and len(counted) == 2 and len(primed) / len(counted) == 0.5
    with pytest.raises(ValueError, match="codes"):
        frame_time_s(-1, 30, 0)


def test_c036_movements_after_the_last_frame() -> None:
    start_s, end_s, warning = clamp_segment(1114.2, 1126.133, 1125.133)
    assert (start_s, end_s) == (1114.2, 1125.133) and "1.0 s after the video" in warning
    with pytest.raises(VideoError, match=r"ends 5\.9 s after the video"):
        clamp_segment(1120.0, 1131.0, 1125.133)


def test_c037_a_table_pickled_by_another_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"unique_narration_id": ["a", "b"], "start_timestamp": [1.5, 2.5], "nouns": [["cup"], []]}
    path = tmp_path / "t.pkl"
    for storage in ("python", "pyarrow"):
        with pandas.option_context("mode.string_storage", storage):
            for frame in (pandas.DataFrame(columns, dtype=object), pandas.DataFrame(columns)):
                path.write_bytes(pickle.dumps(frame, protocol=4))
                if b"ArrowStringArray" in path.read_bytes():  # its buffers are not a plain table: say how to convert it
                    with pytest.raises(AnnotationError, match=r"ArrowStringArray.*needed a pickled table") as caught:
                        read_table(path)
                    assert "to_csv" in str(caught.value)
                else:
                    assert read_table(path) == columns
    path.write_bytes(b"cpandas.olden\nFrame\n.")
    with pytest.raises(AnnotationError) as caught:
        read_table(path)
    assert "pandas.olden.Frame" in str(caught.value) and "to_csv" in str(caught.value) and caught.value.exit_code == 3


def test_c037_an_index_class_that_no_longer_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas 1.5 wrote Int64Index from a module that pandas 2 has removed."""
    pandas = pytest.importorskip("pandas")
    base = sys.modules["pandas.core.indexes.base"]
    numeric = types.ModuleType("pandas.core.indexes.numeric")

    class Int64Index:
        def __reduce__(self) -> tuple:
            return base._new_Index, (Int64Index, {"data": numpy.arange(2), "name": None})

    Int64Index.__module__, Int64Index.__qualname__ = numeric.__name__, "Int64Index"
    numeric.Int64Index = Int64Index  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, numeric.__name__, numeric)
    manager = pandas.DataFrame({"a": [1, 2]}, dtype=object)._mgr

    class OldManager:
        def __reduce__(self) -> tuple:
            return (
                type(manager),
                ((), ()),
                (
                    [],
                    [],
                    [],
                    {
                        "0.14.1": {
                            "axes": [pandas.Index(["a"], dtype=object), Int64Index()],
                            "blocks": [{"values": numpy.array([["x", "y"]], dtype=object), "mgr_locs": slice(0, 1)}],
                        }
                    },
                ),
            )

    class OldFrame:
        def __reduce__(self) -> tuple:
            return pandas.DataFrame, (), {"_data": OldManager()}

    path = tmp_path / "old.pkl"
    path.write_bytes(pickle.dumps(OldFrame(), protocol=4))
    assert read_table(path) == {"a": ["x", "y"]}


def test_c039_listed_order_is_not_demanded() -> None:
    times = {
        "S01": (Segment(VIDEO, 16.67, 17.09),),
        "S02": (Segment(VIDEO, 15.30, 15.65), Segment(VIDEO, 41.30, 42.23)),
    }
    capture = Capture((VIDEO,), (), times, {})
    assert order_differs(Recipe("R", "Coffee", {"S01": "insert capsule", "S02": "press button"}, (capture,)), VIDEO)
    assert not order_differs(Recipe("R", "Coffee", {"S02": "press button", "S01": "insert capsule"}, (capture,)), VIDEO)


def test_c041_two_recipes_or_none_in_a_cell() -> None:
    row = {
        "video_id": VIDEO,
        "recipe_id": "R08, R07",
        "high_level_activity_label": "Prepare salad and pasta",
        "start_time": "10.0",
        "end_time": "60.0",
    }
    assert read_activity("f", 1, row, {}, [], []).recipe_ids == ("R07", "R08")
    assert (
        read_activity(
            "f", 2, {**row, "recipe_id": "", "high_level_activity_label": "Wash hands"}, {}, [], []
        ).recipe_ids
        == ()
    )


def test_c042_units() -> None:
    units = [canonical_unit(u) for u in ("tsp", "teaspoon", "tbsp", "cubes", "cube", "small tub")]
    assert units[0] == units[1] != units[2] and units[3] == units[4] and grams(1, "small tub") is None
    assert one_line("a\n b") == "a b"
