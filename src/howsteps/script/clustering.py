"""From mentions to steps by the ordered profile: mode ``default`` put together."""

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from howsteps.script import profile
from howsteps.script.baselines import duration
from howsteps.script.labels import named
from howsteps.script.near_duplicates import originals
from howsteps.script.similarity import Phrase, similarity
from howsteps.script.stop_relations import title_words
from howsteps.task import Mention, Relation, Script, Task

CANDIDATES = 14  # steps, where nobody asks for a number; those that do not last are left out


def gathered(
    task: Task,
    heard: Sequence[Sequence[Mention]],
    *,
    steps: int = CANDIDATES,
    match: Callable[[Sequence[Relation]], NDArray[np.bool_]] | None = None,
    rounds: int = profile.ROUNDS,
) -> Script:
    """The script of a task from the mentions of each of its videos.

    The steps are learnt from narrations that are nobody's copy, and found again in all of them.

    Parameters
    ----------
    steps
        K, the most steps.
    match
        Which relations are alike, instead of :func:`howsteps.script.similarity.similarity`.
    rounds
        How often every step is exchanged at the end (:func:`howsteps.script.profile.profile`).
    """
    begun = perf_counter()
    sayings = sorted({_saying(mention) for row in heard for mention in row})
    if not sayings:
        return Script(())
    everyone = _narrations(task, heard, sayings, _alike(task, sayings, match))
    witnesses = originals(task.videos)
    found = profile.learn(everyone, witnesses, steps, rounds)
    worth, belongs = profile.place(everyone, found)
    mentions = [mention for row in heard for mention in row]
    groups = [[mentions[at] for at in np.flatnonzero(belongs == k)] for k in range(len(found))]
    return Script(
        named(task, [group for group in groups if group]),
        objective=-worth,
        objective_per_token=-worth / len(mentions),
        bound=-float(sum(min(len(row), len(found)) for row in heard)),
        seconds=perf_counter() - begun,
    )


def _saying(mention: Mention) -> Phrase:
    return Phrase(mention.verb, mention.particle, mention.noun)


def _alike(
    task: Task,
    sayings: Sequence[Phrase],
    match: Callable[[Sequence[Relation]], NDArray[np.bool_]] | None,
) -> csr_array:
    if match is not None:
        return csr_array(match([Relation(one.verb, one.noun) for one in sayings]).astype(float))
    from howsteps.wordnet import WordNet  # noqa: PLC0415 - takes a while

    return similarity(sayings, WordNet.load(), title_words(task.name))


def _narrations(
    task: Task,
    heard: Sequence[Sequence[Mention]],
    sayings: Sequence[Phrase],
    alike: csr_array,
) -> profile.Narrations:
    number = {saying: place for place, saying in enumerate(sayings)}
    lengths = [duration(video) or 1.0 for video in task.videos]
    return profile.Narrations(
        np.array([number[_saying(m)] for row in heard for m in row], dtype=np.int64),
        np.array(
            [
                min(1.0, m.start / length)
                for row, length in zip(heard, lengths, strict=True)
                for m in row
            ]
        ),
        np.cumsum([0, *(len(row) for row in heard)]).astype(np.int64),
        alike,
    )
