"""Caption files: from bytes on disk to captions with times, whatever the format.

::

    bytes ─► encoding ─► formats (which is it?) ─► one parser ─► mending ─► Reading

A parser knows one family of formats and nothing of files: it yields cues just as they are written.
What is wrong with their times is mended in one place, :mod:`.mending`, for all formats alike.
"""

from howsteps.captions.reading import CaptionFile, read_bytes, read_captions

__all__ = ["CaptionFile", "read_bytes", "read_captions"]
