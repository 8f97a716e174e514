"""Decode the audio of a media file as Whisper expects it: mono, 16 kHz, values in [-1, 1]."""

from pathlib import Path

import av
import numpy as np
from faster_whisper import decode_audio
from numpy.typing import NDArray

from howsteps.errors import InputError

SAMPLE_RATE = 16_000

# Containers that store their duration; for others FFmpeg only estimates it from the bit rate.
_WITH_DURATION = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}


def read_audio(media: Path) -> NDArray[np.float32]:
    """Read the first audio stream of an audio or video file.

    Sample i is at i / 16000 seconds after the start of the *file*: if the audio stream begins later
    than the video stream, it is padded with silence.

    Raises
    ------
    InputError
        The file is missing, is not a media file, has no audio, or is truncated.
    """
    # An absolute path cannot be mistaken for one of FFmpeg's protocols ("concat:", "http:").
    name = str(media.absolute())
    try:
        delay = _delay(name, media)
        audio: NDArray[np.float32] = decode_audio(name, SAMPLE_RATE)
    except av.error.FFmpegError as error:
        reason = error.strerror or "cannot be decoded"
        raise InputError(media, f"not a readable audio or video file ({reason})") from error
    if not audio.size:
        raise InputError(media, "the audio stream is empty")
    return np.pad(audio, (round(delay * SAMPLE_RATE), 0))


def _delay(name: str, media: Path) -> float:
    """Seconds from the start of the file to the start of its audio; checks that it is complete."""
    # Tags in an unknown encoding do not matter.
    with av.open(name, metadata_errors="ignore") as container:
        if not container.streams.audio:
            raise InputError(media, "there is no audio stream in this file")
        stream = container.streams.audio[0]
        first = (container.start_time or 0) / av.time_base
        delay = 0.0
        if stream.start_time is not None and stream.time_base is not None:
            delay = max(0.0, float(stream.start_time * stream.time_base) - first)

        if container.format.name in _WITH_DURATION and container.duration:
            promised = container.duration / av.time_base
            found = _last_time(container) - first
            # The streams of a file rarely end together; a missing part is longer than that.
            if promised - found > max(1.0, 0.05 * promised):
                reason = f"truncated: it should last {promised:.1f} s and ends after {found:.1f} s"
                raise InputError(media, reason)
    return delay


def _last_time(container: av.container.InputContainer) -> float:
    """End of the last packet of any stream, in seconds; nothing is decoded."""
    return max(
        (
            float((packet.pts + (packet.duration or 0)) * packet.time_base)
            for packet in container.demux()
            if packet.pts is not None
        ),
        default=0.0,
    )
