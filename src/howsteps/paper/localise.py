"""Localise the steps of a script by the paper's clustering, in mode ``paper`` or ``authors``.

The features are clustered inside the windows of the narration by Frank-Wolfe, whose roundings give
the paper's error bars. Every step is placed in every video that has features and is long enough,
without a confidence: the method has none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from howsteps.localise.decision import StepIntervals, extents
from howsteps.localise.features import Places
from howsteps.localise.method import FeaturesByVideo, TaskData
from howsteps.paper.clustering import AUTHORS_VIDEOS, ClusteringMode, cluster
from howsteps.paper.windows import authors_mention_windows, mention_windows, step_windows
from howsteps.task import Localisation, Script, Task


@dataclass(frozen=True)
class ClusteredTask:
    """The localised steps of a task, in its order.

    ``relaxed_windows`` are the video and step of those that contradicted the order. ``roundings``
    are the N×K intervals of the placements visited after the chosen one, for the paper's error
    bars.
    """

    localisations: tuple[Localisation, ...]
    relaxed_windows: tuple[tuple[int, int], ...]
    roundings: tuple[Places, ...]


def localise(
    task: Task,
    script: Script,
    features: FeaturesByVideo | None = None,
    *,
    mode: ClusteringMode = "paper",
    seconds: float = 1 / 3,
    requested_steps: int | None = None,
    seed: int = 0,
) -> ClusteredTask:
    """Find every step of a script in every video of its task.

    Parameters
    ----------
    task, script, features, seconds
        As for :func:`howsteps.localise.localise`.
    mode
        ``paper``: windows of 10 s after a mention, λ = 1/(N·K). ``authors``: windows of 30
        intervals, λ = 1/(30·K), and the other choices of the authors' program.
    requested_steps
        Number of steps that the script was asked for, the K of λ in mode ``authors``. None: the
        number of steps it has.
    """
    data = TaskData(task, script, features or {}, seconds)
    of_mentions = authors_mention_windows if mode == "authors" else mention_windows
    windows, support = step_windows(
        [
            of_mentions(rows[:, :2], length, seconds)
            for rows, length in zip(data.mentions, data.lengths, strict=True)
        ],
        [rows[:, 2].astype(np.int64) for rows in data.mentions],
        data.steps,
    )
    lambda_ = 1.0 / (AUTHORS_VIDEOS * (requested_steps or data.steps))
    videos = list(data.features())
    result = cluster(
        videos,
        windows,
        steps=data.steps,
        regularisation=lambda_ if mode == "authors" else None,
        mode=mode,
        support=support,
        seed=seed,
    )
    places = result.intervals
    scores = (result.weights.scores(x) for x in videos)
    ends = [extents(row, score) for row, score in zip(places, scores, strict=True)]
    first, last = (np.array(each) for each in zip(*ends, strict=True))
    unknown = np.zeros(places.shape)
    located = StepIntervals(places, first, last, unknown, np.full(places.shape, ""), unknown)
    return ClusteredTask(
        data.localisations(located),
        tuple((data.used[n], step) for n, step in result.relaxed_windows),
        tuple(_in_task(places, data.used, len(task.videos)) for places in result.roundings),
    )


def _in_task(places: Places, used: Sequence[int], videos: int) -> Places:
    """Return the places of the used videos of a task, −1 in the others."""
    everywhere = np.full((videos, places.shape[1]), -1)
    everywhere[used] = places
    return everywhere
