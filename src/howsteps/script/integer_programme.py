"""An exact integer programme (maximum-weight trace) with lazily added cuts.

One variable x_e ∈ {0, 1} for every pair e = (s, t) of matching tokens of different sequences: do
they share a slot? Maximise Σ_e x_e, subject to

* staircases: at most one of the pairs between two sequences that pairwise cross or touch;
* transitivity: x_(s,t) + x_(t,u) − x_(s,u) ≤ 1, and ≤ 1 without the last term where s and u cannot
  share a slot;
* order: along a cycle of pairs and of steps to the right inside sequences, not all pairs.

The linear relaxation is solved and violated cuts are added, until there are none; then integrality
is required. The value of a relaxation is a bound whenever it stops; an integer solution that
violates nothing is optimal.
"""

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from howsteps.compiled import compiled
from howsteps.script.bounds import objective_at
from howsteps.script.problem import AlignmentProblem

MAX_PAIRS = 4_000
CUTS_PER_ROUND = 400
TOLERANCE = 1e-3
TAILS_PER_CALL = 100  # shortest paths between two checks of the time


@dataclass
class _Cuts:
    """Rows a·x ≤ b of the programme."""

    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def add(self, plus: list[int], minus: list[int], limit: float) -> None:
        """Add the constraint Σ x_plus − Σ x_minus ≤ limit."""
        self.columns += plus + minus
        self.values += [1.0] * len(plus) + [-1.0] * len(minus)
        self.rows += [len(self.limits)] * (len(plus) + len(minus))
        self.limits.append(limit)

    def matrix(self, width: int) -> Any:
        """All rows, as a sparse matrix."""
        return csr_array((self.values, (self.rows, self.columns)), (len(self.limits), width))


@compiled
def _staircase(x: Any) -> Any:
    """Weight and cells of the heaviest path from the top right to the bottom left of x.

    Its cells conflict pairwise.
    """
    height, width = x.shape
    best = np.zeros((height, width))
    for i in range(height):
        for j in range(width - 1, -1, -1):
            before = 0.0
            if i > 0:
                before = best[i - 1, j]
            if j < width - 1:
                before = max(before, best[i, j + 1])
            best[i, j] = before + x[i, j]
    path = np.empty((height + width - 1, 2), dtype=np.int64)
    i, j = height - 1, 0
    for step in range(height + width - 1):
        path[step, 0], path[step, 1] = i, j
        if i > 0 and (j == width - 1 or best[i - 1, j] >= best[i, j + 1]):
            i -= 1
        else:
            j += 1
    return best[height - 1, 0], path


class _Programme:
    """The variables and the three families of cuts; separation stops at ``deadline``."""

    def __init__(self, problem: AlignmentProblem, deadline: float) -> None:
        self.problem = problem
        self.deadline = deadline
        tokens, sequence = problem.tokens, problem.sequence
        allowed = problem.match[np.ix_(tokens, tokens)]
        allowed &= sequence[:, None] < sequence[None, :]
        self.pairs = np.argwhere(allowed)
        self.pair_index = np.full(allowed.shape, -1)
        self.pair_index[allowed] = np.arange(len(self.pairs))
        self.pair_index = np.maximum(self.pair_index, self.pair_index.T)
        self.cuts = _Cuts()

    def separate(self, x: NDArray[np.float64]) -> int:
        """Add cuts that x violates; return how many.

        Cuts that are not found in time make the relaxation weaker, never wrong.
        """
        before = len(self.cuts.limits)
        symmetric = np.zeros(self.pair_index.shape)
        symmetric[self.pairs[:, 0], self.pairs[:, 1]] = x
        symmetric += symmetric.T
        self._staircases(symmetric)
        self._transitivity(symmetric)
        self._order(symmetric, x)
        return len(self.cuts.limits) - before

    def _out_of_time(self) -> bool:
        return perf_counter() > self.deadline

    def _staircases(self, symmetric: NDArray[np.float64]) -> None:
        """Add the most violated staircase of each pair of sequences."""
        first = self.problem.first
        for n in range(len(first) - 1):
            if self._out_of_time():
                return
            for m in range(n + 1, len(first) - 1):
                block = np.ix_(range(first[n], first[n + 1]), range(first[m], first[m + 1]))
                if symmetric[block].sum() <= 1 + TOLERANCE:
                    continue
                weight, path = _staircase(symmetric[block])
                if weight > 1 + TOLERANCE:
                    pairs = self.pair_index[block][path[:, 0], path[:, 1]]
                    self.cuts.add(pairs[pairs >= 0].tolist(), [], 1)

    def _transitivity(self, symmetric: NDArray[np.float64]) -> None:
        """Add the most violated transitivity cuts."""
        violated = []
        for t in range(len(symmetric)):
            if self._out_of_time():
                break
            near = np.flatnonzero(symmetric[t] > TOLERANCE)
            excess = (
                symmetric[t, near][:, None] + symmetric[t, near] - symmetric[np.ix_(near, near)] - 1
            )
            for i, j in np.argwhere(np.triu(excess, 1) > TOLERANCE):
                violated.append((-excess[i, j], near[i], t, near[j]))
        for _, s, t, u in sorted(violated)[:CUTS_PER_ROUND]:
            pairs = [int(self.pair_index[s, t]), int(self.pair_index[t, u])]
            closing = int(self.pair_index[s, u])
            same = self.problem.sequence[s] == self.problem.sequence[u]
            if closing >= 0:
                self.cuts.add(pairs, [closing], 1)
            elif same or self.problem.conflict_free:
                self.cuts.add(pairs, [], 1)

    def _order(self, symmetric: NDArray[np.float64], x: NDArray[np.float64]) -> None:
        """For every step to the right, find the shortest path back; a pair has length 1 − x."""
        sequence = self.problem.sequence
        tails = np.flatnonzero(sequence[:-1] == sequence[1:])
        if not len(tails):
            return
        one, two = self.pairs[x > TOLERANCE].T
        # Zero would mean "no arc" in a sparse matrix.
        weight = np.maximum(1 - symmetric[one, two], 0) + 1e-7
        arcs = csr_array(
            (
                np.concatenate([weight, weight, np.full(len(tails), 1e-9)]),
                (np.concatenate([one, two, tails]), np.concatenate([two, one, tails + 1])),
            ),
            symmetric.shape,
        )
        seen: set[tuple[int, ...]] = set()
        for begin in range(0, len(tails), TAILS_PER_CALL):
            if self._out_of_time():
                return
            some = tails[begin : begin + TAILS_PER_CALL]
            length, previous = dijkstra(arcs, indices=some + 1, return_predecessors=True, limit=1.0)
            for row, tail in enumerate(some):
                if length[row, tail] < 1 - TOLERANCE:
                    self._forbid(self._pairs_on_path(previous[row], int(tail)), seen)

    def _pairs_on_path(self, previous: NDArray[np.int32], tail: int) -> list[int]:
        """The pairs on the shortest path from the token after ``tail`` back to it."""
        pairs, token = [], tail
        while token != tail + 1:
            before = int(previous[token])
            if self.pair_index[token, before] >= 0:
                pairs.append(int(self.pair_index[token, before]))
            token = before
        return pairs

    def _forbid(self, cycle: list[int], seen: set[tuple[int, ...]]) -> None:
        """Add the cut that not all pairs of a cycle are chosen, unless it was seen."""
        key = tuple(sorted(cycle))
        if key not in seen:
            seen.add(key)
            self.cuts.add(cycle, [], len(cycle) - 1)


def integer_bound(problem: AlignmentProblem, *, seconds: float, objective: int) -> int | None:
    """Return a lower bound of the objective; it is the optimum if the time suffices.

    None if there are too many pairs, or no relaxation is solved in time. The programme stops early
    when its bound meets ``objective``.
    """
    start = perf_counter()
    tokens, first = problem.tokens, problem.first
    matching = problem.match[:, tokens].sum(axis=1)[tokens].sum()
    if matching > 2 * MAX_PAIRS + len(tokens):
        return None
    model = _Programme(problem, deadline=start + seconds)
    width = len(model.pairs)
    if width == 0 or len(first) < 3:
        return objective_at(problem, 0)
    model.separate(np.ones(width))
    best: int | None = None
    integral = False
    while True:
        left = seconds - (perf_counter() - start)
        if left <= 0:
            return best
        rows, limits = model.cuts.matrix(width), np.array(model.cuts.limits)
        if integral:
            answer = milp(
                -np.ones(width),
                constraints=LinearConstraint(rows, -np.inf, limits),
                integrality=np.ones(width),
                bounds=Bounds(0, 1),
                options={"time_limit": left, "mip_rel_gap": 0},
            )
            value = answer.mip_dual_bound
        else:
            answer = linprog(
                -np.ones(width),
                A_ub=rows,
                b_ub=limits,
                bounds=(0, 1),
                method="highs-ds",
                options={"time_limit": left},
            )
            value = answer.fun if answer.status == 0 else None
        if value is not None and np.isfinite(value):
            bound = objective_at(problem, -value)
            best = bound if best is None else max(best, bound)
        if answer.status != 0 or (best is not None and best >= objective):
            return best
        x = np.round(answer.x) if integral else answer.x
        if model.separate(x) == 0:
            if integral or np.abs(x - np.round(x)).max() < TOLERANCE:
                return best
            integral = True
