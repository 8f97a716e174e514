"""Leave-one-out ridge classifiers: each video is scored by the classifier of the *other* videos.

The ridge classifier of labels Y (T×K, any non-negative numbers) has the scores HY with
H = I − B (:mod:`howsteps.localise.cost`). Without video n among its examples, it would score the
rows of that video

    ŷ_n = y_n − (I − H_nn)⁻¹ (y_n − (HY)_n)

exactly, so one fit replaces N. H_nn has T_n×T_n entries: for a video too long for that, only its
labels are left out, and its rows stay as negative examples. Factors of I − H_nn are kept up to a
limit of memory; with thousands of videos, the others are recomputed every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from howsteps.localise.backend import Videos
from howsteps.localise.cost import AUTHORS_BIAS, ClusteringCost, Weights
from howsteps.localise.oracle import Floats

LONGEST_EXACT = 1500  # intervals of a video that is left out exactly: 18 MB for H_nn
FACTOR_MEMORY = 2**28  # bytes of the factors that are kept


class LeaveOneOut:
    """Leave-one-out ridge classifiers of one set of features, factorised once.

    Parameters
    ----------
    videos
        T_n×d per video. A single video is scored by its own classifier.
    regularisation
        λ.
    device
        As for :func:`howsteps.localise.cluster`.
    """

    def __init__(self, videos: Videos, regularisation: float, device: str = "cpu") -> None:
        self._videos = videos
        self._cost = ClusteringCost(videos, regularisation, AUTHORS_BIAS, device)
        sizes = np.cumsum([8 * len(x) ** 2 if self._is_exact(len(x)) else 0 for x in videos])
        n_kept = int(np.searchsorted(sizes, FACTOR_MEMORY, "right"))
        self._factors = [self._factor(n) for n in range(n_kept)]

    def scores(self, labels: Sequence[Floats]) -> list[Floats]:
        """Return the scores of every video by the classifier of the others, T_n×K each."""
        weights = self.weights(labels)
        return [self._held_out_scores(n, y, weights) for n, y in enumerate(labels)]

    def _held_out_scores(self, video: int, y: Floats, weights: Weights) -> Floats:
        """Return ŷ of one video from its labels and the classifier of all videos."""
        in_sample = self._cost.scores_of(weights, video)
        if len(self._videos) == 1:
            return in_sample
        factor = self._factors[video] if video < len(self._factors) else self._factor(video)
        if factor is not None:
            held_out: Floats = y - lu_solve(factor, y - in_sample)
            return held_out
        x = np.asarray(self._videos[video], np.float64)
        contribution = self._cost.weights_of(x.T @ y, y.sum(axis=0))
        return in_sample - self._cost.scores_of(contribution, video)

    def weights(self, labels: Sequence[Floats]) -> Weights:
        """Return the classifier of all videos, for new ones."""
        return self._cost.weights(np.concatenate(labels))

    def _factor(self, video: int) -> Any | None:
        """Return the LU factors of I − H_nn; None where the video is too long for it."""
        x = self._videos[video]
        if not self._is_exact(len(x)):
            return None
        complement = np.eye(len(x)) - self._cost.hat(video, x)
        return lu_factor(complement, overwrite_a=True, check_finite=False)

    def _is_exact(self, length: int) -> bool:
        return length <= LONGEST_EXACT and len(self._videos) > 1


@dataclass(frozen=True)
class Standardiser:
    """Mean and scale (K each) of every step's scores over all videos, to standardise them."""

    mean: Floats
    scale: Floats

    @staticmethod
    def fit(scores: Sequence[Floats], unit: float = 1.0) -> "Standardiser":
        """Return the standardiser after which the scores have mean 0 and deviation ``unit``."""
        stacked = np.concatenate(scores)
        return Standardiser(stacked.mean(axis=0), np.maximum(stacked.std(axis=0) / unit, 1e-12))

    def apply(self, scores: Floats) -> Floats:
        """Return (scores − mean)/scale."""
        return (scores - self.mean) / self.scale

    def fold_into(self, weights: Weights) -> Weights:
        """Return weights whose scores are standardised already."""
        return Weights(weights.matrix / self.scale, (weights.bias - self.mean) / self.scale)
