"""The search: ruin and recreate, on top of an exact move.

**The exact move** (:func:`realign`) aligns one sequence optimally, all others fixed. A slot has a
position between 0 and 1, so that a new one fits between any two. The best alignment of one sequence
is a heaviest increasing chain: token i may join the tokens of slot l, which gains −2 Σ_(t in l)
c(i, t), or open a slot of its own, which gains nothing. Only slots that hold a matching token can
gain, so the dynamic programme costs the number of matching tokens, not S_n × L.

**Descent**: sequences are re-aligned until none improves. **Ruin and recreate** (:func:`_improve`)
takes a random number of random sequences out of the slots that they share, and descends; what is
worse than before is undone.

The budget is counted in elementary operations, not in time. It is set by the size of the problem
and by ``seconds`` (at a rate well below that of an ordinary machine), so that a seed gives the same
answer on every machine; a slow machine takes longer.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.paper.alignment_problem import MATCH_COST, MISMATCH_COST, AlignmentProblem

LEAST_GAP = 1e-9  # between two positions; slots that are closer are spread evenly first


class State(NamedTuple):
    """The problem and the template as the compiled code has them, and its buffers.

    A slot without a token is free. ``count`` and ``in_queue`` are all zero between calls.
    """

    first: Any  # sequence n owns the tokens first[n] … first[n + 1] − 1
    sequence: Any  # by token
    relation: Any
    partner_first: Any  # relation d matches the tokens partner[partner_first[d] … [d + 1] − 1]
    partner: Any
    slot: Any  # by token; −1 while it is being placed
    size: Any  # by slot: its tokens
    position: Any
    work: Any  # one number: elementary operations so far
    random: Any  # one number: the state of the generator
    count: Any  # by slot: matching tokens
    touched: Any  # the slots with a count
    score: Any  # by node: that of the heaviest chain that ends there; random fractions break ties
    parent: Any  # by node: the one before it in its chain
    node_slot: Any
    node_token: Any
    heaviest: Any  # by number of tokens: the node that ends the heaviest chain of the first tokens
    in_queue: Any  # by sequence
    queue: Any  # of sequences to re-align


def initial_state(problem: AlignmentProblem, seed: int) -> State:
    """Return a template with a slot for every token."""
    lengths = problem.lengths[problem.lengths > 0]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    sequence = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    matching = problem.match[:, problem.tokens]
    partner_first = np.concatenate([[0], np.cumsum(matching.sum(axis=1))]).astype(np.int64)
    partners = np.diff(partner_first)[problem.tokens]
    n_tokens, n_sequences = len(problem.tokens), len(lengths)
    n_slots = 2 * n_tokens  # half of them are free, so one is found at once
    n_nodes = int(np.add.reduceat(partners, first[:-1]).max())
    every = np.arange(n_tokens)
    place = every - first[sequence] + np.random.default_rng(seed).random(n_tokens)
    position = np.zeros(n_slots)
    position[:n_tokens] = place / lengths[sequence]

    def zeros(length: int) -> Any:
        return np.zeros(length, dtype=np.int64)

    return State(
        first=first,
        sequence=sequence,
        relation=problem.tokens,
        partner_first=partner_first,
        partner=np.nonzero(matching)[1].astype(np.int64),
        slot=every,
        size=np.repeat(np.array([1, 0]), n_tokens),
        position=position,
        work=zeros(1),
        random=np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1),
        count=zeros(n_slots),
        touched=zeros(int(partners.max()) + 1),
        score=np.zeros(n_nodes),
        parent=zeros(n_nodes),
        node_slot=zeros(n_nodes),
        node_token=zeros(n_nodes),
        heaviest=zeros(int(lengths.max()) + 1),
        in_queue=np.zeros(n_sequences, dtype=bool),
        queue=zeros(n_sequences),
    )


@compiled
def random_unit(state: State) -> Any:
    """A random number in (0, 1] (xorshift, so the same for a seed on every machine)."""
    x = state.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state.random[0] = x
    return ((x >> np.uint64(11)) + np.uint64(1)) * 2.0**-53


@compiled
def random_below(state: State, n: int) -> Any:
    """A random integer from 0 … n − 1."""
    return min(np.int64(random_unit(state) * n), n - 1)


@compiled
def open_slots(state: State, n: int) -> None:
    """Give tokens of sequence n that have no slot one each, at random between their neighbours."""
    slot, size, position = state.slot, state.size, state.position
    begin, end = state.first[n], state.first[n + 1]
    free = random_below(state, len(size))
    for i in range(begin, end):
        if slot[i] >= 0:
            continue
        stop = i + 1
        while stop < end and slot[stop] < 0:
            stop += 1
        left = position[slot[i - 1]] if i > begin else 0.0
        right = position[slot[stop]] if stop < end else 1.0
        if right - left < LEAST_GAP:
            position[np.argsort(position)] = np.arange(1, len(position) + 1) / (len(position) + 1)
            left = position[slot[i - 1]] if i > begin else 0.0
            right = position[slot[stop]] if stop < end else 1.0
        while size[free] > 0:
            free = (free + 1) % len(size)
        # The first of several uniform positions, and never one that rounds to a neighbour's.
        share = 1.0 - random_unit(state) ** (1.0 / (stop - i))
        position[free] = left + (right - left) * min(max(share, 1e-4), 1.0 - 1e-4)
        size[free] = 1
        slot[i] = free


@compiled
def _heaviest_chain(state: State, begin: int, end: int, nodes: int) -> Any:
    """The last node of the heaviest chain through slots in order of position (−1: no node).

    The nodes are in descending order of tokens, so that no two of a chain share a slot.
    """
    heaviest, score = state.heaviest, state.score
    heaviest[: end - begin + 1] = -1
    positions = state.position[state.node_slot[:nodes]]
    for node in np.argsort(positions, kind="mergesort"):
        i = state.node_token[node] - begin
        left = heaviest[i]
        state.parent[node] = left
        if left >= 0:
            score[node] += score[left]
        for j in range(i + 1, end - begin + 1):
            if heaviest[j] >= 0 and score[node] <= score[heaviest[j]]:
                break
            heaviest[j] = node
    return heaviest[end - begin]


@compiled
def realign(state: State, n: int) -> Any:
    """Align sequence n optimally given all others; return the change of the objective.

    The sequence moves only if that is strictly better.
    """
    slot, size, count = state.slot, state.size, state.count
    begin, end = state.first[n], state.first[n + 1]
    old = slot[begin:end].copy()
    size[old] -= 1
    slot[begin:end] = -1
    nodes, old_gain = 0, 0
    for i in range(end - 1, begin - 1, -1):
        d, here = state.relation[i], old[i - begin]
        found = 0
        for k in range(state.partner_first[d], state.partner_first[d + 1]):
            column = slot[state.partner[k]]
            if column >= 0:
                if count[column] == 0:
                    state.touched[found] = column
                    found += 1
                count[column] += 1
        state.work[0] += state.partner_first[d + 1] - state.partner_first[d] + 8 * found
        if count[here] == 0:
            state.touched[found] = here
            found += 1
        for j in range(found):
            column = state.touched[j]
            clashing = size[column] - count[column]
            gain = -2 * (MATCH_COST * count[column] + MISMATCH_COST * clashing)
            count[column] = 0
            if column == here:
                old_gain += gain
            if gain > 0:
                state.score[nodes] = gain + random_unit(state) / (end - begin + 1)
                state.node_slot[nodes] = column
                state.node_token[nodes] = i
                nodes += 1
    state.work[0] += 75 + 4 * (end - begin) + 16 * nodes
    node = _heaviest_chain(state, begin, end, nodes)
    gain = int(state.score[node]) if node >= 0 else 0  # the fractions add up to less than one
    if gain <= old_gain:
        slot[begin:end] = old
        size[old] += 1
        return 0
    while node >= 0:
        slot[state.node_token[node]] = state.node_slot[node]
        size[state.node_slot[node]] += 1
        node = state.parent[node]
    open_slots(state, n)
    return old_gain - gain


WORK_PER_SECOND = 1.3e8
WORK_PER_TOKEN_PAIR = 6_500
BASE_WORK = 3e6
WORK_PER_CALL = 1e6  # between two comparisons with the floor


@compiled
def _enqueue(state: State, begin: int, end: int, queued: int) -> Any:
    """Queue every sequence that could share a slot with one of these tokens; return its length."""
    for i in range(begin, end):
        d = state.relation[i]
        for k in range(state.partner_first[d], state.partner_first[d + 1]):
            n = state.sequence[state.partner[k]]
            if not state.in_queue[n]:
                state.in_queue[n] = True
                state.queue[queued] = n
                queued += 1
    return queued


@compiled
def _swap(state: State, i: int, j: int) -> Any:
    """Swap two entries of the queue; return the sequence that is now at ``i``."""
    n = state.queue[j]
    state.queue[j] = state.queue[i]
    state.queue[i] = n
    return n


@compiled
def _descend(state: State, queued: int) -> Any:
    """Re-align the queued sequences, and those that a change affects, until none improves."""
    change = 0
    while queued > 0:
        queued -= 1
        n = _swap(state, queued, random_below(state, queued + 1))
        state.in_queue[n] = False
        delta = realign(state, n)
        if delta < 0:
            change += delta
            queued = _enqueue(state, state.first[n], state.first[n + 1], queued)
    return change


@compiled
def _release(state: State, n: int) -> Any:
    """Give every token of sequence n a slot of its own; return the change of the objective."""
    slot, size = state.slot, state.size
    change = 0
    for i in range(state.first[n], state.first[n + 1]):
        d, column = state.relation[i], slot[i]
        matching = -1  # itself
        for k in range(state.partner_first[d], state.partner_first[d + 1]):
            matching += slot[state.partner[k]] == column
        state.work[0] += state.partner_first[d + 1] - state.partner_first[d] + 8
        clashing = size[column] - 1 - matching
        change -= 2 * (MATCH_COST * matching + MISMATCH_COST * clashing)
        size[column] -= 1
        slot[i] = -1
    open_slots(state, n)
    return change


@compiled
def _improve(state: State, until: float) -> Any:
    """Ruin and recreate until so much work is done; return the change of the objective."""
    slot, size, position = state.slot, state.size, state.position
    total = 0
    while state.work[0] < until:
        old_slot, old_size, old_position = slot.copy(), size.copy(), position.copy()
        state.queue[:] = np.arange(len(state.queue))
        released = 1 + random_below(state, len(state.queue))
        change = 0
        for i in range(released):
            n = _swap(state, i, i + random_below(state, len(state.queue) - i))
            change += _release(state, n)
            state.in_queue[n] = True
        change += _descend(state, released)
        state.work[0] += 8 * len(slot)
        if change <= 0:
            total += change
        else:
            slot[:], size[:], position[:] = old_slot, old_size, old_position
    return total


def search(
    problem: AlignmentProblem, *, seconds: float, seed: int, floor: float
) -> NDArray[np.int64]:
    """Return the slot of every token, on a template of any length.

    ``seconds`` sets the budget, at :data:`WORK_PER_SECOND`. The search ends when it reaches
    ``floor``, a lower bound of the objective.
    """
    state = initial_state(problem, seed)
    state.queue[:], state.in_queue[:] = np.arange(len(state.queue)), True
    objective = len(problem.tokens) * MATCH_COST + _descend(state, len(state.queue))
    budget = min(
        seconds * WORK_PER_SECOND, BASE_WORK + WORK_PER_TOKEN_PAIR * len(problem.tokens) ** 2
    )
    while state.work[0] < budget and objective > floor:
        objective += _improve(state, min(budget, float(state.work[0]) + WORK_PER_CALL))
    return np.unique(state.position[state.slot], return_inverse=True)[1].astype(np.int64)
