"""Open untrusted video and audio files with PyAV.

FFmpeg would also open playlists, which refer to other files and URLs, and images of any size. Here
only containers of video or audio are accepted, and no other file is opened through them.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import open_regular

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

    Raises
    ------
    InputError
        It is not a regular file, or not in an accepted format; the reason starts with ``what``.
    MissingExtra
        PyAV is not installed.
    """
    try:
        import av  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("vision", "reading videos") from error
    open_regular(media).close()
    av.logging.set_level(av.logging.PANIC)  # its messages do not name the file; ours do
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
