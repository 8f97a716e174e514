"""Align sequences: the public call, and what it returns."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.script import bound as bounds
from howsteps.script.frank_wolfe import block_descent, frank_wolfe, random_start
from howsteps.script.problem import AlignmentError, Problem, Slots, pose
from howsteps.script.programme import programme
from howsteps.script.search import search
from howsteps.script.triples import triples

Mode = Literal["paper", "authors", "default"]
MODES: tuple[Mode, ...] = ("paper", "authors", "default")

AUTHORS_SLOTS = 120
AUTHORS_ITERATIONS = 200
STARTS = 10  # of Frank-Wolfe, when the template is too short for the search


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
    if mode not in MODES:
        raise AlignmentError(f"there is no mode {mode!r}; choose one of {', '.join(MODES)}")


def align(
    sequences: Sequence[Sequence[int]],
    match: ArrayLike,
    *,
    slots: int | None = None,
    seconds: float = 2.0,
    seed: int = 0,
    mode: str = "paper",
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
        Length of the template. None: as long as it needs to be, which never costs objective.
    seconds
        Sets the work of the search, with time to spare on an ordinary machine; stops a slow one.
    seed
        One seed, one answer, unless the machine was so slow that ``seconds`` stopped it.
    mode
        ``authors``: one random start of Frank-Wolfe, 200 iterations, 120 slots. ``paper`` and
        ``default``: the same objective by the search.
    certificate_seconds
        Time for a tighter ``bound`` (:func:`certify`); without it the bound is by pairs.

    Raises
    ------
    AlignmentError
        When the input makes no problem, or a sequence is longer than ``slots``.
    """
    start = perf_counter()
    check_mode(mode)
    problem = pose(sequences, match)
    if slots is None and mode == "authors":
        slots = max(AUTHORS_SLOTS, int(problem.lengths.max(initial=0)))
    if slots is not None and int(problem.lengths.max(initial=0)) > slots:
        longest = int(problem.lengths.max())
        raise AlignmentError(
            f"a sequence of {longest} relations does not fit a template of {slots} slots"
        )
    bound = bounds.pairs(problem)
    placed, trace = _solve(problem, slots, seconds, seed, mode, bound)
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


def certify(problem: Problem, objective: int, *, seconds: float) -> int:
    """Return the best lower bound that the time allows.

    Half of the time goes to the integer programme, which ends early where it proves the optimum,
    and the rest to the decomposition into triples.
    """
    start = perf_counter()
    small = _shared_part(problem)
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


def _solve(
    problem: Problem, slots: int | None, seconds: float, seed: int, mode: str, bound: int
) -> tuple[NDArray[np.int64], list[tuple[float, int]]]:
    if not len(problem.tokens):
        return problem.tokens, []
    if mode == "authors" and slots is not None:
        start = random_start(problem, slots, np.random.default_rng(seed))
        return frank_wolfe(problem, start, AUTHORS_ITERATIONS)
    small = _shared_part(problem)
    placed, trace = np.zeros(0, dtype=np.int64), [(0.0, 0)]
    alone = problem.match_cost * (len(problem.tokens) - len(small.tokens))
    if len(small.tokens):
        placed, trace = search(small, seconds=seconds, seed=seed, floor=bound - alone)
    whole = _put_back(problem, placed)
    if slots is not None and whole.max() >= slots:
        return _squeeze(problem, slots, seconds, seed)
    return whole, [(when, value + alone) for when, value in trace]


def _shared_part(problem: Problem) -> Problem:
    """Leave out the tokens that match nothing elsewhere; they cost the same wherever they are."""
    tokens = problem.tokens[problem.shared]
    lengths = np.bincount(problem.sequence[problem.shared], minlength=len(problem.lengths))
    heard, renamed = np.unique(tokens, return_inverse=True)
    match = np.ascontiguousarray(problem.match[np.ix_(heard, heard)])
    return Problem(renamed.astype(np.int64), lengths[lengths > 0].astype(np.int64), match)


def _put_back(problem: Problem, placed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give every left-out token a slot of its own behind its left neighbour, and close all gaps."""
    keys: list[tuple[int, int]] = []
    shared = problem.shared
    kept = iter(placed.tolist())
    for begin, end in pairwise(problem.first):
        left = -1
        for s in range(begin, end):
            if shared[s]:
                left = next(kept)
            keys.append((left, -1 if shared[s] else s))
    rank = {key: number for number, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _squeeze(
    problem: Problem, slots: int, seconds: float, seed: int
) -> tuple[NDArray[np.int64], list[tuple[float, int]]]:
    """Align on a template that is too short: starts of Frank-Wolfe, each with block descent."""
    begun = perf_counter()
    generator = np.random.default_rng(seed)
    best, trace = problem.tokens, []
    lowest: float = np.inf
    for _ in range(STARTS):
        start = random_start(problem, slots, generator)
        corner, _ = frank_wolfe(problem, start, AUTHORS_ITERATIONS)
        corner = block_descent(problem, corner, slots)
        value = problem.objective(corner)
        if value < lowest:
            best, lowest = corner, value
            trace.append((perf_counter() - begun, value))
        if perf_counter() - begun > seconds:
            break
    return best, trace
