"""Ridge classifiers of the steps; each video is scored by the classifier of the *other* videos.

The ridge classifier of labels Y (T×K, any non-negative numbers) has the scores HY with
H = I − B (:mod:`howsteps.localise.cost`). Had video n not been there, its own rows would score

    ŷ_n = y_n − (I − H_nn)⁻¹ (y_n − (HY)_n)

exactly, so that nothing has to be learnt N times. H_nn has T_n×T_n entries: of a video too long for
that, only the labels are left out, and its rows stay among the examples of no step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from howsteps.localise.backend import Videos
from howsteps.localise.cost import AUTHORS_BIAS, ClusteringCost, Weights
from howsteps.localise.oracle import Floats

LONGEST = 1500  # intervals of a video that is left out exactly: 18 MB for H_nn


class LeaveOneOut:
    """Ridge classifiers of one set of features, factorised once.

    Parameters
    ----------
    videos
        T_n×d a video. A single video has no others, and is scored by its own classifier.
    regularisation
        λ.
    device
        As for :func:`howsteps.localise.cluster`.
    """

    def __init__(self, videos: Videos, regularisation: float, device: str = "cpu") -> None:
        self._videos = videos
        self._cost = ClusteringCost(videos, regularisation, AUTHORS_BIAS, device)
        self._left_out = [self._factor(n) for n in range(len(videos))]

    def scores(self, labels: Sequence[Floats]) -> list[Floats]:
        """Scores of every video by the classifier of the others, T_n×K each."""
        offsets = self._cost.offsets
        fitted = self._cost.scores(np.concatenate(labels))
        parts = [fitted[offsets[n] : offsets[n + 1]] for n in range(len(labels))]
        if len(labels) == 1:
            return parts
        return [
            y - lu_solve(left_out, y - own)
            if left_out is not None
            else own - self._cost.scores_of(self._share(n, y), n)
            for n, (y, own, left_out) in enumerate(zip(labels, parts, self._left_out, strict=True))
        ]

    def weights(self, labels: Sequence[Floats]) -> Weights:
        """W and b learnt from all videos: for new ones."""
        return self._cost.weights(np.concatenate(labels))

    def _factor(self, video: int) -> Any | None:
        x = self._videos[video]
        if len(x) > LONGEST or len(self._videos) == 1:
            return None
        hat = self._cost.scores_of(self._share(video, np.eye(len(x))), video)
        return lu_factor(np.eye(len(x)) - hat, overwrite_a=True, check_finite=False)

    def _share(self, video: int, labels: Floats) -> Weights:
        """W and b of the labels of one video alone, among the rows of all."""
        x = np.asarray(self._videos[video], np.float64)
        return self._cost.weights_of(x.T @ labels, labels.sum(axis=0))


@dataclass(frozen=True)
class Standard:
    """Scores in units of their own spread over all videos: what a step's classifier usually says.

    ``middle`` and ``deviation`` are K each.
    """

    middle: Floats
    deviation: Floats

    @staticmethod
    def of(scores: Sequence[Floats], unit: float = 1.0) -> "Standard":
        """Mean and standard deviation of every step's scores; the latter becomes ``unit``."""
        stacked = np.concatenate(scores)
        return Standard(stacked.mean(axis=0), np.maximum(stacked.std(axis=0) / unit, 1e-12))

    def apply(self, scores: Floats) -> Floats:
        """(s − middle)/deviation."""
        return (scores - self.middle) / self.deviation

    def fold(self, weights: Weights) -> Weights:
        """Weights whose scores need no more standardising."""
        return Weights(
            weights.matrix / self.deviation, (weights.bias - self.middle) / self.deviation
        )
