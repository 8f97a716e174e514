"""Narrations that are copies of one another: the same words spoken again, or uploaded again.

Six uploads of one transcript are one witness, not six. Two narrations are copies when they share
more than a fifth of the runs of five words of the shorter one, and fifty of them or nearly all. In
eighteen jobs with 1,100 videos, narrations share less than a tenth of their runs, and copies nearly
always two fifths and more, sixty or more in number. Narrations of a few lines share many without
being copies: there are not many ways to say "wash the left wrist".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Video

RUN = 5  # words
FEWEST = 20  # runs: what is shorter is nobody's copy
SHARED = 0.2
ENOUGH, NEARLY_ALL = 50, 0.9  # runs, and of the runs of a narration that has fewer

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Runs:
    """The runs of five words of some videos, by the id of the video.

    ``sizes`` counts the different runs of each; ``shared`` has the numbers of those that others
    say too, which are few.
    """

    sizes: dict[str, int]
    shared: dict[str, list[int]]

    @staticmethod
    def of(videos: Sequence[Video]) -> "Runs":
        """All runs of these videos."""
        said, run = _runs(videos)
        sizes = np.bincount(said, minlength=len(videos)).tolist()
        shared = np.bincount(run)[run] > 1
        parts = np.split(run[shared], np.searchsorted(said[shared], np.arange(1, len(videos))))
        ids = [video.id for video in videos]
        return Runs(
            dict(zip(ids, sizes, strict=True)),
            {video: own.tolist() for video, own in zip(ids, parts, strict=bool(videos))},
        )

    def originals(self, videos: Sequence[Video]) -> list[bool]:
        """Say of each of some of these videos whether it is to be heard as a witness.

        Of copies the one with most runs is, the first of equals.
        """
        kept = [False] * len(videos)
        heard: dict[int, list[int]] = {}  # the kept videos that have a run
        for n in sorted(range(len(videos)), key=lambda n: -self.sizes[videos[n].id]):
            size, own = self.sizes[videos[n].id], self.shared[videos[n].id]
            common = Counter(m for number in own for m in heard.get(number, ()))
            # The shorter one is this: what is kept already has as many runs or more.
            if size < FEWEST or max(common.values(), default=0) <= most_by_chance(size):
                kept[n] = True
                for number in own:
                    heard.setdefault(number, []).append(n)
        return kept


def most_by_chance(size: int) -> float:
    """How many of the runs of a narration another may have and be no copy."""
    return max(SHARED * size, min(ENOUGH, NEARLY_ALL * size))


def _runs(videos: Sequence[Video]) -> tuple[Numbers, Numbers]:
    """All different runs of five words of every video: the videos, sorted, and the runs' numbers.

    Runs are numbered by pairs of pairs, so that none takes more than eight bytes.
    """
    number: dict[str, int] = {}
    words = [
        [number.setdefault(w.text.lower(), len(number)) for s in v.sentences for w in s.words]
        for v in videos
    ]
    spoken = np.array([word for row in words for word in row], np.int64)
    many = np.array([len(row) for row in words], np.int64)
    pair = _numbered(spoken[:-1], spoken[1:])
    four = _numbered(pair[:-2], pair[2:])
    five = _numbered(four[:-1], spoken[RUN - 1 :])
    owner = np.repeat(np.arange(len(videos)), many)
    # A run is one where its last word is of the same video.
    inside = owner[: len(five)] == owner[RUN - 1 :]
    both = np.sort(owner[: len(five)][inside] * (len(five) + 1) + five[inside])
    both = both[np.diff(both, prepend=-1) > 0]
    return both // (len(five) + 1), both % (len(five) + 1)


def _numbered(one: Numbers, two: Numbers) -> Numbers:
    """The same number for equal pairs, from 0 on."""
    return np.unique(one * (two.max(initial=0) + 1) + two, return_inverse=True)[1]
