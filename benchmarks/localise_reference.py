"""Reference implementation of the paper's algorithm in plain NumPy: float64, nothing cached."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reference:
    """The relaxed objective and duality gap, and the best rounded objective."""

    relaxed: float
    gap: float
    best: float
    best_iteration: int


def placement(cost: Floats, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the cheapest placement of the steps of one video, by dynamic programming."""
    length, steps = cost.shape
    masked = np.where(allowed, cost, np.inf)
    best = np.full((length + 1, steps + 1), np.inf)
    best[:, 0] = 0.0
    for t in range(length):
        np.minimum(best[t, 1:], best[t, :-1] + masked[t], out=best[t + 1, 1:])
    places = np.empty(steps, np.int64)
    t = length
    for k in range(steps, 0, -1):
        while best[t, k] == best[t - 1, k]:
            t -= 1
        t -= 1
        places[k - 1] = t
    return places


def frank_wolfe(
    features: list[NDArray[np.float32]],
    windows: list[NDArray[np.bool_]],
    *,
    bias: float,
    iterations: int = 650,
    seed: int = 0,
) -> Reference:
    """Frank-Wolfe with a rounding at every iteration, from the mean of ten random placements."""
    rng = np.random.default_rng(seed)
    steps = windows[0].shape[1]
    x = np.vstack(features).astype(np.float64)
    x = np.hstack([x, np.full((len(x), 1), bias)])
    total = len(x)
    ridge = total / (len(features) * steps)
    projector = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T)
    offsets = np.concatenate([[0], np.cumsum([len(video) for video in features])])

    def corner(cost: Floats) -> Floats:
        z = np.zeros((total, steps))
        for n, window in enumerate(windows):
            places = placement(cost[offsets[n] : offsets[n + 1]], window)
            z[offsets[n] + places, np.arange(steps)] = 1.0
        return z

    def gradient(z: Floats) -> Floats:
        return z - x @ (projector @ z)

    def objective(z: Floats) -> float:
        return float((z * gradient(z)).sum()) / (2 * total)

    z = np.mean([corner(rng.random((total, steps))) for _ in range(10)], axis=0)
    best, best_iteration = np.inf, 0
    value = gap = np.inf
    for iteration in range(iterations):
        rounded = objective(corner(-2.0 * (x @ (projector @ z))))
        if rounded < best:
            best, best_iteration = rounded, iteration
        slope = gradient(z)
        direction = corner(slope) - z
        value = float((z * slope).sum()) / (2 * total)
        gap = -float((slope * direction).sum()) / total
        curvature = float((direction * gradient(direction)).sum())
        z = z + min(1.0, gap * total / curvature) * direction
    return Reference(value, gap, best, best_iteration)
