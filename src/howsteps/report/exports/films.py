"""Copies of videos without re-encoding: with chapters inside, or cut at the steps (PyAV)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError, MissingExtra
from howsteps.report.exports.spans import Chapter, from_zero
from howsteps.report.exports.times import milliseconds

if TYPE_CHECKING:
    from av.container import InputContainer, OutputContainer
    from av.stream import Stream

# Containers that can hold chapters; any other video is copied into Matroska, which holds all.
_WITH_CHAPTERS = {".mp4", ".m4v", ".mov", ".mkv", ".webm"}
_COPIED = ("video", "audio", "subtitle")
USUAL_RATE = Fraction(25)


def suffix_for(media: Path) -> str:
    """The kind of file that a copy of a video is."""
    return media.suffix.lower() if media.suffix.lower() in _WITH_CHAPTERS else ".mkv"


def frame_rate(media: Path | None) -> Fraction:
    """Frames a second; the usual 25 where there is no video to ask, or nobody who can ask it."""
    if media is None:
        return USUAL_RATE
    try:
        with _opened(media) as container:
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
        streams = _streams(source, clip, encoded="video" if precise else None)
        begin = (Fraction(source.start_time or 0) / 1_000_000) + Fraction(start).limit_denominator(
            1000
        )
        finish = begin + Fraction(end - start).limit_denominator(1000)
        source.seek(int(begin * 1_000_000))
        if precise:
            _encode(source, clip, streams, begin, finish)
        else:
            _copy(source, clip, streams, begin, finish)


def _copy(
    source: "InputContainer",
    clip: "OutputContainer",
    streams: "dict[Stream, Stream]",
    begin: Fraction,
    finish: Fraction,
) -> None:
    first: Fraction | None = None
    for packet in source.demux(*streams):
        if (time := _time(packet)) is None:
            continue
        if packet.stream.type == "video" and first is None and packet.is_keyframe:
            first = time
        if time >= finish and packet.stream.type == "video":
            break
        # Sound before the first picture would play over a black screen.
        if first is not None and first <= time < finish:
            _pass_on(packet, streams, clip, first)


def _encode(
    source: "InputContainer",
    clip: "OutputContainer",
    streams: "dict[Stream, Stream]",
    begin: Fraction,
    finish: Fraction,
) -> None:
    encoder: Any = next(out for stream, out in streams.items() if stream.type == "video")
    for packet in source.demux(*streams):
        if packet.stream.type != "video":
            time = _time(packet)
            if time is not None and begin <= time < finish:
                _pass_on(packet, streams, clip, begin)
            continue
        frame: Any
        for frame in packet.decode():
            time = Fraction(frame.pts or 0) * (frame.time_base or Fraction(0))
            if time >= finish:
                clip.mux(encoder.encode(None))
                return
            if time >= begin:
                # From here on it is a frame of the clip, in the clip's own time.
                frame.pts = round((time - begin) / encoder.codec_context.time_base)
                frame.time_base = encoder.codec_context.time_base
                frame.pict_type = 0
                clip.mux(encoder.encode(frame))
    clip.mux(encoder.encode(None))


def _streams(
    source: "InputContainer", copy: "OutputContainer", encoded: str | None = None
) -> "dict[Stream, Stream]":
    """The streams of the copy by those of the source; pictures in ``encoded`` are made anew."""
    found: dict[Stream, Stream] = {}
    for stream in source.streams:
        if stream.type not in _COPIED:
            continue
        if stream.type == encoded:
            picture = source.streams.video[0]
            if stream != picture:
                continue
            anew: Any = copy.add_stream("libx264", rate=picture.average_rate or USUAL_RATE)
            # The encoder wants even sides.
            anew.width, anew.height = picture.width & ~1, picture.height & ~1
            anew.pix_fmt = "yuv420p"
            anew.codec_context.time_base = Fraction(1, 90_000)
            anew.options = {"crf": "20", "preset": "veryfast"}
            found[stream] = anew
        else:
            found[stream] = copy.add_stream_from_template(stream)
    return found


def _time(packet: Any) -> Fraction | None:
    if packet.pts is None or packet.dts is None or packet.time_base is None:
        return None
    return Fraction(packet.pts * packet.time_base)


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
def _opened(media: Path) -> "Iterator[InputContainer]":
    try:
        import av  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    try:
        # An absolute path cannot be mistaken for one of FFmpeg's protocols ("concat:", "http:").
        with av.open(str(media.absolute()), metadata_errors="ignore") as container:
            if not container.streams.video:
                raise InputError(media, "there is no picture in this file")
            yield container
    except (av.error.FFmpegError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(media, f"cannot be copied ({reason})") from error


@contextmanager
def _copying(media: Path, target: Path) -> "Iterator[tuple[InputContainer, OutputContainer]]":
    """A video, and the file beside ``target`` that becomes it when all went well."""
    with _opened(media) as source:
        import av  # noqa: PLC0415

        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".part-{target.name}")
        try:
            options = {"avoid_negative_ts": "make_zero"}
            with av.open(str(beside.absolute()), "w", options=options) as copy:
                yield source, copy
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
