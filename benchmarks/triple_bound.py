"""A tighter lower bound of the alignment's objective: how far from the optimum the search can be.

Where :func:`howsteps.paper.alignment.pair_bound` takes pairs of sequences, this takes triples, by
Lagrangian decomposition. Two tokens in one slot cost at least −1 each way, so

    Tr(UᵀBU) ≥ −S − 2·P,    P ≥ number of matching pairs that share a slot in any alignment,

and P is a sum over pairs of tokens e = (s, t). The unit weight of every e is shared among the
triples of sequences q that contain it, Σ_q λ_(q,e) = 1. Each triple is then aligned on its own,
exactly, by dynamic programming in three dimensions, and

    P ≤ Σ_q max_x Σ_e λ_(q,e) x_(q,e)       for every λ.

The right side is convex in λ. A subgradient at λ is x_(q,e) itself; a step along x_(q,e) minus its
mean over q keeps the sums at one (Polyak's step size: the value minus the best known P, over the
squared norm). Every λ gives a valid bound, so the method can stop at any time.
"""

from itertools import combinations
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.paper.alignment import pair_bound
from howsteps.paper.alignment_problem import MATCH_COST, MISMATCH_COST, AlignmentProblem

ROUNDING = 1e-3  # sums of floats that are integers; err on the safe side
SIDES = ((0, 1), (0, 2), (1, 2))
MAX_SHARES = 4_000_000
SHARES_PER_SECOND = 24_000  # leaves time for some hundred subgradient steps
MAX_LENGTH = 200  # tokens; the dynamic programme takes the cube
PATIENCE = 15  # steps without progress before the step size is reduced
CELLS_PER_CALL = 20_000_000  # of the dynamic programme between two checks of the time


def objective_at(problem: AlignmentProblem, pairs: float) -> int:
    """Turn an upper bound of P into a lower bound of the objective; P is an integer."""
    return MATCH_COST * (len(problem.tokens) + 2 * int(np.floor(pairs + ROUNDING)))


def conflict_free(problem: AlignmentProblem) -> bool:
    """Whether some optimal alignment has only matching tokens in every slot.

    A token with a mismatch among m tokens costs at least 2·(100 − (m − 2)); as
    long as that is not negative, a slot of its own is no worse.
    """
    return MISMATCH_COST + (len(problem.lengths) - 2) * MATCH_COST >= 0


class _Triple(NamedTuple):
    """Buffers for one triple (a, b, c); its sides 0, 1, 2 are (a, b), (a, c), (b, c).

    Tokens are counted from one; index zero matches nothing.
    """

    n_kept: Any  # number of tokens of each sequence that have a partner in the triple
    kept: Any  # and which they are
    share_index: Any  # side × i × j: the index of the share, −1 if the tokens do not match
    weight: Any  # its value, −∞ if they do not match
    triple_weight: Any  # the weight of the side if all three tokens share a slot
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
def _find_useful(tokens: Any, first: Any, match: Any, members: Any, triple: _Triple) -> None:
    """Find the tokens that have a partner in the triple."""
    for h in range(3):
        triple.n_kept[h] = 0
        for s in range(first[members[h]], first[members[h] + 1]):
            useful = False
            for g in range(3):
                if g != h:
                    for t in range(first[members[g]], first[members[g] + 1]):
                        useful |= match[tokens[s], tokens[t]]
            if useful:
                triple.n_kept[h] += 1
                triple.kept[h, triple.n_kept[h]] = s


@compiled
def _set_weights(
    tokens: Any, match: Any, cliques: bool, share: Any, offset: int, triple: _Triple
) -> None:
    """Set the weights of all pairs of tokens, from the shares that begin at ``offset``.

    With ``cliques``, three tokens share a slot only if all match. Without, a mismatch counts as 0,
    which keeps the bound valid if an optimum may contain mismatches.
    """
    for side in range(3):
        one, two = side // 2, min(side + 1, 2)
        for i in range(1, triple.n_kept[one] + 1):
            for j in range(1, triple.n_kept[two] + 1):
                if match[tokens[triple.kept[one, i]], tokens[triple.kept[two, j]]]:
                    triple.share_index[side, i, j] = offset
                    triple.weight[side, i, j] = share[offset]
                    triple.triple_weight[side, i, j] = share[offset]
                    offset += 1
                else:
                    triple.share_index[side, i, j] = -1
                    triple.weight[side, i, j] = -np.inf
                    triple.triple_weight[side, i, j] = -np.inf if cliques else 0.0


@compiled
def _fill_table(triple: _Triple) -> Any:
    """Fill the table; return the weight of the best alignment of the triple."""
    table, weight, triple_weight = triple.table, triple.weight, triple.triple_weight
    n_kept = triple.n_kept
    for i in range(n_kept[0] + 1):
        for j in range(n_kept[1] + 1):
            for k in range(n_kept[2] + 1):
                table[i + 1, j + 1, k + 1] = max(
                    table[i, j + 1, k + 1],
                    table[i + 1, j, k + 1],
                    table[i + 1, j + 1, k],
                    table[i, j, k + 1] + weight[0, i, j],
                    table[i, j + 1, k] + weight[1, i, k],
                    table[i + 1, j, k] + weight[2, j, k],
                    table[i, j, k]
                    + triple_weight[0, i, j]
                    + triple_weight[1, i, k]
                    + triple_weight[2, j, k],
                )
    return table[n_kept[0] + 1, n_kept[1] + 1, n_kept[2] + 1]


@compiled
def _trace_back(triple: _Triple, chosen: Any) -> None:
    """Mark the shares that the heaviest alignment uses."""
    table, weight, share_index = triple.table, triple.weight, triple.share_index
    i, j, k = triple.n_kept[0], triple.n_kept[1], triple.n_kept[2]
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
                (a and b, share_index[0, i, j]),
                (a and c, share_index[1, i, k]),
                (b and c, share_index[2, j, k]),
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
        _find_useful(tokens, first, match, triples[q], triple)
        _set_weights(tokens, match, cliques, share, offset[q], triple)
        total += _fill_table(triple)
        _trace_back(triple, chosen)
    return total


@compiled
def _move_shares(
    triples: Any, offset: Any, edges: Any, base: Any, holders: Any,
    share: Any, chosen: Any, mean: Any, excess: float,
) -> None:  # fmt: skip
    """Subgradient step: move shares from triples that use a pair to those that do not."""
    mean[:] = 0.0
    for sweep in range(3):
        norm = 0.0
        for q in range(len(triples)):
            i = offset[q]
            for side in range(3):
                n, m = triples[q, side // 2], triples[q, min(side + 1, 2)]
                for e in range(base[n, m], base[n, m] + edges[n, m]):
                    if sweep == 0:
                        mean[e] += chosen[i] / holders[n, m]
                    elif sweep == 1:
                        norm += (chosen[i] - mean[e]) ** 2
                    else:
                        share[i] -= excess * (chosen[i] - mean[e])
                    i += 1
        if sweep == 1:
            if norm == 0.0:
                return
            excess /= norm


def _choose_triples(n_sequences: int, limit: int) -> NDArray[np.int64]:
    """All triples of sequences, or about ``limit`` of them that cover all pairs equally often.

    {a, b, c} with a + b + c ≡ 0 (mod N) covers nearly every pair once; each round permutes the
    sequences at random.
    """
    if n_sequences * (n_sequences - 1) * (n_sequences - 2) // 6 <= limit:
        return np.array(list(combinations(range(n_sequences), 3)), dtype=np.int64)
    one, two = np.triu_indices(n_sequences, 1)
    three = -(one + two) % n_sequences
    inside = two < three
    design = np.stack([one[inside], two[inside], three[inside]], axis=1)
    generator = np.random.default_rng(0)
    rounds = max(3, round(limit / len(design)))
    triples = [generator.permutation(n_sequences)[design] for _ in range(rounds)]
    return np.unique(np.sort(np.concatenate(triples), axis=1), axis=0).astype(np.int64)


def triple_bound(problem: AlignmentProblem, *, seconds: float, objective: int) -> int:
    """Bound by triples of sequences, or by pairs where that is tighter; it grows with the time.

    ``objective``, of the best known alignment, sets the step size, and ends the search when the
    bound meets it.
    """
    start = perf_counter()
    n_sequences = len(problem.lengths)
    bound = pair_bound(problem)
    if n_sequences < 3 or int(problem.lengths.max()) >= MAX_LENGTH:
        return bound
    tokens, first, match = problem.tokens, problem.first, problem.match
    counts = np.zeros((n_sequences, len(match)), dtype=np.int64)
    np.add.at(counts, (problem.sequence, tokens), 1)
    edges = np.triu(counts @ match.astype(np.int64) @ counts.T, 1)  # matching pairs of n < m
    per_triple = 3 * max(1.0, edges.sum() / (n_sequences * (n_sequences - 1) / 2))
    limit = int(min(SHARES_PER_SECOND * seconds, MAX_SHARES) / per_triple)
    chosen_triples = _choose_triples(n_sequences, limit)
    holders = np.zeros((n_sequences, n_sequences), dtype=np.int64)
    sides = [(chosen_triples[:, one], chosen_triples[:, two]) for one, two in SIDES]
    for side in sides:
        np.add.at(holders, side, 1)
    # A pair of sequences that is in no triple counts in full.
    outside = float(edges[holders == 0].sum())
    base = np.concatenate([[0], np.cumsum(edges.ravel())[:-1]]).reshape(edges.shape)
    by_side = np.stack([edges[side] for side in sides], axis=1)
    offset = np.concatenate([[0], np.cumsum(by_side.sum(axis=1))]).astype(np.int64)
    parts = np.stack([1.0 / holders[side] for side in sides], axis=1)
    share = np.repeat(parts.ravel(), by_side.ravel())
    chosen = np.zeros(len(share), dtype=np.int8)
    mean = np.zeros(int(edges.sum()))
    longest = int(problem.lengths.max())
    triple = _allocate(longest)
    per_call = max(1, CELLS_PER_CALL // (longest + 1) ** 3)

    known = (objective / MATCH_COST - len(problem.tokens)) / 2
    best, theta, stalled = np.inf, 1.0, 0
    while bound < objective:
        value = outside
        for begin in range(0, len(chosen_triples), per_call):
            if perf_counter() - start > seconds:
                return bound
            end = min(begin + per_call, len(chosen_triples))
            value += _align_triples(
                tokens, first, match, conflict_free(problem),
                chosen_triples, offset, share, chosen, triple, begin, end,
            )  # fmt: skip
        stalled = 0 if value < best * (1 - 1e-4) else stalled + 1
        best = min(best, value)
        bound = max(bound, objective_at(problem, best))
        if stalled > PATIENCE:
            theta, stalled = 0.7 * theta, 0
        _move_shares(
            chosen_triples, offset, edges, base, holders, share, chosen, mean,
            theta * (value - known),
        )  # fmt: skip
    return bound
