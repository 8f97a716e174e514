"""What was heard in one recording, kept as the JSON that Whisper's own tools write.

A kept transcript is a caption file like any other: segments with their words and times. Beside them
stand a version and a checksum, so that a damaged or outdated file is noticed and not believed.
"""

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.task import Caption, Word

VERSION = 1


@dataclass(frozen=True, slots=True)
class Transcript:
    """The captions of a recording that lasts ``duration`` seconds."""

    captions: tuple[Caption, ...]
    duration: float


def save(transcript: Transcript, path: Path) -> None:
    """Write a transcript beside its place and rename it: a reader sees all of it or nothing."""
    segments = [_segment(number, caption) for number, caption in enumerate(transcript.captions)]
    document = {
        "version": VERSION,
        "sha256": _checksum(transcript.duration, segments),
        "language": "en",
        "duration": transcript.duration,
        "text": " ".join(caption.text for caption in transcript.captions),
        "segments": segments,
    }
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=".", suffix=".part", delete=False
    ) as part:
        try:
            json.dump(document, part, ensure_ascii=False, indent=1)
            part.close()
            os.replace(part.name, path)
        except BaseException:
            os.unlink(part.name)
            raise


def load(path: Path) -> Transcript | None:
    """Read a transcript; None when there is none, or when it is damaged or of another version."""
    try:
        document = json.loads(path.read_bytes())
        duration, segments = document["duration"], document["segments"]
        if document["version"] != VERSION:
            return None
        if document["sha256"] != _checksum(duration, segments):
            return None
        return Transcript(tuple(_caption(segment) for segment in segments), duration)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # No file, not UTF-8, not JSON, or JSON of another shape: there is no transcript here.
        return None


def _segment(number: int, caption: Caption) -> dict[str, Any]:
    words = [{"word": word.text, "start": word.start, "end": word.end} for word in caption.words]
    return {
        "id": number,
        "start": caption.start,
        "end": caption.end,
        "text": caption.text,
        "words": words,
    }


def _caption(segment: dict[str, Any]) -> Caption:
    words = tuple(Word(word["word"], word["start"], word["end"]) for word in segment["words"])
    return Caption(segment["start"], segment["end"], segment["text"], words)


def _checksum(duration: float, segments: list[dict[str, Any]]) -> str:
    # Sorted keys and default separators: the same values give the same bytes, however laid out.
    return hashlib.sha256(json.dumps([duration, segments], sort_keys=True).encode()).hexdigest()
