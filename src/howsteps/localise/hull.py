"""The convex hull of the placements of one video, and interior steps inside it.

With step k moved k intervals to the left, "strictly in order" becomes "not later than the next", and a
point z of the hull is a unit of flow on a small grid: z_k(t) is the flow that takes step k at time t, and
w_k(t) = Σ_{u≤t} z_k(u) − z_{k+1}(u) the flow that waits between step k and the next. So the hull is

    z ≥ 0,  w ≥ 0,  Σ_t z_1(t) = 1,  w_k(t) − w_k(t−1) − z_k(t) + z_{k+1}(t) = 0

(a network, so its corners are 0/1). :class:`Interior` keeps a point inside it with its multipliers, and moves
it towards the minimum of ½‖z − s‖² by Newton steps of a primal–dual interior-point method. One potential
belongs to every node of the grid, and the systems are banded: a step costs O(T·K³).
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.compiled import compiled
from howsteps.localise.oracle import Floats, Mask

Scalar = TypeVar("Scalar", bound=np.generic)

_BOUNDARY = 0.99  # share of the way to the nearest wall that one step may go


@compiled
def _reachable(allowed: Mask) -> tuple[Mask, Mask]:
    """Which takings z_k(t) and waitings w_k(t) lie on some path; both K×M, on the moved grid."""
    steps, length = allowed.shape
    # ahead[k, t]: k steps can be done before time t; behind[k, t]: from there the rest can be done.
    ahead = np.zeros((steps + 1, length + 1), np.bool_)
    behind = np.zeros((steps + 1, length + 1), np.bool_)
    for t in range(length + 1):
        ahead[0, t] = True
        behind[steps, t] = True
    for t in range(length):
        # Several steps may be taken in one column, because the grid is moved.
        taken = ahead[0, t]
        for k in range(steps):
            taken = (taken and allowed[k, t]) or ahead[k + 1, t]
            ahead[k + 1, t + 1] = taken
    for t in range(length - 1, -1, -1):
        taken = behind[steps, t + 1]
        for k in range(steps - 1, -1, -1):
            taken = (taken and allowed[k, t]) or behind[k, t + 1]
            behind[k, t] = taken
    take = np.zeros((steps, length), np.bool_)
    wait = np.zeros((steps, length), np.bool_)
    for k in range(steps):
        for t in range(length):
            # Just before taking k in column t: k steps done by the column's earlier part.
            before = ahead[k, t + 1]
            after = behind[k + 1, t]
            take[k, t] = allowed[k, t] and before and after
            wait[k, t] = k < steps - 1 and t < length - 1 and ahead[k + 1, t + 1] and behind[k + 1, t + 1]
    return take, wait


@compiled
def _factor(band: Floats) -> None:
    """Cholesky in place of a banded matrix; band[i, j] is entry (i, i − j)."""
    size, width = band.shape
    for i in range(size):
        for j in range(min(width - 1, i), -1, -1):
            c = i - j
            total = band[i, j]
            for m in range(1, width - j):
                if c - m < 0:
                    break
                total -= band[i, j + m] * band[c, m]
            band[i, j] = np.sqrt(total) if j == 0 else total / band[c, 0]


@compiled
def _solve(band: Floats, x: Floats) -> None:
    """Solve in place with the factor of :func:`_factor`."""
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


@compiled
def _step(
    s: Floats,
    take: Mask,
    wait: Mask,
    z: Floats,
    w: Floats,
    y: Floats,
    v: Floats,
    q: Floats,
    total: Floats,
    tau: float,
) -> None:
    """One Newton step towards z·y = w·v = τ.

    y and v are the multipliers of z ≥ 0 and w ≥ 0, q the potentials (K−1 nodes a column), ``total`` the one
    of Σ z_1 = 1.
    """
    steps, length = s.shape
    nodes = steps - 1
    size = nodes * length
    band = np.zeros((size, max(nodes, 1) + 1))
    right = np.zeros(size)
    border = np.zeros(size)  # column of the total's multiplier
    corner, right_total = 0.0, 1.0
    dz, dw = np.zeros((steps, length)), np.zeros((steps, length))
    scale_z, scale_w = np.zeros((steps, length)), np.zeros((steps, length))
    for t in range(length):
        for k in range(steps):
            lower = t * nodes + k - 1  # node before the step; the total's when k = 0
            upper = lower + 1  # node after the step; the ground after the last
            if take[k, t]:
                before = total[0] if k == 0 else q[k - 1, t]
                after = q[k, t] if k < nodes else 0.0
                d = 1.0 / (1.0 + y[k, t] / z[k, t])
                c = d * (tau / z[k, t] - (z[k, t] - s[k, t] - before + after))
                scale_z[k, t], dz[k, t] = d, c
                flow = z[k, t] + c
                if k == 0:
                    corner += d
                    right_total -= flow
                else:
                    band[lower, 0] += d
                    right[lower] -= flow
                if k < nodes:
                    band[upper, 0] += d
                    right[upper] += flow
                    if k == 0:
                        border[upper] -= d
                    else:
                        band[upper, 1] -= d
            if wait[k, t]:
                d = w[k, t] / v[k, t]
                c = d * (q[k, t] - q[k, t + 1] + tau / w[k, t])
                scale_w[k, t], dw[k, t] = d, c
                flow = w[k, t] + c
                band[upper, 0] += d
                right[upper] -= flow
                band[upper + nodes, 0] += d
                right[upper + nodes] += flow
                band[upper + nodes, nodes] -= d
    for i in range(size):
        # Nodes that no path visits stand alone.
        band[i, 0] = band[i, 0] * (1.0 + 1e-14) if band[i, 0] > 0.0 else 1.0
    _factor(band)
    column = border.copy()
    _solve(band, column)
    _solve(band, right)
    d_total = (right_total - np.dot(border, right)) / (corner - np.dot(border, column))
    right -= d_total * column
    reach = 1.0
    dy, dv = np.zeros((steps, length)), np.zeros((steps, length))
    for t in range(length):
        for k in range(steps):
            upper = t * nodes + k
            if take[k, t]:
                before = d_total if k == 0 else right[upper - 1]
                after = right[upper] if k < nodes else 0.0
                dz[k, t] += scale_z[k, t] * (before - after)
                dy[k, t] = (tau - y[k, t] * dz[k, t]) / z[k, t] - y[k, t]
                if dz[k, t] < 0.0:
                    reach = min(reach, -_BOUNDARY * z[k, t] / dz[k, t])
                if dy[k, t] < 0.0:
                    reach = min(reach, -_BOUNDARY * y[k, t] / dy[k, t])
            if wait[k, t]:
                dw[k, t] += scale_w[k, t] * (right[upper] - right[upper + nodes])
                dv[k, t] = (tau - v[k, t] * dw[k, t]) / w[k, t] - v[k, t]
                if dw[k, t] < 0.0:
                    reach = min(reach, -_BOUNDARY * w[k, t] / dw[k, t])
                if dv[k, t] < 0.0:
                    reach = min(reach, -_BOUNDARY * v[k, t] / dv[k, t])
    total[0] += reach * d_total
    for t in range(length):
        for k in range(steps):
            if k < nodes:
                q[k, t] += reach * right[t * nodes + k]
            if take[k, t]:
                z[k, t] += reach * dz[k, t]
                y[k, t] += reach * dy[k, t]
            if wait[k, t]:
                w[k, t] += reach * dw[k, t]
                v[k, t] += reach * dv[k, t]


class Interior:
    """A point inside the hull of one video's placements, with its multipliers.

    Parameters
    ----------
    allowed
        T×K windows that some placement satisfies.
    """

    def __init__(self, allowed: Mask) -> None:
        self.length, self.steps = allowed.shape
        self._width = self.length - self.steps + 1
        self._take, self._wait = _reachable(self._moved(allowed))
        room = self._take.sum(axis=1, keepdims=True)
        self._z = np.where(self._take, 1.0 / room, 0.0)
        self._w = np.where(self._wait, 0.5, 0.0)
        # Multipliers on one central path: every product z·y and w·v starts out the same.
        level = np.min(1.0 / room) ** 2
        self._y = np.where(self._take, level * room, 0.0)
        self._v = np.where(self._wait, level / 0.5, 0.0)
        self._q = np.zeros((max(self.steps - 1, 1), self._width))
        self._total = np.zeros(1)

    def _moved(self, matrix: NDArray[Scalar]) -> NDArray[Scalar]:
        """T×K to K×M, with step k moved k intervals to the left."""
        return np.stack([matrix[k : k + self._width, k] for k in range(self.steps)])

    @property
    def walls(self) -> int:
        """How many inequalities keep the point inside."""
        return int(self._take.sum() + self._wait.sum())

    def step(self, scores: Floats, tau: float) -> None:
        """Step towards the point nearest to ``scores`` (T×K), kept off every wall by τ."""
        _step(
            self._moved(scores),
            self._take,
            self._wait,
            self._z,
            self._w,
            self._y,
            self._v,
            self._q,
            self._total,
            tau,
        )

    @property
    def point(self) -> Floats:
        """The point, T×K; every column adds up to one."""
        z = np.zeros((self.length, self.steps))
        for k, row in enumerate(self._z):
            z[k : k + self._width, k] = row / row.sum()
        return z
