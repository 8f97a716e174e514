"""Copies of videos: lossless with chapters, frame-accurate clips."""

from dataclasses import replace
from pathlib import Path

import av
import pytest

from howsteps.api import export
from howsteps.errors import InputError
from howsteps.io.files import Folder
from howsteps.report.exports.video_copies import cut_clip
from howsteps.task import Result, Video
from tests.films import HEIGHT, WIDTH, film, lay_on_its_side, length
from tests.report.exports.conftest import written


@pytest.mark.slow
def test_the_copy_has_every_packet_unchanged(result: Result, folder: Path, one: Video) -> None:
    [copy] = written(result, folder, "video")

    def packets(path: Path) -> list[tuple[str, bytes]]:
        with av.open(str(path)) as container:
            kept = [(p.stream.type, bytes(p)) for p in container.demux() if p.size]
        return sorted(kept)

    assert one.media is not None
    # MP4 writes chapters as a stream of text besides; all else is the same.
    media = {"video", "audio"}
    assert [p for p in packets(copy) if p[0] in media] == packets(one.media)


@pytest.mark.slow
def test_a_clip_begins_at_the_frame(result: Result, folder: Path) -> None:
    paths = written(result, folder, "clips")
    assert [path.name for path in paths] == [
        "01-fill-the-tub.mp4",
        "02-cmd-c-calc-a1-b-1-b-x-y-z-second-line.mp4",
        "03-dry-off-the-cat.mp4",
        "04-let-the-cat-go.mp4",
    ]
    assert [length(path) for path in paths] == pytest.approx([4.9] * 4, abs=0.01)
    with av.open(str(paths[1])) as container:
        assert [stream.type for stream in container.streams] == ["video", "audio"]


@pytest.mark.slow
def test_a_broken_video_is_reported_and_the_others_written(
    result: Result, folder: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a film")
    first, *others = result.task.videos
    task = replace(result.task, videos=(replace(first, media=broken), *others))
    paths, problems = export(replace(result, task=task), folder, ["clips", "video", "vtt"])
    assert {path.suffix for path in paths} == {".vtt"}
    assert [p.path for p in problems if not p.harmless] == [broken, broken]


def test_a_stream_without_an_index_is_cut_at_the_right_time(tmp_path: Path) -> None:
    stream = film(tmp_path / "camera.ts", 20.0, keyframes=40)
    clip = tmp_path / "clip.mp4"
    cut_clip(stream, Folder(tmp_path), clip.name, 9.0, 11.0)
    assert length(clip) == pytest.approx(1.9, abs=0.01)


def test_subtitles_that_a_clip_cannot_hold_are_left_out(tmp_path: Path) -> None:
    said = tmp_path / "said.srt"
    said.write_text("1\n00:00:01,000 --> 00:00:02,000\nlift it\n")
    subtitled = tmp_path / "subtitled.mkv"
    with (
        av.open(str(film(tmp_path / "film.mp4", sound=True))) as seen,
        av.open(str(said)) as read,
        av.open(str(subtitled), "w") as both,
    ):
        streams = {
            one: both.add_stream_from_template(one) for one in (*read.streams, *seen.streams)
        }
        for packet in (*read.demux(), *seen.demux()):
            if packet.dts is not None:
                packet.stream = streams[packet.stream]
                both.mux(packet)
    for suffix, kept in ((".mkv", ["audio", "subtitle", "video"]), (".mp4", ["audio", "video"])):
        clip = tmp_path / f"clip{suffix}"
        cut_clip(subtitled, Folder(tmp_path), clip.name, 1.0, 3.0)
        with av.open(str(clip)) as container:
            assert sorted(stream.type for stream in container.streams) == kept


def test_a_clip_of_a_phone_is_upright(tmp_path: Path) -> None:
    turned = lay_on_its_side(film(tmp_path / "phone.mp4"))
    clip = tmp_path / "clip.mp4"
    cut_clip(turned, Folder(tmp_path), clip.name, 1.0, 3.0)
    with av.open(str(clip)) as container:
        frame = next(container.decode(video=0))
    assert (frame.width, frame.height, frame.rotation) == (HEIGHT, WIDTH, 0)


@pytest.mark.slow
def test_a_clip_without_frames_is_reported(tmp_path: Path) -> None:
    media = film(tmp_path / "a.mp4", 2.0)
    with pytest.raises(InputError, match=r"a\.mp4: has no frames to write to clip\.mp4"):
        cut_clip(media, Folder(tmp_path), "clip.mp4", 5.0, 6.0)
    assert not list(tmp_path.glob("*clip*"))


@pytest.mark.slow
def test_an_unreadable_video_is_reported_once(result: Result, folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a film")
    videos = tuple(replace(video, media=broken) for video in result.task.videos[:1])
    alone = replace(
        result,
        task=replace(result.task, videos=(*videos, *result.task.videos[1:])),
    )
    _, problems = export(alone, folder, ["howto"])
    assert [problem.path for problem in problems] == [broken]
