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
from howsteps.localise.features import Floats, Indices, LocaliseError, Mask, Places
from howsteps.localise.order import cheapest_placement
from howsteps.localise.ridge import Ridge, Weights
from howsteps.paper.windows import forbid, permitted

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
            value, p, end = np.float64(values[at[t]]), at[t] + 1, starts[t + 1]
            # Four independent sums, so that additions can overlap.
            a = b = c = d = 0.0
            while p + 4 <= end:
                a += row[columns[p]] * values[p]
                b += row[columns[p + 1]] * values[p + 1]
                c += row[columns[p + 2]] * values[p + 2]
                d += row[columns[p + 3]] * values[p + 3]
                p += 4
            while p < end:
                a += row[columns[p]] * values[p]
                p += 1
            out[t] += value * (2.0 * ((a + b) + (c + d)) + value * row[i])
            at[t] += 1


@dataclass(frozen=True)
class ClusteringProblem:
    """Minimise h(Z) over placements that keep the order inside the windows.

    Parameters
    ----------
    cost
        h.
    windows
        T_n×K per video, feasible for some placement (not required in the ``authors`` mode).
    absence
        N×K: cost of leaving a step out, in units of 2T·h; None: every step must be placed.
    scale
        Factor of the reported objectives: 2 in the ``authors`` mode, whose objective is twice h.
    forbidden
        Cost of an interval outside the windows in the ``authors`` mode; None: windows are hard
        constraints.
    """

    cost: ClusteringCost
    windows: tuple[Mask, ...]
    absence: Floats | None = None
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
            cost, window = forbid(cost, self._permitted[video], self.forbidden), None
        absence = None if self.absence is None else self.absence[video]
        places = cheapest_placement(cost, window, absence)
        if places is None:
            raise LocaliseError(f"video {video}: the windows contradict the order of the steps")
        return places

    def place_all(self, cost: Floats) -> Places:
        """Return the cheapest placement in every video for a T×K cost (the linear oracle); N×K."""
        return np.array([self.place(n, cost[self.rows(n)]) for n in range(self.videos)])

    def value(self, cost: Floats, places: Places) -> float:
        """Return ⟨C, Z⟩ for a T×K cost C."""
        n, k = np.nonzero(places >= 0)
        return float(cost[self.cost.offsets[n] + places[n, k], k].sum())

    def indicator(self, places: Places) -> Floats:
        """Return Z, T×K."""
        z = np.zeros((self.cost.intervals, self.steps))
        n, k = np.nonzero(places >= 0)
        z[self.cost.offsets[n] + places[n, k], k] = 1.0
        return z

    def round(self, scores: Floats) -> Places:
        """Return the placement nearest to the scores: argmin ‖Z − XW*‖² = argmin −2⟨Z, XW*⟩."""
        return self.place_all(-2.0 * scores)

    def features_at(self, video: int, places: Places) -> Floats:
        """Return X_nᵀZ_n, d×K: the features at the places, zero where a step is absent."""
        rows = self.cost.offsets[video] + np.maximum(places, 0)
        return (self.cost.features.rows(rows) * (places >= 0)[:, None]).T

    def objective(self, places: Places, weights: Weights | None = None) -> float:
        """Return scale·h of a placement, without the costs of absence.

        Z is 0/1, so ⟨Z, BZ⟩ = |Z| − ⟨XᵀZ, W*⟩ − ⟨1ᵀZ, b*⟩. ``weights`` are W* and b*, computed if
        None.
        """
        present = places >= 0
        rows = self.cost.offsets[:-1, None] + np.maximum(places, 0)
        chosen = self.cost.features.rows(rows.ravel()).reshape(*places.shape, -1)
        sums = (chosen * present[:, :, None]).sum(axis=0).T  # XᵀZ
        counts = present.sum(axis=0).astype(np.float64)
        if weights is None:
            weights = self.cost.weights_of(sums, counts)
        explained = float(np.vdot(sums, weights.matrix)) + float(counts @ weights.bias)
        return self.scale * (float(counts.sum()) - explained) / (2 * self.cost.intervals)

    def random_placement(self, rng: np.random.Generator) -> Places:
        """Return a random placement: the cheapest one for random costs."""
        return self.place_all(rng.random((self.cost.intervals, self.steps)))


@dataclass(frozen=True)
class TracePoint:
    """Progress of a solver: seconds since its start, objective, duality gap (None: no bound)."""

    solver: str
    seconds: float
    objective: float
    gap: float | None = None


@dataclass(frozen=True)
class Relaxed:
    """The solution of the relaxed problem, with all roundings.

    Attributes
    ----------
    z, scores
        T×K: the point of the hull, and XW*(z).
    objective, gap
        Objective of z, and its duality gap.
    roundings
        Objective and placement of every rounding, in order of the iterations.
    trace
        Progress of the solver.
    """

    z: Floats
    scores: Floats
    objective: float
    gap: float
    roundings: tuple[tuple[float, Places], ...]
    trace: tuple[TracePoint, ...]

    @property
    def chosen(self) -> int:
        """Index of the first rounding with the lowest objective."""
        return int(np.argmin([value for value, _ in self.roundings]))


def placement_value(cost: Floats, places: Places, absence: Floats | None = None) -> float:
    """Return the cost of a placement: Σ_k C[t_k, k], plus the costs of absent steps."""
    present = np.flatnonzero(places >= 0)
    value = float(cost[places[present], present].sum())
    if absence is not None:
        value += float(absence[places < 0].sum())
    return value
