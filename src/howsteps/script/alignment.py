"""Multiple sequence alignment: the public function, its result, and a display of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from howsteps.errors import unknown_name
from howsteps.script.bounds import pair_bound, triple_bound
from howsteps.script.problem import (
    AlignmentError,
    AlignmentProblem,
    Match,
    Slots,
    Token,
    make_problem,
    shared_problem,
)
from howsteps.script.solver import AUTHORS, SEARCH, AlignmentSolver, solve

BLANK = "·"
SOLVERS = {"paper": SEARCH, "authors": AUTHORS, "default": SEARCH}


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


def check_mode(mode: str) -> None:
    """Raise if there is no such mode."""
    if mode not in SOLVERS:
        raise AlignmentError(unknown_name("mode", mode, SOLVERS))


def align(
    sequences: Sequence[Sequence[Token]],
    match: Match | None = None,
    *,
    slots: int | None = None,
    seconds: float = 2.0,
    seed: int = 0,
    mode: str = "default",
    solver: AlignmentSolver | None = None,
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
    mode
        ``authors``: one random start of Frank-Wolfe, 200 iterations, 120 slots. ``paper`` and
        ``default``: the same objective by the search.
    solver
        Used instead of that of the mode.
    certificate_seconds
        Time for a tighter ``bound`` (:func:`certify`), which depends on the speed of the machine;
        0: the bound by pairs of sequences.

    Raises
    ------
    AlignmentError
        The match or a token is invalid, a sequence is longer than ``slots``, the mode is unknown,
        or the seed is negative.

    Examples
    --------
    >>> found = align([["boil", "pour", "stir"], ["boil", "stir"]])
    >>> found.slots, found.objective
    (((0, 1, 2), (0, 2)), -9)
    """
    start = perf_counter()
    check_mode(mode)
    if seed < 0:
        raise AlignmentError(f"a seed must be a non-negative integer, not {seed}")
    problem = make_problem(sequences, match)
    longest = int(problem.lengths.max(initial=0))
    solver = solver or SOLVERS[mode]
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


def certify(problem: AlignmentProblem, objective: int, *, seconds: float) -> int:
    """Return the best lower bound of the objective that is found in the time.

    Half of the time goes to the integer programme, which ends early if it proves the optimum, and
    the rest to the decomposition into triples.
    """
    from howsteps.script.integer_programme import integer_bound  # noqa: PLC0415 - slow to import

    start = perf_counter()
    shared = shared_problem(problem)
    unshared_cost = problem.match_cost * (len(problem.tokens) - len(shared.tokens))
    best = pair_bound(problem)
    exact = integer_bound(shared, seconds=seconds / 2, objective=objective - unshared_cost)
    if exact is not None:
        best = max(best, exact + unshared_cost)
    left = seconds - (perf_counter() - start)
    if best < objective and left > 0:
        tight = triple_bound(shared, seconds=left, objective=objective - unshared_cost)
        if tight is not None:
            best = max(best, tight + unshared_cost)
    return best


def columns(
    slots: Slots, words: Sequence[Sequence[str]], *, least: int = 1, width: int = 14
) -> str:
    """Format an alignment as text: one row per narration, one column per slot.

    Parameters
    ----------
    slots
        Of an :class:`howsteps.script.Alignment`.
    words
        The text for every token, row by row.
    least
        Slots with fewer tokens are left out.
    width
        Texts are cut to this many characters.
    """
    counts: dict[int, int] = {}
    for row in slots:
        for slot in row:
            counts[slot] = counts.get(slot, 0) + 1
    shown = sorted(slot for slot, count in counts.items() if count >= least)
    rows = [dict(zip(row, texts, strict=True)) for row, texts in zip(slots, words, strict=True)]
    lines = [[str(counts[slot]) for slot in shown]]
    lines += [[row.get(slot, BLANK)[:width] for slot in shown] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(size) for cell, size in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
