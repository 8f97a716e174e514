"""The clustering problem: cost, windows and linear oracle over all videos; checks of the input."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError
from howsteps.localise import authors
from howsteps.localise.backend import Videos
from howsteps.localise.cost import ClusteringCost, Weights
from howsteps.localise.oracle import Floats, Mask, Places, cheapest_placement


class LocaliseError(HowstepsError, ValueError):
    """The input cannot be localised; the message names the video."""


def too_short(video: int, length: int, steps: int) -> LocaliseError:
    """Return the error for a video with fewer intervals than steps."""
    return LocaliseError(
        f"video {video} has {length} intervals: too few to place {steps} steps in order"
    )


def checked_features(features: Sequence[ArrayLike], steps: int) -> Videos:
    """Return the features as arrays of one width, in float32 or float64.

    Raises
    ------
    LocaliseError
        If there is no video, or a video has another width, too few intervals for the steps, or an
        entry that is not a finite number.
    """
    if steps < 1:
        raise LocaliseError(f"at least one step is needed, not {steps}")
    videos: list[NDArray[np.float32]] = []
    for index, rows in enumerate(features):
        x = _array(rows, f"video {index}: features")
        if x.ndim != 2 or x.shape[1] == 0:
            raise LocaliseError(f"video {index}: features are T×d, not of shape {x.shape}")
        if x.dtype.kind not in "biuf":
            raise LocaliseError(f"video {index}: features are numbers, not {x.dtype}")
        if videos and x.shape[1] != videos[0].shape[1]:
            raise LocaliseError(
                f"video {index} has {x.shape[1]} features per interval, "
                f"video 0 has {videos[0].shape[1]}"
            )
        if len(x) < steps:
            raise too_short(index, len(x), steps)
        if not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x).all(axis=1))[0])
            raise LocaliseError(f"video {index} has a feature that is not finite in interval {row}")
        videos.append(x if x.dtype in (np.float32, np.float64) else x.astype(np.float32))
    if not videos:
        raise LocaliseError("no video: at least one is needed")
    return tuple(videos)


def checked_windows(
    windows: Sequence[ArrayLike] | None, lengths: Sequence[int], steps: int
) -> tuple[Mask, ...]:
    """Return the windows as one boolean T_n×K array per video; all True without windows.

    Raises
    ------
    LocaliseError
        If they do not have the shape of the videos.
    """
    if windows is None:
        return tuple(np.ones((length, steps), np.bool_) for length in lengths)
    if len(windows) != len(lengths):
        raise LocaliseError(f"{len(lengths)} videos have features, {len(windows)} have windows")
    arrays = [_array(window, f"video {n}: windows") for n, window in enumerate(windows)]
    for video, (window, length) in enumerate(zip(arrays, lengths, strict=True)):
        if window.shape != (length, steps):
            raise LocaliseError(
                f"video {video}: windows of shape {window.shape}, "
                f"but {length} intervals and {steps} steps"
            )
    return tuple(np.asarray(window, np.bool_) for window in arrays)


def _array(rows: ArrayLike, description: str) -> NDArray[Any]:
    try:
        return np.asarray(rows)
    except ValueError:
        raise LocaliseError(f"{description} have rows of different lengths") from None


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
        return tuple(authors.permitted(window) for window in self.windows)

    def rows(self, video: int) -> slice:
        """Return the rows of a video in X and Z."""
        return slice(int(self.cost.offsets[video]), int(self.cost.offsets[video + 1]))

    def place(self, video: int, cost: Floats) -> Places:
        """Return the cheapest placement in one video for a T_n×K cost; K."""
        window: Mask | None = self.windows[video]
        if self.forbidden is not None:
            cost, window = authors.forbid(cost, self._permitted[video], self.forbidden), None
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
        return (self.cost.backend.rows(rows) * (places >= 0)[:, None]).T

    def objective(self, places: Places, weights: Weights | None = None) -> float:
        """Return scale·h of a placement, without the costs of absence.

        Z is 0/1, so ⟨Z, BZ⟩ = |Z| − ⟨XᵀZ, W*⟩ − ⟨1ᵀZ, b*⟩. ``weights`` are W* and b*, computed if
        None.
        """
        sums = np.sum([self.features_at(n, row) for n, row in enumerate(places)], axis=0)
        counts = (places >= 0).sum(axis=0).astype(np.float64)
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
