"""Ridge classifiers of the steps; each video is scored by the classifier of the *other* videos.

The ridge classifier of labels Y (T×K, any non-negative numbers) has the scores HY with
H = I − B (:mod:`howsteps.localise.cost`). Had video n not been there, its own rows would score

    ŷ_n = y_n − (I − H_nn)⁻¹ (y_n − (HY)_n)

exactly, so that nothing has to be learnt N times. H_nn has T_n×T_n entries: of a video too long for
that, only the labels are left out, and its rows stay among the examples of no step. Factors of
I − H_nn are kept as long as they are small together; with thousands of videos, the others are
computed each time.
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
KEPT = 2**28  # bytes of all factors that are kept


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
        sizes = np.cumsum([8 * len(x) ** 2 if self._is_exact(len(x)) else 0 for x in videos])
        self._kept = [self._factor(n) for n in range(int(np.searchsorted(sizes, KEPT, "right")))]

    def scores(self, labels: Sequence[Floats]) -> list[Floats]:
        """Scores of every video by the classifier of the others, T_n×K each."""
        weights = self.weights(labels)
        return [self._left_out(n, y, weights) for n, y in enumerate(labels)]

    def _left_out(self, video: int, y: Floats, weights: Weights) -> Floats:
        """ŷ of one video from its labels and the classifier that they took part in."""
        own = self._cost.scores_of(weights, video)
        if len(self._videos) == 1:
            return own
        factor = self._kept[video] if video < len(self._kept) else self._factor(video)
        if factor is not None:
            left: Floats = y - lu_solve(factor, y - own)
            return left
        x = np.asarray(self._videos[video], np.float64)
        share = self._cost.weights_of(x.T @ y, y.sum(axis=0))
        return own - self._cost.scores_of(share, video)

    def weights(self, labels: Sequence[Floats]) -> Weights:
        """W and b learnt from all videos: for new ones."""
        return self._cost.weights(np.concatenate(labels))

    def _factor(self, video: int) -> Any | None:
        x = self._videos[video]
        if not self._is_exact(len(x)):
            return None
        left = np.eye(len(x)) - self._cost.hat(video, x)
        return lu_factor(left, overwrite_a=True, check_finite=False)

    def _is_exact(self, length: int) -> bool:
        return length <= LONGEST and len(self._videos) > 1


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
