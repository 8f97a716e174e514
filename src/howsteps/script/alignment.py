"""Align sequences: the public call, and what it returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from numpy.typing import ArrayLike

from howsteps.script import bound as bounds
from howsteps.script.integer_programme import programme
from howsteps.script.problem import AlignmentError, AlignmentProblem, Slots, pose, shared_part
from howsteps.script.solver import AUTHORS, SEARCH, Solver, solve
from howsteps.script.triple_bound import triples

SOLVERS = {"paper": SEARCH, "authors": AUTHORS, "default": SEARCH}


@dataclass(frozen=True)
class Alignment:
    """Where every relation went, what that costs, and a value that no alignment can go below.

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
        """How far the best alignment can be below this one, as a share of the bound."""
        return (self.objective - self.bound) / -self.bound if self.bound else 0.0

    @property
    def proved(self) -> bool:
        """Whether no alignment is better."""
        return self.objective == self.bound


def check_mode(mode: str) -> None:
    """Raise when there is no such mode."""
    if mode not in SOLVERS:
        raise AlignmentError(f"there is no mode {mode!r}; choose one of {', '.join(SOLVERS)}")


def align(
    sequences: Sequence[Sequence[int]],
    match: ArrayLike,
    *,
    slots: int | None = None,
    seconds: float = 2.0,
    seed: int = 0,
    mode: str = "paper",
    solver: Solver | None = None,
    certificate_seconds: float = 0.0,
) -> Alignment:
    """Map every sequence increasingly onto one template so that matching relations share slots.

    Minimises Tr(UᵀBU) = Σ_(n,m) Σ_l c(φ(dⁿ)_l, φ(dᵐ)_l), with c = −1 where two relations match and
    100 where they do not.

    Parameters
    ----------
    sequences
        One list of relations (numbers 0 … D − 1) per narration. Empty ones are allowed.
    match
        D×D, symmetric, true on the diagonal.
    slots
        Length of the template. None: as the solver says, and never so short that a sequence does
        not fit.
    seconds
        The work of the search, counted as what an ordinary machine does in so many seconds. The
        clock stops nothing: a slow machine does the same work.
    seed
        One seed, one answer, on every machine.
    mode
        ``authors``: one random start of Frank-Wolfe, 200 iterations, 120 slots. ``paper`` and
        ``default``: the same objective by the search.
    solver
        The solver to use instead of that of the mode.
    certificate_seconds
        Time for a tighter ``bound`` (:func:`certify`); without it the bound is by pairs.

    Raises
    ------
    AlignmentError
        When the input makes no problem, a sequence is longer than ``slots``, or the mode or the
        seed is none.
    """
    start = perf_counter()
    check_mode(mode)
    if seed < 0:
        raise AlignmentError(f"a seed is a whole number from zero on, not {seed}")
    problem = pose(sequences, match)
    longest = int(problem.lengths.max(initial=0))
    solver = solver or SOLVERS[mode]
    if slots is None and solver.slots is not None:
        slots = max(solver.slots, longest)
    if slots is not None and longest > slots:
        raise AlignmentError(
            f"a sequence of {longest} relations does not fit a template of {slots} slots"
        )
    bound = bounds.pairs(problem)
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


def certify(problem: AlignmentProblem, objective: int, *, seconds: float) -> int:
    """Return the best lower bound that the time allows.

    Half of the time goes to the integer programme, which ends early where it proves the optimum,
    and the rest to the decomposition into triples.
    """
    start = perf_counter()
    small = shared_part(problem)
    alone = problem.match_cost * (len(problem.tokens) - len(small.tokens))
    best = bounds.pairs(problem)
    exact = programme(small, seconds=seconds / 2, objective=objective - alone)
    if exact is not None:
        best = max(best, exact + alone)
    left = seconds - (perf_counter() - start)
    if best < objective and left > 0:
        tight = triples(small, seconds=left, objective=objective - alone)
        if tight is not None:
            best = max(best, tight + alone)
    return best
