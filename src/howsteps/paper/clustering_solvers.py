"""Solvers of the clustering: Frank-Wolfe and interior point on the relaxed problem, then descent.

**Frank-Wolfe**, as in the paper. Every iteration finds the corner S that minimises ⟨BZ, S⟩ by the
linear oracle, moves towards it by exact line search, γ = ⟨BZ, Z − S⟩ / ⟨S − Z, B(S − Z)⟩, and
rounds. BZ is linear in Z, so only the scores of the corner, which has N·K ones, are computed.

**Block coordinate descent**: one video at a time, each solved exactly. A video has exactly one 1
per step, so with all other videos fixed, h is linear in its placement:

    2T·h = const + Σ_k ( B_tt − 2 s_k(t) )  at t = t_k,

where s are the scores of the classifier of the *other* videos and B_tt = 1 − leverage of t. One
dynamic program therefore finds the best placement of the video, and h never rises. W* is linear in
Z: the contribution of each video is kept, so an update costs a product with the rows of that video,
and the d×d matrix is used for the steps that moved only.

**Interior point**, accelerated, to a small duality gap. The largest eigenvalue of B is one, so a
projected gradient step, Z ← Proj(Z − BZ) = Proj(XW*(Z)), lowers h. Along the hull B is well
conditioned: its only small eigenvalue belongs to the nearly constant direction, in which the hull
is flat. With some momentum, six digits take about sixteen products with X. The projection is
inexact: a few Newton steps per video, with a barrier parameter that shrinks with the gap. The
optimum spreads each step over its whole window, so a method that combines corners would need
thousands of them per video.

The hull of the placements of one video is a network flow polytope. With step k shifted k intervals
to the left, "strictly in order" becomes "not later than the next", and a point z of the hull is a
unit flow on a grid: z_k(t) is the flow that takes step k at time t, and w_k(t) = Σ_{u≤t} z_k(u) −
z_{k+1}(u) the flow that waits between step k and the next. So the hull is

    z ≥ 0,  w ≥ 0,  Σ_t z_1(t) = 1,  w_k(t) − w_k(t−1) − z_k(t) + z_{k+1}(t) = 0

and its corners are integral. :class:`HullPoint` holds an interior point with its multipliers, and
moves it towards the minimum of ½‖z − s‖² by Newton steps of a primal–dual interior-point method.
With one potential per node of the grid, the systems are banded: a step costs O(T·K³).
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.localise.features import Floats, LocaliseError, Mask, Places
from howsteps.localise.ridge import Weights
from howsteps.paper.clustering_problem import ClusteringProblem

# The paper gives no number of iterations. The best rounding is usually among the first few tens,
# and the later ones give the error bars; the authors' program runs longer.
PAPER_ITERATIONS, AUTHORS_ITERATIONS = 200, 650
_START_CORNERS = 10
SWEEPS = 100  # of the descent over all videos, at most
_VIDEOS_PER_PRODUCT = 8  # enough for the d×d product to run at full speed


@dataclass(frozen=True)
class Relaxed:
    """The point of the hull z and XW*(z), T×K each; its objective and duality gap.

    ``roundings`` has the objective and placement of every rounding, in order of the iterations,
    and ``trace`` the objective and the gap of every iterate.
    """

    z: Floats
    scores: Floats
    objective: float
    gap: float
    roundings: tuple[tuple[float, Places], ...]
    trace: tuple[tuple[float, float], ...] = ()

    @property
    def chosen(self) -> int:
        """Index of the first rounding with the lowest objective."""
        return int(np.argmin([value for value, _ in self.roundings]))


def mean_of_random_corners(problem: ClusteringProblem, rng: np.random.Generator) -> Floats:
    """Return the mean of ten random placements, the authors' starting point; T×K."""
    z = np.zeros((problem.cost.intervals, problem.steps))
    for _ in range(_START_CORNERS):
        z += problem.indicator(problem.random_placement(rng)) / _START_CORNERS
    return z


def frank_wolfe(
    problem: ClusteringProblem,
    start: Floats | None = None,
    *,
    iterations: int = PAPER_ITERATIONS,
    seed: int = 0,
) -> Relaxed:
    """Minimise h over the hull from Z₀ (T×K), and round every iterate.

    ``start`` is the mean of ten random placements if None; ``iterations`` counts it too.
    """
    scale = problem.scale / (2 * problem.cost.intervals)
    z = mean_of_random_corners(problem, np.random.default_rng(seed)) if start is None else start
    scores = problem.cost.scores(z)
    roundings, trace = [], []
    for iteration in range(iterations):
        gradient = z - scores
        objective = scale * float(np.vdot(z, gradient))
        rounded = problem.round(scores)
        roundings.append((problem.objective(rounded), rounded))
        corner = problem.indicator(problem.place_all(gradient))
        direction = corner - z
        slope = -float(np.vdot(gradient, direction))
        gap = 2 * scale * slope
        trace.append((objective, gap))
        if iteration == iterations - 1 or gap <= 0:
            break
        corner_scores = problem.cost.scores(corner)
        change = direction - (corner_scores - scores)
        curvature = float(np.vdot(direction, change))
        step = min(1.0, slope / curvature) if curvature > 0 else 1.0
        z = z + step * direction
        scores = scores + step * (corner_scores - scores)
    return Relaxed(z, scores, objective, gap, tuple(roundings), tuple(trace))


@dataclass(frozen=True)
class Descent:
    """The places (N×K) of a descent, and scale·h."""

    places: Places
    objective: float


class IncrementalWeights:
    """W* as a sum of contributions of the videos, updated as placements change."""

    def __init__(self, problem: ClusteringProblem, places: Places) -> None:
        self.problem = problem
        self.places = places.copy()
        videos, steps = places.shape
        width = problem.features_at(0, places[0]).shape[0]
        self._matrices = np.empty((videos, width, steps))
        self._biases = np.empty((videos, steps))
        for first in range(0, videos, _VIDEOS_PER_PRODUCT):
            group = range(first, min(first + _VIDEOS_PER_PRODUCT, videos))
            sums = np.concatenate([problem.features_at(n, places[n]) for n in group], axis=1)
            weights = problem.cost.weights_of(sums, np.ones(len(group) * steps))
            for i, n in enumerate(group):
                columns = slice(i * steps, (i + 1) * steps)
                self._matrices[n] = weights.matrix[:, columns]
                self._biases[n] = weights.bias[columns]
        self._matrix = self._matrices.sum(axis=0)
        self._bias = self._biases.sum(axis=0)

    @property
    def weights(self) -> Weights:
        """W* and b* of the current placements."""
        return Weights(self._matrix.copy(), self._bias.copy())

    def scores_without(self, video: int) -> Floats:
        """Return the scores of one video by the classifier of all the others, T_n×K."""
        others = Weights(self._matrix - self._matrices[video], self._bias - self._biases[video])
        return self.problem.cost.scores_of(others, video)

    def update(self, video: int, places: Places) -> None:
        """Change the placement of one video."""
        moved = np.flatnonzero(places != self.places[video])
        weights = self.problem.cost.weights_of(
            self.problem.features_at(video, places[moved]), np.ones(len(moved))
        )
        self._matrix[:, moved] += weights.matrix - self._matrices[video][:, moved]
        self._bias[moved] += weights.bias - self._biases[video, moved]
        self._matrices[video][:, moved] = weights.matrix
        self._biases[video, moved] = weights.bias
        self.places[video] = places


def descent(problem: ClusteringProblem, start: Places | None = None, *, seed: int = 0) -> Descent:
    """Lower the integer objective until no change of a single video lowers it further.

    ``start`` is N×K, a random placement if None. ``seed`` is that of the start and of the order of
    the videos.
    """
    rng = np.random.default_rng(seed)
    places = problem.random_placement(rng) if start is None else start
    diagonal = problem.cost.diagonal
    current = IncrementalWeights(problem, places)
    steps = np.arange(problem.steps)
    for _ in range(SWEEPS):
        moved = False
        for video in rng.permutation(problem.videos):
            cost = diagonal[problem.rows(video), None] - 2.0 * current.scores_without(video)
            old, new = current.places[video], problem.place(video, cost)
            saved = float(cost[old, steps].sum()) - float(cost[new, steps].sum())
            if (new != old).any() and saved > 1e-12:
                current.update(video, new)
                moved = True
        if not moved:
            break
    return Descent(current.places, problem.objective(current.places, current.weights))


Scalar = TypeVar("Scalar", bound=np.generic)

_MOMENTUM = 0.3
_NEWTON_STEPS = 3  # per product with X
_FEASIBLE = 1e-8  # largest violation of the order, relative to the mass of a step
_BARRIER = 0.1  # share of the gap that the barrier may account for
_MIN_REDUCTION = 0.1  # least factor by which one step may reduce the complementarity
_BOUNDARY = 0.99  # largest share of the way to the boundary in one step


def interior_point(
    problem: ClusteringProblem, *, tolerance: float = 1e-6, iterations: int = 200
) -> Relaxed:
    """Minimise h over the hull until the duality gap is below ``tolerance`` times the objective.

    Windows have to be hard constraints. ``iterations`` limits the products with X; the result then
    has the gap that was reached.
    """
    if problem.forbidden is not None:
        raise LocaliseError("the interior-point solver needs binding windows")
    scale = problem.scale / (2 * problem.cost.intervals)
    hulls = [HullPoint(window) for window in problem.windows]
    inequalities = sum(hull.inequalities for hull in hulls)
    z = np.vstack([hull.point for hull in hulls])
    scores = before = problem.cost.scores(z)
    tau = float(np.vdot(z, z)) / inequalities
    objective = gap = np.inf
    for _ in range(iterations):
        for video, hull in enumerate(hulls):
            rows = problem.rows(video)
            target = scores[rows] + _MOMENTUM * (scores[rows] - before[rows])
            for _ in range(_NEWTON_STEPS):
                hull.step(target, tau)
            z[rows] = hull.point
        before, scores = scores, problem.cost.scores(z)
        gradient = z - scores
        value = float(np.vdot(z, gradient))
        slope = value - problem.value(gradient, problem.place_all(gradient))
        objective, gap = scale * value, 2 * scale * slope
        tau = _BARRIER * abs(slope) / inequalities
        if gap <= tolerance * objective and max(hull.violation for hull in hulls) < _FEASIBLE:
            break
    rounded = problem.round(scores)
    return Relaxed(z, scores, objective, gap, ((problem.objective(rounded), rounded),))


@compiled
def _reachable(allowed: Mask) -> tuple[Mask, Mask]:
    """Return which z_k(t) and w_k(t) lie on some path; both K×M, on the shifted grid."""
    steps, length = allowed.shape
    # forward[k, t]: the first k steps fit before time t; backward[k, t]: the other steps fit after.
    forward = np.zeros((steps + 1, length + 1), np.bool_)
    backward = np.zeros((steps + 1, length + 1), np.bool_)
    for t in range(length + 1):
        forward[0, t] = True
        backward[steps, t] = True
    for t in range(length):
        # Several steps may be taken in one column, because the grid is shifted.
        taken = forward[0, t]
        for k in range(steps):
            taken = (taken and allowed[k, t]) or forward[k + 1, t]
            forward[k + 1, t + 1] = taken
    for t in range(length - 1, -1, -1):
        taken = backward[steps, t + 1]
        for k in range(steps - 1, -1, -1):
            taken = (taken and allowed[k, t]) or backward[k, t + 1]
            backward[k, t] = taken
    take = np.zeros((steps, length), np.bool_)
    wait = np.zeros((steps, length), np.bool_)
    for k in range(steps):
        for t in range(length):
            before = forward[k, t + 1]
            after = backward[k + 1, t]
            take[k, t] = allowed[k, t] and before and after
            wait[k, t] = (
                k < steps - 1
                and t < length - 1
                and forward[k + 1, t + 1]
                and backward[k + 1, t + 1]
            )
    return take, wait


@compiled
def _factor(band: Floats) -> None:
    """Factorise a banded matrix by Cholesky, in place; band[i, j] is entry (i, i − j)."""
    size, width = band.shape
    column = np.empty(width)
    for c in range(size):
        reach = min(width, size - c)
        pivot = np.sqrt(band[c, 0])
        band[c, 0] = pivot
        for b in range(1, reach):
            column[b] = band[c + b, b] / pivot
            band[c + b, b] = column[b]
        # No running sum, so that the loop is vectorised.
        for b in range(1, reach):
            row = band[c + b]
            for j in range(b):
                row[j] -= column[b] * column[b - j]


@compiled
def _solve(band: Floats, x: Floats) -> None:
    """Solve a system in place with the factor of :func:`_factor`."""
    size, width = band.shape
    for i in range(size):
        total = x[i]
        for j in range(1, min(width, i + 1)):
            total -= band[i, j] * x[i - j]
        x[i] = total / band[i, 0]
    for i in range(size - 1, -1, -1):
        x[i] /= band[i, 0]
        for j in range(1, min(width, i + 1)):
            x[i - j] -= band[i, j] * x[i]


class _Point(NamedTuple):
    """A point of the hull with its multipliers; K×M except the last two."""

    take: Mask  # which z are variables
    wait: Mask  # which w are variables
    z: Floats
    w: Floats
    y: Floats  # multipliers of z ≥ 0
    v: Floats  # multipliers of w ≥ 0
    q: Floats  # potentials of the nodes, (K−1)×M
    total: Floats  # multiplier of Σ z_1 = 1, one entry


class _Move(NamedTuple):
    """A Newton step: dz and dw, and their derivatives by the difference of two potentials."""

    dz: Floats
    dw: Floats
    scale_z: Floats
    scale_w: Floats


@compiled
def _set_fixed_part(s: Floats, at: _Point, tau: float, move: _Move) -> None:
    """Set the part of the step that does not depend on the change of the potentials."""
    steps, length = s.shape
    for k in range(steps):
        for t in range(length):
            if at.take[k, t]:
                before = at.total[0] if k == 0 else at.q[k - 1, t]
                after = at.q[k, t] if k < steps - 1 else 0.0
                scale = 1.0 / (1.0 + at.y[k, t] / at.z[k, t])
                residual = at.z[k, t] - s[k, t] - before + after
                move.scale_z[k, t] = scale
                move.dz[k, t] = scale * (tau / at.z[k, t] - residual)
            if at.wait[k, t]:
                scale = at.w[k, t] / at.v[k, t]
                move.scale_w[k, t] = scale
                move.dw[k, t] = scale * (at.q[k, t] - at.q[k, t + 1] + tau / at.w[k, t])


@compiled
def _potentials(at: _Point, move: _Move) -> tuple[Floats, float]:
    """Return the change of the potentials, and of the total's multiplier, that conserves the flow.

    Node (k, t) is row t·(K−1) + k of a banded system, bordered by the total's multiplier.
    """
    steps, length = at.z.shape
    nodes = steps - 1
    size = nodes * length
    band = np.zeros((size, max(nodes, 1) + 1))
    right, border = np.zeros(size), np.zeros(size)
    corner, missing = 0.0, 1.0
    for t in range(length):
        for k in range(steps):
            after = t * nodes + k
            scale, flow = move.scale_z[k, t], at.z[k, t] + move.dz[k, t]
            if k == 0:
                corner += scale
                missing -= flow
            else:
                band[after - 1, 0] += scale
                right[after - 1] -= flow
            if k == nodes:
                continue
            band[after, 0] += scale
            right[after] += flow
            if k == 0:
                border[after] -= scale
            else:
                band[after, 1] -= scale
            if at.wait[k, t]:
                scale, flow = move.scale_w[k, t], at.w[k, t] + move.dw[k, t]
                band[after, 0] += scale
                right[after] -= flow
                band[after + nodes, 0] += scale
                right[after + nodes] += flow
                band[after + nodes, nodes] -= scale
    for i in range(size):
        # Nodes that are on no path are decoupled.
        band[i, 0] = band[i, 0] * (1.0 + 1e-14) if band[i, 0] > 0.0 else 1.0
    _factor(band)
    column = border.copy()
    _solve(band, column)
    _solve(band, right)
    change = (missing - np.dot(border, right)) / (corner - np.dot(border, column))
    return right - change * column, change


@compiled
def _multiplier_move(x: float, y: float, dx: float, tau: float) -> float:
    """Return dy of a multiplier, from the linearised complementarity (y + dy)·x + y·dx = τ."""
    return (tau - y * dx) / x - y


@compiled
def _reach(x: Floats, y: Floats, dx: Floats, tau: float) -> float:
    """Return the largest step length that keeps x and its multipliers y positive."""
    reach = 1.0
    for i in range(len(x)):
        if x[i] <= 0.0:
            continue  # not a variable
        dy = _multiplier_move(x[i], y[i], dx[i], tau)
        if dx[i] < 0.0:
            reach = min(reach, -_BOUNDARY * x[i] / dx[i])
        if dy < 0.0:
            reach = min(reach, -_BOUNDARY * y[i] / dy)
    return reach


@compiled
def _advance(x: Floats, y: Floats, dx: Floats, tau: float, reach: float) -> None:
    """Move x and its multipliers y by a step length, in place."""
    for i in range(len(x)):
        if x[i] > 0.0:
            dy = _multiplier_move(x[i], y[i], dx[i], tau)
            x[i] += reach * dx[i]
            y[i] += reach * dy


@compiled
def _step(s: Floats, at: _Point, tau: float) -> None:
    """Make one Newton step from ``at``, in place, towards z·y = w·v = τ.

    While the complementarity products are far above τ, the step aims at a larger τ: a point that
    comes too close to the boundary too early gets stuck there.
    """
    steps, length = s.shape
    products = np.sum(at.z * at.y) + np.sum(at.w * at.v)
    tau = max(tau, _MIN_REDUCTION * products / (np.sum(at.take) + np.sum(at.wait)))
    move = _Move(
        np.zeros((steps, length)),
        np.zeros((steps, length)),
        np.zeros((steps, length)),
        np.zeros((steps, length)),
    )
    _set_fixed_part(s, at, tau, move)
    change, total = _potentials(at, move)
    nodes = steps - 1
    for t in range(length):
        for k in range(steps):
            after = t * nodes + k
            before_change = total if k == 0 else change[after - 1]
            after_change = change[after] if k < nodes else 0.0
            move.dz[k, t] += move.scale_z[k, t] * (before_change - after_change)
            if at.wait[k, t]:
                move.dw[k, t] += move.scale_w[k, t] * (change[after] - change[after + nodes])
    reach = min(
        _reach(at.z.ravel(), at.y.ravel(), move.dz.ravel(), tau),
        _reach(at.w.ravel(), at.v.ravel(), move.dw.ravel(), tau),
    )
    _advance(at.z.ravel(), at.y.ravel(), move.dz.ravel(), tau, reach)
    _advance(at.w.ravel(), at.v.ravel(), move.dw.ravel(), tau, reach)
    at.total[0] += reach * total
    for t in range(length):
        for k in range(nodes):
            at.q[k, t] += reach * change[t * nodes + k]


class HullPoint:
    """An interior point of the hull of placements in feasible windows (T×K), with multipliers."""

    def __init__(self, allowed: Mask) -> None:
        self.length, self.steps = allowed.shape
        self._width = self.length - self.steps + 1
        take, wait = _reachable(self._shifted(allowed))
        free = take.sum(axis=1, keepdims=True)
        # On the central path: all products z·y and w·v are equal at first.
        level = np.min(1.0 / free) ** 2
        self._at = _Point(
            take=take,
            wait=wait,
            z=np.where(take, 1.0 / free, 0.0),
            w=np.where(wait, 0.5, 0.0),
            y=np.where(take, level * free, 0.0),
            v=np.where(wait, level / 0.5, 0.0),
            q=np.zeros((max(self.steps - 1, 1), self._width)),
            total=np.zeros(1),
        )

    def _shifted(self, matrix: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return a T×K matrix as K×M, with step k shifted k intervals to the left."""
        return np.stack([matrix[k : k + self._width, k] for k in range(self.steps)])

    @property
    def inequalities(self) -> int:
        """Number of inequalities of the hull."""
        return int(self._at.take.sum() + self._at.wait.sum())

    def step(self, scores: Floats, tau: float) -> None:
        """Make a Newton step towards the point nearest to ``scores`` (T×K), with barrier τ."""
        _step(self._shifted(scores), self._at, tau)

    @property
    def violation(self) -> float:
        """Mass by which the point violates the order; nearly zero after a step of full length."""
        taken = np.cumsum(self._at.z / self._at.z.sum(axis=1, keepdims=True), axis=1)
        return float(np.max(taken[1:] - taken[:-1], initial=0.0))

    @property
    def point(self) -> Floats:
        """The point, T×K; every column sums to one."""
        z = np.zeros((self.length, self.steps))
        for k, row in enumerate(self._at.z):
            z[k : k + self._width, k] = row / row.sum()
        return z
