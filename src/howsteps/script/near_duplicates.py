"""Near-duplicate narrations: the same transcript spoken again, or uploaded again.

Six uploads of one transcript must count once, so copies are left out when steps are learnt. Two
narrations are near-duplicates when they share more than a fifth of the shingles (5-grams of words)
of the shorter one, and at least 50 shingles. Measured on 18 tasks with 1,100 videos: independent
narrations share less than a tenth of their shingles, copies nearly always 40 % or more, and 60 or
more in number. Narrations of a few lines are never near-duplicates: there are not many ways to say
"wash the left wrist", and people who do one recipe name the same steps.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from howsteps.task import Video

SHINGLE_WORDS = 5
SHARED_FRACTION, SHARED_COUNT = 0.2, 50  # shared shingles that prove a copy


def originals(videos: Sequence[Video]) -> list[bool]:
    """Whether each video is an original.

    Of a group of near-duplicates, the one with the most shingles is the original; ties go to the
    first.
    """
    shingles = [_shingles(video) for video in videos]
    n_owners = Counter(shingle for own in shingles for shingle in own)
    is_original = [False] * len(videos)
    originals_with: defaultdict[int, list[int]] = defaultdict(list)
    for n in sorted(range(len(videos)), key=lambda n: -len(shingles[n])):
        shared = [shingle for shingle in shingles[n] if n_owners[shingle] > 1]
        common = Counter(m for shingle in shared for m in originals_with[shingle])
        # Video n is the shorter of each pair: the originals so far have at least its size.
        at_most = max(SHARED_FRACTION * len(shingles[n]), SHARED_COUNT)
        if max(common.values(), default=0) <= at_most:
            is_original[n] = True
            for shingle in shared:
                originals_with[shingle].append(n)
    return is_original


def _shingles(video: Video) -> set[int]:
    """The hashes of the shingles of a narration, which are smaller than their words."""
    words = [word.text.lower() for sentence in video.sentences for word in sentence.words]
    return {
        hash(tuple(words[i : i + SHINGLE_WORDS])) for i in range(len(words) - SHINGLE_WORDS + 1)
    }
