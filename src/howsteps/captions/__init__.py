"""Caption files: from bytes on disk to captions with times, in any format.

::

    bytes ─► encoding ─► recognise the format ─► one parser ─► repair ─► CaptionFile

A parser knows one family of formats and nothing about files: it yields cues exactly as written.
Their times are repaired in one place, :mod:`.repair`, for all formats alike.
"""

from howsteps.captions.reading import CaptionFile, parse_captions, read_captions

__all__ = ["CaptionFile", "parse_captions", "read_captions"]
