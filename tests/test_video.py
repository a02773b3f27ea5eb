"""Video files: frames by presentation time, whatever rate, offset, codec or rotation, and every kind of broken file
named."""

from __future__ import annotations

import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from ego2world.core.video import FileStatus, clip_frames, frame_number, frames_at, probe, write_clip, write_copy
from ego2world.errors import VideoError

CASES = Path(__file__).parents[2] / "shared" / "cases" / "video"
NTSC = Fraction(30000, 1001)


def grey(level: int, size: tuple[int, int] = (64, 48)) -> Image.Image:
    return Image.new("RGB", size, (level, level, level))


def level(picture: Image.Image) -> int:
    return round(float(np.asarray(picture.convert("L")).mean()))


def encode(
    path: Path, times: list[int], base: Fraction, codec: str = "libx264", rate: Fraction = NTSC, gop: int = 12
) -> None:
    """Write frames of level 2n at given times, in units of ``base``."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt, stream.time_base = 64, 48, "yuv420p", base
        stream.codec_context.time_base = base
        stream.gop_size = gop
        for number, time in enumerate(times):
            frame = av.VideoFrame.from_image(grey(16 + 2 * (number % 100)))
            frame.pts, frame.time_base = time, base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def test_c109_frames_of_29_97_do_not_drift(tmp_path: Path) -> None:
    encode(tmp_path / "ntsc.mp4", [1001 * n for n in range(300)], Fraction(1, 30000))
    facts = probe(tmp_path / "ntsc.mp4")
    assert facts.status is FileStatus.OK and facts.n_frames == 300 and not facts.variable_rate
    assert facts.duration_s == pytest.approx(10.010, abs=1e-4)
    shots = frames_at(tmp_path / "ntsc.mp4", [9.9767, 9.9766])
    assert [shot.time_s for shot in shots] == pytest.approx([298 * 1001 / 30000, 299 * 1001 / 30000], abs=1e-5)
    assert [round(t, 4) for t in (299 * 1001 / 30000,)] == [9.9766]
    assert frame_number(600.0, NTSC) == 17982 and frame_number(9.9767, NTSC) == 299


def test_variable_rates_go_by_presentation_times(tmp_path: Path) -> None:
    times = [0, 100, 150, 900, 905, 2000, 2010, 2990]
    encode(tmp_path / "v.mp4", times, Fraction(1, 1000), gop=3)
    assert probe(tmp_path / "v.mp4").variable_rate
    for asked, number in (
        (0.0, 0),
        (0.099, 0),
        (0.1, 1),
        (0.5, 2),
        (0.9, 3),
        (0.904, 3),
        (1.99, 4),
        (2.5, 6),
        (2.99, 7),
    ):
        (shot,) = frames_at(tmp_path / "v.mp4", [asked])
        assert shot.time_s == times[number] / 1000 and abs(level(shot.picture) - (16 + 2 * number)) <= 3, asked
    assert len(frames_at(tmp_path / "v.mp4", [0.91, 1.2, 1.9])) == 1, "one frame shown at three times comes once"


def test_c112_a_start_offset_does_not_shift_annotation_time(tmp_path: Path) -> None:
    encode(tmp_path / "offset.mp4", [30000 + 1001 * n for n in range(60)], Fraction(1, 30000))
    facts = probe(tmp_path / "offset.mp4")
    assert facts.start_s == 1.0 and facts.n_frames == 60
    (shot,) = frames_at(tmp_path / "offset.mp4", [0.5])
    assert facts.start_s + shot.time_s == pytest.approx(1.4671, abs=1e-4)  # frame 14, the last not later
    assert frames_at(tmp_path / "offset.mp4", [0.0])[0].time_s == 0.0


def test_c113_pictures_are_upright() -> None:
    rotated = Path(__file__).parent / "fixtures" / "rotated.mp4"
    facts = probe(rotated)
    assert (facts.width_px, facts.height_px, facts.rotation_deg) == (90, 160, 90)
    (shot,) = frames_at(rotated, [0.0])
    assert shot.picture.size == (90, 160)
    # testsrc2 has its bright pattern bar at the left of the coded picture, which is its bottom once turned
    # counterclockwise
    (coded,) = [f.to_image() for n, f in enumerate(av.open(str(rotated)).decode(video=0)) if n == 0]
    assert np.array_equal(np.asarray(shot.picture), np.rot90(np.asarray(coded)))


def test_a_second_decoder_turns_pictures_the_same_way() -> None:
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed; it is no dependency, only a second opinion here")
    rotated = Path(__file__).parent / "fixtures" / "rotated.mp4"
    _, found = cv2.VideoCapture(str(rotated)).read()
    assert np.array_equal(found[:, :, ::-1], np.asarray(frames_at(rotated, [0.0])[0].picture))


def test_c114_hevc_is_read_and_copied_for_browsers(tmp_path: Path) -> None:
    encode(tmp_path / "hevc.mp4", list(range(60)), Fraction(1, 30), "libx265", Fraction(30))
    facts = probe(tmp_path / "hevc.mp4")
    assert (facts.codec, facts.n_frames, facts.status) == ("hevc", 60, FileStatus.OK)
    write_copy(tmp_path / "hevc.mp4", tmp_path / "copy.mp4", 96, 15)
    copy = probe(tmp_path / "copy.mp4")
    assert (copy.codec, copy.height_px, copy.n_frames, copy.audio) == ("h264", 96, 30, False)
    before, after = (frames_at(tmp_path / name, [1.21])[0] for name in ("hevc.mp4", "copy.mp4"))
    assert abs(level(before.picture) - level(after.picture)) <= 4


def test_c111_a_cut_file_gives_only_what_can_be_decoded(tmp_path: Path) -> None:
    encode(tmp_path / "whole.mp4", [1001 * n for n in range(300)], Fraction(1, 30000))
    with (
        av.open(str(tmp_path / "whole.mp4")) as source,
        av.open(str(tmp_path / "fast.mp4"), "w", options={"movflags": "+faststart"}) as out,
    ):
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(source.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    data = (tmp_path / "fast.mp4").read_bytes()
    (tmp_path / "cut.mp4").write_bytes(data[: len(data) * 2 // 3])
    facts = probe(tmp_path / "cut.mp4")
    assert facts.status is FileStatus.DAMAGED and facts.header_frames == 300 and 0 < facts.n_frames < 300
    assert f"{facts.n_frames} of 300 frames" in facts.reason
    times = [shot.time_s for shot in frames_at(tmp_path / "cut.mp4", [i / 2 for i in range(20)])]
    assert times == sorted(set(times)) and times[-1] < facts.duration_s, "no frame twice, none from beyond the cut"
    with pytest.raises(VideoError, match=r"damaged|ends at"):
        frames_at(tmp_path / "cut.mp4", [9.9])


def test_broken_frames_in_the_middle_are_damage_and_the_same_damage_every_time(tmp_path: Path) -> None:
    pictures = [Image.linear_gradient("L").resize((128, 96)).convert("RGB") for _ in range(90)]
    for n, picture in enumerate(pictures):
        picture.paste((200, 40, 40), (n, 20 + n // 3, n + 30, 60 + n // 3))
    write_clip(pictures, tmp_path / "whole.mp4", 30)
    data = (tmp_path / "whole.mp4").read_bytes()
    lost = []
    for seed in range(12):
        draw, broken = np.random.default_rng(seed), bytearray(data)
        for place in draw.integers(len(data) // 4, len(data) // 2, 5):
            broken[place] ^= 0x5A
        path = tmp_path / f"{seed}.mp4"
        path.write_bytes(broken)
        facts = {probe(path) for _ in range(6)}
        assert len(facts) == 1, seed
        (one,) = facts
        good = []
        with av.open(str(path)) as container:
            container.streams.video[0].codec_context.thread_count = 1
            try:
                good += [frame.time for frame in container.decode(video=0) if not frame.is_corrupt]
            except av.error.InvalidDataError:
                continue  # decoding stops: another test's matter
        lost.append(90 - len(good))
        assert one.n_frames == len(good) and one.status is (FileStatus.DAMAGED if lost[-1] else FileStatus.OK)
        assert not lost[-1] or one.reason == f"frames are broken; {len(good)} of 90 frames can be decoded"
        shots = frames_at(path, [n / 30 + 0.001 for n in range(90)])
        assert [shot.time_s for shot in shots] == pytest.approx(good, abs=1e-5), "a broken frame is no evidence"
        copies = [tmp_path / f"{seed}-{n}.mp4" for n in range(3)]
        for copy in copies:
            write_copy(path, copy, 96, 30)
        assert len({copy.read_bytes() for copy in copies}) == 1
    assert sum(n > 0 for n in lost) >= 6


@pytest.mark.parametrize(("codec", "options"), [("libx264", "x264-params"), ("libx265", "x265-params")])
def test_a_cut_at_an_open_group_of_pictures_is_no_damage(tmp_path: Path, codec: str, options: str) -> None:
    """Frames shown before the first key frame of a cut cannot be decoded; as cameras and editors leave them, such
    files are whole."""
    with av.open(str(tmp_path / "open.mp4"), "w") as container:
        stream = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = 160, 96, "yuv420p"
        stream.options = {options: "open-gop=1:keyint=20:min-keyint=20:scenecut=0:bframes=3:log-level=0"}
        for number in range(90):
            picture = np.full((96, 160, 3), 100, np.uint8)
            picture[20:50, number : number + 30] = 220
            container.mux(stream.encode(av.VideoFrame.from_image(Image.fromarray(picture))))
        container.mux(stream.encode())
    with av.open(str(tmp_path / "open.mp4")) as source, av.open(str(tmp_path / "cut.mp4"), "w") as out:
        stream, keys = out.add_stream_from_template(source.streams.video[0]), 0
        for packet in source.demux(source.streams.video[0]):
            keys += packet.is_keyframe
            if packet.dts is not None and keys > 1:
                packet.stream = stream
                out.mux(packet)
    facts = probe(tmp_path / "cut.mp4")
    assert facts.status is FileStatus.OK and facts.n_frames == 70 < (facts.header_frames or 0)


def test_every_kind_of_unusable_file_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("not a video")
    with wave.open(str(tmp_path / "sound.wav"), "wb") as sound:
        sound.setnchannels(1), sound.setsampwidth(2), sound.setframerate(8000), sound.writeframes(b"\0" * 16000)
    write_clip([grey(90)] * 20, tmp_path / "two.mp4", 10)
    found = {name: probe(tmp_path / name).status for name in ("empty.mp4", "text.mp4", "sound.wav", "none.mp4")}
    assert found == {
        "empty.mp4": FileStatus.EMPTY,
        "text.mp4": FileStatus.UNREADABLE,
        "sound.wav": FileStatus.NO_VIDEO,
        "none.mp4": FileStatus.MISSING,
    }
    assert probe(tmp_path / "two.mp4", 2, 2).status is FileStatus.OK
    assert probe(tmp_path / "two.mp4", least_s=3).status is FileStatus.SHORT
    assert probe(tmp_path / "two.mp4", most_s=1).status is FileStatus.LONG
    with pytest.raises(VideoError, match=r"ends at 1\.900 s, before 7\.000 s"):
        frames_at(tmp_path / "two.mp4", [7.0])


def test_seeking_gives_what_decoding_everything_gives(tmp_path: Path) -> None:
    for gop in (1, 7, 250):
        encode(tmp_path / "g.mp4", [512 * n for n in range(120)], Fraction(1, 15360), gop=gop)
        whole = [frame.to_image() for frame in av.open(str(tmp_path / "g.mp4")).decode(video=0)]
        wanted = [0.02, 0.03, 1.0, 1.05, 2.5, 3.97]
        shots = frames_at(tmp_path / "g.mp4", wanted)
        numbers = sorted({int(t * 30 + 1e-9) for t in wanted})
        assert [round(shot.time_s * 30) for shot in shots] == numbers
        for shot, number in zip(shots, numbers, strict=True):
            assert np.array_equal(np.asarray(shot.picture), np.asarray(whole[number])), (gop, number)


def test_clips_are_scaled_and_timed_from_their_start(tmp_path: Path) -> None:
    write_clip([grey(90, (320, 240))] * 40, tmp_path / "four.mp4", 10)
    images, times = clip_frames(tmp_path / "four.mp4", 1.0, 3.0, fps=2, pixels=10_000)
    assert times == pytest.approx([0.2, 0.7, 1.2, 1.7]) and len(images) == 4


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared clips are not on this machine")
def test_the_shared_clips_are_read_right() -> None:
    found = {path.stem: probe(path) for path in sorted(CASES.glob("*.mp4"))}
    assert {name: f.n_frames for name, f in found.items()} == {
        "base": 60,
        "hevc": 60,
        "ntsc": 300,
        "offset": 60,
        "rot": 60,
        "trunc_faststart": 141,
    }
    assert {name for name, f in found.items() if f.status is not FileStatus.OK} == {"trunc_faststart"}
    assert found["trunc_faststart"].status is FileStatus.DAMAGED and found["trunc_faststart"].header_frames == 300
    assert found["ntsc"].duration_s == pytest.approx(10.010, abs=5e-4) and found["offset"].start_s == 1.0
    assert (found["rot"].width_px, found["rot"].height_px) == (90, 160)
    (shot,) = frames_at(CASES / "offset.mp4", [0.5])
    assert shot.time_s + 1 == pytest.approx(1.4671, abs=1e-4)
    assert frames_at(CASES / "ntsc.mp4", [9.99])[0].time_s == pytest.approx(9.9766, abs=1e-4)
