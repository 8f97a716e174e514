"""The default solver: simulated annealing with ruin-and-recreate moves, on top of ``realign``.

Two moves. *Ruin* removes a few sequences that share a relation and inserts them again one by one.
*Reseed* gives one slot a bonus (or opens a new slot between the neighbours of one token) and
re-aligns every sequence that could join it, which lets slots merge, split and shift. Each move is
followed by a descent: the affected sequences are re-aligned until none improves.

The budget is counted in elementary operations, not in time. It is set by the size of the problem
and by ``seconds`` (at a rate well below that of an ordinary machine), so that a seed gives the same
answer on every machine; a slow machine takes longer.
"""

from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.compiled import compiled
from howsteps.script.problem import AlignmentProblem
from howsteps.script.realign import (
    Scratch,
    Template,
    Tokens,
    allocate,
    attach,
    detach,
    random_below,
    realign,
    slot_cost,
)

WORK_PER_SECOND = 1e8
WORK_PER_TOKEN_PAIR = 5_000
BASE_WORK = 2e6
WORK_PER_CALL = (1e5, 5e6)  # between two entries of the trace: initially, at most
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
        delta = realign(tokens, template, scratch, n, -1, 0)
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
        change += realign(tokens, template, scratch, n, -1, 0)
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
        change += realign(tokens, template, scratch, n, -1, 0)
    change += _descend(tokens, template, scratch, n_sequences)
    return len(template.slot) * tokens.match_cost + change


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
        saved[:] = slot
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
                best[:] = slot
        else:
            size[: max(length, template.length[0])] = 0
            for s in range(len(slot)):
                slot[s] = saved[s]
                size[slot[s]] += 1
            template.length[0] = length


@cache
def _compile() -> None:
    """Compile, or load from the cache, so that this time is not in the trace."""
    one = np.zeros(2, dtype=np.int64)
    tiny = AlignmentProblem(one, np.ones(2, dtype=np.int64), np.ones((1, 1), dtype=bool))
    tokens, template, scratch = allocate(tiny, 0)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best, saved = template.slot.copy(), template.slot.copy()
    _anneal(tokens, template, scratch, best, saved, objective, 1.0, 1.0, 1.0, 1.0)


def search(
    problem: AlignmentProblem, *, seconds: float, seed: int, floor: float
) -> tuple[NDArray[np.int64], list[tuple[float, int]]]:
    """Align sequences that are not empty on a template of any length.

    Parameters
    ----------
    seconds
        Sets the budget, at :data:`WORK_PER_SECOND`.
    floor
        A lower bound of the objective; the search ends when it reaches it.

    Returns
    -------
    slots, trace
        The slot of every token, and (seconds, objective) of each improvement of the best.
    """
    _compile()
    start = perf_counter()
    tokens, template, scratch = allocate(problem, seed)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best, saved = template.slot.copy(), template.slot.copy()
    trace = [(perf_counter() - start, int(objective[1]))]
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
        if objective[1] < trace[-1][1]:
            trace.append((perf_counter() - start, int(objective[1])))
    return best, trace
