"""Multiple sequence alignment: the function ``align``, its result, and its solvers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import unknown_name
from howsteps.paper.alignment_bounds import certify, pair_bound
from howsteps.paper.alignment_frank_wolfe import Rounding, block_descent, frank_wolfe, random_start
from howsteps.paper.alignment_problem import (
    AlignmentError,
    AlignmentProblem,
    Match,
    Slots,
    Token,
    make_problem,
    restore_unshared,
    shared_problem,
)
from howsteps.paper.alignment_search import WORK_PER_SECOND, search

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


@dataclass(frozen=True)
class Alignment:
    """The slot of every token, the objective, and a lower bound of the objective.

    ``slots`` holds one strictly increasing tuple per sequence. ``objective`` is Tr(UᵀBU).
    ``trace`` holds (seconds, objective) for the search and (iteration, objective) for Frank-Wolfe.
    """

    slots: Slots
    objective: int
    tokens: int
    bound: int
    trace: tuple[tuple[float, int], ...] = field(default=(), compare=False, repr=False)
    seconds: float = field(default=0.0, compare=False)

    @property
    def objective_per_token(self) -> float:
        """Tr(UᵀBU)/S, the figure of the paper."""
        return self.objective / self.tokens if self.tokens else 0.0

    @property
    def gap(self) -> float:
        """The largest possible distance to the optimum, relative to the bound."""
        return (self.objective - self.bound) / -self.bound if self.bound else 0.0

    @property
    def proved(self) -> bool:
        """Whether the alignment is proved to be optimal."""
        return self.objective == self.bound


def align(
    sequences: Sequence[Sequence[Token]],
    match: Match | None = None,
    *,
    slots: int | None = None,
    seconds: float = 2.0,
    seed: int = 0,
    solver: AlignmentSolver = SEARCH,
    certificate_seconds: float = 0.0,
) -> Alignment:
    """Align sequences: map each increasingly onto one template so that matching tokens share slots.

    Minimises Tr(UᵀBU) = Σ_(n,m) Σ_l c(φ(dⁿ)_l, φ(dᵐ)_l), with c = −1 where two tokens match and 100
    where they do not.

    Parameters
    ----------
    sequences
        One list of tokens per narration: strings, numbers, or anything hashable. Empty ones are
        allowed.
    match
        Which tokens match. None: equal ones. Or a symmetric function of two tokens. Or a D×D
        array, symmetric and true on the diagonal, for tokens that are indices 0 … D − 1.
    slots
        Length of the template. None: that of the solver, or the longest sequence if that is
        longer.
    seconds
        Effort of the search: the work that an ordinary machine does in at most this time. It is
        counted in operations, so a slow machine takes longer and gives the same answer.
    seed
        Of the random generator; the answer for a seed is the same on every machine.
    solver
        ``SEARCH``, or ``AUTHORS``: one random start of Frank-Wolfe, 200 iterations, 120 slots; or
        another :class:`AlignmentSolver`.
    certificate_seconds
        Time for a tighter ``bound`` (:func:`certify`), which depends on the speed of the machine;
        0: the bound by pairs of sequences.

    Raises
    ------
    AlignmentError
        The match or a token is invalid, a sequence is longer than ``slots``, or the seed
        is negative.

    Examples
    --------
    >>> found = align([["boil", "pour", "stir"], ["boil", "stir"]])
    >>> found.slots, found.objective
    (((0, 1, 2), (0, 2)), -9)
    """
    start = perf_counter()
    if seed < 0:
        raise AlignmentError(f"a seed must be a non-negative integer, not {seed}")
    problem = make_problem(sequences, match)
    longest = int(problem.lengths.max(initial=0))
    if slots is None and solver.slots is not None:
        slots = max(solver.slots, longest)
    if slots is not None and longest > slots:
        raise AlignmentError(
            f"a sequence of {longest} tokens does not fit a template of {slots} slots"
        )
    bound = pair_bound(problem)
    placed, trace = solve(problem, solver, slots=slots, seconds=seconds, seed=seed, floor=bound)
    objective = problem.objective(placed)
    if certificate_seconds > 0 and bound < objective:
        bound = max(bound, certify(problem, objective, seconds=certificate_seconds))
    return Alignment(
        slots=problem.split(placed),
        objective=objective,
        tokens=len(problem.tokens),
        bound=bound,
        trace=tuple(trace),
        seconds=perf_counter() - start,
    )


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
