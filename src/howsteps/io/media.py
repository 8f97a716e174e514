"""Open video and sound files that may come from anywhere (PyAV).

FFmpeg would also open play lists, which name other files and addresses, and pictures of any size.
Here only files are opened whose content is a container of video or sound, and nothing else through
them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import open_regular

if TYPE_CHECKING:
    from av.container import InputContainer

LARGEST = 64_000_000  # pixels of a frame: twice those of 8K
LONGEST = 6 * 3600.0  # seconds; a file that claims more is broken or hostile

# Demuxers of FFmpeg that read one file and only that.
_CONTAINERS = (
    *("matroska", "webm", "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "avi", "flv", "asf", "ogg"),
    *("mpeg", "mpegts", "mpegvideo", "m4v", "h264", "hevc", "mxf", "nut", "rm", "dv", "gxf"),
    *("wav", "w64", "aiff", "caf", "mp3", "flac", "aac", "ac3", "amr", "au"),
)
_OPTIONS = {
    "format_whitelist": ",".join(_CONTAINERS),
    "protocol_whitelist": "file",
    # Also for the frames that FFmpeg decodes to find out what is in a file.
    "max_pixels": str(LARGEST),
}


def open_media(media: Path, what: str = "is not a readable video file") -> "InputContainer":
    """Open a media file; what it is is told by its content, not by its name.

    Frames of more than ``LARGEST`` pixels are never decoded: they count as damaged.

    Raises
    ------
    InputError
        It is not a regular file, or in none of the formats above; the reason begins with ``what``.
    MissingExtra
        PyAV is not installed.
    """
    try:
        import av  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    open_regular(media).close()
    av.logging.set_level(av.logging.PANIC)  # its messages name no file; ours do
    try:
        # An absolute path cannot be mistaken for one of FFmpeg's protocols ("concat:", "http:").
        container = av.open(str(media.absolute()), options=_OPTIONS, metadata_errors="ignore")
    except av.error.ArgumentError as error:
        raise InputError(media, f"{what} (not in a format that is accepted)") from error
    except (av.error.FFmpegError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(media, f"{what} ({reason})") from error
    for stream in (*container.streams.video, *container.streams.audio):
        if stream.codec_context is None:
            container.close()
            raise InputError(media, f"{what} (there is no decoder for it)")
        stream.codec_context.options = {"max_pixels": str(LARGEST)}
    return container
