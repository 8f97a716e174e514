"""The clustering problem: h(Z), B, W*, the windows and the linear oracle over all videos.

    h(Z) = min_{W,b}  1/(2T) ‖Z − XW − 1bᵀ‖² + λ/2 ‖W‖² + λρ/2 ‖b‖²  =  1/(2T) Tr(ZᵀBZ)

with B = I − H, the complement of the ridge classifier's H (:mod:`howsteps.localise.ridge`). ρ is
the relative regularisation of the bias: the paper has a constant bias feature of value 1/√ρ, the
authors' program an explicit bias, ρ = 0.

**Windows** are the constraints AZ ≥ R: the intervals in which the mentions (A) allow the step that
they belong to (R). A mention from a to b seconds has the window [a − Δb, b + Δa]. Of several
windows of one step, the step is in at least one: in their union. A step that is not mentioned may
be anywhere. Windows that contradict the order of the steps are relaxed (allowed everywhere): the
set with the least support, found exactly. They are reported.

The authors' program instead confines a step to the hull of its windows, from the first to the last
allowed interval, and earlier steps may not come after it, later ones not before it. Every other
entry of the cost is *overwritten* by a large number. Windows that contradict the order are
therefore violated without notice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.compiled import compiled
from howsteps.errors import HowstepsError
from howsteps.localise.features import Floats, Indices, Mask, Places, too_short
from howsteps.localise.order import cheapest_placement
from howsteps.localise.ridge import Ridge, Weights
from howsteps.paper.windows import RelaxedWindow, starts_and_ends

FORBIDDEN = 10_000.0


def authors_mention_windows(
    times: ArrayLike, length: int, seconds_per_interval: float, *, before: int = 0, after: int = 30
) -> Mask:
    """Return the windows of mentions as the authors' program has them, S×T_n.

    From interval round(start/s) − Δb to round(end/s) + Δa, counted from one; Δb (``before``) and Δa
    (``after``) are in intervals, whatever the frame rate. The other parameters are those of
    :func:`howsteps.paper.windows.mention_windows`.
    """
    start, end = starts_and_ends(times)
    # Halves are rounded up, as in the authors' program.
    first = np.floor(start / seconds_per_interval + 0.5) - before - 1
    last = np.floor(end / seconds_per_interval + 0.5) + after - 1
    intervals = np.arange(length)
    inside: Mask = (intervals >= first) & (intervals <= last)
    return inside


def step_windows(
    mentions: Sequence[ArrayLike], assignments: Sequence[ArrayLike], steps: int
) -> tuple[tuple[Mask, ...], NDArray[np.int64]]:
    """Combine the windows of the mentions of each step: their union.

    Parameters
    ----------
    mentions
        S_n×T_n per video, from :func:`~howsteps.paper.windows.mention_windows`.
    assignments
        S_n per video: the step that each mention belongs to, −1 for none.

    Returns
    -------
    The allowed intervals, T_n×K per video, and the number of mentions of each step, N×K.
    """
    support = np.zeros((len(mentions), steps), np.int64)
    allowed = []
    for video, (rows, step_of_row) in enumerate(zip(mentions, assignments, strict=True)):
        inside, assignment = np.asarray(rows, np.bool_), np.asarray(step_of_row)
        window = np.ones((inside.shape[1], steps), np.bool_)
        for step in range(steps):
            of_step = inside[assignment == step]
            support[video, step] = len(of_step)
            if len(of_step):
                window[:, step] = of_step.any(axis=0)
        allowed.append(window)
    return tuple(allowed), support


def relax(
    allowed: Sequence[ArrayLike], support: ArrayLike | None = None
) -> tuple[tuple[Mask, ...], tuple[RelaxedWindow, ...]]:
    """Relax the windows (T_n×K per video) that contradict the order: allow their steps everywhere.

    Of all sets of windows whose relaxation makes the problem feasible, the one with the least
    ``support`` (N×K; 1 when None) is chosen, and among those of equal support the one with the
    fewest windows. The oracle finds it: the cost of a step outside its window is the support of
    that window. An empty window is always relaxed.
    """
    opened, relaxed = [], []
    for video, rows in enumerate(allowed):
        window: Mask = np.array(rows, np.bool_)
        length, steps = window.shape
        if length < steps:
            raise too_short(video, length, steps)
        weight = np.ones(steps) if support is None else np.asarray(support, np.float64)[video]
        # Windows are only a cost here, so there always is a placement.
        places = cast(Places, cheapest_placement(np.where(window, 0.0, weight + 1e-6)))
        outside = [step for step, t in enumerate(places) if not window[t, step]]
        relaxed += [RelaxedWindow(video, step, float(weight[step])) for step in outside]
        window[:, outside] = True
        opened.append(window)
    return tuple(opened), tuple(relaxed)


def hull(allowed: Mask) -> Mask:
    """Return the mask from the first to the last allowed interval of each step, T×K.

    A step without an allowed interval is allowed everywhere. The authors' program forbids the
    intervals after a window only if there are at least two.
    """
    mask = np.ones_like(allowed)
    length = len(allowed)
    for k in np.flatnonzero(allowed.any(axis=0)):
        inside = np.flatnonzero(allowed[:, k])
        mask[: inside[0], k] = False
        if inside[-1] + 1 < length - 1:
            mask[inside[-1] + 1 :, k] = False
    return mask


def permitted(allowed: Mask) -> Mask:
    """Return the intervals that neither the window of a step nor those of the others forbid."""
    inside = hull(allowed)
    not_ended = np.flip(np.maximum.accumulate(np.flip(inside, 0), 0), 0)
    has_begun = np.maximum.accumulate(inside, 0)
    earlier_ok = np.ones_like(inside)
    later_ok = np.ones_like(inside)
    for k in range(inside.shape[1]):
        earlier_ok[:, :k] &= not_ended[:, [k]]
        later_ok[:, k + 1 :] &= has_begun[:, [k]]
    return inside & earlier_ok & later_ok


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
