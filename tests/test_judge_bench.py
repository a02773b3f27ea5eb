"""Benchmark files: every video that is expected is in the manifest, and every way it can be unusable has its name."""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
import wave
from pathlib import Path

import pytest
from PIL import Image

from ego2world.errors import AnnotationError, RecordError, UsageError
from ego2world.judge.benchmark import check, collisions, read_benchmark
from ego2world.judge.layout import Design, init
from ego2world.judge.records import Video, VideoSource
from judge_data import clip

CSV = """case_id,goal,domain,clutter,objects,reference_sequences,panel
tea,The mug is on the tray; tea is in the mug.,kitchen_and_food,low,mug; tray; pot,pour; carry | carry; pour | pour; lift; carry,yes
bag,The brush is in the bag.,personal_care_and_utilities,high,brush; bag,open; put | put | take out; put,no
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    videos = tmp_path / "videos"
    videos.mkdir()
    (videos / "cases.csv").write_text(CSV)
    level = 60
    for case in ("tea", "bag"):
        (videos / case).mkdir()
        Image.new("RGB", (64, 48), (120, 130, 140)).save(videos / case / "scene.png")
        for kind, numbers in (
            ("human_success", (1, 2)),
            ("human_failure", (1, 2)),
            ("wan", (101, 202)),
            ("kling", (101, 202)),
        ):
            for number in numbers:
                level += 3
                clip(videos / case / kind / f"{number}.mp4", level=level)
    return videos


def test_a_folder_becomes_a_benchmark_that_is_sound(folder: Path, tmp_path: Path) -> None:
    bench, problems = init(folder, folder, Design())
    assert not problems and not check(bench)
    assert len(bench.videos) == 16 and {v.origin for v in bench.videos} == {
        "human_success",
        "human_failure",
        "wan",
        "kling",
    }
    assert (
        bench.design["models"] == ["kling", "wan"]
        and bench.design["seeds"] == [101, 202]
        and bench.design["takes"] == 2
    )
    again = read_benchmark(folder)
    assert again.videos == bench.videos and again.cases == bench.cases and again.cases[0].panel
    assert all(len(set(case.reference_sequences)) == 3 for case in again.cases)
    (folder / "cases.csv").write_text(CSV.replace("The brush is", "The comb is"))  # mended, and laid out again
    assert init(folder, folder, Design())[0].cases[1].goal == "The comb is in the bag."
    (folder / "cases.csv").write_text(CSV)
    elsewhere, problems = init(folder, tmp_path / "bench", Design())
    assert (
        not problems and elsewhere.path(elsewhere.videos[0]).is_file() and not check(read_benchmark(tmp_path / "bench"))
    )
    before = {path.name: path.read_bytes() for path in (tmp_path / "bench").iterdir()}
    init(folder, tmp_path / "bench", Design())
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "bench").iterdir()}


def test_what_is_wrong_with_a_video_is_said_and_nothing_is_dropped(folder: Path) -> None:
    (folder / "tea/wan/202.mp4").unlink()
    (folder / "tea/kling/101.mp4").write_bytes(b"")
    (folder / "tea/kling/202.mp4").write_text("<html>404</html>")
    data = (folder / "bag/wan/101.mp4").read_bytes()
    (folder / "bag/wan/101.mp4").write_bytes(data[: len(data) // 2])
    with wave.open(str(folder / "sound.wav"), "wb") as sound:
        sound.setnchannels(1), sound.setsampwidth(2), sound.setframerate(8000), sound.writeframes(b"\0" * 16000)
    (folder / "sound.wav").rename(folder / "bag/wan/202.mp4")
    clip(folder / "bag/kling/101.mp4", seconds=0.5)
    clip(folder / "bag/kling/202.mp4", seconds=9)
    clip(folder / "old prompt-0.mp4", level=200)
    (folder / "bag/human_success/2.mp4").write_bytes((folder / "bag/human_success/1.mp4").read_bytes())
    design = Design(("wan", "kling", "sora"), (101, 202), 3, least_s=1.5, most_s=5)
    bench, problems = init(folder, folder, design)
    assert len(bench.videos) == 2 * (3 + 3 + 3 * 2)
    status = {v.video_id: v.status for v in bench.videos if v.status != "ok"}
    assert {k: v for k, v in status.items() if "sora" not in k and not k.endswith(".3")} == {
        "tea.wan.202": "missing",
        "tea.kling.101": "empty",
        "tea.kling.202": "unreadable",
        "bag.wan.101": "unreadable",
        "bag.wan.202": "no_video",
        "bag.kling.101": "short",
        "bag.kling.202": "long",
    }
    assert sum(s == "missing" for s in status.values()) == 1 + 4 + 4  # one file, a model that made none, a third take
    found = check(bench)
    kinds = {(p.kind, p.where) for p in found}
    assert ("extra", "old prompt-0.mp4") in kinds and (
        "duplicate",
        "bag.human_success.1 = bag.human_success.2",
    ) in kinds
    assert {p.where for p in problems} <= {p.where for p in found}
    head = json.loads((folder / "benchmark.json").read_text())
    assert head["totals"]["by_status"]["missing"] == 9 and head["totals"]["videos"] == 24


def test_c117_videos_are_found_by_id_and_clashes_are_errors() -> None:
    def one(name: str, path: str) -> Video:
        return Video(video_id=name, case_id="c", source=VideoSource.MODEL, path=path)

    assert not collisions([one("p1", "a/1.mp4"), one("p2", "b/1.mp4")])
    (clash,) = collisions([one("p1", "A pan/1.mp4"), one("p2", "a pan/1.mp4"), one("p3", "c/1.mp4")])
    assert clash.where == "p1 = p2"
    composed, apart = (unicodedata.normalize(form, "café/1.mp4") for form in ("NFC", "NFD"))
    assert collisions([one("p1", composed), one("p2", apart)])


def test_a_changed_or_replaced_file_is_noticed(folder: Path) -> None:
    bench, _ = init(folder, folder, Design())
    clip(folder / "tea/wan/101.mp4", level=10)
    Image.new("RGB", (64, 48)).save(folder / "bag/scene.png")
    assert {(p.kind, p.where) for p in check(bench)} == {("changed", "tea.wan.101"), ("scene", "bag")}


def test_bad_tables_are_refused_with_every_row_named(folder: Path) -> None:
    (folder / "cases.csv").write_text(CSV.replace("kitchen_and_food", "kitchen").replace("bag,The", "../bag,The"))
    with pytest.raises(AnnotationError) as error:
        init(folder, folder, Design())
    assert [p.row for p in error.value.problems] == [1, 2] and "case_id" in str(error.value)
    (folder / "cases.csv").write_bytes(b"case_id,goal\ntea,caf\xe9\n")
    with pytest.raises(AnnotationError, match="in UTF-8"):
        init(folder, folder, Design())
    (folder / "cases.csv").unlink()
    (folder / "cases.jsonl").write_text('{"case_id": "tea"}\n{bad\n["x"]\n')
    with pytest.raises(AnnotationError) as error:
        init(folder, folder, Design())
    assert [p.row for p in error.value.problems] == [1, 2, 3]
    (folder / "cases.jsonl").unlink()
    with pytest.raises(UsageError, match=r"no cases\.csv and no cases\.jsonl"):
        init(folder, folder, Design())


def test_a_damaged_manifest_names_its_lines_and_no_path_leaves_the_folder(folder: Path) -> None:
    init(folder, folder, Design())
    lines = (folder / "videos.jsonl").read_text().splitlines()
    (folder / "videos.jsonl").write_text(
        "\n".join([lines[0], "{", lines[2].replace('"take":1', '"take":"x"'), *lines[3:]])
    )
    with pytest.raises(RecordError, match=r"line 2: .*line 3: "):
        read_benchmark(folder)
    (folder / "videos.jsonl").write_text(
        "\n".join([lines[0], lines[0], lines[2].replace("bag/", "../bag/").replace("tea/", "/etc/")])
    )
    with pytest.raises(RecordError, match=r"twice.*leaves the folder"):
        read_benchmark(folder)
    (folder / "videos.jsonl").write_text(lines[0].replace('"schema_version":1', '"schema_version":9'))
    with pytest.raises(RecordError, match="schema version 9, needed 1"):
        read_benchmark(folder)
    with pytest.raises(UsageError, match="judge init"):
        read_benchmark(folder / "tea")


def test_the_command_lists_problems_and_ends_with_9(folder: Path) -> None:
    (folder / "tea/wan/202.mp4").unlink()

    def command(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(Path(sys.executable).parent / "ego2world"), "judge", *words], capture_output=True, text=True
        )

    done = command("init", str(folder))
    assert (
        done.returncode == 9
        and "tea.wan.202: missing" in done.stdout
        and "16 videos expected; 1 missing" in done.stdout
    )
    done = command("check", str(folder), "--json")
    assert done.returncode == 9 and json.loads(done.stdout)["by_status"] == {"missing": 1, "ok": 15}
    clip(folder / "tea/wan/202.mp4", level=199)
    assert command("init", str(folder)).returncode == 0 and command("check", str(folder)).returncode == 0
    (folder / "tea/wan").rename(folder / "tea/a[red]b")  # names are text, not markup
    done = command("init", str(folder))
    assert done.returncode == 9 and "a[red]b" in done.stdout and "Traceback" not in done.stderr
    done = command("init", str(folder), "--seeds", "a")
    assert done.returncode == 2 and "whole numbers" in done.stderr and "Traceback" not in done.stderr
