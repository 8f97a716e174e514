"""Near-duplicate narrations: the same transcript spoken again, or uploaded again.

Six uploads of one transcript must count once, so copies are left out when steps are learnt. Two
narrations are near-duplicates when they share more than a fifth of the shingles (5-grams of words)
of the shorter one, and at least 50 shingles or 90 % of them. Measured on 18 tasks with 1,100
videos: independent narrations share less than a tenth of their shingles, copies nearly always 40 %
or more, and 60 or more in number.

Narrations of a few lines may share nearly all shingles by chance: there are not many ways to say
"wash the left wrist", and people who do one recipe name the same steps. What they do not share by
chance is when they say it. So where a fifth of the shingles are fewer than 50, a copy also says
the shared ones at the same times, but for where it begins and how fast it is spoken.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Video

SHINGLE_WORDS = 5
MIN_SHINGLES = 20  # a shorter narration is never a near-duplicate
SHARED_FRACTION = 0.2
# Shared shingles that prove a copy; for a narration with fewer shingles, a fraction of them.
SHARED_COUNT, SHARED_FRACTION_IF_SHORT = 50, 0.9
SAME_TIME = 1.5  # seconds between what a copy says and its original, after scaling and shifting
SAME_TIMES = 0.9  # share of the shared shingles
SLOWEST, FASTEST = 0.5, 2.0  # of a copy, relative to its original
LONG = SHARED_COUNT / SHARED_FRACTION  # shingles: more than chance shares

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Shingles:
    """The distinct shingles of some videos, by video id.

    ``sizes`` is the number of distinct shingles of each video; ``shared`` has the ids of those that
    occur in other videos too, which are few, and the second at which each is first said.
    """

    sizes: dict[str, int]
    shared: dict[str, dict[int, float]]

    @staticmethod
    def of(videos: Sequence[Video]) -> "Shingles":
        """Compute the shingles of all videos."""
        owner, shingle, seconds = _distinct_shingles(videos)
        sizes = np.bincount(owner, minlength=len(videos)).tolist()
        is_shared = np.bincount(shingle)[shingle] > 1
        shared: dict[str, dict[int, float]] = {video.id: {} for video in videos}
        rows = zip(owner[is_shared], shingle[is_shared], seconds[is_shared], strict=True)
        for n, one, time in rows:
            shared[videos[n].id][int(one)] = float(time)
        return Shingles(dict(zip(shared, sizes, strict=True)), shared)

    def originals(self, videos: Sequence[Video]) -> list[bool]:
        """Whether each video is an original, given a subset of the videos of this index.

        Of a group of near-duplicates, the one with the most shingles is the original; ties go to
        the first.
        """
        is_original = [False] * len(videos)
        originals_with: dict[int, list[int]] = {}  # shingle → originals that contain it
        for n in sorted(range(len(videos)), key=lambda n: -self.sizes[videos[n].id]):
            size, shared = self.sizes[videos[n].id], self.shared[videos[n].id]
            common = Counter(m for shingle in shared for m in originals_with.get(shingle, ()))
            # Video n is the shorter of each pair: the originals so far have at least its size.
            if size < MIN_SHINGLES or not any(
                count > max_by_chance(size) and (size >= LONG or self._same_times(videos, n, m))
                for m, count in common.items()
            ):
                is_original[n] = True
                for shingle in shared:
                    originals_with.setdefault(shingle, []).append(n)
        return is_original

    def _same_times(self, videos: Sequence[Video], copy: int, original: int) -> bool:
        """Whether two videos say the same shingles at times that a copy and its original could."""
        said, said_in_copy = self.shared[videos[original].id], self.shared[videos[copy].id]
        common = sorted(said.keys() & said_in_copy.keys())
        x, y = (np.array([times[shingle] for shingle in common]) for times in (said, said_in_copy))
        if np.ptp(x) < SAME_TIME or np.ptp(y) < SAME_TIME:  # times are not known
            return True
        pace, shift = np.polyfit(x, y, 1)
        close = np.abs(pace * x + shift - y) <= SAME_TIME
        return bool(SLOWEST <= pace <= FASTEST and close.mean() >= SAME_TIMES)


def max_by_chance(size: int) -> float:
    """The most shingles a narration with ``size`` shingles may share without being a copy."""
    return max(SHARED_FRACTION * size, min(SHARED_COUNT, SHARED_FRACTION_IF_SHORT * size))


def _distinct_shingles(videos: Sequence[Video]) -> tuple[Ids, Ids, NDArray[np.float64]]:
    """The distinct (video index, shingle id) pairs, sorted by video, and the seconds of the first.

    Ids of 5-grams are built from ids of pairs, so that each fits into 64 bits.
    """
    vocabulary: dict[str, int] = {}
    words_by_video = [
        [
            vocabulary.setdefault(word.text.lower(), len(vocabulary))
            for sentence in video.sentences
            for word in sentence.words
        ]
        for video in videos
    ]
    words = np.array([word for row in words_by_video for word in row], np.int64)
    bigrams = _pair_ids(words[:-1], words[1:])
    four_grams = _pair_ids(bigrams[:-2], bigrams[2:])
    shingles = _pair_ids(four_grams[:-1], words[SHINGLE_WORDS - 1 :])
    starts = np.array([w.start for v in videos for s in v.sentences for w in s.words], np.float64)
    lengths = np.array([len(row) for row in words_by_video], np.int64)
    owner = np.repeat(np.arange(len(videos)), lengths)
    # A shingle must not run across the boundary between two videos.
    inside = owner[: len(shingles)] == owner[SHINGLE_WORDS - 1 :]
    base = len(shingles) + 1
    keys = owner[: len(shingles)][inside] * base + shingles[inside]
    keys, first = np.unique(keys, return_index=True)
    return keys // base, keys % base, starts[: len(shingles)][inside][first]


def _pair_ids(left: Ids, right: Ids) -> Ids:
    """Ids from 0 on, the same for equal pairs (left[i], right[i])."""
    return np.unique(left * (right.max(initial=0) + 1) + right, return_inverse=True)[1]
