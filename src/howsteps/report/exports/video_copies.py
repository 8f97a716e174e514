"""Copies of videos without re-encoding: with chapters inside, or cut at the steps (PyAV)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import CannotWrite, InputError, MissingExtra
from howsteps.io.timestamps import milliseconds
from howsteps.report.exports.spans import Chapter, from_zero
from howsteps.report.video_files import (
    decoded_at,
    opened,
    quarter_turns,
    seek_key_frame,
    shown_at,
    start_of,
    turned,
)

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.stream import Stream

# Containers that can hold chapters; any other video is copied into Matroska, which holds most.
_WITH_CHAPTERS = {".mp4", ".m4v", ".mov", ".mkv", ".webm"}
_COPIED = ("video", "audio", "subtitle")
USUAL_RATE = Fraction(25)
_BEHIND = 1  # seconds that sound may lie behind the pictures it belongs to


def suffix_for(media: Path) -> str:
    """The kind of file that a copy of a video is."""
    return media.suffix.lower() if media.suffix.lower() in _WITH_CHAPTERS else ".mkv"


def frame_rate(media: Path | None) -> Fraction:
    """Frames a second; the usual 25 where there is no video to ask, or nobody who can ask it."""
    if media is None:
        return USUAL_RATE
    try:
        with opened(media) as container:
            return container.streams.video[0].average_rate or USUAL_RATE
    except (InputError, MissingExtra):
        return USUAL_RATE


def with_chapters(media: Path, chapters: Sequence[Chapter], target: Path) -> None:
    """Write a copy of a video that has chapters; sound and picture stay what they are.

    MP4 begins its first chapter at 0, so an opening comes before the first step.

    Raises
    ------
    InputError
        The video cannot be read, or its streams do not fit into the copy.
    MissingExtra
        PyAV is not installed.
    """
    with _copying(media, target) as (source, copy):
        copy.set_chapters(
            [
                {
                    "id": number,
                    "start": milliseconds(chapter.start),
                    "end": milliseconds(chapter.end),
                    "time_base": Fraction(1, 1000),
                    "metadata": {"title": chapter.title},
                }
                for number, chapter in enumerate(from_zero(list(chapters)))
            ]
        )
        streams = _streams(source, copy)
        for packet in source.demux(*streams):
            _pass_on(packet, streams, copy, Fraction(0))


def cut(media: Path, start: float, end: float, target: Path, *, precise: bool = False) -> None:
    """Write one stretch of a video.

    Without ``precise`` nothing is re-encoded, and the clip begins at the last key frame before
    ``start``: some seconds early, perhaps, but quick and without loss. With it, the picture is
    encoded anew (H.264) and begins at the frame itself.

    Raises
    ------
    InputError
        The video cannot be read, or its streams do not fit into the clip.
    MissingExtra
        PyAV is not installed.
    """
    with _copying(media, target) as (source, clip):
        begin = start_of(source) + Fraction(start).limit_denominator(1000)
        finish = begin + Fraction(end - start).limit_denominator(1000)
        key_frame = seek_key_frame(source, begin)
        streams = _streams(source, clip, encoded=precise)
        if precise:
            seek_key_frame(source, begin)  # a frame was looked at
            _encode(source, clip, streams, begin, finish)
        else:
            _copy(source, clip, streams, key_frame, finish)


def _copy(
    source: "InputContainer",
    clip: "OutputContainer",
    streams: "dict[Stream, Stream]",
    first: Fraction | None,
    finish: Fraction,
) -> None:
    for packet in _until(source, streams, finish):
        shown, decoded = shown_at(packet), decoded_at(packet)
        if shown is None or decoded is None:
            continue
        is_picture = packet.stream.type == "video"
        if first is None and is_picture and packet.is_keyframe:
            first = shown
        # A picture that others build on may be decoded inside the clip and shown after it.
        reached = decoded if is_picture else shown
        # Sound before the first picture would play over a black screen.
        if first is not None and first <= shown and reached < finish:
            _pass_on(packet, streams, clip, first)


def _encode(
    source: "InputContainer",
    clip: "OutputContainer",
    streams: "dict[Stream, Stream]",
    begin: Fraction,
    finish: Fraction,
) -> None:
    encoder: Any = next(out for stream, out in streams.items() if stream.type == "video")
    for packet in _until(source, streams, finish):
        if packet.stream.type != "video":
            shown = shown_at(packet)
            if shown is not None and begin <= shown < finish:
                _pass_on(packet, streams, clip, begin)
            continue
        for frame in packet.decode():
            time = Fraction(frame.pts or 0) * (frame.time_base or Fraction(0))
            if begin <= time < finish:
                quarters = quarter_turns(frame)
                anew = turned(frame, quarters) if quarters else frame
                # From here on it is a frame of the clip, in the clip's own time.
                anew.pts = round((time - begin) / encoder.codec_context.time_base)
                anew.time_base = encoder.codec_context.time_base
                anew.pict_type = 0
                clip.mux(encoder.encode(anew))
    clip.mux(encoder.encode(None))


def _until(
    source: "InputContainer", streams: "dict[Stream, Stream]", finish: Fraction
) -> Iterator[Any]:
    """The packets from here to a time, and a little on: sound can lie behind its pictures."""
    for packet in source.demux(*streams):
        decoded = decoded_at(packet) if packet.stream.type == "video" else None
        if decoded is not None and decoded > finish + _BEHIND:
            return
        yield packet


def _streams(
    source: "InputContainer", copy: "OutputContainer", *, encoded: bool = False
) -> "dict[Stream, Stream]":
    """The streams of the copy by those of the source.

    Of pictures made anew there is the first stream alone; subtitles that the copy cannot hold are
    left out.
    """
    found: dict[Stream, Stream] = {}
    for stream in source.streams:
        if stream.type not in _COPIED:
            continue
        if encoded and stream.type == "video":
            if stream == source.streams.video[0]:
                found[stream] = _encoder(source, copy)
            continue
        try:
            found[stream] = copy.add_stream_from_template(stream)
        except ValueError:
            if stream.type != "subtitle":
                raise
    return found


def _encoder(source: "InputContainer", copy: "OutputContainer") -> "Stream":
    """H.264 for the picture of a video, as it is shown: upright, with its proportions."""
    picture = source.streams.video[0]
    anew: Any = copy.add_stream("libx264", rate=picture.average_rate or USUAL_RATE)
    # The encoder wants even sides.
    sides = picture.width & ~1, picture.height & ~1
    proportions = picture.sample_aspect_ratio or Fraction(1)
    first = next(source.decode(picture), None)
    if first is not None and quarter_turns(first) % 2:
        sides, proportions = (sides[1], sides[0]), 1 / proportions
    anew.width, anew.height = sides
    anew.codec_context.sample_aspect_ratio = proportions
    anew.pix_fmt = "yuv420p"
    anew.codec_context.time_base = Fraction(1, 90_000)
    anew.options = {"crf": "20", "preset": "veryfast"}
    encoder: Stream = anew
    return encoder


def _pass_on(
    packet: Any, streams: "dict[Stream, Stream]", copy: "OutputContainer", begin: Fraction
) -> None:
    """Put a packet into the copy, ``begin`` seconds earlier."""
    if packet.dts is None or packet.time_base is None:
        return  # the empty packet that ends a stream
    earlier = round(begin / packet.time_base)
    packet.dts -= earlier
    if packet.pts is not None:
        packet.pts -= earlier
    packet.stream = streams[packet.stream]
    copy.mux(packet)


@contextmanager
def _copying(media: Path, target: Path) -> "Iterator[tuple[InputContainer, OutputContainer]]":
    """A video, and the file beside ``target`` that becomes it when all went well."""
    with opened(media) as source:
        import av  # noqa: PLC0415

        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"cannot write {target}: {error.strerror}") from error
        beside = target.with_name(f".part-{target.name}")
        try:
            options = {"avoid_negative_ts": "make_zero"}
            with av.open(str(beside.absolute()), "w", options=options) as copy:
                yield source, copy
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
