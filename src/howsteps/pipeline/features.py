"""Videos → one vector for each interval, through the cache.

::

    film ─► watched (descriptors, in a process of its own) ─► vocabulary ─► words ─► vectors

Descriptors are kept for each film and each kind, named by the film's content and the options. When
a film is added later it is watched alone, and the others only have their words looked up again.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.engine.cache import Cache, key_of
from howsteps.errors import HowstepsError, Problem
from howsteps.pipeline.descriptors import (
    MEMORY,
    Progress,
    VideoDescriptors,
    extract_descriptors,
    origins,
)
from howsteps.task import Video
from howsteps.vision.codebook import SAMPLE, Codebook, learn_codebook
from howsteps.vision.histograms import blocks, count_words, hellinger
from howsteps.vision.local import directions
from howsteps.vision.options import VisionOptions
from howsteps.vision.precomputed import read_folder

_VERSION = 1  # of what is computed: a change here makes all of it again
_WORDS, _VOCABULARY = "words", "vocabulary"


class Features(NamedTuple):
    """What is seen in videos.

    Attributes
    ----------
    vectors
        By video id, T×d float32. A video that could not be watched is not there.
    problems
        The reason for each that is not there, and what was wrong with others.
    keys
        By video id, a hash of all that its vectors depend on.
    durations
        By video id, seconds.
    vocabularies
        By kind, the words that the vectors count.
    """

    vectors: dict[str, NDArray[np.float32]]
    problems: list[Problem]
    keys: dict[str, str]
    durations: dict[str, float]
    vocabularies: dict[str, Codebook]


def features_of(
    videos: Sequence[Video],
    options: VisionOptions | None = None,
    *,
    cache: Cache,
    vocabularies: Mapping[str, Codebook] | None = None,
    device: str = "cpu",
    workers: int | None = None,
    memory: int = MEMORY,
    again: bool = False,
    progress: Progress = lambda seen: None,
) -> Features:
    """Describe every interval of every video that has a file.

    Parameters
    ----------
    videos
        Those without ``media`` are left out.
    options
        What is looked for, and how many words it is told in.
    store
        Where what was computed is kept and found again.
    vocabularies
        By kind, learnt elsewhere; else they are learnt from these videos.
    device
        ``cpu``, or ``cuda`` for the network.
    workers
        How many films are watched at once; else as many as there are cores.
    memory
        Bytes that one film may take, over what the libraries do.
    again
        Watch the films again even if they are known.
    progress
        Told how far each film is, from several threads but one at a time.

    Raises
    ------
    HowstepsError
        The vocabularies are of descriptors made with other options, or the network is not there.
    """
    options = options or VisionOptions()
    if vocabularies is not None:
        _check(vocabularies, options)
    films, problems = extract_descriptors(
        videos,
        options.watch,
        cache=cache,
        device=device,
        workers=workers,
        memory=memory,
        again=again,
        progress=progress,
    )
    if not films:
        return Features({}, problems, {}, {}, {})
    if vocabularies is None:
        vocabularies, flaws = vocabularies_of(films, options, cache)
        problems += flaws
    kinds = list(films[0].keys)
    words = {kind: vocabularies[kind] for kind in kinds}
    vectors = {}
    for film in films:
        parts = [hellinger(blocks(_counts(film, kind, words[kind], cache))) for kind in kinds]
        vectors[film.video] = np.concatenate(parts, axis=1)
    return Features(
        vectors,
        problems,
        {film.video: _vector_key(film, words) for film in films},
        {film.video: film.seconds for film in films},
        words,
    )


def features_from(
    folder: Path,
    videos: Sequence[Video],
    *,
    rate: float,
    seconds: float = 1 / 3,
) -> Features:
    """Features that were made elsewhere (:mod:`howsteps.vision.precomputed`), on the same grid."""
    known = {video.id: video.duration for video in videos if video.duration}
    names = [video.id for video in videos]
    vectors, problems = read_folder(folder, names, rate=rate, durations=known, seconds=seconds)
    keys = {
        video: key_of(_VERSION, rows=hashlib.sha256(rows.tobytes()).hexdigest())
        for video, rows in vectors.items()
    }
    durations = {video: known.get(video, seconds * len(vectors[video])) for video in vectors}
    return Features(vectors, problems, keys, durations, {})


def _vector_key(film: VideoDescriptors, words: Mapping[str, Codebook]) -> str:
    return key_of(_VERSION, keys={kind: [film.keys[kind], words[kind].digest] for kind in words})


def vocabularies_of(
    films: Sequence[VideoDescriptors], options: VisionOptions, cache: Cache
) -> tuple[dict[str, Codebook], list[Problem]]:
    """The vocabulary of each kind that is learnt from films; and where it has too few words."""
    found, problems = {}, []
    for kind, origin in origins(options.watch).items():
        wanted = options.words(kind)
        # In their order, which tells what is drawn from each.
        keys = [film.keys[kind] for film in films]
        key = key_of(_VERSION, films=keys, words=wanted, seed=options.seed)
        kept = cache.arrays(_VOCABULARY, key)
        if kept is None:
            sample = _sample(films, kind, wanted * SAMPLE, options.seed, cache)
            found[kind] = learn_codebook(sample, wanted, origin, options.seed)
            cache.put_arrays(_VOCABULARY, key, {"centres": found[kind].centres})
        else:
            found[kind] = Codebook(kept["centres"], origin)
        if len(found[kind]) < wanted:
            reason = f"{kind}: {len(found[kind])} words, as there are no more different descriptors"
            problems.append(Problem(films[0].media.parent, reason, harmless=True))
    return found, problems


def _sample(
    films: Sequence[VideoDescriptors], kind: str, most: int, seed: int, cache: Cache
) -> NDArray[np.float32]:
    """Descriptors of all films, as many of each: at most ``most`` in all."""
    share = -(-most // len(films))
    drawn: list[NDArray[np.int8]] = []
    for number, film in enumerate(films):
        chance = np.random.default_rng((seed, number))
        lengths = [len(intervals) for intervals, _ in film.local(kind, cache)]
        total = sum(lengths)
        chosen = np.sort(chance.permutation(total)[:share])
        start = 0
        for _, values in film.local(kind, cache):
            here = chosen[(chosen >= start) & (chosen < start + len(values))] - start
            drawn.append(values[here])
            start += len(values)
    return directions(np.concatenate(drawn)) if drawn else np.empty((0, 0), np.float32)


def _counts(
    film: VideoDescriptors, kind: str, vocabulary: Codebook, cache: Cache
) -> NDArray[np.float32]:
    """T×k counts of words; which descriptor is which word is kept."""
    if not len(vocabulary):
        return np.zeros((film.intervals, 0), np.float32)
    key = key_of(_VERSION, film=film.keys[kind], vocabulary=vocabulary.digest)
    kept = cache.arrays(_WORDS, key)
    if kept is None:
        pairs = list(_looked_up(film, kind, vocabulary, cache))
        pairs.append((np.empty(0, np.int32), np.empty(0, np.int32)))
        intervals, words = (np.concatenate(part) for part in zip(*pairs, strict=True))
        kept = {"intervals": intervals, "words": words}
        cache.put_arrays(_WORDS, key, kept)
    return count_words(kept["intervals"], kept["words"], film.intervals, len(vocabulary))


def _looked_up(
    film: VideoDescriptors, kind: str, vocabulary: Codebook, cache: Cache
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32]]]:
    for intervals, values in film.local(kind, cache):
        yield intervals, vocabulary.words(directions(values))


def _check(vocabularies: Mapping[str, Codebook], options: VisionOptions) -> None:
    for kind, origin in origins(options.watch).items():
        if kind not in vocabularies:
            raise HowstepsError(f"the vocabulary has no words for {kind}")
        if vocabularies[kind].origin != origin:
            raise HowstepsError(
                f"the vocabulary's words for {kind} are of descriptors made with other options"
            )
