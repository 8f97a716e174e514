"""The search: simulated annealing with ruin and recreate, on top of an exact move.

**The exact move** (:func:`realign`) aligns one sequence optimally, all others fixed. The template
is a row of slots, some of them blank; more blanks are inserted when they run out. The best
alignment of one sequence is a heaviest increasing chain: token s may join the tokens of slot l,
which gains −2 Σ_(t in l) c(s, t), or take a blank slot, which gains nothing. Only slots that hold a
matching token can gain, so the dynamic programme is sparse: it costs the number of matching tokens
times a logarithm (a Fenwick tree of prefix maxima), not S_n × L.

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

# Scores of chains are shifted left by this many bits; random low bits break ties.
TIE_BITS = 16
# Arguments of :func:`realign`. As NumPy's integers: Numba compiles a function for each literal.
NO_SEED: Any = np.int64(-1)
NO_BONUS: Any = np.int64(0)


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
    """The state of the search: the slot of every token (−1: none) and the tokens per slot."""

    slot: Any
    size: Any
    length: Any  # one number: slots, blanks included
    work: Any  # one number: elementary operations so far
    random: Any  # one number: the state of the generator


class Scratch(NamedTuple):
    """Preallocated buffers; ``count`` and ``in_queue`` are all zero between calls."""

    count: Any  # by slot: matching tokens
    touched: Any  # the slots with a count
    tree: Any  # Fenwick tree over slots: the best chain, a node
    new_slot: Any  # by slot, when blanks are inserted
    value: Any  # by node: score of the chain that ends there, with tie bits
    gain: Any  # and its gain, without bonus
    parent: Any  # and its previous node
    node_slot: Any
    node_token: Any
    target: Any  # by token of one sequence: the slot it goes to (−1: a blank)
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
    n_tokens = len(problem.tokens)
    longest = int(problem.lengths.max())
    slots = 2 * n_tokens + longest + 2
    partners = np.diff(partner_first)[problem.tokens]
    nodes = int(np.add.reduceat(partners, problem.first[:-1]).max())

    def zeros(length: int) -> Any:
        return np.zeros(length, dtype=np.int64)

    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    template = Template(
        np.full(n_tokens, -1, dtype=np.int64), zeros(slots), zeros(1), zeros(1), state
    )
    template.length[0] = 1
    scratch = Scratch(
        zeros(slots), zeros(int(partners.max())), zeros(slots + 1), zeros(slots),
        zeros(nodes), zeros(nodes), zeros(nodes), zeros(nodes), zeros(nodes),
        zeros(longest), np.zeros(len(problem.lengths), dtype=bool), zeros(len(problem.lengths)),
    )  # fmt: skip
    return tokens, template, scratch


@compiled
def random_below(template: Template, n: int) -> Any:
    """A random integer from 0 … n − 1 (xorshift, so the same for a seed on every machine)."""
    x = template.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    template.random[0] = x
    return np.int64(x >> np.uint64(2)) % n


@compiled
def insert_blanks(template: Template, scratch: Scratch, left: int, wanted: int) -> None:
    """Put one blank beside every used slot, and ``wanted`` more after slot ``left``."""
    slot, size, new_slot, sizes = template.slot, template.size, scratch.new_slot, scratch.count
    length = template.length[0]
    new = 1 + (wanted if left < 0 else 0)
    for column in range(length):
        sizes[column] = size[column]
        new_slot[column] = new
        if size[column] > 0:
            new += 2
        if column == left:
            new += wanted
    size[:new] = 0
    for column in range(length):
        if sizes[column] > 0:
            size[new_slot[column]] = sizes[column]
        sizes[column] = 0
    for s in range(len(slot)):
        if slot[s] >= 0:
            slot[s] = new_slot[slot[s]]
    template.length[0] = new
    template.work[0] += 2 * (length + len(slot))


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
def detach(tokens: Tokens, template: Template, n: int) -> Any:
    """Remove sequence n from the template; return the change of the objective."""
    change = 0
    for s in range(tokens.first[n], tokens.first[n + 1]):
        change -= slot_cost(tokens, template, s)
        template.size[template.slot[s]] -= 1
        template.slot[s] = -1
    return change


@compiled
def attach(tokens: Tokens, template: Template, scratch: Scratch, n: int) -> None:
    """Put detached sequence n into its target slots; tokens without a target get random blanks."""
    slot, size = template.slot, template.size
    begin, end = tokens.first[n], tokens.first[n + 1]
    for s in range(begin, end):
        slot[s] = scratch.target[s - begin]
        if slot[s] >= 0:
            size[slot[s]] += 1
    s = begin
    while s < end:
        if slot[s] >= 0:
            s += 1
            continue
        stop = s
        while stop < end and slot[stop] < 0:
            stop += 1
        left, right, blanks = -1, 0, -1
        while blanks < stop - s:
            if blanks >= 0:
                insert_blanks(template, scratch, left, stop - s)
            left = slot[s - 1] if s > begin else -1
            right = slot[stop] if stop < end else template.length[0]
            blanks = 0
            for column in range(left + 1, right):
                blanks += size[column] == 0
        template.work[0] += right - left
        for column in range(left + 1, right):
            if size[column] == 0:
                # Selection sampling: every choice of blanks is equally likely.
                if random_below(template, blanks) < stop - s:
                    slot[s] = column
                    size[column] = 1
                    s += 1
                blanks -= 1
            if s == stop:
                break


@compiled
def _count_matches(tokens: Tokens, template: Template, scratch: Scratch, n: int, d: int) -> Any:
    """Count in each slot the tokens of other sequences that match relation d.

    Returns the number of slots with a count, which are in ``touched``; the caller clears them.
    """
    found = 0
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        t = tokens.partner[k]
        column = template.slot[t]
        if column >= 0 and tokens.sequence[t] != n:
            if scratch.count[column] == 0:
                scratch.touched[found] = column
                found += 1
            scratch.count[column] += 1
    template.work[0] += tokens.partner_first[d + 1] - tokens.partner_first[d] + 8 * found
    return found


@compiled
def _best_ending_before(scratch: Scratch, column: int) -> Any:
    """The heaviest chain that ends to the left of a slot (−1: none): a Fenwick query."""
    best = -1
    while column > 0:
        node = scratch.tree[column]
        if node >= 0 and (best < 0 or scratch.value[node] > scratch.value[best]):
            best = node
        column -= column & -column
    return best


@compiled
def _insert_chain(scratch: Scratch, node: int, length: int) -> None:
    """Insert a chain into the Fenwick tree of prefix maxima."""
    column = scratch.node_slot[node] + 1
    while column <= length:
        other = scratch.tree[column]
        if other < 0 or scratch.value[node] > scratch.value[other]:
            scratch.tree[column] = node
        column += column & -column


@compiled
def _build_chains(
    tokens: Tokens, template: Template, scratch: Scratch, n: int, seed: int, bonus: int
) -> Any:
    """Build the heaviest chains of sequence n, whose tokens must not be counted in the sizes.

    Returns the gain and the score (gain with bonus) of its current alignment.
    """
    slot, length = template.slot, template.length[0]
    begin, end = tokens.first[n], tokens.first[n + 1]
    tie_range = max(1, min(255, (1 << TIE_BITS) // (end - begin + 1)))
    scratch.tree[: length + 1] = -1
    template.work[0] += length
    nodes, old_gain, old_score = 0, 0, 0
    for s in range(begin, end):
        d = tokens.relation[s]
        extra = 0
        if seed >= 0:
            matches = tokens.match[d, tokens.relation[seed]]
            extra = -2 * bonus * (tokens.match_cost if matches else tokens.mismatch_cost)
        fresh = nodes
        for j in range(_count_matches(tokens, template, scratch, n, d)):
            column = scratch.touched[j]
            matching = scratch.count[column]
            scratch.count[column] = 0
            clashing = template.size[column] - matching
            gain = -2 * (tokens.match_cost * matching + tokens.mismatch_cost * clashing)
            score = gain + (extra if seed >= 0 and column == slot[seed] else 0)
            if column == slot[s]:
                old_gain += gain
                old_score += score
            if score > 0:
                scratch.value[nodes] = (score << TIE_BITS) + random_below(template, tie_range)
                scratch.gain[nodes] = gain
                scratch.node_slot[nodes] = column
                scratch.node_token[nodes] = s
                left = _best_ending_before(scratch, column)
                scratch.parent[nodes] = left
                if left >= 0:
                    scratch.value[nodes] += scratch.value[left]
                    scratch.gain[nodes] += scratch.gain[left]
                nodes += 1
        # Only now, so that no two tokens of the sequence share a slot.
        for node in range(fresh, nodes):
            _insert_chain(scratch, node, length)
    return old_gain, old_score


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
    attached = slot[begin] >= 0
    if attached:
        for s in range(begin, end):
            size[slot[s]] -= 1
    old_gain, old_score = _build_chains(tokens, template, scratch, n, seed, bonus)
    best = _best_ending_before(scratch, template.length[0])
    if attached and (best < 0 or scratch.value[best] >> TIE_BITS <= old_score):
        for s in range(begin, end):
            size[slot[s]] += 1
        return 0
    new_gain = scratch.gain[best] if best >= 0 else 0
    scratch.target[: end - begin] = -1
    while best >= 0:
        scratch.target[scratch.node_token[best] - begin] = scratch.node_slot[best]
        best = scratch.parent[best]
    slot[begin:end] = -1
    attach(tokens, template, scratch, n)
    return old_gain - new_gain


WORK_PER_SECOND = 1e8
WORK_PER_TOKEN_PAIR = 5_000
BASE_WORK = 2e6
WORK_PER_CALL = (1e5, 5e6)  # between two comparisons with the floor: initially, at most
COLD = 0.05  # final temperature, in units of the mean gain of a token
RESEED_PERCENT = 80
MAX_RUINED = 6


@compiled
def _enqueue_partners_of_token(tokens: Tokens, scratch: Scratch, s: int, queued: int) -> Any:
    """Queue every sequence that could share a slot with token s; return the queue's length."""
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
    for s in range(tokens.first[n], tokens.first[n + 1]):
        queued = _enqueue_partners_of_token(tokens, scratch, s, queued)
    return queued


@compiled
def _descend(tokens: Tokens, template: Template, scratch: Scratch, queued: int) -> Any:
    """Re-align the queued sequences, and those that a change affects, until none improves."""
    change = 0
    while queued > 0:
        pick = random_below(template, queued)
        n = scratch.queue[pick]
        queued -= 1
        scratch.queue[pick] = scratch.queue[queued]
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
        change -= slot_cost(tokens, template, seed)
        begin = tokens.first[home]
        for s in range(begin, tokens.first[home + 1]):
            scratch.target[s - begin] = template.slot[s] if s != seed else -1
            template.size[template.slot[s]] -= 1
            template.slot[s] = -1
        attach(tokens, template, scratch, home)
    bonus = 1 + random_below(template, tokens.partner_first[d + 1] - tokens.partner_first[d])
    queued = _enqueue_partners_of_token(tokens, scratch, seed, 0)
    n_partners = queued
    for i in range(n_partners):
        j = i + random_below(template, n_partners - i)
        n = scratch.queue[j]
        scratch.queue[j] = scratch.queue[i]
        scratch.queue[i] = n
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
            change += detach(tokens, template, n)
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
        j = i + random_below(template, n_sequences - i)
        n = scratch.queue[j]
        scratch.queue[j] = scratch.queue[i]
        scratch.queue[i] = n
        change += realign(tokens, template, scratch, n, NO_SEED, NO_BONUS)
    change += _descend(tokens, template, scratch, n_sequences)
    return len(template.slot) * tokens.match_cost + change


@compiled
def _copy(source: Any, target: Any) -> None:
    """``target[:] = source``, which takes Numba ten times as long to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@compiled
def _anneal(
    tokens: Tokens,
    template: Template,
    scratch: Scratch,
    best: Any,
    saved: Any,
    objective: Any,
    hot: float,
    cold: float,
    budget: float,
    until: float,
) -> None:
    """Make moves until the work done reaches ``until``.

    ``objective`` is [current, best]. ``best`` and ``saved`` hold the slots of the best alignment
    and of the one before the move. All are changed in place.
    """
    slot, size = template.slot, template.size
    while template.work[0] < until:
        temperature = hot * (cold / hot) ** (template.work[0] / budget)
        length = template.length[0]
        _copy(slot, saved)
        if random_below(template, 100) < RESEED_PERCENT:
            change, queued = _reseed(tokens, template, scratch)
        else:
            change, queued = _ruin(tokens, template, scratch)
        change += _descend(tokens, template, scratch, queued)
        template.work[0] += len(slot)
        uniform = (random_below(template, 1 << 30) + 1) / (1 << 30)
        if change <= -temperature * np.log(uniform):
            objective[0] += change
            if objective[0] < objective[1]:
                objective[1] = objective[0]
                _copy(slot, best)
        else:
            size[: max(length, template.length[0])] = 0
            for s in range(len(slot)):
                slot[s] = saved[s]
                size[slot[s]] += 1
            template.length[0] = length


def search(
    problem: AlignmentProblem, *, seconds: float, seed: int, floor: float
) -> NDArray[np.int64]:
    """Return the slot of every token of sequences that are not empty, on a template of any length.

    ``seconds`` sets the budget, at :data:`WORK_PER_SECOND`. The search ends when it reaches
    ``floor``, a lower bound of the objective.
    """
    tokens, template, scratch = allocate(problem, seed)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best: NDArray[np.int64] = template.slot.copy()
    saved = best.copy()
    pairs = len(best) ** 2
    budget = min(seconds * WORK_PER_SECOND, BASE_WORK + WORK_PER_TOKEN_PAIR * pairs)
    # A small budget per pair of tokens is too short to cool down from a high temperature.
    hot = min(1.0, max(2 * COLD, budget / (200 * pairs)))
    scale = -float(objective[1]) / len(best)
    while template.work[0] < budget and objective[1] > floor:
        done = float(template.work[0])
        until = min(budget, done + min(max(done, WORK_PER_CALL[0]), WORK_PER_CALL[1]))
        _anneal(
            tokens, template, scratch, best, saved, objective,
            hot * scale, COLD * scale, budget, until,
        )  # fmt: skip
    return best
