"""Drawn pictures and clips, and frames cut from videos: what they show, and when."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from ego2world.agents.mock import mock_reply
from ego2world.core.journal import read_rows
from ego2world.core.models import Image as ModelImage
from ego2world.core.models import MockModel, ModelClient, Request
from ego2world.core.pictures import add_caption, read_caption
from ego2world.core.video import frame_at, write_clip
from ego2world.errors import UsageError, VideoError
from ego2world.evaluate import score_run
from ego2world.render import draw_clip, draw_episode, draw_region
from ego2world.run.frames import DrawnFrames, VideoFrames, first_times_s, open_frames
from ego2world.run.loop import RunSettings, run
from ego2world.world.episode import Episode, load_episode
from ego2world.world.observe import visible
from ego2world.world.refusal import Refusal
from ego2world.world.step import step

EPISODE = "K02-20250410-093000"
COLORS = ((200, 30, 30), (30, 160, 40), (40, 60, 200), (220, 200, 40))


@pytest.fixture(scope="module")
def episode(sample_worlds: Path) -> Episode:
    return load_episode(sample_worlds, EPISODE)


def colored_clip(path: Path, seconds_each: int = 1, fps: int = 8) -> None:
    """Write a clip that is one colour for a second, then the next."""
    frames = [Image.new("RGB", (64, 48), c) for c in COLORS for _ in range(seconds_each * fps)]
    write_clip(frames, path, fps)


def main_color(png: bytes) -> tuple[int, ...]:
    return Image.open(io.BytesIO(png)).convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[return-value]


def near(found: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 25 for a, b in zip(found, wanted, strict=True))


def test_a_caption_stays_a_valid_png() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(buffer, "PNG")
    png = add_caption(buffer.getvalue(), '{"a": "mug"}')
    assert Image.open(io.BytesIO(png)).text == {"ego2world": '{"a": "mug"}'}  # type: ignore[attr-defined]
    assert (
        read_caption(png) == '{"a": "mug"}' and read_caption(buffer.getvalue()) is None and read_caption(b"x") is None
    )


def test_a_region_is_drawn_with_what_is_visible_in_it(episode: Episode) -> None:
    zone = episode.initial.zone
    content = visible(episode.world, episode.initial, zone)
    png = draw_region(content, "a zone")
    assert png == draw_region(content, "a zone") and Image.open(io.BytesIO(png)).width == 768
    shown = {row["id"]: (row["how"], row["where"]) for row in json.loads(read_caption(png) or "")}
    assert shown == {t.id: t.place for t in content.values() if t.place is not None}
    fewer = {i: t for i, t in content.items() if i != next(iter(shown))}
    assert draw_region(fewer, "a zone")[:-600] != png[:-600], "what is there is to be seen, not only in the caption"


def test_the_hidden_is_not_drawn(episode: Episode) -> None:
    zone = episode.initial.zone
    png = DrawnFrames(episode).picture(zone)
    assert png is not None
    seen = visible(episode.world, episode.initial, zone)
    assert all(row["id"] in seen for row in json.loads(read_caption(png.data) or ""))


def test_a_clip_shows_each_state_for_its_time(episode: Episode, tmp_path: Path) -> None:
    state, regions = episode.initial, []
    for action in episode.actions[:4]:
        after = step(episode.world, state, action)
        assert not isinstance(after, Refusal)
        state = after
        regions.append((visible(episode.world, state, state.zone), str(action), (action.ids("object") or ("",))[0]))
    draw_clip(regions, tmp_path / "clip.mp4", seconds_each=0.5)
    frames = [frame_at(tmp_path / "clip.mp4", t) for t in (0.1, 0.6, 1.1, 1.6)]
    assert len(set(frames)) == 4 and all(Image.open(io.BytesIO(f)).width == 768 for f in frames)
    assert near(main_color(frame_at(tmp_path / "clip.mp4", 0.3)), main_color(frames[0])), "a state is held"
    with pytest.raises(VideoError, match=r"before 9\.000 s"):
        frame_at(tmp_path / "clip.mp4", 9.0)


def test_an_episode_is_drawn_on_the_clock_of_its_source(episode: Episode, tmp_path: Path) -> None:
    draw_episode(episode, tmp_path / f"{EPISODE}.mp4")
    ends = [operation["span_s"][1] for operation in episode.operations]
    number = next(
        n
        for n, o in enumerate(episode.operations)
        if o["family"] == "open" and ends[n] > ends[n - 1] + 1 and ends[n] + 1 < ends[n + 1]
    )
    before, after, later = (frame_at(tmp_path / f"{EPISODE}.mp4", ends[number] + late) for late in (-0.6, 0.6, 0.9))
    assert before != after and near(main_color(after), main_color(later))
    with pytest.raises(VideoError, match="ends at"):
        frame_at(tmp_path / f"{EPISODE}.mp4", max(ends) + 5)
    picture = VideoFrames(episode, tmp_path).picture(episode.initial.zone)
    assert picture is not None and Image.open(io.BytesIO(picture.data)).width == 768


@pytest.mark.parametrize(("time_s", "color"), [(0.0, 0), (0.9, 0), (1.0, 1), (1.5, 1), (2.4, 2), (3.9, 3)])
def test_the_frame_of_a_time(tmp_path: Path, time_s: float, color: int) -> None:
    colored_clip(tmp_path / "clip.mp4")
    assert near(main_color(frame_at(tmp_path / "clip.mp4", time_s)), COLORS[color])


def test_a_file_that_is_no_video(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_bytes(b"not a video")
    with pytest.raises(VideoError, match="cannot be read"):
        frame_at(tmp_path / "x.mp4", 0.0)
    colored_clip(tmp_path / "cut.mp4")
    (tmp_path / "cut.mp4").write_bytes((tmp_path / "cut.mp4").read_bytes()[:900])
    with pytest.raises(VideoError):
        frame_at(tmp_path / "cut.mp4", 3.0)


def test_frames_come_from_the_episodes_own_video(episode: Episode, sample_worlds: Path, tmp_path: Path) -> None:
    times = first_times_s(episode)
    last_s = int(max(times.values())) + 2
    (tmp_path / "deep").mkdir()
    frames = [Image.new("RGB", (64, 48), COLORS[second % 4]) for second in range(last_s) for _ in range(4)]
    write_clip(frames, tmp_path / "deep" / f"{EPISODE}.mp4", 4)
    source = VideoFrames(episode, tmp_path)
    for zone, time_s in times.items():
        picture = source.picture(zone)
        assert picture is not None and near(main_color(picture.data), COLORS[int(time_s) % 4])
    assert source.picture("zone_99") is None
    seen: list[Request] = []

    def blind(request: Request) -> str:
        seen.append(request)
        return (
            '{"things": []}'
            if any(isinstance(p, ModelImage) for p in request.messages[-1].parts)
            else mock_reply(request)
        )

    settings = RunSettings("llm", "reset", frames=str(tmp_path), episodes=(EPISODE,))
    run(sample_worlds, tmp_path / "r", settings, client=ModelClient(MockModel(blind)))
    looks = read_rows(tmp_path / "r/looks.jsonl")
    asked = [r for r in seen if any(isinstance(p, ModelImage) for p in r.messages[-1].parts)]
    assert looks and len(asked) == sum(look["picture"] for look in looks) > 0
    assert score_run(tmp_path / "r")["complete"], "a model that sees nothing fails at tasks, not at running"


def test_a_folder_that_is_not_there(episode: Episode) -> None:
    with pytest.raises(UsageError, match="needed drawn, or a folder"):
        open_frames("nowhere", episode)
    assert open_frames(None, episode) is None
