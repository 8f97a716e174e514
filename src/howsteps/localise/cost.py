"""The clustering cost: how well a linear classifier separates the steps by their features.

    h(Z) = min_{W,b}  1/(2T) ‖Z − XW − 1bᵀ‖² + λ/2 ‖W‖² + λρ/2 ‖b‖²  =  1/(2T) Tr(ZᵀBZ)

ρ is the relative regularisation of the bias: the paper has a constant bias feature of value 1/√ρ,
the authors' program an explicit bias, ρ = 0. With P = (XᵀX + TλI)⁻¹, u = PXᵀ1 and
σ = T(1 + λρ) − 1ᵀXu, block inversion gives

    b = (1ᵀZ − uᵀXᵀZ)/σ,   W = PXᵀZ − ubᵀ,   BZ = Z − XW − 1bᵀ,
    B_tt = 1 − x_tᵀPx_t − (1 − uᵀx_t)²/σ        (one minus the leverage of t)

If there are fewer intervals than features, P is applied through the T×T kernel matrix instead:
P = (I − Xᵀ(XXᵀ + TλI)⁻¹X)/(Tλ).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.backend import Backend, Floats, Videos, make_backend

PAPER_BIAS = 0.01  # ρ: a constant feature of 10 beside histograms of norm √2
AUTHORS_BIAS = 0.0


@dataclass(frozen=True)
class Weights:
    """A linear classifier of every step: scores xᵀW + b, with W d×K and b K."""

    matrix: Floats
    bias: Floats

    def scores(self, x: NDArray[np.floating]) -> Floats:
        """Return the scores of rows of features, T×K."""
        product: Floats = np.asarray(x, np.float64) @ self.matrix + self.bias
        return product


class ClusteringCost:
    """The cost h, its gradient and classifiers, factorised once for one set of features.

    Parameters
    ----------
    videos
        Features, T_n×d per video.
    regularisation
        λ.
    bias
        ρ (see the module).
    device
        As for :func:`howsteps.localise.cluster`.
    """

    def __init__(
        self, videos: Videos, regularisation: float, bias: float = PAPER_BIAS, device: str = "cpu"
    ) -> None:
        self.backend: Backend = make_backend(videos, device)
        self.offsets = self.backend.offsets
        self.intervals = int(self.offsets[-1])
        self.regularisation = regularisation
        self._ridge = self.intervals * regularisation
        self._kernel = self.intervals < videos[0].shape[1]
        if self._kernel:
            self._inverse = self.backend.kernel_inverse(self._ridge)
        else:
            self._inverse = self.backend.inverse(self._ridge)
        total = self.backend.transposed_times(np.ones((self.intervals, 1)))
        self._u = self._apply(total)[:, 0]
        self._sigma = self.intervals + self._ridge * bias - float(total[:, 0] @ self._u)

    def _apply(self, right: Floats) -> Floats:
        """Return P R."""
        if not self._kernel:
            return self.backend.apply(self._inverse, right)
        inner = self.backend.apply(self._inverse, self.backend.times(right))
        return (right - self.backend.transposed_times(inner)) / self._ridge

    @cached_property
    def leverages(self) -> Floats:
        """1 − B_tt of every interval."""
        if self._kernel:
            without_bias = 1.0 - self._ridge * self.backend.diagonal(self._inverse)
        else:
            without_bias = self.backend.quadratic(self._inverse)
        border = 1.0 - self.backend.times(self._u[:, None])[:, 0]
        return without_bias + border**2 / self._sigma

    def hat(self, video: int, x: NDArray[np.floating]) -> Floats:
        """Return H_nn, the block of I − B of one video, whose features are ``x``; T_n×T_n."""
        if self._kernel:
            without_bias = self.backend.times(self._apply(np.asarray(x, np.float64).T), video)
        else:
            without_bias = self.backend.hat(self._inverse, video)
        border = 1.0 - self.backend.times(self._u[:, None], video)
        block: Floats = without_bias + border @ border.T / self._sigma
        return block

    def weights_of(self, features_sum: Floats, count: Floats) -> Weights:
        """Return W* and b* from XᵀZ and 1ᵀZ; linear in both."""
        bias = (count - self._u @ features_sum) / self._sigma
        return Weights(self._apply(features_sum) - np.outer(self._u, bias), bias)

    def weights(self, z: Floats) -> Weights:
        """Return W*(Z) and b*(Z) for a T×K matrix."""
        return self.weights_of(self.backend.transposed_times(z), z.sum(axis=0))

    def scores_of(self, weights: Weights, video: int | None = None) -> Floats:
        """Return XW + 1bᵀ, or its rows of one video."""
        return self.backend.times(weights.matrix, video) + weights.bias

    def scores(self, z: Floats) -> Floats:
        """Return (I − B) Z, the scores of the optimal classifier of Z; T×K."""
        return self.scores_of(self.weights(z))

    def gradient(self, z: Floats) -> Floats:
        """Return BZ/T, the gradient of h."""
        return (z - self.scores(z)) / self.intervals

    def objective(self, z: Floats, scores: Floats | None = None) -> float:
        """Return h(Z) = ⟨Z, BZ⟩/(2T); ``scores`` of Z are computed if None."""
        residual = z - (self.scores(z) if scores is None else scores)
        return float(np.vdot(z, residual)) / (2 * self.intervals)
