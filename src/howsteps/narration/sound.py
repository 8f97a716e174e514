"""The sound of a media file, as Whisper listens to it: one channel, 16 kHz, values in [-1, 1]."""

from pathlib import Path

import av
import numpy as np
from faster_whisper import decode_audio
from numpy.typing import NDArray

from howsteps.errors import InputError

RATE = 16_000

# Containers that write down how long they are; others only let FFmpeg guess it from the bit rate.
_WITH_LENGTH = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}


def read_sound(media: Path) -> NDArray[np.float32]:
    """Read the first audio stream of a sound or video file.

    Sample i is heard i / 16000 seconds after the start of the *file*: where the audio stream
    begins later than the picture, silence stands in front of it.

    Raises
    ------
    InputError
        The file is missing, is no media file, has no sound, or is cut short.
    """
    # An absolute path cannot be mistaken for one of FFmpeg's protocols ("concat:", "http:").
    name = str(media.absolute())
    try:
        delay = _delay(name, media)
        sound: NDArray[np.float32] = decode_audio(name, RATE)
    except av.error.FFmpegError as error:
        reason = error.strerror or "cannot be decoded"
        raise InputError(media, f"not a readable sound or video file ({reason})") from error
    if not sound.size:
        raise InputError(media, "the audio stream holds no sound")
    return np.pad(sound, (round(delay * RATE), 0))


def _delay(name: str, media: Path) -> float:
    """Seconds from the start of the file to the start of its sound; checks that it is whole."""
    # Titles and tags in an unknown encoding are no reason to refuse the sound.
    with av.open(name, metadata_errors="ignore") as container:
        if not container.streams.audio:
            raise InputError(media, "there is no audio stream in this file")
        stream = container.streams.audio[0]
        first = (container.start_time or 0) / av.time_base
        delay = 0.0
        if stream.start_time is not None and stream.time_base is not None:
            delay = max(0.0, float(stream.start_time * stream.time_base) - first)

        if container.format.name in _WITH_LENGTH and container.duration:
            promised = container.duration / av.time_base
            found = _last_time(container) - first
            # Streams of one file seldom end at the same moment; a lost part is more than that.
            if promised - found > max(1.0, 0.05 * promised):
                reason = f"cut short: it should last {promised:.1f} s and ends after {found:.1f} s"
                raise InputError(media, reason)
    return delay


def _last_time(container: av.container.InputContainer) -> float:
    """When the last packet of any stream ends, in seconds; nothing is decoded for it."""
    return max(
        (
            float((packet.pts + (packet.duration or 0)) * packet.time_base)
            for packet in container.demux()
            if packet.pts is not None
        ),
        default=0.0,
    )
