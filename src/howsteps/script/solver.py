"""Solvers of the alignment problem: options, and the choice between search and Frank-Wolfe."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import unknown_name
from howsteps.script.frank_wolfe import Rounding, block_descent, frank_wolfe, random_start
from howsteps.script.problem import (
    AlignmentError,
    AlignmentProblem,
    restore_unshared,
    shared_problem,
)
from howsteps.script.search import WORK_PER_SECOND, search

Scheme: TypeAlias = Literal["search", "frank-wolfe"]
Trace = list[tuple[float, int]]
_Solution = tuple[NDArray[np.int64], Trace]

FIXED_LENGTH_STARTS = 10


@dataclass(frozen=True)
class AlignmentSolver:
    """The scheme and its options.

    Parameters
    ----------
    scheme
        ``search``, or ``frank-wolfe`` as in the paper.
    slots
        Length of the template; a longer sequence lengthens it. None: as long as it needs to be
        (the search), or S, which is always enough (Frank-Wolfe).
    iterations, starts
        Of Frank-Wolfe: iterations from each random start. The best start is kept.
    rounding
        Of Frank-Wolfe: the ``best`` corner or projection seen (authors), or the ``last-corner`` of
        the oracle (the paper).
    """

    scheme: Scheme = "search"
    slots: int | None = None
    iterations: int = 200
    starts: int = 1
    rounding: Rounding = "best"

    def __post_init__(self) -> None:
        """Check the options."""
        if self.scheme not in get_args(Scheme):
            raise AlignmentError(unknown_name("scheme", self.scheme, get_args(Scheme)))
        if self.rounding not in get_args(Rounding):
            raise AlignmentError(unknown_name("rounding", self.rounding, get_args(Rounding)))
        if self.iterations < 1 or self.starts < 1:
            raise AlignmentError("a solver needs at least one iteration and one start")


SEARCH = AlignmentSolver()
AUTHORS = AlignmentSolver("frank-wolfe", slots=120)


def solve(
    problem: AlignmentProblem,
    solver: AlignmentSolver,
    *,
    slots: int | None,
    seconds: float,
    seed: int,
    floor: int,
) -> _Solution:
    """Return the slot of every token, and the trace of the objective.

    Parameters
    ----------
    slots
        Length of the template; None: any.
    floor
        A lower bound; the search ends when it reaches it.
    """
    if not len(problem.tokens):
        return problem.tokens, []
    if solver.scheme == "frank-wolfe":
        length = len(problem.tokens) if slots is None else slots
        return _best_start(problem, length, solver, seconds, seed, descend=False)
    shared = shared_problem(problem)
    placed: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    trace: Trace = [(0.0, 0)]
    unshared_cost = problem.match_cost * (len(problem.tokens) - len(shared.tokens))
    if len(shared.tokens):
        placed, trace = search(shared, seconds=seconds, seed=seed, floor=floor - unshared_cost)
    full = restore_unshared(problem, placed)
    if slots is not None and full.max() >= slots:
        frank_wolfe_solver = AlignmentSolver("frank-wolfe", starts=FIXED_LENGTH_STARTS)
        return _best_start(problem, slots, frank_wolfe_solver, seconds, seed, descend=True)
    return full, [(when, value + unshared_cost) for when, value in trace]


def _best_start(
    problem: AlignmentProblem,
    length: int,
    solver: AlignmentSolver,
    seconds: float,
    seed: int,
    *,
    descend: bool,
) -> _Solution:
    """The best of several starts of Frank-Wolfe, each with block descent if ``descend``.

    The first start is always made. ``seconds`` limits the others by the number of operations,
    iterations × S × L, so that the answer is the same on every machine.
    """
    work = solver.iterations * len(problem.tokens) * length
    generator = np.random.default_rng(seed)
    best, trace = problem.tokens, Trace()
    for start in range(solver.starts):
        corner, steps = frank_wolfe(
            problem,
            random_start(problem, length, generator),
            solver.iterations,
            rounding=solver.rounding,
        )
        if descend:
            corner = block_descent(problem, corner, length)
            steps.append((float(solver.iterations - 1), problem.objective(corner)))
        before = start * solver.iterations
        for count, value in steps:
            if not trace or value < trace[-1][1]:
                best = corner
                trace.append((before + count, value))
        if (start + 1) * work > seconds * WORK_PER_SECOND:
            break
    return best, trace
