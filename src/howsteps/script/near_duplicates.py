"""Near-duplicate narrations: the same transcript spoken again, or uploaded again.

Six uploads of one transcript must count once, so copies are left out when steps are learnt. Two
narrations are near-duplicates when they share more than a fifth of the shingles (5-grams of words)
of the shorter one, and at least 50 shingles. Measured on 18 tasks with 1,100 videos: independent
narrations share less than a tenth of their shingles, copies nearly always 40 % or more, and 60 or
more in number. Narrations of a few lines are never near-duplicates: there are not many ways to say
"wash the left wrist", and people who do one recipe name the same steps.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Video

SHINGLE_WORDS = 5
SHARED_FRACTION, SHARED_COUNT = 0.2, 50  # shared shingles that prove a copy

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Shingles:
    """The distinct shingles of some videos, by video id.

    ``sizes`` is the number of distinct shingles of each video; ``shared`` has the ids of those that
    occur in other videos too, which are few.
    """

    sizes: dict[str, int]
    shared: dict[str, list[int]]

    @staticmethod
    def of(videos: Sequence[Video]) -> "Shingles":
        """Compute the shingles of all videos."""
        owner, shingle = _distinct_shingles(videos)
        sizes = np.bincount(owner, minlength=len(videos)).tolist()
        is_shared = np.bincount(shingle)[shingle] > 1
        shared: dict[str, list[int]] = {video.id: [] for video in videos}
        for n, one in zip(owner[is_shared].tolist(), shingle[is_shared].tolist(), strict=True):
            shared[videos[n].id].append(one)
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
            if max(common.values(), default=0) <= max(SHARED_FRACTION * size, SHARED_COUNT):
                is_original[n] = True
                for shingle in shared:
                    originals_with.setdefault(shingle, []).append(n)
        return is_original


def _distinct_shingles(videos: Sequence[Video]) -> tuple[Ids, Ids]:
    """The distinct (video index, shingle id) pairs, sorted by video.

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
    lengths = np.array([len(row) for row in words_by_video], np.int64)
    owner = np.repeat(np.arange(len(videos)), lengths)
    # A shingle must not run across the boundary between two videos.
    inside = owner[: len(shingles)] == owner[SHINGLE_WORDS - 1 :]
    base = len(shingles) + 1
    keys = owner[: len(shingles)][inside] * base + shingles[inside]
    keys = np.unique(keys)
    return keys // base, keys % base


def _pair_ids(left: Ids, right: Ids) -> Ids:
    """Ids from 0 on, the same for equal pairs (left[i], right[i])."""
    return np.unique(left * (right.max(initial=0) + 1) + right, return_inverse=True)[1]
