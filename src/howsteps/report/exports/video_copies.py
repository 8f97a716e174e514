"""Copies of videos with chapters, and clips of the steps (PyAV)."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import InputError
from howsteps.io.files import Folder
from howsteps.io.text import milliseconds
from howsteps.report.decoding import (
    USUAL_RATE,
    decoded_at,
    open_video,
    quarter_turns,
    seek_key_frame,
    shown_at,
    start_of,
    turned,
)
from howsteps.report.exports.chapters import Chapter, from_zero

if TYPE_CHECKING:
    from av import VideoFrame
    from av.container import InputContainer, OutputContainer
    from av.stream import Stream

# Containers with chapters; other videos are copied into Matroska, which accepts most streams.
_WITH_CHAPTERS = {".mp4", ".m4v", ".mov", ".mkv", ".webm"}
_COPIED = ("video", "audio", "subtitle")
_AUDIO_DELAY = 1  # seconds by which audio packets may follow video packets of the same time


def suffix_for(media: Path, *, encoded: bool = False) -> str:
    """The suffix of a copy of a video; one that is ``encoded`` again cannot be WebM."""
    suffix = media.suffix.lower()
    return suffix if suffix in _WITH_CHAPTERS and not (encoded and suffix == ".webm") else ".mkv"


def with_chapters(
    media: Path, folder: Folder, name: str, chapters: Sequence[tuple[float, float, str]]
) -> None:
    """Write a copy of a video with chapters (:class:`Chapter`); its streams are not re-encoded.

    MP4 requires a chapter at 0, so an opening chapter is added before the first step.
    """
    with _copying(media, folder, name) as (source, copy):
        copy.set_chapters(
            [
                {
                    "id": number,
                    "start": milliseconds(chapter.start),
                    "end": milliseconds(chapter.end),
                    "time_base": Fraction(1, 1000),
                    "metadata": {"title": chapter.title},
                }
                for number, chapter in enumerate(from_zero([Chapter(*each) for each in chapters]))
            ]
        )
        streams = _streams(source, copy)
        for packet in source.demux(*streams):
            _copy_packet(packet, streams, copy, Fraction(0))


def cut_clip(media: Path, folder: Folder, name: str, start: float, end: float) -> None:
    """Write a clip of a video that begins at the exact frame: video is encoded again (H.264)."""
    with _copying(media, folder, name) as (source, clip):
        begin = start_of(source) + Fraction(start).limit_denominator(1000)
        finish = begin + Fraction(end - start).limit_denominator(1000)
        streams = _streams(source, clip, encoded=True)
        seek_key_frame(source, begin)
        encoder: Any = next(out for stream, out in streams.items() if stream.type == "video")
        for packet in _until(source, finish, streams):
            if packet.stream.type == "video":
                for frame in packet.decode():
                    _encode(frame, encoder, clip, begin, finish)
                continue
            shown = shown_at(packet)
            if shown is not None and begin <= shown < finish:
                _copy_packet(packet, streams, clip, begin)
        clip.mux(encoder.encode(None))


def _encode(
    frame: "VideoFrame", encoder: Any, clip: "OutputContainer", begin: Fraction, finish: Fraction
) -> None:
    """Encode a frame, upright, if it is between these times."""
    time = Fraction(frame.pts or 0) * (frame.time_base or Fraction(0))
    if not begin <= time < finish:
        return
    quarters = quarter_turns(frame)
    upright = turned(frame, quarters) if quarters else frame
    # Change the time from that of the video to that of the clip.
    upright.pts = round((time - begin) / encoder.codec_context.time_base)
    upright.time_base = encoder.codec_context.time_base
    upright.pict_type = 0
    clip.mux(encoder.encode(upright))


def _until(
    source: "InputContainer", finish: Fraction, streams: "dict[Stream, Stream]"
) -> Iterator[Any]:
    """Yield the packets up to a time, and a little more, as audio can follow its video."""
    for packet in source.demux(*streams):
        decoded = decoded_at(packet) if packet.stream.type == "video" else None
        if decoded is not None and decoded > finish + _AUDIO_DELAY:
            return
        yield packet


def _streams(
    source: "InputContainer", copy: "OutputContainer", *, encoded: bool = False
) -> "dict[Stream, Stream]":
    """Map the streams of the source to those of the copy.

    If the video is re-encoded, only its first stream is used. Subtitles that the container cannot
    store are left out.
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
    """An H.264 encoder for a video as it is displayed: upright, with its aspect ratio."""
    video = source.streams.video[0]
    encoded: Any = copy.add_stream("libx264", rate=video.average_rate or USUAL_RATE)
    # The encoder requires an even width and height.
    size = video.width & ~1, video.height & ~1
    aspect = video.sample_aspect_ratio or Fraction(1)
    first = next(source.decode(video), None)
    if first is not None and quarter_turns(first) % 2:
        size, aspect = (size[1], size[0]), 1 / aspect
    encoded.width, encoded.height = size
    encoded.codec_context.sample_aspect_ratio = aspect
    encoded.pix_fmt = "yuv420p"
    encoded.codec_context.time_base = Fraction(1, 90_000)
    encoded.options = {"crf": "20", "preset": "veryfast"}
    encoder: Stream = encoded
    return encoder


def _copy_packet(
    packet: Any, streams: "dict[Stream, Stream]", copy: "OutputContainer", begin: Fraction
) -> None:
    """Write a packet to the copy, ``begin`` seconds earlier."""
    if packet.dts is None or packet.time_base is None:
        return  # the empty packet at the end of a stream
    offset = round(begin / packet.time_base)
    packet.dts -= offset
    if packet.pts is not None:
        packet.pts -= offset
    packet.stream = streams[packet.stream]
    copy.mux(packet)


@contextmanager
def _copying(
    media: Path, folder: Folder, name: str
) -> "Iterator[tuple[InputContainer, OutputContainer]]":
    """Open a video, and a file to write, which gets its name on success."""
    with open_video(media) as source, folder.writing(name) as file:
        import av  # noqa: PLC0415

        # The format follows from the name.
        with av.open(file, "w", options={"avoid_negative_ts": "make_zero"}) as copy:
            yield source, copy
        if not file.seek(0, os.SEEK_END):  # the muxer begins with the first packet
            raise InputError(media, f"has no frames to write to {name}")
