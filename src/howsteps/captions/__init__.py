"""Caption files: from bytes on disk to captions with times, in any format.

::

    bytes ─► decode ─► detect the format ─► one parser ─► repair ─► CaptionFile

A parser handles one family of formats and yields cues exactly as written. Their times are repaired
in :mod:`.cues`, for all formats alike.
"""

from howsteps.captions.reading import CaptionFile, parse_captions, read_captions

__all__ = ["CaptionFile", "parse_captions", "read_captions"]
