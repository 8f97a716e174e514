"""The public call: features and windows in, the interval of every step out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from howsteps.localise import authors
from howsteps.localise.block import block_frank_wolfe
from howsteps.localise.cost import AUTHORS_BIAS, PAPER_BIAS, ClusteringCost, Weights
from howsteps.localise.descent import descent
from howsteps.localise.frank_wolfe import AUTHORS_ITERATIONS, PAPER_ITERATIONS, frank_wolfe
from howsteps.localise.interior import interior
from howsteps.localise.null_scores import absence_costs, leave_one_out_scores, null_scores
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.problem import (
    ClusteringProblem,
    LocaliseError,
    Relaxed,
    TracePoint,
    checked_features,
)
from howsteps.localise.windows import RelaxedWindow, relax

Solver = Literal["combined", "descent", "frank-wolfe", "block", "interior"]
AUTHORS_VIDEOS = 30  # the N of their λ, however many there are


@dataclass(frozen=True)
class Clustering:
    """Where every step is in every video, and how it was found.

    Attributes
    ----------
    intervals
        N×K: the interval of each step, −1 where it is absent.
    objective
        h of that placement.
    relaxed_objective, duality_gap
        h at the best point of the hull that was found, and its duality gap: h of no placement is
        below their difference. None where the solver knows no bound.
    weights
        W* and b* of the placement.
    trace
        Seconds, objective and gap along the way.
    relaxed_windows
        Windows that contradicted the order and were opened.
    roundings
        Placements that were visited after the chosen one: the worst and the best score among them
        are the paper's error bars.
    scores, chance
        With ``evidence``: T_n×K scores by the classifier of the other videos, and N×K scores of
        decoys (:mod:`howsteps.localise.null_scores`).
    """

    intervals: Places
    objective: float
    relaxed_objective: float | None
    duality_gap: float | None
    weights: Weights
    trace: tuple[TracePoint, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
    roundings: tuple[Places, ...] = ()
    scores: tuple[Floats, ...] = ()
    chance: Floats | None = None


def cluster(
    features: Sequence[NDArray[np.floating]],
    windows: Sequence[Mask] | None = None,
    *,
    steps: int,
    regularisation: float | None = None,
    mode: Literal["paper", "authors"] = "paper",
    solver: Solver | None = None,
    support: NDArray[np.number] | None = None,
    absent: bool = False,
    evidence: bool = False,
    restarts: int = 0,
    tolerance: float = 1e-6,
    iterations: int | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Clustering:
    """Find the interval of every step in every video by discriminative clustering.

    Minimises h(Z) (:mod:`howsteps.localise.cost`) over the placements that keep the steps in order
    inside their windows.

    Parameters
    ----------
    features
        One T_n×d array a video, best in float32 (other types are converted, which copies them);
        may be mapped from disk.
    windows
        One T_n×K boolean array a video: where each step may be. None leaves all free.
    steps
        K.
    regularisation
        λ; 1/(N·K) when None, 1/(30·K) in the ``authors`` mode.
    mode
        ``paper``, or ``authors``: unregularised bias, twice h, windows as in
        :mod:`howsteps.localise.authors`.
    solver
        ``combined`` (the default: interior method, rounding, descent), ``descent``,
        ``frank-wolfe`` (the default of the ``authors`` mode), ``block``, or ``interior``; the last
        three round the relaxed point.
    support
        N×K weight of each window, for the choice of those to open when they contradict the order.
    absent
        Let a step that the narration does not name be absent from a video when its score is no
        better than chance.
    evidence
        Keep the scores that extents, confidences and absence are judged by.
    restarts
        How many random starts the descent tries besides.
    tolerance
        Relative duality gap at which the relaxed solvers stop, but for ``frank-wolfe``: it goes on
        to its last iteration, as the error bars of the paper want its roundings.
    iterations
        Most iterations of the relaxed solver; its own default when None (``frank-wolfe``: 200, or
        650 in the ``authors`` mode).
    seed
        Of everything random.
    device
        ``cpu``, ``cuda`` or ``torch-cpu``: where Gram matrix, factorisation and scores are
        computed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> videos = [rng.random((20, 4), dtype=np.float32) for _ in range(3)]
    >>> for x in videos:
    ...     x[5] += (3, 0, 0, 0)
    ...     x[12] += (0, 3, 0, 0)
    >>> cluster(videos, steps=2).intervals
    array([[ 5, 12],
           [ 5, 12],
           [ 5, 12]])
    """
    if mode not in ("paper", "authors"):
        raise LocaliseError(f"unknown mode {mode!r}: say 'paper' or 'authors'")
    if mode == "authors" and absent:
        raise LocaliseError("the authors' mode places every step: absent=True is not part of it")
    if regularisation is not None and not regularisation > 0:
        raise LocaliseError(f"the regularisation is a positive number, not {regularisation}")
    videos = checked_features(list(features), steps)
    allowed = _checked_windows(windows, [len(x) for x in videos], steps)
    as_authors = mode == "authors"
    if regularisation is None:
        regularisation = 1.0 / ((AUTHORS_VIDEOS if as_authors else len(videos)) * steps)
    opened, relaxed_windows = (allowed, ()) if as_authors else relax(allowed, support)
    problem = ClusteringProblem(
        ClusteringCost(videos, regularisation, AUTHORS_BIAS if as_authors else PAPER_BIAS, device),
        opened,
        scale=2.0 if as_authors else 1.0,
        forbidden=authors.FORBIDDEN if as_authors else None,
    )
    name = solver or ("frank-wolfe" if as_authors else "combined")
    relaxed = _relax(problem, name, mode, tolerance, iterations, seed)
    trace = () if relaxed is None else relaxed.trace
    start = None if relaxed is None else relaxed.roundings[relaxed.chosen][1]
    if start is None or name == "combined":
        places, steps_down = _descend(problem, start, restarts, seed)
        trace = (*trace, *steps_down)
    else:
        places = start
    chance = null_scores(problem, places, seed) if absent or evidence else None
    if absent and chance is not None:
        leverages = problem.cost.leverages
        usual = np.array([1 - np.median(leverages[problem.rows(n)]) for n in range(len(videos))])
        costs = absence_costs(leave_one_out_scores(problem, places), chance, opened, usual)
        problem = ClusteringProblem(problem.cost, opened, absence=costs)
        ended = descent(problem, places, seed=seed)
        places, trace = ended.places, (*trace, *ended.trace)
    if as_authors:
        relaxed_windows = tuple(
            RelaxedWindow(n, k, 1.0 if support is None else float(support[n, k]))
            for n, window in enumerate(opened)
            for k in authors.broken(places[n], window)
        )
    weights = problem.cost.weights(problem.indicator(places))
    return Clustering(
        intervals=places,
        objective=problem.objective(places, weights),
        relaxed_objective=None if relaxed is None else relaxed.objective,
        duality_gap=None if relaxed is None else relaxed.gap,
        weights=weights,
        trace=trace,
        relaxed_windows=relaxed_windows,
        roundings=()
        if relaxed is None
        else tuple(rounded for _, rounded in relaxed.roundings[relaxed.chosen + 1 :]),
        scores=leave_one_out_scores(problem, places) if evidence else (),
        chance=chance if evidence else None,
    )


def _relax(
    problem: ClusteringProblem,
    solver: str,
    mode: str,
    tolerance: float,
    iterations: int | None,
    seed: int,
) -> Relaxed | None:
    """Run the relaxed part of a solver, where it has one."""
    if solver == "descent":
        return None
    if solver in ("combined", "interior"):
        return interior(problem, tolerance=tolerance, iterations=iterations or 200)
    if solver == "block":
        return block_frank_wolfe(
            problem, tolerance=tolerance, iterations=iterations or 2000, seed=seed
        )
    if solver == "frank-wolfe":
        usual = AUTHORS_ITERATIONS if mode == "authors" else PAPER_ITERATIONS
        return frank_wolfe(problem, iterations=iterations or usual, seed=seed)
    raise LocaliseError(
        f"unknown solver {solver!r}: say combined, descent, frank-wolfe, block or interior"
    )


def _descend(
    problem: ClusteringProblem, start: Places | None, restarts: int, seed: int
) -> tuple[Places, tuple[TracePoint, ...]]:
    """Best of one descent from ``start`` and of some from random placements."""
    runs = [descent(problem, start, seed=seed)]
    runs += [descent(problem, seed=seed + 1 + extra) for extra in range(restarts)]
    best = min(runs, key=lambda run: run.objective)
    return best.places, tuple(point for run in runs for point in run.trace)


def _checked_windows(
    windows: Sequence[Mask] | None, lengths: list[int], steps: int
) -> tuple[Mask, ...]:
    """One boolean T_n×K array a video."""
    if windows is None:
        return tuple(np.ones((length, steps), np.bool_) for length in lengths)
    if len(windows) != len(lengths):
        raise LocaliseError(f"{len(lengths)} videos have features, {len(windows)} have windows")
    for video, (window, length) in enumerate(zip(windows, lengths, strict=True)):
        if window.shape != (length, steps):
            raise LocaliseError(
                f"video {video}: windows of shape {window.shape}, "
                f"but {length} intervals and {steps} steps"
            )
    return tuple(np.asarray(window, np.bool_) for window in windows)
