"""Open untrusted media files with PyAV, and decode their audio in Whisper's input format."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import CannotWrite, InputError, MissingExtra
from howsteps.io.files import open_regular
from howsteps.io.worker_process import answer, limit_memory, run_in_worker, serve

if TYPE_CHECKING:
    from av.container import InputContainer

MAX_PIXELS = 64_000_000  # of a frame: twice that of 8K
MAX_SECONDS = 6 * 3600.0  # a file that claims to be longer is broken or malicious

# Demuxers of FFmpeg that read a single file.
_CONTAINERS = (
    *("matroska", "webm", "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "avi", "flv", "asf", "ogg"),
    *("mpeg", "mpegts", "mpegvideo", "m4v", "h264", "hevc", "mxf", "nut", "rm", "dv", "gxf"),
    *("wav", "w64", "aiff", "caf", "mp3", "flac", "aac", "ac3", "amr", "au"),
)
_OPTIONS = {
    "format_whitelist": ",".join(_CONTAINERS),
    "protocol_whitelist": "file",
    # Applies to the frames that FFmpeg decodes while probing the file.
    "max_pixels": str(MAX_PIXELS),
}


def open_media(media: Path, what: str = "is not a readable video file") -> "InputContainer":
    """Open a media file; its format is detected from the content, not from the name.

    Frames of more than ``MAX_PIXELS`` pixels are never decoded: they count as damaged.

    Raises ``InputError`` if it is not a regular file, or not in an accepted format; the reason
    starts with ``what``. Raises ``MissingExtra`` if PyAV is not installed.
    """
    try:
        import av  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    open_regular(media).close()
    # With a level, every message waits for Python, and the thread of a decoder that has one waits
    # forever for the thread that closes it.
    av.logging.set_level(None)
    try:
        # An absolute path cannot be mistaken for one of FFmpeg's protocols ("concat:", "http:").
        container = av.open(str(media.absolute()), options=_OPTIONS, metadata_errors="ignore")
    except av.error.ArgumentError as error:
        raise InputError(media, f"{what} (not in an accepted format)") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(media, f"{what} ({reason})") from error
    for stream in (*container.streams.video, *container.streams.audio):
        if stream.codec_context is None:
            container.close()
            raise InputError(media, f"{what} (there is no decoder for it)")
        stream.codec_context.options = {"max_pixels": str(MAX_PIXELS)}
    return container


SAMPLE_RATE = 16_000
CHUNK_SECONDS = 1800.0  # length of audio in memory at once
MEMORY = 2**29  # bytes that decoding may use in addition to the libraries
_FULL_SCALE = 2**15
_MICROSECONDS = 1_000_000  # FFmpeg's time base for containers, per second
_UNREADABLE = "not a readable audio or video file"

Samples = NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Sound:
    """Decoded audio in a file of 16-bit samples."""

    path: Path
    samples: int

    @property
    def duration(self) -> float:
        """Duration in seconds, rounded to milliseconds."""
        return round(self.samples / SAMPLE_RATE, 3)

    def chunks(self, longest: float = CHUNK_SECONDS) -> Iterator[tuple[float, NDArray[np.float32]]]:
        """Yield (start, samples) of chunks of at most ``longest`` seconds."""
        size = round(longest * SAMPLE_RATE)
        with open_regular(self.path) as file:
            for start in range(0, self.samples, size):
                part = np.frombuffer(file.read(2 * size), np.int16)
                yield start / SAMPLE_RATE, part.astype(np.float32) / np.float32(_FULL_SCALE)


@contextmanager
def decoded(media: Path) -> Iterator[Sound]:
    """Decode the first audio stream of a media file in a worker process.

    Sample i is i / 16000 seconds after the start of the *file*: if the audio stream starts later
    than the video stream, silence is inserted before it.

    Raises ``InputError`` if the file is missing, is not a media file, has no audio, or
    lasts longer than 6 hours.
    """
    with TemporaryDirectory(prefix="howsteps-") as folder:
        target = Path(folder) / "sound"
        job = {"media": str(media.absolute()), "target": str(target), "memory": MEMORY}
        done = run_in_worker("howsteps.io.media", job, threads=1)
        yield Sound(target, int(done["samples"]))


def decode(job: dict[str, Any]) -> dict[str, object]:
    """Decode a file and write its samples to another; runs in the worker process."""
    media, target = Path(job["media"]), Path(job["target"])
    limit_memory(job["memory"])
    count = 0
    try:
        with target.open("wb") as file:
            for block in blocks(media):
                file.write(block.tobytes())
                count += len(block)
                answer({"seconds": count / SAMPLE_RATE})
    except OSError as error:
        raise CannotWrite(f"cannot write {target}: {error.strerror}") from error
    return {"samples": count}


def blocks(media: Path) -> Iterator[Samples]:
    """Yield the samples of a file in blocks; damaged packets are skipped."""
    import av  # noqa: PLC0415 - an extra

    resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE)
    count = 0
    try:
        with open_media(media, _UNREADABLE) as container:
            if not container.streams.audio:
                raise InputError(media, "there is no audio stream in this file")
            stream, stated = container.streams.audio[0], (container.duration or 0) / _MICROSECONDS
            delay = 0.0
            if stream.start_time is not None and stream.time_base is not None:
                begin = (container.start_time or 0) / _MICROSECONDS
                delay = max(0.0, float(stream.start_time * stream.time_base) - begin)
            if max(stated, delay) > MAX_SECONDS:
                raise _too_long(media)
            if delay:
                yield np.zeros(round(delay * SAMPLE_RATE), np.int16)
            for packet in container.demux(stream):
                for block in _resampled(packet, resampler):
                    count += len(block)
                    if delay + count / SAMPLE_RATE > MAX_SECONDS:
                        raise _too_long(media)
                    yield block
            for block in map(_samples, resampler.resample(None)):
                count += len(block)
                yield block
    except av.error.FFmpegError as error:
        reason = error.strerror or "cannot be decoded"
        raise InputError(media, f"{_UNREADABLE} ({reason})") from error
    if not count:
        raise InputError(media, "the audio stream is empty")


def _resampled(packet: Any, resampler: Any) -> Iterator[Samples]:
    import av  # noqa: PLC0415 - an extra

    try:
        frames = packet.decode()
    except av.error.InvalidDataError:
        return
    for frame in frames:
        frame.pts = None  # samples are contiguous, whatever their timestamps
        yield from map(_samples, resampler.resample(frame))


def _samples(frame: Any) -> Samples:
    samples: Samples = frame.to_ndarray().reshape(-1)
    return samples


def _too_long(media: Path) -> InputError:
    return InputError(media, f"lasts longer than {MAX_SECONDS / 3600:.0f} hours")


if __name__ == "__main__":
    serve(decode)
