"""The clustering problem: h(Z), B, W*, the windows and the linear oracle over all videos.

    h(Z) = min_{W,b}  1/(2T) ‖Z − XW − 1bᵀ‖² + λ/2 ‖W‖² + λρ/2 ‖b‖²  =  1/(2T) Tr(ZᵀBZ)

with B = I − H, the complement of the ridge classifier's H (:mod:`howsteps.localise.ridge`). ρ is
the relative regularisation of the bias: the paper has a constant bias feature of value 1/√ρ, the
authors' program an explicit bias, ρ = 0.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from howsteps.compiled import compiled
from howsteps.errors import HowstepsError
from howsteps.localise.features import Floats, Indices, Mask, Places
from howsteps.localise.order import cheapest_placement
from howsteps.localise.ridge import Ridge, Weights
from howsteps.paper.windows import permitted

PAPER_BIAS = 0.01  # ρ: a constant feature of 10 beside histograms of norm √2
AUTHORS_BIAS = 0.0


class ClusteringCost(Ridge):
    """The cost h and B = I − H, for one set of features."""

    @cached_property
    def diagonal(self) -> Floats:
        """B_tt of every interval: one minus its leverage."""
        if self._kernel:
            leverage = 1.0 - self._ridge * np.diag(self._inverse)
        else:
            leverage = np.zeros(self.intervals)
            if self.features.sparse:
                _add_quadratic(*self.features.sparse_arrays(), self._inverse, leverage)
            else:
                for rows, block in self.features.blocks():
                    leverage[rows] = np.einsum("td,td->t", block @ self._inverse, block)
        border = 1.0 - self.features.times(self._u[:, None])[:, 0]
        diagonal: Floats = 1.0 - (leverage + border**2 / self._sigma)
        return diagonal

    def gradient(self, z: Floats) -> Floats:
        """Return BZ/T, the gradient of h."""
        return (z - self.scores(z)) / self.intervals

    def objective(self, z: Floats) -> float:
        """Return h(Z) = ⟨Z, BZ⟩/(2T)."""
        return float(np.vdot(z, z - self.scores(z))) / (2 * self.intervals)


@compiled
def _add_quadratic(
    starts: Indices,
    columns: Indices,
    values: Floats,
    column_starts: Indices,
    rows: Indices,
    matrix: Floats,
    out: Floats,
) -> None:
    """Add x_tᵀ M x_t of every row to ``out``, feature by feature."""
    at = starts.copy()
    for i in range(len(matrix)):
        row = matrix[i]
        for t in rows[column_starts[i] : column_starts[i + 1]]:
            later = 0.0
            for p in range(at[t] + 1, starts[t + 1]):
                later += row[columns[p]] * values[p]
            value = np.float64(values[at[t]])
            out[t] += value * (2.0 * later + value * row[i])
            at[t] += 1


@dataclass(frozen=True)
class ClusteringProblem:
    """Minimise h(Z) over placements that keep the order inside the windows, T_n×K per video.

    ``scale`` is a factor of the reported objectives: 2 in the ``authors`` mode, whose objective is
    twice h. ``forbidden`` is the cost of an interval outside the windows in that mode; None:
    windows are hard constraints, feasible for some placement.
    """

    cost: ClusteringCost
    windows: tuple[Mask, ...]
    scale: float = 1.0
    forbidden: float | None = None

    @property
    def videos(self) -> int:
        """N."""
        return len(self.windows)

    @property
    def steps(self) -> int:
        """K."""
        return int(self.windows[0].shape[1])

    @cached_property
    def _permitted(self) -> tuple[Mask, ...]:
        """Intervals that the ``authors`` mode permits, T_n×K per video."""
        return tuple(permitted(window) for window in self.windows)

    def rows(self, video: int) -> slice:
        """Return the rows of a video in X and Z."""
        return slice(int(self.cost.offsets[video]), int(self.cost.offsets[video + 1]))

    def place(self, video: int, cost: Floats) -> Places:
        """Return the cheapest placement in one video for a T_n×K cost; K."""
        window: Mask | None = self.windows[video]
        if self.forbidden is not None:
            cost, window = np.where(self._permitted[video], cost, self.forbidden), None
        places = cheapest_placement(cost, window)
        if places is None:
            raise HowstepsError(f"video {video}: the windows contradict the order of the steps")
        return places

    def place_all(self, cost: Floats) -> Places:
        """Return the cheapest placement in every video for a T×K cost (the linear oracle); N×K."""
        return np.array([self.place(n, cost[self.rows(n)]) for n in range(self.videos)])

    def indicator(self, places: Places) -> Floats:
        """Return Z, T×K."""
        z = np.zeros((self.cost.intervals, self.steps))
        z[self.cost.offsets[:-1, None] + places, np.arange(self.steps)] = 1.0
        return z

    def round(self, scores: Floats) -> Places:
        """Return the placement nearest to the scores: argmin ‖Z − XW*‖² = argmin −2⟨Z, XW*⟩."""
        return self.place_all(-2.0 * scores)

    def features_at(self, video: int, places: Places) -> Floats:
        """Return X_nᵀZ_n, d×K: the features at the places."""
        return self.cost.features.rows(self.cost.offsets[video] + places).T

    def objective(self, places: Places, weights: Weights | None = None) -> float:
        """Return scale·h of a placement.

        Z is 0/1, so ⟨Z, BZ⟩ = |Z| − ⟨XᵀZ, W*⟩ − ⟨1ᵀZ, b*⟩. ``weights`` are W* and b*, computed if
        None.
        """
        rows = self.cost.offsets[:-1, None] + places
        chosen = self.cost.features.rows(rows.ravel()).reshape(*places.shape, -1)
        sums = chosen.sum(axis=0).T  # XᵀZ
        counts = np.full(self.steps, float(self.videos))
        if weights is None:
            weights = self.cost.weights_of(sums, counts)
        explained = float(np.vdot(sums, weights.matrix)) + float(counts @ weights.bias)
        return self.scale * (float(counts.sum()) - explained) / (2 * self.cost.intervals)

    def random_placement(self, rng: np.random.Generator) -> Places:
        """Return a random placement: the cheapest one for random costs."""
        return self.place_all(rng.random((self.cost.intervals, self.steps)))
