"""The exact step of the search: one sequence put in its best place, all others fixed.

The template is a row of slots, some of them blank, that is spread whenever blanks run out. The best
place of one sequence is a heaviest increasing chain: token s may join the tokens of slot l, which
gains −2 Σ_(t in l) c(s, t), or take a blank slot, which gains nothing. Only slots that hold a
matching token can gain, so the programme is sparse: its cost is the number of matching tokens times
a logarithm (a Fenwick tree of prefix maxima), not S_n × L.
"""

from typing import Any, NamedTuple

import numpy as np

from howsteps.compiled import compiled
from howsteps.script.problem import AlignmentProblem

# Values of chains are shifted by this many bits; random low bits break ties.
TIE_BITS = 16


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
    """Memory that the compiled code writes before it reads; counts and flags are left at zero."""

    count: Any
    touched: Any
    tree: Any
    renamed: Any
    value: Any
    gain: Any
    parent: Any
    node_slot: Any
    node_token: Any
    target: Any
    dirty: Any
    agenda: Any


def allocate(problem: AlignmentProblem, seed: int) -> tuple[Tokens, Template, Scratch]:
    """Lay out a problem whose sequences are not empty, with no token in the template yet."""
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
    many = len(problem.tokens)
    longest = int(problem.lengths.max())
    slots = 2 * many + longest + 2
    partners = np.diff(partner_first)[problem.tokens]
    nodes = int(np.add.reduceat(partners, problem.first[:-1]).max())

    def zeros(length: int) -> Any:
        return np.zeros(length, dtype=np.int64)

    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    template = Template(np.full(many, -1, dtype=np.int64), zeros(slots), zeros(1), zeros(1), state)
    template.length[0] = 1
    scratch = Scratch(
        zeros(slots), zeros(int(partners.max())), zeros(slots + 1), zeros(slots),
        zeros(nodes), zeros(nodes), zeros(nodes), zeros(nodes), zeros(nodes),
        zeros(longest), np.zeros(len(problem.lengths), dtype=bool), zeros(len(problem.lengths)),
    )  # fmt: skip
    return tokens, template, scratch


@compiled
def random_below(template: Template, n: int) -> Any:
    """Draw from 0 … n − 1 (xorshift: one seed, one sequence, on every machine)."""
    x = template.random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    template.random[0] = x
    return np.int64(x >> np.uint64(2)) % n


@compiled
def spread(template: Template, scratch: Scratch, left: int, wanted: int) -> None:
    """Write the template anew: a blank beside every used slot, ``wanted`` more after slot left."""
    slot, size, renamed, sizes = template.slot, template.size, scratch.renamed, scratch.count
    length = template.length[0]
    new = 1 + (wanted if left < 0 else 0)
    for at in range(length):
        sizes[at] = size[at]
        renamed[at] = new
        if size[at] > 0:
            new += 2
        if at == left:
            new += wanted
    size[:new] = 0
    for at in range(length):
        if sizes[at] > 0:
            size[renamed[at]] = sizes[at]
        sizes[at] = 0
    for s in range(len(slot)):
        if slot[s] >= 0:
            slot[s] = renamed[slot[s]]
    template.length[0] = new
    template.work[0] += 2 * (length + len(slot))


@compiled
def company(tokens: Tokens, template: Template, s: int) -> Any:
    """Return Σ 2 c(s, t) over the other tokens t in the slot of token s."""
    d, at = tokens.relation[s], template.slot[s]
    matching = -1
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        if template.slot[tokens.partner[k]] == at:
            matching += 1
    template.work[0] += tokens.partner_first[d + 1] - tokens.partner_first[d]
    others = template.size[at] - 1
    return 2 * (tokens.match_cost * matching + tokens.mismatch_cost * (others - matching))


@compiled
def detach(tokens: Tokens, template: Template, n: int) -> Any:
    """Take sequence n out of the template; return the change of the objective."""
    change = 0
    for s in range(tokens.first[n], tokens.first[n + 1]):
        change -= company(tokens, template, s)
        template.size[template.slot[s]] -= 1
        template.slot[s] = -1
    return change


@compiled
def settle(tokens: Tokens, template: Template, scratch: Scratch, n: int) -> None:
    """Write detached sequence n at its targets; tokens without one take blanks in between."""
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
                spread(template, scratch, left, stop - s)
            left = slot[s - 1] if s > begin else -1
            right = slot[stop] if stop < end else template.length[0]
            blanks = 0
            for at in range(left + 1, right):
                blanks += size[at] == 0
        template.work[0] += right - left
        for at in range(left + 1, right):
            if size[at] == 0:
                # every choice of blanks is equally likely
                if random_below(template, blanks) < stop - s:
                    slot[s] = at
                    size[at] = 1
                    s += 1
                blanks -= 1
            if s == stop:
                break


@compiled
def _meet(tokens: Tokens, template: Template, scratch: Scratch, n: int, d: int) -> Any:
    """Count the tokens of other sequences that match relation d, slot by slot.

    Returns how many slots were ``touched``; their counts are for the caller to clear.
    """
    found = 0
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        t = tokens.partner[k]
        at = template.slot[t]
        if at >= 0 and tokens.sequence[t] != n:
            if scratch.count[at] == 0:
                scratch.touched[found] = at
                found += 1
            scratch.count[at] += 1
    template.work[0] += tokens.partner_first[d + 1] - tokens.partner_first[d] + 8 * found
    return found


@compiled
def _heaviest_left(scratch: Scratch, at: int) -> Any:
    """The heaviest chain that ends to the left of a slot (−1: none)."""
    best = -1
    while at > 0:
        node = scratch.tree[at]
        if node >= 0 and (best < 0 or scratch.value[node] > scratch.value[best]):
            best = node
        at -= at & -at
    return best


@compiled
def _enter(scratch: Scratch, node: int, length: int) -> None:
    """Enter a chain into the tree of prefix maxima."""
    at = scratch.node_slot[node] + 1
    while at <= length:
        other = scratch.tree[at]
        if other < 0 or scratch.value[node] > scratch.value[other]:
            scratch.tree[at] = node
        at += at & -at


@compiled
def _chains(
    tokens: Tokens, template: Template, scratch: Scratch, n: int, seed: int, bonus: int
) -> Any:
    """Build all heaviest chains of sequence n, whose tokens are not counted in the sizes.

    Returns the gain and the worth (bonus included) of the old place.
    """
    slot, length = template.slot, template.length[0]
    begin, end = tokens.first[n], tokens.first[n + 1]
    tie_range = max(1, min(255, (1 << TIE_BITS) // (end - begin + 1)))
    scratch.tree[: length + 1] = -1
    template.work[0] += length
    nodes, old_gain, old_worth = 0, 0, 0
    for s in range(begin, end):
        d = tokens.relation[s]
        extra = 0
        if seed >= 0:
            alike = tokens.match[d, tokens.relation[seed]]
            extra = -2 * bonus * (tokens.match_cost if alike else tokens.mismatch_cost)
        fresh = nodes
        for j in range(_meet(tokens, template, scratch, n, d)):
            at = scratch.touched[j]
            matching = scratch.count[at]
            scratch.count[at] = 0
            clashing = template.size[at] - matching
            gain = -2 * (tokens.match_cost * matching + tokens.mismatch_cost * clashing)
            worth = gain + (extra if seed >= 0 and at == slot[seed] else 0)
            if at == slot[s]:
                old_gain += gain
                old_worth += worth
            if worth > 0:
                scratch.value[nodes] = (worth << TIE_BITS) + random_below(template, tie_range)
                scratch.gain[nodes] = gain
                scratch.node_slot[nodes] = at
                scratch.node_token[nodes] = s
                left = _heaviest_left(scratch, at)
                scratch.parent[nodes] = left
                if left >= 0:
                    scratch.value[nodes] += scratch.value[left]
                    scratch.gain[nodes] += scratch.gain[left]
                nodes += 1
        for node in range(fresh, nodes):  # only now: no two tokens of a sequence share a slot
            _enter(scratch, node, length)
    return old_gain, old_worth


@compiled
def realign(
    tokens: Tokens, template: Template, scratch: Scratch, n: int, seed: int, bonus: int
) -> Any:
    """Put sequence n in its best place given all others; return the change of the objective.

    The slot of token ``seed`` (−1: none) counts as if it held ``bonus`` more tokens like it. A
    sequence that is in the template moves only to a strictly better place.
    """
    slot, size = template.slot, template.size
    begin, end = tokens.first[n], tokens.first[n + 1]
    attached = slot[begin] >= 0
    if attached:
        for s in range(begin, end):
            size[slot[s]] -= 1
    old_gain, old_worth = _chains(tokens, template, scratch, n, seed, bonus)
    best = _heaviest_left(scratch, template.length[0])
    if attached and (best < 0 or scratch.value[best] >> TIE_BITS <= old_worth):
        for s in range(begin, end):
            size[slot[s]] += 1
        return 0
    new_gain = scratch.gain[best] if best >= 0 else 0
    scratch.target[: end - begin] = -1
    while best >= 0:
        scratch.target[scratch.node_token[best] - begin] = scratch.node_slot[best]
        best = scratch.parent[best]
    slot[begin:end] = -1
    settle(tokens, template, scratch, n)
    return old_gain - new_gain
