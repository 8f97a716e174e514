"""The search: simulated annealing with ruin and recreate, on top of an exact move.

**The exact move** (:func:`realign`) aligns one sequence optimally, all others fixed. A slot has a
position between 0 and 1, so that a new one fits between any two. The best alignment of one sequence
is a heaviest increasing chain: token s may join the tokens of slot l, which gains −2 Σ_(t in l)
c(s, t), or open a slot of its own, which gains nothing. Only slots that hold a matching token can
gain, so the dynamic programme costs the number of matching tokens, not S_n × L.

**Two moves of the annealing.** *Ruin* removes a few sequences that share a relation and inserts
them again one by one. *Reseed* gives one slot a bonus (or opens a new slot between the neighbours
of one token) and re-aligns every sequence that could join it, which lets slots merge, split and
shift. Each is followed by a descent: the affected sequences are re-aligned until none improves.

The budget is counted in elementary operations, not in time. It is set by the size of the problem
and by ``seconds`` (at a rate well below that of an ordinary machine), so that a seed gives the same
answer on every machine; a slow machine takes longer.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.paper.alignment_problem import AlignmentProblem

# Arguments of :func:`realign`. As NumPy's integers: Numba compiles a function for each literal.
NO_SEED: Any = np.int64(-1)
NO_BONUS: Any = np.int64(0)
LEAST_GAP = 1e-9  # between two positions; slots that are closer are spread evenly first


class Tokens(NamedTuple):
    """The problem as the compiled code reads it."""

    first: Any  # sequence n owns the tokens first[n] … first[n + 1] − 1
    sequence: Any
    relation: Any
    partner_first: Any  # relation d matches the tokens partner[partner_first[d] … [d + 1] − 1]
    partner: Any
    match: Any
    match_cost: int
    mismatch_cost: int


class Template(NamedTuple):
    """The state of the search: the slot of every token (−1: none), and size and position of each.

    A slot without a token is free.
    """

    slot: Any
    size: Any
    position: Any
    work: Any  # one number: elementary operations so far
    random: Any  # one number: the state of the generator


class Scratch(NamedTuple):
    """Preallocated buffers; ``count`` and ``in_queue`` are all zero between calls."""

    count: Any  # by slot: matching tokens
    touched: Any  # the slots with a count
    score: Any  # by node: that of the heaviest chain that ends there; random fractions break ties
    gain: Any  # by node: of joining its slot, without bonus
    parent: Any  # by node: the one before it in its chain
    node_slot: Any
    node_token: Any
    heaviest: Any  # by number of tokens: the node that ends the heaviest chain of the first tokens
    in_queue: Any  # by sequence
    queue: Any  # of sequences to re-align


def allocate(problem: AlignmentProblem, seed: int) -> tuple[Tokens, Template, Scratch]:
    """Allocate the state of the search, with an empty template; no sequence may be empty."""
    matching = problem.match[:, problem.tokens]
    partner_first = np.concatenate([[0], np.cumsum(matching.sum(axis=1))]).astype(np.int64)
    tokens = Tokens(
        problem.first,
        problem.sequence,
        problem.tokens,
        partner_first,
        np.nonzero(matching)[1].astype(np.int64),
        problem.match,
        problem.match_cost,
        problem.mismatch_cost,
    )
    n_tokens, n_sequences = len(problem.tokens), len(problem.lengths)
    slots = 2 * n_tokens  # half of them are free, so one is found at once
    partners = np.diff(partner_first)[problem.tokens]
    nodes = int(np.add.reduceat(partners, problem.first[:-1]).max())

    def zeros(length: int) -> Any:
        return np.zeros(length, dtype=np.int64)

    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    template = Template(zeros(n_tokens) - 1, zeros(slots), np.zeros(slots), zeros(1), state)
    scratch = Scratch(
        zeros(slots), zeros(int(partners.max()) + 1), np.zeros(nodes), zeros(nodes), zeros(nodes),
        zeros(nodes), zeros(nodes), zeros(int(problem.lengths.max()) + 1),
        np.zeros(n_sequences, dtype=bool), zeros(n_sequences),
    )  # fmt: skip
    return tokens, template, scratch


@compiled
def random_unit(template: Template) -> Any:
    """A random number in (0, 1] (xorshift, so the same for a seed on every machine)."""
    x = template.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    template.random[0] = x
    return ((x >> np.uint64(11)) + np.uint64(1)) * 2.0**-53


@compiled
def random_below(template: Template, n: int) -> Any:
    """A random integer from 0 … n − 1."""
    return min(np.int64(random_unit(template) * n), n - 1)


@compiled
def slot_cost(tokens: Tokens, template: Template, s: int) -> Any:
    """Σ 2 c(s, t) over the other tokens t in the slot of token s."""
    d, column = tokens.relation[s], template.slot[s]
    matching = -1
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        if template.slot[tokens.partner[k]] == column:
            matching += 1
    template.work[0] += tokens.partner_first[d + 1] - tokens.partner_first[d]
    others = template.size[column] - 1
    return 2 * (tokens.match_cost * matching + tokens.mismatch_cost * (others - matching))


@compiled
def detach(tokens: Tokens, template: Template, s: int) -> Any:
    """Remove token s from its slot; return the change of the objective."""
    change = -slot_cost(tokens, template, s)
    template.size[template.slot[s]] -= 1
    template.slot[s] = -1
    return change


@compiled
def open_slots(tokens: Tokens, template: Template, n: int) -> None:
    """Give tokens of sequence n that have no slot one each, at random between their neighbours."""
    slot, size, position = template.slot, template.size, template.position
    begin, end = tokens.first[n], tokens.first[n + 1]
    free = random_below(template, len(size))
    for s in range(begin, end):
        if slot[s] >= 0:
            continue
        stop = s + 1
        while stop < end and slot[stop] < 0:
            stop += 1
        left = position[slot[s - 1]] if s > begin else 0.0
        right = position[slot[stop]] if stop < end else 1.0
        if right - left < LEAST_GAP:
            position[np.argsort(position)] = np.arange(1, len(position) + 1) / (len(position) + 1)
            template.work[0] += 10 * len(position)
            left = position[slot[s - 1]] if s > begin else 0.0
            right = position[slot[stop]] if stop < end else 1.0
        while size[free] > 0:
            free = (free + 1) % len(size)
        # The first of several uniform positions, and never one that rounds to a neighbour's.
        share = 1.0 - random_unit(template) ** (1.0 / (stop - s))
        position[free] = left + (right - left) * min(max(share, 1e-4), 1.0 - 1e-4)
        size[free] = 1
        slot[s] = free


@compiled
def _count_matches(tokens: Tokens, template: Template, scratch: Scratch, d: int) -> Any:
    """Count in each slot the tokens that match relation d.

    Returns the number of slots with a count, which are in ``touched``; the caller clears them.
    """
    found = 0
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        column = template.slot[tokens.partner[k]]
        if column >= 0:
            if scratch.count[column] == 0:
                scratch.touched[found] = column
                found += 1
            scratch.count[column] += 1
    template.work[0] += tokens.partner_first[d + 1] - tokens.partner_first[d] + 8 * found
    return found


@compiled
def _heaviest_chain(template: Template, scratch: Scratch, begin: int, end: int, nodes: int) -> Any:
    """The last node of the heaviest chain through slots in order of position (−1: no node).

    The nodes are in descending order of tokens, so that no two of a chain share a slot.
    """
    heaviest = scratch.heaviest
    heaviest[: end - begin + 1] = -1
    positions = template.position[scratch.node_slot[:nodes]]
    for node in np.argsort(positions, kind="mergesort"):
        i = scratch.node_token[node] - begin
        left = heaviest[i]
        scratch.parent[node] = left
        if left >= 0:
            scratch.score[node] += scratch.score[left]
        for j in range(i + 1, end - begin + 1):
            if heaviest[j] >= 0 and scratch.score[node] <= scratch.score[heaviest[j]]:
                break
            heaviest[j] = node
    return heaviest[end - begin]


@compiled
def realign(
    tokens: Tokens, template: Template, scratch: Scratch, n: int, seed: int, bonus: int
) -> Any:
    """Align sequence n optimally given all others; return the change of the objective.

    The slot of token ``seed`` (−1: none) counts as if it held ``bonus`` more tokens like it. A
    sequence that is in the template moves only if that is strictly better.
    """
    slot, size = template.slot, template.size
    begin, end = tokens.first[n], tokens.first[n + 1]
    old = slot[begin:end].copy()
    attached = old[0] >= 0
    if attached:
        size[old] -= 1
        slot[begin:end] = -1
    nodes, old_gain, old_score = 0, 0, 0
    for s in range(end - 1, begin - 1, -1):
        d, here = tokens.relation[s], old[s - begin]
        extra, seeded = 0, -1
        if seed >= 0:
            matches = tokens.match[d, tokens.relation[seed]]
            extra = -2 * bonus * (tokens.match_cost if matches else tokens.mismatch_cost)
            seeded = slot[seed]
        found = _count_matches(tokens, template, scratch, d)
        if attached and scratch.count[here] == 0:
            scratch.touched[found] = here
            found += 1
        for j in range(found):
            column = scratch.touched[j]
            matching = scratch.count[column]
            scratch.count[column] = 0
            clashing = size[column] - matching
            gain = -2 * (tokens.match_cost * matching + tokens.mismatch_cost * clashing)
            score = gain + (extra if column == seeded else 0)
            if column == here:
                old_gain += gain
                old_score += score
            if score > 0:
                scratch.score[nodes] = score + random_unit(template) / (end - begin + 1)
                scratch.gain[nodes] = gain
                scratch.node_slot[nodes] = column
                scratch.node_token[nodes] = s
                nodes += 1
    template.work[0] += 60 + 4 * (end - begin) + 16 * nodes
    node = _heaviest_chain(template, scratch, begin, end, nodes)
    if attached and (int(scratch.score[node]) if node >= 0 else 0) <= old_score:
        slot[begin:end] = old
        size[old] += 1
        return 0
    change = old_gain
    while node >= 0:
        slot[scratch.node_token[node]] = scratch.node_slot[node]
        size[scratch.node_slot[node]] += 1
        change -= scratch.gain[node]
        node = scratch.parent[node]
    open_slots(tokens, template, n)
    return change


WORK_PER_SECOND = 1.3e8
WORK_PER_TOKEN_PAIR = 6_500
BASE_WORK = 3e6
WORK_PER_CALL = (1e5, 5e6)  # between two comparisons with the floor: initially, at most
COLD = 0.05  # final temperature, in units of the mean gain of a token
RESEED_PERCENT = 80
MAX_RUINED = 6


@compiled
def _enqueue(tokens: Tokens, scratch: Scratch, begin: int, end: int, queued: int) -> Any:
    """Queue every sequence that could share a slot with one of these tokens; return its length."""
    for s in range(begin, end):
        d = tokens.relation[s]
        for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
            n = tokens.sequence[tokens.partner[k]]
            if not scratch.in_queue[n]:
                scratch.in_queue[n] = True
                scratch.queue[queued] = n
                queued += 1
    return queued


@compiled
def _enqueue_partners(tokens: Tokens, scratch: Scratch, n: int, queued: int) -> Any:
    """Queue every sequence that could share a slot with sequence n."""
    return _enqueue(tokens, scratch, tokens.first[n], tokens.first[n + 1], queued)


@compiled
def _swap(scratch: Scratch, i: int, j: int) -> Any:
    """Exchange two places of the queue; return the sequence that is now at ``i``."""
    n = scratch.queue[j]
    scratch.queue[j] = scratch.queue[i]
    scratch.queue[i] = n
    return n


@compiled
def _descend(tokens: Tokens, template: Template, scratch: Scratch, queued: int) -> Any:
    """Re-align the queued sequences, and those that a change affects, until none improves."""
    change = 0
    while queued > 0:
        queued -= 1
        n = _swap(scratch, queued, random_below(template, queued + 1))
        scratch.in_queue[n] = False
        delta = realign(tokens, template, scratch, n, NO_SEED, NO_BONUS)
        if delta < 0:
            change += delta
            queued = _enqueue_partners(tokens, scratch, n, queued)
    return change


@compiled
def _reseed(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Give the slot of one token a bonus; return the change and the queue's length."""
    seed = random_below(template, len(template.slot))
    home, d = tokens.sequence[seed], tokens.relation[seed]
    change = 0
    if template.size[template.slot[seed]] > 1 and random_below(template, 2) == 0:
        change += detach(tokens, template, seed)
        open_slots(tokens, template, home)
    bonus = 1 + random_below(template, tokens.partner_first[d + 1] - tokens.partner_first[d])
    queued = _enqueue(tokens, scratch, seed, seed + 1, 0)
    n_partners = queued
    for i in range(n_partners):
        n = _swap(scratch, i, i + random_below(template, n_partners - i))
        if n != home:
            delta = realign(tokens, template, scratch, n, seed, bonus)
            change += delta
            if delta != 0:
                queued = _enqueue_partners(tokens, scratch, n, queued)
    return change, queued


@compiled
def _ruin(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Remove and re-insert some sequences; return the change and the queue's length."""
    d = tokens.relation[random_below(template, len(template.slot))]
    partners = tokens.partner_first[d + 1] - tokens.partner_first[d]
    change, queued = 0, 0
    for _ in range(1 + random_below(template, MAX_RUINED)):
        if random_below(template, 4) == 0:
            n = random_below(template, len(tokens.first) - 1)
        else:
            k = tokens.partner_first[d] + random_below(template, partners)
            n = tokens.sequence[tokens.partner[k]]
        if not scratch.in_queue[n]:
            scratch.in_queue[n] = True
            scratch.queue[queued] = n
            queued += 1
            for s in range(tokens.first[n], tokens.first[n + 1]):
                change += detach(tokens, template, s)
    for i in range(queued):
        n = scratch.queue[i]
        change += realign(tokens, template, scratch, n, NO_SEED, NO_BONUS)
        queued = _enqueue_partners(tokens, scratch, n, queued)
    return change, queued


@compiled
def _construct(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Insert the sequences one by one in random order, then descend; return the objective."""
    n_sequences = len(tokens.first) - 1
    for n in range(n_sequences):
        scratch.queue[n] = n
        scratch.in_queue[n] = True
    change = 0
    for i in range(n_sequences):
        n = _swap(scratch, i, i + random_below(template, n_sequences - i))
        change += realign(tokens, template, scratch, n, NO_SEED, NO_BONUS)
    change += _descend(tokens, template, scratch, n_sequences)
    return len(template.slot) * tokens.match_cost + change


@compiled
def _anneal(
    tokens: Tokens,
    template: Template,
    scratch: Scratch,
    best: Any,
    objective: Any,
    hot: float,
    cold: float,
    budget: float,
    until: float,
) -> None:
    """Make moves until the work done reaches ``until``.

    ``objective`` is [current, best]; ``best`` holds the positions of the best alignment. Both are
    changed in place.
    """
    slot, size, position = template.slot, template.size, template.position
    while template.work[0] < until:
        temperature = hot * (cold / hot) ** (template.work[0] / budget)
        old_slot, old_position = slot.copy(), position.copy()
        if random_below(template, 100) < RESEED_PERCENT:
            change, queued = _reseed(tokens, template, scratch)
        else:
            change, queued = _ruin(tokens, template, scratch)
        change += _descend(tokens, template, scratch, queued)
        template.work[0] += 8 * len(slot)
        if change <= -temperature * np.log(random_unit(template)):
            objective[0] += change
            if objective[0] < objective[1]:
                objective[1] = objective[0]
                best[:] = position[slot]
        else:
            slot[:] = old_slot
            position[:] = old_position
            size[:] = 0
            for s in range(len(slot)):
                size[slot[s]] += 1


def search(
    problem: AlignmentProblem, *, seconds: float, seed: int, floor: float
) -> NDArray[np.int64]:
    """Return the slot of every token of sequences that are not empty, on a template of any length.

    ``seconds`` sets the budget, at :data:`WORK_PER_SECOND`. The search ends when it reaches
    ``floor``, a lower bound of the objective.
    """
    tokens, template, scratch = allocate(problem, seed)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best = template.position[template.slot]
    pairs = len(best) ** 2
    budget = min(seconds * WORK_PER_SECOND, BASE_WORK + WORK_PER_TOKEN_PAIR * pairs)
    # A small budget per pair of tokens is too short to cool down from a high temperature.
    hot = min(1.0, max(2 * COLD, budget / (200 * pairs)))
    scale = -float(objective[1]) / len(best)
    while template.work[0] < budget and objective[1] > floor:
        done = float(template.work[0])
        until = min(budget, done + min(max(done, WORK_PER_CALL[0]), WORK_PER_CALL[1]))
        _anneal(
            tokens, template, scratch, best, objective, hot * scale, COLD * scale, budget, until
        )
    return np.unique(best, return_inverse=True)[1].astype(np.int64)
