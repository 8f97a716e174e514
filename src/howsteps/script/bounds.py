"""Lower bounds on the objective: how far from the best an alignment can be.

Every token costs c = −1 with itself, and two tokens in one slot cost at least −1 each way, so

    Tr(UᵀBU) ≥ −S − 2·P,    P ≥ number of matching pairs that any alignment puts together.

:func:`order_free_bound` and :func:`pair_bound` take milliseconds. :func:`triple_bound` is tighter,
and so is the integer programme (:mod:`howsteps.script.integer_programme`).

**Triples.** P is a sum over pairs of tokens e = (s, t). Share the unit of every e among the triples
of sequences q that contain it, Σ_q λ_(q,e) = 1. Each triple is then aligned on its own, exactly, by
a dynamic programme in three dimensions, and

    P ≤ Σ_q max_x Σ_e λ_(q,e) x_(q,e)       for every λ.

The right side is convex in λ. A subgradient at λ is x_(q,e) itself; a step along x_(q,e) minus its
mean over q keeps the sums at one (Polyak's step: the value minus the best known P, over the squared
norm). Every λ on the way gives a valid bound, so the method can stop at any time.
"""

from itertools import combinations
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.script.problem import AlignmentProblem

ROUNDING = 1e-3  # solvers return whole numbers up to their tolerance; err on the safe side
SIDES = ((0, 1), (0, 2), (1, 2))
MOST_SHARES = 4_000_000
SHARES_PER_SECOND = 24_000  # leaves time for some hundred steps
LONGEST_SEQUENCE = 200  # tokens of one sequence; the programme needs its cube
PATIENCE = 15
CELLS_PER_CALL = 20_000_000  # of the dynamic programme, between two looks at the clock


def objective_at(problem: AlignmentProblem, pairs: float) -> int:
    """Turn an upper bound on P into a lower bound on the objective; P is a whole number."""
    return problem.match_cost * (len(problem.tokens) + 2 * int(np.floor(pairs + ROUNDING)))


def order_free_bound(problem: AlignmentProblem) -> int:
    """Bound without the order: every pair of sequences shares what their bags of tokens allow.

    A token of n has at most one partner in m, so min over both sides of the tokens that have one.
    It is −Σ_d n_d² when every relation matches only itself and occurs once per sequence.
    """
    counts = np.zeros((len(problem.lengths), len(problem.match)), dtype=np.int64)
    np.add.at(counts, (problem.sequence, problem.tokens), 1)
    present = (counts @ problem.match) > 0
    having = present.astype(np.int64) @ counts.T  # [m, n]: tokens of n with a partner in m
    return objective_at(problem, float(np.triu(np.minimum(having, having.T), 1).sum()))


@compiled
def _count_pairs(tokens: Any, first: Any, match: Any, best: Any) -> Any:
    total = 0
    for n in range(len(first) - 1):
        for m in range(n + 1, len(first) - 1):
            width = first[m + 1] - first[m]
            best[: width + 1] = 0
            for s in range(first[n], first[n + 1]):
                diagonal = 0
                for j in range(1, width + 1):
                    above = best[j]
                    if match[tokens[s], tokens[first[m] + j - 1]] and diagonal >= above:
                        best[j] = diagonal + 1
                    best[j] = max(best[j], best[j - 1])
                    diagonal = above
            total += best[width]
    return total


def pair_bound(problem: AlignmentProblem) -> int:
    """Bound by pairs of sequences: two sequences share at most their longest common subsequence.

    Tr(UᵀBU) ≥ −S − 2 Σ_(n<m) LCS(dⁿ, dᵐ)
    """
    best = np.zeros(int(problem.lengths.max(initial=0)) + 1, dtype=np.int64)
    return objective_at(problem, _count_pairs(problem.tokens, problem.first, problem.match, best))


@compiled
def _edges(tokens: Any, first: Any, match: Any) -> Any:
    """Count the matching pairs of tokens of every pair of sequences."""
    many = len(first) - 1
    edges = np.zeros((many, many), dtype=np.int64)
    for n in range(many):
        for m in range(n + 1, many):
            for s in range(first[n], first[n + 1]):
                for t in range(first[m], first[m + 1]):
                    edges[n, m] += match[tokens[s], tokens[t]]
    return edges


class _Triple(NamedTuple):
    """Memory for one triple (a, b, c); its sides 0, 1, 2 are (a, b), (a, c), (b, c).

    Tokens are counted from one. What has number zero does not exist: it matches nothing.
    """

    many: Any  # tokens of each sequence that have a partner in the triple
    kept: Any  # and which they are
    where: Any  # side × i × j: the number of a share, −1 where the tokens do not match
    weight: Any  # and its value, −∞ where they do not match
    forgiven: Any  # what the side counts where all three tokens share a slot
    table: Any  # [i + 1, j + 1, k + 1]: heaviest alignment of the first i, j, k tokens


def _allocate(longest: int) -> _Triple:
    sides = (3, longest + 1, longest + 1)
    return _Triple(
        np.zeros(3, dtype=np.int64),
        np.zeros((3, longest + 1), dtype=np.int64),
        np.full(sides, -1, dtype=np.int64),
        np.full(sides, -np.inf),
        np.full(sides, -np.inf),
        np.zeros((longest + 2, longest + 2, longest + 2)),
    )


@compiled
def _keep_useful(tokens: Any, first: Any, match: Any, members: Any, triple: _Triple) -> None:
    """Find the tokens that have a partner in the triple."""
    for h in range(3):
        triple.many[h] = 0
        for s in range(first[members[h]], first[members[h] + 1]):
            useful = False
            for g in range(3):
                if g != h:
                    for t in range(first[members[g]], first[members[g] + 1]):
                        useful |= match[tokens[s], tokens[t]]
            if useful:
                triple.many[h] += 1
                triple.kept[h, triple.many[h]] = s


@compiled
def _weigh(tokens: Any, match: Any, cliques: bool, share: Any, at: int, triple: _Triple) -> None:
    """Write down the weight of every pair of tokens; its shares begin at number ``at``.

    Three tokens share a slot when all match (``cliques``), or else any mismatch is forgiven, which
    keeps the bound valid where an optimum may hold mismatches.
    """
    for side in range(3):
        one, two = side // 2, min(side + 1, 2)
        for i in range(1, triple.many[one] + 1):
            for j in range(1, triple.many[two] + 1):
                if match[tokens[triple.kept[one, i]], tokens[triple.kept[two, j]]]:
                    triple.where[side, i, j] = at
                    triple.weight[side, i, j] = share[at]
                    triple.forgiven[side, i, j] = share[at]
                    at += 1
                else:
                    triple.where[side, i, j] = -1
                    triple.weight[side, i, j] = -np.inf
                    triple.forgiven[side, i, j] = -np.inf if cliques else 0.0


@compiled
def _fill(triple: _Triple) -> Any:
    """Fill the table; return the value of the whole triple."""
    table, weight, forgiven = triple.table, triple.weight, triple.forgiven
    many = triple.many
    for i in range(many[0] + 1):
        for j in range(many[1] + 1):
            for k in range(many[2] + 1):
                table[i + 1, j + 1, k + 1] = max(
                    table[i, j + 1, k + 1],
                    table[i + 1, j, k + 1],
                    table[i + 1, j + 1, k],
                    table[i, j, k + 1] + weight[0, i, j],
                    table[i, j + 1, k] + weight[1, i, k],
                    table[i + 1, j, k] + weight[2, j, k],
                    table[i, j, k] + forgiven[0, i, j] + forgiven[1, i, k] + forgiven[2, j, k],
                )
    return table[many[0] + 1, many[1] + 1, many[2] + 1]


@compiled
def _trace_back(triple: _Triple, chosen: Any) -> None:
    """Mark the shares that the heaviest alignment uses."""
    table, weight, where = triple.table, triple.weight, triple.where
    i, j, k = triple.many[0], triple.many[1], triple.many[2]
    while table[i + 1, j + 1, k + 1] > 0:
        value = table[i + 1, j + 1, k + 1]
        if table[i, j + 1, k + 1] == value:
            i -= 1
        elif table[i + 1, j, k + 1] == value:
            j -= 1
        elif table[i + 1, j + 1, k] == value:
            k -= 1
        else:
            a, b, c = 1, 1, 1
            if table[i, j, k + 1] + weight[0, i, j] == value:
                c = 0
            elif table[i, j + 1, k] + weight[1, i, k] == value:
                b = 0
            elif table[i + 1, j, k] + weight[2, j, k] == value:
                a = 0
            for used, share in (
                (a and b, where[0, i, j]),
                (a and c, where[1, i, k]),
                (b and c, where[2, j, k]),
            ):
                if used and share >= 0:
                    chosen[share] = 1
            i, j, k = i - a, j - b, k - c


@compiled
def _align_triples(
    tokens: Any, first: Any, match: Any, cliques: bool,
    triples: Any, offset: Any, share: Any, chosen: Any, triple: _Triple, begin: int, end: int,
) -> Any:  # fmt: skip
    """Align the triples begin … end − 1 exactly; mark the chosen shares; sum the values."""
    total = 0.0
    for q in range(begin, end):
        chosen[offset[q] : offset[q + 1]] = 0
        _keep_useful(tokens, first, match, triples[q], triple)
        _weigh(tokens, match, cliques, share, offset[q], triple)
        total += _fill(triple)
        _trace_back(triple, chosen)
    return total


@compiled
def _share_out(
    triples: Any, offset: Any, edges: Any, base: Any, holders: Any,
    share: Any, chosen: Any, mean: Any, excess: float,
) -> None:  # fmt: skip
    """Move shares against the subgradient: from triples that used a pair to those that did not."""
    mean[:] = 0.0
    for sweep in range(3):
        norm = 0.0
        for q in range(len(triples)):
            at = offset[q]
            for side in range(3):
                n, m = triples[q, side // 2], triples[q, min(side + 1, 2)]
                for e in range(base[n, m], base[n, m] + edges[n, m]):
                    if sweep == 0:
                        mean[e] += chosen[at] / holders[n, m]
                    elif sweep == 1:
                        norm += (chosen[at] - mean[e]) ** 2
                    else:
                        share[at] -= excess * (chosen[at] - mean[e])
                    at += 1
        if sweep == 1:
            if norm == 0.0:
                return
            excess /= norm


def _choose_triples(many: int, most: int, seed: int) -> NDArray[np.int64]:
    """All triples of sequences, or about ``most`` of them that hold every pair equally often.

    {a, b, c} with a + b + c ≡ 0 (mod N) holds nearly every pair once; each round renames the
    sequences at random.
    """
    if many * (many - 1) * (many - 2) // 6 <= most:
        return np.array(list(combinations(range(many), 3)), dtype=np.int64)
    one, two = np.triu_indices(many, 1)
    three = -(one + two) % many
    inside = two < three
    design = np.stack([one[inside], two[inside], three[inside]], axis=1)
    generator = np.random.default_rng(seed)
    rounds = max(3, round(most / len(design)))
    drawn = [generator.permutation(many)[design] for _ in range(rounds)]
    return np.unique(np.sort(np.concatenate(drawn), axis=1), axis=0).astype(np.int64)


def triple_bound(
    problem: AlignmentProblem, *, seconds: float, objective: int, seed: int = 0
) -> int | None:
    """Bound by triples of sequences, or None where the time or memory does not suffice.

    Parameters
    ----------
    seconds
        When to stop; a longer run gives a tighter bound.
    objective
        The best alignment known, for the length of the steps; also ends the search when met.
    """
    start = perf_counter()
    many = len(problem.lengths)
    if many < 3 or int(problem.lengths.max()) >= LONGEST_SEQUENCE:
        return None
    tokens, first, match = problem.tokens, problem.first, problem.match
    edges = _edges(tokens, first, match)
    per_triple = 3 * max(1.0, edges.sum() / (many * (many - 1) / 2))
    most = int(min(SHARES_PER_SECOND * seconds, MOST_SHARES) / per_triple)
    chosen_triples = _choose_triples(many, most, seed)
    holders = np.zeros((many, many), dtype=np.int64)
    sides = [(chosen_triples[:, one], chosen_triples[:, two]) for one, two in SIDES]
    for side in sides:
        np.add.at(holders, side, 1)
    # a pair of sequences that no triple holds is counted in full
    outside = float(edges[holders == 0].sum())
    base = np.concatenate([[0], np.cumsum(edges.ravel())[:-1]]).reshape(edges.shape)
    counts = np.stack([edges[side] for side in sides], axis=1)
    offset = np.concatenate([[0], np.cumsum(counts.sum(axis=1))]).astype(np.int64)
    parts = np.stack([1.0 / holders[side] for side in sides], axis=1)
    share = np.repeat(parts.ravel(), counts.ravel())
    chosen = np.zeros(len(share), dtype=np.int8)
    mean = np.zeros(int(edges.sum()))
    longest = int(problem.lengths.max())
    triple = _allocate(longest)
    per_call = max(1, CELLS_PER_CALL // (longest + 1) ** 3)

    known = (objective / problem.match_cost - len(tokens)) / 2
    best, theta, waited = np.inf, 1.0, 0
    while best == np.inf or objective_at(problem, best) < objective:
        value = outside
        for begin in range(0, len(chosen_triples), per_call):
            if perf_counter() - start > seconds:
                return objective_at(problem, best) if best < np.inf else None
            end = min(begin + per_call, len(chosen_triples))
            value += _align_triples(
                tokens, first, match, problem.conflict_free,
                chosen_triples, offset, share, chosen, triple, begin, end,
            )  # fmt: skip
        waited = 0 if value < best * (1 - 1e-4) else waited + 1
        best = min(best, value)
        if waited > PATIENCE:
            theta, waited = 0.7 * theta, 0
        _share_out(
            chosen_triples, offset, edges, base, holders, share, chosen, mean,
            theta * (value - known),
        )  # fmt: skip
    return objective_at(problem, best)
