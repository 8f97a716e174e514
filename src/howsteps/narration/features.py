"""Narration features: the words around every interval as a vector.

Narrators mention an act within seconds of doing it, so an interval is described by the words close
to it in time. The weight of a word w spoken at time m, for the interval centred at c, is

    idf(w) · max(0, 1 − |m − c|/5 s),      idf(w) = log(N / #videos that say w)

Words that every narrator uses have weight 0. The features of an interval are the histogram of those
weights, Hellinger-normalised (L1, then square root); without known words, a row of zeros.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from howsteps.captions.words import words_of
from howsteps.narration.wordnet import WordNet
from howsteps.task import Video, Word

# A step is expected from so long before a mention of it until so long after, in seconds.
BEFORE, AFTER = 0.0, 10.0  # Δb, Δa
WORD_REACH = 5.0  # seconds; words further away say little about the present act
LARGEST_VOCABULARY = 1000  # words


@dataclass(frozen=True)
class Vocabulary:
    """The lemmas that distinguish the videos of a collection, and their IDF weights."""

    words: tuple[str, ...]
    weights: NDArray[np.float32]

    @staticmethod
    def of(videos: Sequence[Video]) -> "Vocabulary":
        """Build a vocabulary of the most widespread lemmas of several, not all videos.

        If there are none, as with one or two videos, all lemmas are used with equal weight.
        """
        counts = Counter(
            lemma for video in videos for lemma in {lemma for lemma, _ in _lemmas(video)}
        )
        shared = [lemma for lemma, count in counts.items() if 1 < count < len(videos)]
        if not shared:
            words = tuple(sorted(counts)[:LARGEST_VOCABULARY])
            return Vocabulary(words, np.ones(len(words), np.float32))
        kept = sorted(
            sorted(shared, key=lambda lemma: (-counts[lemma], lemma))[:LARGEST_VOCABULARY]
        )
        frequencies = np.array([counts[lemma] for lemma in kept], np.float32)
        return Vocabulary(tuple(kept), np.log(len(videos) / frequencies).astype(np.float32))

    def features(
        self, video: Video, intervals: int, *, seconds: float = 1 / 3
    ) -> NDArray[np.float32]:
        """Return the features of every interval of a video, T_n×d.

        ``seconds`` is the length of an interval; for the formula see the top of this module.
        """
        weight = np.zeros((intervals, len(self.words)), np.float32)
        centres = (np.arange(intervals) + 0.5) * seconds
        for lemma, word in _lemmas(video):
            column = self._columns.get(lemma)
            if column is None:
                continue
            middle = (word.start + word.end) / 2
            first = max(int((middle - WORD_REACH) / seconds), 0)
            near = slice(first, int((middle + WORD_REACH) / seconds) + 1)
            closeness = 1.0 - np.abs(centres[near] - middle) / WORD_REACH
            weight[near, column] += self.weights[column] * np.maximum(closeness, 0.0)
        total = weight.sum(axis=1, keepdims=True)
        histogram: NDArray[np.float32] = np.sqrt(weight / np.where(total > 0, total, 1.0))
        return histogram

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {word: column for column, word in enumerate(self.words)}


def narration_features(
    videos: Sequence[Video], *, seconds: float = 1 / 3
) -> list[NDArray[np.float32]]:
    """Return the features of every interval of every video, T_n×d each.

    ``seconds`` is the length of an interval.
    """
    vocabulary = Vocabulary.of(videos)
    return [
        vocabulary.features(video, video_interval_count(video, seconds), seconds=seconds)
        for video in videos
    ]


def video_interval_count(video: Video, seconds: float = 1 / 3) -> int:
    """Return T_n, the number of intervals of a video."""
    return max(int(np.ceil(video.length / seconds - 1e-9)), 1)


def _words(video: Video) -> Iterable[Word]:
    if video.sentences:
        return (word for sentence in video.sentences for word in sentence.words)
    return words_of(video.captions)


def _lemmas(video: Video) -> Iterator[tuple[str, Word]]:
    """Yield every word of a narration with its lemma."""
    for word in _words(video):
        lemma = _lemma(word.text.lower().strip(".,;:!?\"'()[]-"))
        if lemma:
            yield lemma, word


@cache
def _lemma(text: str) -> str:
    """The lemma of a word as a noun or, if that is the word itself, as a verb."""
    noun = WordNet.load().lemma(text, "noun")
    return noun if noun != text else WordNet.load().lemma(text, "verb")
