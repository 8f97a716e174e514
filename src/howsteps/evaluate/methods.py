"""Methods by name: each predicts scripts or localisations for a subsample of videos."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import GRID, Labelled
from howsteps.evaluate.protocols import Localisations, NotMeasured, Prediction
from howsteps.evaluate.script_protocols import mention_times
from howsteps.evaluate.statistics import find_order
from howsteps.localisation import LEAD, localise_task
from howsteps.localise import Clustering, baselines, hmm, mention_windows
from howsteps.narration.features import Kind, narration_features, video_interval_count
from howsteps.script import discover
from howsteps.script.baselines import frequent as most_frequent
from howsteps.script.baselines import text_free as random_times
from howsteps.task import Localisation, Mention, Mode, Script, Task, Truth

# The extraction of relations of each mode: the authors' program has that of the paper.
EXTRACTION = {"paper": "paper", "authors": "paper", "default": "default"}


class Subsample:
    """The videos that all methods are run on.

    Parameters
    ----------
    labelled
        The task.
    narrated
        The task with the mentions of the modes ``paper`` and ``default``; empty without narrations.
    videos
        Names of the videos in the subsample.
    narration
        Features of the narration (``words`` or ``meaning``) to use if there are none of the video.
    search_seconds
        Effort of the search for a script.
    """

    def __init__(
        self,
        labelled: Labelled,
        narrated: Mapping[str, Task],
        videos: Sequence[str],
        *,
        narration: Kind = "words",
        search_seconds: float = 5.0,
    ) -> None:
        self.narration = narration
        self.labelled = labelled.of(videos)
        chosen = set(videos)
        self._narrated = {
            mode: replace(task, videos=tuple(v for v in task.videos if v.id in chosen))
            for mode, task in narrated.items()
        }
        self._search_seconds = search_seconds
        self._scripts: dict[tuple[str, int, int], Script] = {}

    @property
    def truth(self) -> Truth:
        """The annotations of these videos."""
        return self.labelled.truth

    @property
    def videos(self) -> list[str]:
        """Names of the videos, in the order of the task."""
        return [video.id for video in self.labelled.task.videos]

    def task(self, mode: str) -> Task:
        """Return the videos with the mentions of a mode."""
        if not self._narrated:
            raise NotMeasured("the data set has no narrations")
        return self._narrated[EXTRACTION[mode]]

    def mentions(self, mode: str) -> list[list[Mention]]:
        """Return the mentions of every video, in order of time."""
        return [
            sorted(video.mentions, key=lambda m: (m.start, m.end))
            for video in self.task(mode).videos
        ]

    def script(self, mode: str, steps: int, seed: int) -> Script:
        """Return the script of a mode; discovered on first use."""
        key = (mode, steps, seed)
        if key not in self._scripts:
            self._scripts[key] = discover(
                self.task(mode),
                steps=steps,
                mode=mode,
                seed=seed,
                seconds=self._search_seconds,
                match=self.labelled.matches,
            )
        if not self._scripts[key].steps:
            raise NotMeasured(f"no script: too many relations tie for at most {steps} steps")
        return self._scripts[key]

    @cached_property
    def lengths(self) -> list[int]:
        """T_n, the number of intervals of every video."""
        if self.labelled.features:
            return [len(self.labelled.features[video]) for video in self.videos]
        videos = self.labelled.task.videos
        if any(video.duration is None for video in videos):
            raise NotMeasured("the length of the videos is not known")
        return [video_interval_count(video, GRID) for video in videos]

    @cached_property
    def features(self) -> list[NDArray[np.float32]]:
        """X_n, T_n×d: features of the videos, or of the narration if there are none."""
        if self.labelled.features:
            return [self.labelled.features[video] for video in self.videos]
        return narration_features(self.task("paper").videos, kind=self.narration, seconds=GRID)

    def in_seconds(self, intervals: NDArray[np.int64]) -> Localisations:
        """Return localisations in the middle of intervals (N×K, −1: absent)."""
        return tuple(
            Localisation(video, k, None if t < 0 else (int(t) + 0.5) * GRID)
            for video, row in zip(self.videos, intervals, strict=True)
            for k, t in enumerate(row)
        )


# The paper's solver, whose roundings give the error bars.
SOLVER = "frank-wolfe"
BAG_SIZE = 200  # relations in the bag of ``video+bow``

Method: TypeAlias = Callable[[Subsample, int, int], Prediction]


def _uniform(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Spread the steps evenly over every video."""
    return Prediction(steps, sample.in_seconds(baselines.uniform(sample.lengths, steps)))


def _video_only(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Cluster the features under the order constraint, without windows."""
    clustering = baselines.video_only(sample.features, steps=steps, seed=seed, solver=SOLVER)
    return _from_clustering(sample, clustering)


def _video_and_words(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Cluster the features concatenated with a bag of relations, in a single stage."""
    mentions = sample.mentions("paper")
    counts = Counter(m.relation for row in mentions for m in row)
    kept = sorted(counts, key=lambda relation: (-counts[relation], relation))[:BAG_SIZE]
    index = {relation: i for i, relation in enumerate(kept)}
    words = []
    for row, length in zip(mentions, map(len, sample.features), strict=True):
        in_bag = [m for m in row if m.relation in index]
        times = np.array([(m.start, m.end) for m in in_bag]).reshape(-1, 2)
        relations = np.array([index[m.relation] for m in in_bag], dtype=np.int64)
        windows = mention_windows(times, length, GRID)
        words.append(baselines.bag_of_relations(windows, relations, len(kept)))
    clustering = baselines.video_and_words(
        sample.features, words, steps=steps, seed=seed, solver=SOLVER
    )
    return _from_clustering(sample, clustering)


def _transcript(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Align every transcript to the paper's script by a hidden Markov model."""
    script = sample.script("paper", steps, seed)
    mentions = sample.mentions("paper")
    relations = sorted({m.relation for row in mentions for m in row})
    index = {relation: i for i, relation in enumerate(relations)}
    sequences = [np.array([index[m.relation] for m in row], dtype=np.int64) for row in mentions]
    step_relations = np.zeros((len(script.steps), len(relations)))
    for k, step in enumerate(script.steps):
        for relation, count in step.relations:
            step_relations[k, index[relation]] = count
    counts = np.bincount(np.concatenate(sequences), minlength=len(relations)).astype(np.float64)
    aligned = [hmm.align_transcript(row, step_relations, counts) for row in sequences]
    times = [np.array([m.start for m in row]) for row in mentions]
    return _from_mentions(sample, aligned, times, len(script.steps))


def _narration(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Place each step of the paper's script two seconds after its mention, others in between."""
    script = sample.script("paper", steps, seed)
    mentions: dict[str, list[tuple[float, int]]] = {video: [] for video in sample.videos}
    for k, step in enumerate(script.steps):
        for m in step.mentions:
            mentions[m.video].append(((m.start + m.end) / 2 + LEAD, k))
    aligned = [np.array([k for _, k in mentions[v]], dtype=np.int64) for v in sample.videos]
    times = [np.array([time for time, _ in mentions[v]]) for v in sample.videos]
    return _from_mentions(sample, aligned, times, len(script.steps))


def _supervised(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Learn classifiers from the truth of other videos; the steps and their order are known."""
    truth = sample.truth
    sequences = [[a.step for a in annotations] for annotations in truth.by_video.values()]
    order = find_order(sequences, len(truth.steps)).steps
    column = {step: k for k, step in enumerate(order)}
    masks = []
    for video, x in zip(sample.videos, sample.features, strict=True):
        middles = (np.arange(len(x)) + 0.5) * GRID
        mask = np.zeros((len(x), len(order)), np.bool_)
        for a in truth.by_video[video]:
            mask[(a.start <= middles) & (middles <= a.end), column[a.step]] = True
        masks.append(mask)
    result = baselines.supervised(sample.features, masks, seed=seed)
    localisations = tuple(
        replace(at, step=order[at.step]) for at in sample.in_seconds(result.intervals)
    )
    return Prediction(len(order), localisations, folds=result.scores, known_steps=True)


def _mode(mode: Mode) -> Method:
    """Return the method of a mode: its script and its localisations."""

    def method(sample: Subsample, steps: int, seed: int) -> Prediction:
        script = sample.script(mode, steps, seed)
        result = localise_task(
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
            result.localisations,
            tuple(sample.in_seconds(rounding) for rounding in result.roundings),
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
    """Return the relations that most videos name, in order of their median time."""
    script = most_frequent(sample.task("paper"), steps)
    times = tuple(mention_times(script))
    return Prediction(len(script.steps), script=script, mention_times=times)


def _text_free(sample: Subsample, steps: int, seed: int) -> Prediction:
    """Draw random times, one in each of K equal parts of every video."""
    if any(duration is None for duration in sample.truth.durations.values()):
        raise NotMeasured("the length of the videos is not known")
    if steps > (shortest := min(sample.lengths, default=0)):
        raise NotMeasured(f"a video has {shortest} intervals, too few for {steps} steps")
    return Prediction(steps, mention_times=random_times(sample.labelled.task, steps, seed))


# Baselines that every script is compared with.
SCRIPT_BASELINES: Mapping[str, Method] = {"frequent": _frequent, "text-free": _text_free}


def _from_clustering(sample: Subsample, clustering: Clustering) -> Prediction:
    return Prediction(
        clustering.intervals.shape[1],
        sample.in_seconds(clustering.intervals),
        tuple(sample.in_seconds(rounding) for rounding in clustering.roundings),
    )


def _from_mentions(
    sample: Subsample,
    aligned: Sequence[NDArray[np.int64]],
    times: Sequence[NDArray[np.float64]],
    steps: int,
) -> Prediction:
    """Place steps at their mentions, and the others evenly between those.

    ``aligned`` and ``times`` are the step and the time in seconds of every mention, S_n per video.
    """
    intervals = [
        np.clip((seconds / GRID).astype(np.int64), 0, length - 1)
        for seconds, length in zip(times, sample.lengths, strict=True)
    ]
    places = hmm.place_aligned(list(aligned), intervals, sample.lengths, steps)
    return Prediction(steps, sample.in_seconds(places))
