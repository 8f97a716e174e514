"""A tight lower bound by decomposition into triples of sequences.

P, the number of matching pairs that an alignment puts together, is a sum over pairs of tokens
e = (s, t). Hand out the unit of every e to the triples of sequences q that contain it,
Σ_q λ_(q,e) = 1. Each triple is then aligned on its own, exactly, by a dynamic programme in three
dimensions, and

    P ≤ Σ_q max_x Σ_e λ_(q,e) x_(q,e)       for every λ.

The right side is convex in λ. A subgradient at λ is x_(q,e) itself; a step along x_(q,e) minus its
mean over q keeps the sums at one (Polyak's step: the value minus the best known P, over the squared
norm). Every λ on the way gives a valid bound, so the method can stop at any time.
"""

from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.script.bound import objective_at
from howsteps.script.compiled import compiled
from howsteps.script.problem import Problem

SIDES = ((0, 1), (0, 2), (1, 2))
MOST_SHARES = 4_000_000
TRIPLES_PER_SECOND = 2_500  # leaves time for some hundred steps
LONGEST = 200  # tokens of one sequence; the programme needs its cube
PATIENCE = 15
TRIPLES_PER_CALL = 2_000


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


@compiled
def _align_triples(
    tokens: Any, first: Any, match: Any, cliques: bool,
    triples: Any, offset: Any, share: Any, chosen: Any, table: Any, begin: int, end: int,
) -> Any:  # fmt: skip
    """Align the triples begin … end − 1 exactly; mark the chosen shares; return the sum of values.

    Side 0, 1, 2 of a triple (a, b, c) is (a, b), (a, c), (b, c). Tokens without a partner in the
    triple are left out. Three tokens share a slot when all match (``cliques``), or when two of the
    three pairs do and the mismatch is forgiven, which keeps the bound valid.
    """
    longest = len(table)
    weight = np.zeros((3, longest, longest))
    where = np.zeros((3, longest, longest), dtype=np.int64)
    kept = np.zeros((3, longest), dtype=np.int64)
    many = np.zeros(3, dtype=np.int64)
    total = 0.0
    for q in range(begin, end):
        for h in range(3):
            many[h] = 0
            for s in range(first[triples[q, h]], first[triples[q, h] + 1]):
                useful = False
                for g in range(3):
                    if g != h:
                        for t in range(first[triples[q, g]], first[triples[q, g] + 1]):
                            useful |= match[tokens[s], tokens[t]]
                if useful:
                    kept[h, many[h]] = s
                    many[h] += 1
        at = offset[q]
        chosen[at : offset[q + 1]] = 0
        for side in range(3):
            one, two = side // 2, min(side + 1, 2)
            for i in range(many[one]):
                for j in range(many[two]):
                    where[side, i, j] = -1
                    if match[tokens[kept[one, i]], tokens[kept[two, j]]]:
                        where[side, i, j] = at
                        weight[side, i, j] = share[at]
                        at += 1
        for i in range(many[0] + 1):
            for j in range(many[1] + 1):
                for k in range(many[2] + 1):
                    value = 0.0
                    if i > 0:
                        value = max(value, table[i - 1, j, k])
                    if j > 0:
                        value = max(value, table[i, j - 1, k])
                    if k > 0:
                        value = max(value, table[i, j, k - 1])
                    ab = i > 0 and j > 0 and where[0, i - 1, j - 1] >= 0
                    ac = i > 0 and k > 0 and where[1, i - 1, k - 1] >= 0
                    bc = j > 0 and k > 0 and where[2, j - 1, k - 1] >= 0
                    together = 0.0
                    if ab:
                        value = max(value, table[i - 1, j - 1, k] + weight[0, i - 1, j - 1])
                        together += weight[0, i - 1, j - 1]
                    if ac:
                        value = max(value, table[i - 1, j, k - 1] + weight[1, i - 1, k - 1])
                        together += weight[1, i - 1, k - 1]
                    if bc:
                        value = max(value, table[i, j - 1, k - 1] + weight[2, j - 1, k - 1])
                        together += weight[2, j - 1, k - 1]
                    if ab + ac + bc == 3 or (not cliques and ab + ac + bc == 2):
                        value = max(value, table[i - 1, j - 1, k - 1] + together)
                    table[i, j, k] = value
        i, j, k = many[0], many[1], many[2]
        total += table[i, j, k]
        while table[i, j, k] > 0:
            value = table[i, j, k]
            if i > 0 and table[i - 1, j, k] >= value:
                i -= 1
                continue
            if j > 0 and table[i, j - 1, k] >= value:
                j -= 1
                continue
            if k > 0 and table[i, j, k - 1] >= value:
                k -= 1
                continue
            ab = i > 0 and j > 0 and where[0, i - 1, j - 1] >= 0
            ac = i > 0 and k > 0 and where[1, i - 1, k - 1] >= 0
            bc = j > 0 and k > 0 and where[2, j - 1, k - 1] >= 0
            if ab and table[i - 1, j - 1, k] + weight[0, i - 1, j - 1] >= value:
                ac, bc = False, False
            elif ac and table[i - 1, j, k - 1] + weight[1, i - 1, k - 1] >= value:
                ab, bc = False, False
            elif bc and table[i, j - 1, k - 1] + weight[2, j - 1, k - 1] >= value:
                ab, ac = False, False
            if ab:
                chosen[where[0, i - 1, j - 1]] = 1
            if ac:
                chosen[where[1, i - 1, k - 1]] = 1
            if bc:
                chosen[where[2, j - 1, k - 1]] = 1
            i, j, k = i - (ab or ac), j - (ab or bc), k - (ac or bc)
    return total


@compiled
def _hand_out(
    triples: Any, offset: Any, edges: Any, base: Any, holders: Any,
    share: Any, chosen: Any, mean: Any, excess: float,
) -> None:  # fmt: skip
    """Move the shares against the subgradient: from triples that used a pair to those that did not."""
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


def triples(problem: Problem, *, seconds: float, objective: int, seed: int = 0) -> int | None:
    """Return a lower bound on the objective, or None where the time or memory does not suffice.

    Parameters
    ----------
    seconds
        When to stop; a longer run gives a tighter bound.
    objective
        The best alignment known, for the length of the steps; also ends the search when met.
    """
    start = perf_counter()
    many = len(problem.lengths)
    if many < 3 or int(problem.lengths.max()) >= LONGEST:
        return None
    tokens, first, match = problem.tokens, problem.first, problem.match
    edges = _edges(tokens, first, match)
    per_triple = 3 * max(1.0, edges.sum() / (many * (many - 1) / 2))
    most = int(min(TRIPLES_PER_SECOND * seconds, MOST_SHARES / per_triple))
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
    table = np.zeros((int(problem.lengths.max()) + 1,) * 3)

    known = (objective / problem.match_cost - len(tokens)) / 2
    best, theta, waited = np.inf, 1.0, 0
    while best == np.inf or objective_at(problem, best) < objective:
        value = outside
        for begin in range(0, len(chosen_triples), TRIPLES_PER_CALL):
            if perf_counter() - start > seconds:
                return objective_at(problem, best) if best < np.inf else None
            end = min(begin + TRIPLES_PER_CALL, len(chosen_triples))
            value += _align_triples(
                tokens, first, match, problem.conflict_free,
                chosen_triples, offset, share, chosen, table, begin, end,
            )  # fmt: skip
        waited = 0 if value < best * (1 - 1e-4) else waited + 1
        best = min(best, value)
        if waited > PATIENCE:
            theta, waited = 0.7 * theta, 0
        _hand_out(
            chosen_triples, offset, edges, base, holders, share, chosen, mean,
            theta * (value - known),
        )  # fmt: skip
    return objective_at(problem, best)
