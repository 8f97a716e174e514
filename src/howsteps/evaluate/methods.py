"""Methods by their names: what they say of a draw of videos, to be scored."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.labelled import GRID
from howsteps.evaluate import cooccurrence
from howsteps.evaluate.order import find_order
from howsteps.evaluate.protocols import NotMeasured, Prediction
from howsteps.evaluate.subsample import Subsample
from howsteps.localisation import LEAD, localise_task
from howsteps.localise import Clustering, baselines, hmm, mention_windows
from howsteps.script.baselines import frequent as most_frequent
from howsteps.script.baselines import text_free as random_times
from howsteps.task import Localisation, Mode, Script

# The paper's solver: the solutions it visits are what its error bars go over.
SOLVER = "frank-wolfe"
WORDS = 200  # relations in the bag of ``video+bow``

Method: TypeAlias = Callable[[Subsample, int, int], Prediction]


def uniform(draw: Subsample, steps: int, seed: int) -> Prediction:
    """Steps spread evenly over every video."""
    return Prediction(steps, draw.in_seconds(baselines.uniform(draw.lengths, steps)))


def video_only(draw: Subsample, steps: int, seed: int) -> Prediction:
    """Clustering of the features under the order, without any window."""
    found = baselines.video_only(draw.features, steps=steps, seed=seed, solver=SOLVER)
    return _clustered(draw, found)


def video_and_words(draw: Subsample, steps: int, seed: int) -> Prediction:
    """The same with a bag of relations beside the features, in a single stage."""
    mentions = draw.mentions("paper")
    counts = Counter(m.relation for row in mentions for m in row)
    kept = sorted(counts, key=lambda relation: (-counts[relation], relation))[:WORDS]
    number = {relation: at for at, relation in enumerate(kept)}
    words = []
    for row, length in zip(mentions, map(len, draw.features), strict=True):
        said = [m for m in row if m.relation in number]
        times = np.array([(m.start, m.end) for m in said]).reshape(-1, 2)
        relations = np.array([number[m.relation] for m in said], dtype=np.int64)
        windows = mention_windows(times, length, GRID)
        words.append(baselines.bag_of_relations(windows, relations, len(kept)))
    found = baselines.video_and_words(draw.features, words, steps=steps, seed=seed, solver=SOLVER)
    return _clustered(draw, found)


def transcript(draw: Subsample, steps: int, seed: int) -> Prediction:
    """The paper's script, to which a hidden Markov model re-aligns every transcript."""
    script = draw.script("paper", steps, seed)
    mentions = draw.mentions("paper")
    names = sorted({m.relation for row in mentions for m in row})
    number = {relation: at for at, relation in enumerate(names)}
    told = [np.array([number[m.relation] for m in row], dtype=np.int64) for row in mentions]
    of_step = np.zeros((len(script.steps), len(names)))
    for k, step in enumerate(script.steps):
        for relation, count in step.relations:
            of_step[k, number[relation]] = count
    counts = np.bincount(np.concatenate(told), minlength=len(names)).astype(np.float64)
    aligned = [hmm.align_transcript(row, of_step, counts) for row in told]
    times = [np.array([m.start for m in row]) for row in mentions]
    return _spoken(draw, aligned, times, len(script.steps))


def narration(draw: Subsample, steps: int, seed: int) -> Prediction:
    """The paper's script, each step two seconds after its mention, the others in between."""
    script = draw.script("paper", steps, seed)
    said: dict[str, list[tuple[float, int]]] = {video: [] for video in draw.videos}
    for k, step in enumerate(script.steps):
        for m in step.mentions:
            said[m.video].append(((m.start + m.end) / 2 + LEAD, k))
    aligned = [np.array([k for _, k in said[v]], dtype=np.int64) for v in draw.videos]
    times = [np.array([time for time, _ in said[v]]) for v in draw.videos]
    return _spoken(draw, aligned, times, len(script.steps))


def supervised(draw: Subsample, steps: int, seed: int) -> Prediction:
    """Classifiers learnt from the truth of other videos, in the order of the job; K is known."""
    truth = draw.truth
    sequences = [[a.step for a in found] for found in truth.by_video.values()]
    order = find_order(sequences, len(truth.steps)).steps
    column = {step: at for at, step in enumerate(order)}
    masks = []
    for video, x in zip(draw.videos, draw.features, strict=True):
        middles = (np.arange(len(x)) + 0.5) * GRID
        mask = np.zeros((len(x), len(order)), np.bool_)
        for a in truth.by_video[video]:
            mask[(a.start <= middles) & (middles <= a.end), column[a.step]] = True
        masks.append(mask)
    found = baselines.supervised(draw.features, masks, seed=seed)
    places = draw.in_seconds(found.intervals)
    named = tuple(Localisation(p.video, order[p.step], p.time) for p in places)
    return Prediction(len(order), named, folds=found.scores, known=True)


def _mode(mode: Mode) -> Method:
    """One of the three ways of doing everything: its script, and its places."""

    def method(draw: Subsample, steps: int, seed: int) -> Prediction:
        script = draw.script(mode, steps, seed)
        found = localise_task(
            draw.task(mode),
            script,
            draw.labelled.features,
            narration=draw.narration,
            seconds=GRID,
            mode=mode,
            asked=steps,
            seed=seed,
        )
        return Prediction(
            len(script.steps),
            found.localisations,
            tuple(draw.in_seconds(rounding) for rounding in found.roundings),
            script=script,
            named=tuple(cooccurrence.events_of(script)),
        )

    return method


METHODS: Mapping[str, Method] = {
    "uniform": uniform,
    "video-only": video_only,
    "video+bow": video_and_words,
    "hmm": transcript,
    "narration": narration,
    "supervised": supervised,
    "paper": _mode("paper"),
    "authors": _mode("authors"),
    "default": _mode("default"),
}


def frequent(draw: Subsample, steps: int, seed: int) -> Prediction:
    """The relations that most videos name, by their median time."""
    script: Script = most_frequent(draw.task("paper"), steps)
    named = tuple(cooccurrence.events_of(script))
    return Prediction(len(script.steps), script=script, named=named)


def text_free(draw: Subsample, steps: int, seed: int) -> Prediction:
    """Random times, one in each of K equal parts of every video."""
    if any(duration is None for duration in draw.truth.durations.values()):
        raise NotMeasured("the length of the videos is not known")
    return Prediction(steps, named=random_times(draw.labelled.task, steps, seed))


# What every script must be shown beside.
CONTROLS: Mapping[str, Method] = {"frequent": frequent, "text-free": text_free}


def _clustered(draw: Subsample, found: Clustering) -> Prediction:
    return Prediction(
        found.intervals.shape[1],
        draw.in_seconds(found.intervals),
        tuple(draw.in_seconds(rounding) for rounding in found.roundings),
    )


def _spoken(
    draw: Subsample,
    steps_of: Sequence[NDArray[np.int64]],
    times: Sequence[NDArray[np.float64]],
    steps: int,
) -> Prediction:
    """Steps where they are spoken of, the others spread between those."""
    intervals = [
        np.clip((spoken / GRID).astype(np.int64), 0, length - 1)
        for spoken, length in zip(times, draw.lengths, strict=True)
    ]
    places = hmm.place_aligned(list(steps_of), intervals, draw.lengths, steps)
    return Prediction(steps, draw.in_seconds(places))
