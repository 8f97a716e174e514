"""Methods by their names: what each predicts for a subsample of videos."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.labelled import GRID
from howsteps.evaluate.order import find_order
from howsteps.evaluate.protocols import NotMeasured, Prediction
from howsteps.evaluate.script_protocols import mention_times
from howsteps.evaluate.subsample import Subsample
from howsteps.localisation import LEAD, localise_task
from howsteps.localise import Clustering, baselines, hmm, mention_windows
from howsteps.script.baselines import frequent as most_frequent
from howsteps.script.baselines import text_free as random_times
from howsteps.task import Mode

# The paper's solver: the solutions it visits are what its error bars go over.
SOLVER = "frank-wolfe"
WORDS = 200  # relations in the bag of ``video+bow``

Method: TypeAlias = Callable[[Subsample, int, int], Prediction]


def _uniform(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Steps spread evenly over every video."""
    return Prediction(steps, sample.in_seconds(baselines.uniform(sample.lengths, steps)))


def _video_only(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Clustering of the features under the order, without any window."""
    found = baselines.video_only(sample.features, steps=steps, seed=seed, solver=SOLVER)
    return _clustered(sample, found)


def _video_and_words(sample: Subsample, steps: int, seed: int) -> Prediction:
    """The same with a bag of relations beside the features, in a single stage."""
    mentions = sample.mentions("paper")
    counts = Counter(m.relation for row in mentions for m in row)
    kept = sorted(counts, key=lambda relation: (-counts[relation], relation))[:WORDS]
    number = {relation: at for at, relation in enumerate(kept)}
    words = []
    for row, length in zip(mentions, map(len, sample.features), strict=True):
        kept_here = [m for m in row if m.relation in number]
        times = np.array([(m.start, m.end) for m in kept_here]).reshape(-1, 2)
        relations = np.array([number[m.relation] for m in kept_here], dtype=np.int64)
        windows = mention_windows(times, length, GRID)
        words.append(baselines.bag_of_relations(windows, relations, len(kept)))
    found = baselines.video_and_words(sample.features, words, steps=steps, seed=seed, solver=SOLVER)
    return _clustered(sample, found)


def _transcript(sample: Subsample, steps: int, seed: int) -> Prediction:
    """The paper's script, to which a hidden Markov model re-aligns every transcript."""
    script = sample.script("paper", steps, seed)
    mentions = sample.mentions("paper")
    names = sorted({m.relation for row in mentions for m in row})
    number = {relation: at for at, relation in enumerate(names)}
    numbers = [np.array([number[m.relation] for m in row], dtype=np.int64) for row in mentions]
    of_step = np.zeros((len(script.steps), len(names)))
    for k, step in enumerate(script.steps):
        for relation, count in step.relations:
            of_step[k, number[relation]] = count
    counts = np.bincount(np.concatenate(numbers), minlength=len(names)).astype(np.float64)
    aligned = [hmm.align_transcript(row, of_step, counts) for row in numbers]
    times = [np.array([m.start for m in row]) for row in mentions]
    return _mentioned(sample, aligned, times, len(script.steps))


def _narration(sample: Subsample, steps: int, seed: int) -> Prediction:
    """The paper's script, each step two seconds after its mention, the others in between."""
    script = sample.script("paper", steps, seed)
    mentions: dict[str, list[tuple[float, int]]] = {video: [] for video in sample.videos}
    for k, step in enumerate(script.steps):
        for m in step.mentions:
            mentions[m.video].append(((m.start + m.end) / 2 + LEAD, k))
    aligned = [np.array([k for _, k in mentions[v]], dtype=np.int64) for v in sample.videos]
    times = [np.array([time for time, _ in mentions[v]]) for v in sample.videos]
    return _mentioned(sample, aligned, times, len(script.steps))


def _supervised(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Classifiers learnt from the truth of other videos; the steps and their order are known."""
    truth = sample.truth
    sequences = [[a.step for a in found] for found in truth.by_video.values()]
    order = find_order(sequences, len(truth.steps)).steps
    column = {step: at for at, step in enumerate(order)}
    masks = []
    for video, x in zip(sample.videos, sample.features, strict=True):
        middles = (np.arange(len(x)) + 0.5) * GRID
        mask = np.zeros((len(x), len(order)), np.bool_)
        for a in truth.by_video[video]:
            mask[(a.start <= middles) & (middles <= a.end), column[a.step]] = True
        masks.append(mask)
    found = baselines.supervised(sample.features, masks, seed=seed)
    renamed = tuple(
        replace(localisation, step=order[localisation.step])
        for localisation in sample.in_seconds(found.intervals)
    )
    return Prediction(len(order), renamed, folds=found.scores, known_steps=True)


def _mode(mode: Mode) -> Method:
    """One of the three modes: its script and its localisations."""

    def method(sample: Subsample, steps: int, seed: int) -> Prediction:
        script = sample.script(mode, steps, seed)
        found = localise_task(
            sample.task(mode),
            script,
            sample.labelled.features,
            narration=sample.narration,
            seconds=GRID,
            mode=mode,
            requested_steps=steps,
            seed=seed,
        )
        return Prediction(
            len(script.steps),
            found.localisations,
            tuple(sample.in_seconds(rounding) for rounding in found.roundings),
            script=script,
            mention_times=tuple(mention_times(script)),
        )

    return method


METHODS: Mapping[str, Method] = {
    "uniform": _uniform,
    "video-only": _video_only,
    "video+bow": _video_and_words,
    "hmm": _transcript,
    "narration": _narration,
    "supervised": _supervised,
    "paper": _mode("paper"),
    "authors": _mode("authors"),
    "default": _mode("default"),
}


def _frequent(sample: Subsample, steps: int, seed: int) -> Prediction:
    """The relations that most videos name, by their median time."""
    script = most_frequent(sample.task("paper"), steps)
    times = tuple(mention_times(script))
    return Prediction(len(script.steps), script=script, mention_times=times)


def _text_free(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Random times, one in each of K equal parts of every video."""
    if any(duration is None for duration in sample.truth.durations.values()):
        raise NotMeasured("the length of the videos is not known")
    return Prediction(steps, mention_times=random_times(sample.labelled.task, steps, seed))


# What every script is shown beside.
SCRIPT_BASELINES: Mapping[str, Method] = {"frequent": _frequent, "text-free": _text_free}


def _clustered(sample: Subsample, found: Clustering) -> Prediction:
    return Prediction(
        found.intervals.shape[1],
        sample.in_seconds(found.intervals),
        tuple(sample.in_seconds(rounding) for rounding in found.roundings),
    )


def _mentioned(
    sample: Subsample,
    steps_of: Sequence[NDArray[np.int64]],
    times: Sequence[NDArray[np.float64]],
    steps: int,
) -> Prediction:
    """Steps where they are mentioned, the others spread between those."""
    intervals = [
        np.clip((mentioned / GRID).astype(np.int64), 0, length - 1)
        for mentioned, length in zip(times, sample.lengths, strict=True)
    ]
    places = hmm.place_aligned(list(steps_of), intervals, sample.lengths, steps)
    return Prediction(steps, sample.in_seconds(places))
