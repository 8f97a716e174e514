"""Narrations that are copies of one another: the same words spoken again, or uploaded again.

Six uploads of one transcript are one witness, not six. Two narrations are copies when they share
more than a fifth of the runs of five words of the shorter one. In eighteen jobs with 1,100 videos,
narrations share less than a tenth of them, and copies nearly always two fifths and more.
"""

from collections.abc import Sequence

from howsteps.task import Video

RUN = 5  # words
FEWEST = 20  # runs: what is shorter is nobody's copy
SHARED = 0.2


def runs(video: Video) -> set[tuple[str, ...]]:
    """All runs of five words in a narration."""
    words = [word.text.lower() for sentence in video.sentences for word in sentence.words]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def originals(videos: Sequence[Video]) -> list[bool]:
    """Say of every video whether it is to be heard as a witness.

    Of copies the one with most runs is, the first of equals.
    """
    said = [runs(video) for video in videos]
    kept: list[int] = []
    for n in sorted(range(len(videos)), key=lambda n: -len(said[n])):
        if not any(_copies(said[n], said[m]) for m in kept):
            kept.append(n)
    return [n in set(kept) for n in range(len(videos))]


def _copies(one: set[tuple[str, ...]], two: set[tuple[str, ...]]) -> bool:
    shorter = min(len(one), len(two))
    return shorter >= FEWEST and len(one & two) > SHARED * shorter
