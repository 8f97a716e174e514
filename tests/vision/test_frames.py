"""Reading of valid, unusual and damaged video files, whole or only the frames that are needed."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import pytest

from howsteps.errors import InputError
from howsteps.vision.features import interval_count
from howsteps.vision.frames import Decoding, VideoReader, plan_decoding
from tests.films import lay_on_its_side
from tests.vision.scenes import film, scene


def times(path: Path) -> list[float]:
    with VideoReader(path) as opened:
        return [frame.time for frame in opened]


def test_frames_come_with_their_times(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", scene(30, size=(160, 120)))
    assert times(path) == pytest.approx([n / 30 for n in range(30)], abs=1e-4)
    with VideoReader(path) as opened:
        assert (opened.width, opened.height) == (160, 120)
        assert [*opened][-1].time < opened.end == pytest.approx(1.0, abs=1e-3)
        assert opened.warnings() == []


def test_variable_frame_rates_keep_their_times(tmp_path: Path) -> None:
    stamps = [0, 1, 2, 10, 11, 40, 41, 90]
    path = film(tmp_path / "a.mkv", scene(8, size=(160, 120)), stamps=stamps)
    assert times(path) == pytest.approx([n / 30 for n in stamps], abs=2e-3)


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])  # time bases of 1/15360 s and 1 ms
@pytest.mark.parametrize("frames", [10, 75])
def test_the_end_is_that_of_the_last_frame(tmp_path: Path, suffix: str, frames: int) -> None:
    path = film(tmp_path / f"a.{suffix}", scene(frames, size=(64, 48)))
    with VideoReader(path) as opened:
        assert [*opened][-1].time < opened.end
        assert opened.end <= frames / 30 + 1e-4
        assert opened.end == pytest.approx(frames / 30, abs=0.0105)
        assert interval_count(opened.end, 1 / 3) == -(-frames // 10)


def test_times_are_relative_to_the_start_of_the_file(tmp_path: Path) -> None:
    """If video starts two seconds after audio, its first frame is at two seconds."""
    path = tmp_path / "late.mkv"
    with av.open(str(path), "w") as container:
        sound = container.add_stream("pcm_s16le", rate=8000, layout="mono")
        picture = container.add_stream("mpeg4", rate=30)
        picture.width, picture.height = 160, 120
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 8000 * 3), np.int16), "s16", "mono")
        silence.sample_rate, silence.pts = 8000, 0
        container.mux(sound.encode(silence))
        for n, luma in enumerate(scene(20, size=(160, 120))):
            frame = av.VideoFrame.from_ndarray(luma, "gray")
            frame.pts = 60 + n
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        container.mux(sound.encode(None))
    assert times(path)[0] == pytest.approx(2.0, abs=0.01)


def shuffled(path: Path, stamps: list[int], **options: str) -> Path:
    """A file of independent frames with given timestamps."""
    with av.open(str(path), "w", options=options) as container:
        stream = container.add_stream("mjpeg", rate=30)
        stream.width, stream.height, stream.pix_fmt = 160, 120, "yuvj420p"
        packets = []
        for n, luma in enumerate(scene(len(stamps), size=(160, 120))):
            frame = av.VideoFrame.from_ndarray(luma, "gray")
            frame.pts = n
            packets += stream.encode(frame)
        packets += stream.encode(None)
        for n, (packet, stamp) in enumerate(zip(packets, stamps, strict=True)):
            packet.time_base = Fraction(1, 30)
            packet.dts, packet.pts = n - len(stamps), stamp
            container.mux(packet)
    return path


def test_decreasing_timestamps_are_replaced(tmp_path: Path) -> None:
    path = shuffled(tmp_path / "a.mkv", [0, 1, 2, 9, 4, 3, 5, 10, 11, 12])
    with VideoReader(path) as opened:
        found = [frame.time for frame in opened]
        assert opened.restamped > 0
    assert len(found) == 10
    assert all(a < b for a, b in pairwise(found))
    assert found[-1] < 1.0


HOUR = 30 * 3600  # frames


def test_timestamps_that_jump_are_named(tmp_path: Path) -> None:
    """A live recording states no duration that could agree with them."""
    path = shuffled(tmp_path / "a.mkv", [0, HOUR, 2 * HOUR, 2 * HOUR + 1], live="1")
    with VideoReader(path) as opened:
        assert opened.stated_duration is None
        assert [frame.time for frame in opened][-1] < 1.0
        assert opened.warnings() == [
            "timestamps jump ahead by more than 60 s; the times of 3 frames were estimated"
        ]


def test_timestamps_that_jump_as_the_duration_says_are_kept(tmp_path: Path) -> None:
    path = shuffled(tmp_path / "a.mkv", [0, HOUR, 2 * HOUR])
    with VideoReader(path) as opened:
        assert [frame.time for frame in opened] == pytest.approx([0.0, 3600.0, 7200.0])
        assert opened.warnings() == []


def test_one_damaged_packet_is_one(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", scene(2, size=(160, 120)))
    with VideoReader(path) as opened:
        assert len([*opened]) == 2
        for opened.damaged, warning in (
            (1, "1 damaged packet was left out"),
            (1200, "1,200 damaged packets were left out"),
        ):
            assert opened.warnings() == [warning]


def test_a_stream_without_timestamps_has_the_default_frame_rate(tmp_path: Path) -> None:
    whole = film(tmp_path / "a.mp4", scene(20, size=(160, 120)), options={"bf": "0"})
    raw = tmp_path / "a.h264"
    with av.open(str(whole)) as source, av.open(str(raw), "w", format="h264") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    found = times(raw)
    assert len(found) == 20
    assert np.diff(found) == pytest.approx(np.diff(found)[0], rel=0.35)


def test_a_rotated_video_is_made_upright(tmp_path: Path) -> None:
    path = lay_on_its_side(film(tmp_path / "a.mp4", scene(3, size=(160, 96))))
    [flat] = [*scene(1, size=(160, 96))]
    with VideoReader(path) as opened:
        assert (opened.width, opened.height) == (96, 160)
        frame = next(iter(opened))
        luma = frame.luma(96, 160).astype(float)
        assert frame.rgb(48, 80).shape == (80, 48, 3)
    matches = [np.corrcoef(np.rot90(flat, k).ravel(), luma.ravel())[0, 1] for k in (1, 3)]
    assert max(matches) > 0.95
    assert matches[1] > matches[0]  # a quarter turn clockwise, as players show it


@pytest.mark.parametrize(
    ("codec", "form"), [("ffv1", "yuv420p10le"), ("ffv1", "bgr0"), ("mpeg4", "")]
)
def test_odd_formats_and_sizes(tmp_path: Path, codec: str, form: str) -> None:
    luma = np.ascontiguousarray(next(scene(1, size=(162, 122)))[:121, :161])
    path = film(tmp_path / "a.mkv", [luma], codec=codec, form=form or None)
    with VideoReader(path) as opened:
        frame = next(iter(opened))
        assert (opened.width, opened.height) == (161, 121)
        small = frame.luma(80, 60)
        assert frame.rgb(80, 60).shape == (60, 80, 3)
    assert abs(float(small.mean()) - float(luma.mean())) < 25  # limited range


def test_pixels_need_not_be_square(tmp_path: Path) -> None:
    pictures = scene(1, size=(160, 120))
    path = film(tmp_path / "a.mkv", pictures, codec="mpeg4", aspect=Fraction(4, 3))
    with VideoReader(path) as opened:
        assert (opened.width, opened.height) == (213, 120)


def test_the_scaled_size_keeps_the_aspect_ratio(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", scene(2, size=(640, 360)))
    with VideoReader(path) as opened:
        width, height = opened.size(426 * 240)
        assert abs(width * height - 426 * 240) < 500
        assert width / height == pytest.approx(16 / 9, rel=0.01)
        assert opened.size(10**9) == (640, 360)  # never enlarged


def header_only(path: Path) -> None:
    film(path, scene(30, size=(160, 120)))
    path.write_bytes(path.read_bytes()[:400])


def sound_only(path: Path) -> None:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=8000, layout="mono")
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.float32), "fltp", "mono")
        silence.sample_rate, silence.pts = 8000, 0
        container.mux(stream.encode(silence))
        container.mux(stream.encode(None))


def thin(path: Path) -> None:
    film(path, [np.zeros((2, 10_000), np.uint8)], codec="ffv1", kind="matroska")


def no_frame(path: Path) -> None:
    """A valid header with frames of noise."""
    film(path, scene(10, size=(160, 120)), options={"bf": "0"})
    content = bytearray(path.read_bytes())
    start = content.index(b"mdat") + 4
    end = content.index(b"moov") - 4
    content[start:end] = np.random.default_rng(0).bytes(end - start)
    path.write_bytes(content)


BROKEN: dict[Callable[[Path], object], str] = {
    **{
        partial(Path.write_bytes, data=data): "not a readable video"
        for data in (b"", b"this is no film\n" * 50, np.random.default_rng(0).bytes(50_000))
    },
    header_only: "not a readable video",
    sound_only: "no video stream",
    thin: "10000×2 pixels, too small",
    no_frame: "no frame",
}


@pytest.mark.parametrize(
    ("make", "reason"), BROKEN.items(), ids=lambda x: getattr(x, "__name__", "bytes")
)
def test_an_unusable_file_is_reported_in_one_line(
    tmp_path: Path, make: Callable[[Path], object], reason: str
) -> None:
    path = tmp_path / "film.mp4"
    make(path)
    with pytest.raises(InputError) as caught:
        times(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_truncated_video_is_read_as_far_as_possible(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mkv", scene(150, size=(160, 120)), options={"g": "15"})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with VideoReader(path) as opened:
        found = [frame.time for frame in opened]
        assert 20 < len(found) < 120
        assert any("cut short" in warning for warning in opened.warnings())


def test_damaged_packets_are_skipped(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", scene(60, size=(160, 120)), options={"g": "10", "bf": "0"})
    content = bytearray(path.read_bytes())
    middle = content.index(b"mdat") + (content.index(b"moov") - content.index(b"mdat")) // 2
    content[middle : middle + 300] = np.random.default_rng(0).bytes(300)
    path.write_bytes(content)
    assert len(times(path)) > 30


def test_a_file_with_a_duration_of_days_is_refused(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mkv", scene(2, size=(160, 120)), stamps=[0, 30 * 3600 * 50])
    with pytest.raises(InputError, match="hours"):
        times(path)


SIZE = (160, 96)


def times_and_end(path: Path, decoding: Decoding) -> tuple[list[float], float]:
    with VideoReader(path, 1, decoding) as video:
        return [frame.time for frame in video], video.end


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with non-reference frames, and one key frame."""
    path = tmp_path_factory.mktemp("usual") / "a.mp4"
    options = {"g": "250", "bf": "3", "sc_threshold": "0", "b-adapt": "0"}
    return film(path, scene(90, size=SIZE, disc=(2, 0)), options=options)


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with two key frames per second."""
    path = tmp_path_factory.mktemp("keyed") / "a.mp4"
    options = {"g": "15", "bf": "0"}
    return film(path, scene(90, size=SIZE, disc=(2, 0)), options=options)


def test_non_reference_frames_are_skipped(usual: Path) -> None:
    every, end = times_and_end(usual, Decoding())
    some, same = times_and_end(usual, plan_decoding(usual, 1 / 3))
    assert len(every) == 90
    assert 20 < len(some) < 80
    assert set(some) < set(every)
    assert same == pytest.approx(end, abs=0.02)


def test_sparing_decodes_key_frames_only_if_they_are_frequent(keyed: Path) -> None:
    plan = plan_decoding(keyed, 2 / 3, sparing=True)
    assert plan == Decoding("key", apart=1 / 3, deblock=False)
    some, end = times_and_end(keyed, plan)
    assert some == pytest.approx([0, 0.5, 1, 1.5, 2, 2.5], abs=0.01)
    assert end == pytest.approx(3.0, abs=0.02)
    assert plan_decoding(keyed, 1 / 3).frames == "reference"


def test_sparing_decodes_other_frames_if_key_frames_are_rare(usual: Path) -> None:
    assert plan_decoding(usual, 2 / 3, sparing=True) == Decoding("reference", deblock=False)


def test_a_video_of_key_frames_is_decoded_at_the_needed_rate_only(
    tmp_path: Path,
) -> None:
    path = film(tmp_path / "a.avi", scene(60, size=SIZE, disc=(2, 0)), codec="mjpeg")
    plan = plan_decoding(path, 1 / 3)
    assert plan.frames == "key"
    some, end = times_and_end(path, plan)
    assert len(some) == 12
    assert end == pytest.approx(2.0, abs=0.02)
