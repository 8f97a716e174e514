"""What is said around every interval, as one vector each.

Narrators name what they do within seconds of doing it, so the words of an interval are those close
to it in time. The weight of a word w spoken at time m, for the interval centred at c, is

    idf(w) · max(0, 1 − |m − c|/reach),      idf(w) = log(N / #videos that say w)

Words that every narrator uses weigh nothing. There are two kinds of features:

* ``words``: the histogram of those weights, Hellinger-normalised (L1, then square root);
* ``meaning``: the mean of the words' vectors under those weights, scaled to length one, so that
  other words for the same thing lie near each other (:mod:`howsteps.narration.vectors`).

An interval without words, or of which no word is known, is a row of zeros.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.captions.words import words_of
from howsteps.narration.vectors import unit_rows, vectors_of
from howsteps.task import Video, Word
from howsteps.wordnet import WordNet

Kind: TypeAlias = Literal["words", "meaning"]

REACH = 2.5  # seconds: words further away say little about what is done now
LARGEST_VOCABULARY = 1000  # rarer words than these help no step


@dataclass(frozen=True)
class Vocabulary:
    """Dictionary forms that tell videos of a collection apart, and what each weighs."""

    words: tuple[str, ...]
    weights: NDArray[np.float32]

    @staticmethod
    def of(videos: Sequence[Video], *, largest: int = LARGEST_VOCABULARY) -> "Vocabulary":
        """The words that several videos say, and not all of them, by how many say them.

        Where there are none, as with one video or two, all words are taken, and all weigh the same.
        """
        said = [{form for form, _ in _forms(video)} for video in videos]
        counts = Counter(form for forms in said for form in forms)
        shared = [form for form, count in counts.items() if 1 < count < len(videos)]
        if not shared:
            words = tuple(sorted(counts)[:largest])
            return Vocabulary(words, np.ones(len(words), np.float32))
        kept = sorted(sorted(shared, key=lambda form: (-counts[form], form))[:largest])
        frequencies = np.array([counts[form] for form in kept], np.float32)
        return Vocabulary(tuple(kept), np.log(len(videos) / frequencies).astype(np.float32))

    def features(
        self,
        video: Video,
        intervals: int,
        *,
        kind: Kind = "words",
        seconds: float = 1 / 3,
        reach: float = REACH,
    ) -> NDArray[np.float32]:
        """What is said around every interval of a video, T_n×d (see the head of this module)."""
        weight = self._weights_around(video, intervals, seconds, reach)
        if kind == "meaning":
            return unit_rows(weight @ vectors_of(self.words))
        total = weight.sum(axis=1, keepdims=True)
        histogram: NDArray[np.float32] = np.sqrt(weight / np.where(total > 0, total, 1.0))
        return histogram

    def _weights_around(
        self, video: Video, intervals: int, seconds: float, reach: float
    ) -> NDArray[np.float32]:
        """What every word of the vocabulary weighs in every interval, T_n×V."""
        number = {word: place for place, word in enumerate(self.words)}
        weight = np.zeros((intervals, len(self.words)), np.float32)
        for form, word in _forms(video):
            place = number.get(form)
            if place is None:
                continue
            middle = (word.start + word.end) / 2
            first = max(int((middle - reach) / seconds), 0)
            near = np.arange(first, min(int((middle + reach) / seconds) + 1, intervals))
            closeness = 1.0 - np.abs((near + 0.5) * seconds - middle) / reach
            weight[near, place] += self.weights[place] * np.maximum(closeness, 0.0)
        return weight


def narration_features(
    videos: Sequence[Video],
    *,
    kind: Kind = "words",
    seconds: float = 1 / 3,
    reach: float = REACH,
    vocabulary: Vocabulary | None = None,
) -> list[NDArray[np.float32]]:
    """What is said around every interval of every video, T_n×d each.

    Parameters
    ----------
    videos
        With captions, or already heard.
    kind
        ``words`` or ``meaning``.
    seconds
        How long an interval lasts.
    reach
        How far from an interval a word still counts, in seconds.
    vocabulary
        Of another collection; these videos' own when None.
    """
    vocabulary = vocabulary or Vocabulary.of(videos)
    return [
        vocabulary.features(
            video, interval_count(video, seconds), kind=kind, seconds=seconds, reach=reach
        )
        for video in videos
    ]


def interval_count(video: Video, seconds: float = 1 / 3) -> int:
    """T_n: how many intervals a video has, by its duration or by the end of its narration."""
    length = video.duration
    if length is None:
        length = max((word.end for word in _words(video)), default=0.0)
    return max(int(np.ceil(length / seconds - 1e-9)), 1)


def _words(video: Video) -> Iterable[Word]:
    if video.sentences:
        return (word for sentence in video.sentences for word in sentence.words)
    return words_of(video.captions)


def _forms(video: Video) -> Iterator[tuple[str, Word]]:
    """Every word of a narration with its dictionary form."""
    for word in _words(video):
        form = _dictionary_form(word.text.lower().strip(".,;:!?\"'()[]-"))
        if form:
            yield form, word


@cache
def _dictionary_form(text: str) -> str:
    """The noun or the verb that a word is a form of, so that "nuts" and "nut" count as one."""
    noun = _wordnet().lemma(text, "noun")
    return noun if noun != text else _wordnet().lemma(text, "verb")


@cache
def _wordnet() -> WordNet:
    return WordNet.load()
