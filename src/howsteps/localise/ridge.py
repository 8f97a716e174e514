"""Ridge classifiers of the steps, and their leave-one-out scores.

The classifier of labels Z (T×K, any numbers) minimises

    1/(2T) ‖Z − XW − 1bᵀ‖² + λ/2 ‖W‖² + λρ/2 ‖b‖²

where ρ is the relative regularisation of the bias. With P = (XᵀX + TλI)⁻¹, u = PXᵀ1 and
σ = T(1 + λρ) − 1ᵀXu, block inversion gives

    b = (1ᵀZ − uᵀXᵀZ)/σ,   W = PXᵀZ − ubᵀ,   HZ = XW + 1bᵀ,
    H_tt = x_tᵀPx_t + (1 − uᵀx_t)²/σ        (the leverage of t)

If there are fewer intervals than features, P is applied through the T×T kernel matrix instead:
P = (I − Xᵀ(XXᵀ + TλI)⁻¹X)/(Tλ).

**Leave one out**: each video is scored by the classifier of the *other* videos. Without video n
among its examples, the classifier of labels Y would score the rows of that video

    ŷ_n = y_n − (I − H_nn)⁻¹ (y_n − (HY)_n)

exactly, so one fit replaces N. H_nn has T_n×T_n entries: for a video too long for that, only its
labels are left out, and its rows stay as negative examples. Factors of I − H_nn are kept up to a
limit of memory; with thousands of videos, the others are recomputed every time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve

from howsteps.localise.features import FeatureProducts, Floats, Videos

LONGEST_EXACT = 1500  # intervals of a video that is left out exactly: 18 MB for H_nn
FACTOR_MEMORY = 2**28  # bytes of the factors that are kept


@dataclass(frozen=True)
class Weights:
    """A linear classifier of every step: scores xᵀW + b, with W d×K and b K."""

    matrix: Floats
    bias: Floats

    def scores(self, x: NDArray[np.floating]) -> Floats:
        """Return the scores of rows of features, T×K."""
        product: Floats = np.asarray(x, np.float64) @ self.matrix + self.bias
        return product


class Ridge:
    """The ridge classifiers of one set of features, factorised once.

    Parameters
    ----------
    videos
        Features, T_n×d per video.
    regularisation
        λ.
    bias
        ρ; 0: the bias is not regularised.
    """

    def __init__(self, videos: Videos, regularisation: float, bias: float = 0.0) -> None:
        self.features = FeatureProducts(videos)
        self.offsets = self.features.offsets
        self.intervals, width = self.features.shape
        self._ridge = self.intervals * regularisation
        self._kernel = self.intervals < width
        invert = self.features.kernel_inverse if self._kernel else self.features.inverse
        self._inverse = invert(self._ridge)
        total = self.features.transposed_times(np.ones((self.intervals, 1)))
        self._u = self._apply(total)[:, 0]
        self._sigma = self.intervals + self._ridge * bias - float(total[:, 0] @ self._u)

    def _apply(self, right: Floats) -> Floats:
        """Return P R."""
        if not self._kernel:
            return self._inverse @ right
        inner = self._inverse @ self.features.times(right)
        return (right - self.features.transposed_times(inner)) / self._ridge

    def hat(self, video: int) -> Floats:
        """Return H_nn, the block of H of one video; T_n×T_n."""
        if self._kernel:
            x = self.features.video(video)
            x = x.toarray() if self.features.sparse else x
            without_bias = self.features.times(self._apply(x.T), video)
        else:
            without_bias = self.features.hat(self._inverse, video)
        border = 1.0 - self.features.times(self._u[:, None], video)
        block: Floats = without_bias + border @ border.T / self._sigma
        return block

    def weights_of(self, features_sum: Floats, count: Floats) -> Weights:
        """Return W* and b* from XᵀZ and 1ᵀZ; linear in both."""
        bias = (count - self._u @ features_sum) / self._sigma
        return Weights(self._apply(features_sum) - np.outer(self._u, bias), bias)

    def weights(self, z: Floats) -> Weights:
        """Return W*(Z) and b*(Z) for a T×K matrix."""
        return self.weights_of(self.features.transposed_times(z), z.sum(axis=0))

    def scores_of(self, weights: Weights, video: int | None = None) -> Floats:
        """Return XW + 1bᵀ, or its rows of one video."""
        return self.features.times(weights.matrix, video) + weights.bias

    def scores(self, z: Floats) -> Floats:
        """Return HZ, the scores of the optimal classifier of Z; T×K."""
        return self.scores_of(self.weights(z))


class LeaveOneOut:
    """Leave-one-out ridge classifiers of one set of features, factorised once.

    Parameters
    ----------
    videos
        T_n×d per video. A single video is scored by its own classifier.
    regularisation
        λ.
    """

    def __init__(self, videos: Videos, regularisation: float) -> None:
        self._lengths = [x.shape[0] for x in videos]
        self._ridge = Ridge(videos, regularisation)
        sizes = np.cumsum([8 * t**2 if self._is_exact(t) else 0 for t in self._lengths])
        n_kept = int(np.searchsorted(sizes, FACTOR_MEMORY, "right"))
        self._factors = [self._factor(n) for n in range(n_kept)]

    def scores(self, labels: Sequence[Floats]) -> list[Floats]:
        """Return the scores of every video by the classifier of the others, T_n×K each."""
        weights = self.weights(labels)
        return [self._held_out_scores(n, y, weights) for n, y in enumerate(labels)]

    def _held_out_scores(self, video: int, y: Floats, weights: Weights) -> Floats:
        """Return ŷ of one video from its labels and the classifier of all videos."""
        in_sample = self._ridge.scores_of(weights, video)
        if len(self._lengths) == 1:
            return in_sample
        factor = self._factors[video] if video < len(self._factors) else self._factor(video)
        if factor is not None:
            held_out: Floats = y - lu_solve(factor, y - in_sample)
            return held_out
        own_sum = self._ridge.features.video(video).T @ y
        contribution = self._ridge.weights_of(own_sum, y.sum(axis=0))
        return in_sample - self._ridge.scores_of(contribution, video)

    def weights(self, labels: Sequence[Floats]) -> Weights:
        """Return the classifier of all videos, for new ones."""
        return self._ridge.weights(np.concatenate(labels))

    def _factor(self, video: int) -> Any | None:
        """Return the LU factors of I − H_nn; None where the video is too long for it."""
        if not self._is_exact(self._lengths[video]):
            return None
        complement = np.eye(self._lengths[video]) - self._ridge.hat(video)
        return lu_factor(complement, overwrite_a=True, check_finite=False)

    def _is_exact(self, length: int) -> bool:
        return length <= LONGEST_EXACT and len(self._lengths) > 1
