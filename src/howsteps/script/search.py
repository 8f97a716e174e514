"""The default solver: ruin and recreate, annealed, on top of the exact step of ``realign``.

Two moves. *Ruin* takes out a few sequences that share a relation and puts them back one by one.
*Reseed* gives one slot a head start (or opens a new slot between the neighbours of one token) and
lets every sequence that could join choose again: slots merge, split and shift that way. A descent
follows each move: the sequences that were disturbed are re-aligned until none improves.

Work is counted, not time: the number of elementary operations is fixed by the size of the problem
and by ``seconds`` (at a rate well below that of an ordinary machine), so that one seed gives one
answer on every machine. A slow machine takes longer.
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
    company,
    detach,
    random_below,
    realign,
    settle,
)

WORK_PER_SECOND = 1e8
WORK_PER_TOKEN_PAIR = 5_000
WORK_AT_LEAST = 2e6
WORK_PER_CALL = (1e5, 5e6)  # between two entries of the trace, at first and at most
COLD = 0.05  # last temperature, in units of the mean gain of a token
RESEED_PERCENT = 80
MOST_RUINED = 6


@compiled
def _mark(tokens: Tokens, scratch: Scratch, s: int, marked: int) -> Any:
    """Put every sequence that could share a slot with token s on the agenda."""
    d = tokens.relation[s]
    for k in range(tokens.partner_first[d], tokens.partner_first[d + 1]):
        n = tokens.sequence[tokens.partner[k]]
        if not scratch.dirty[n]:
            scratch.dirty[n] = True
            scratch.agenda[marked] = n
            marked += 1
    return marked


@compiled
def _mark_all(tokens: Tokens, scratch: Scratch, n: int, marked: int) -> Any:
    for s in range(tokens.first[n], tokens.first[n + 1]):
        marked = _mark(tokens, scratch, s, marked)
    return marked


@compiled
def _descend(tokens: Tokens, template: Template, scratch: Scratch, marked: int) -> Any:
    """Re-align the sequences on the agenda, and those they disturb, until none improves."""
    change = 0
    while marked > 0:
        pick = random_below(template, marked)
        n = scratch.agenda[pick]
        marked -= 1
        scratch.agenda[pick] = scratch.agenda[marked]
        scratch.dirty[n] = False
        better = realign(tokens, template, scratch, n, -1, 0)
        if better < 0:
            change += better
            marked = _mark_all(tokens, scratch, n, marked)
    return change


@compiled
def _reseed(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Give the slot of one token a head start; return the change and the length of the agenda."""
    seed = random_below(template, len(template.slot))
    home, d = tokens.sequence[seed], tokens.relation[seed]
    change = 0
    if template.size[template.slot[seed]] > 1 and random_below(template, 2) == 0:
        change -= company(tokens, template, seed)
        begin = tokens.first[home]
        for s in range(begin, tokens.first[home + 1]):
            scratch.target[s - begin] = template.slot[s] if s != seed else -1
            template.size[template.slot[s]] -= 1
            template.slot[s] = -1
        settle(tokens, template, scratch, home)
    bonus = 1 + random_below(template, tokens.partner_first[d + 1] - tokens.partner_first[d])
    marked = _mark(tokens, scratch, seed, 0)
    called = marked
    for i in range(called):
        j = i + random_below(template, called - i)
        n = scratch.agenda[j]
        scratch.agenda[j] = scratch.agenda[i]
        scratch.agenda[i] = n
        if n != home:
            step = realign(tokens, template, scratch, n, seed, bonus)
            change += step
            if step != 0:
                marked = _mark_all(tokens, scratch, n, marked)
    return change, marked


@compiled
def _ruin(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Take some sequences out and put them back; return the change and the agenda's length."""
    d = tokens.relation[random_below(template, len(template.slot))]
    partners = tokens.partner_first[d + 1] - tokens.partner_first[d]
    change, marked = 0, 0
    for _ in range(1 + random_below(template, MOST_RUINED)):
        if random_below(template, 4) == 0:
            n = random_below(template, len(tokens.first) - 1)
        else:
            k = tokens.partner_first[d] + random_below(template, partners)
            n = tokens.sequence[tokens.partner[k]]
        if not scratch.dirty[n]:
            scratch.dirty[n] = True
            scratch.agenda[marked] = n
            marked += 1
            change += detach(tokens, template, n)
    for i in range(marked):
        n = scratch.agenda[i]
        change += realign(tokens, template, scratch, n, -1, 0)
        marked = _mark_all(tokens, scratch, n, marked)
    return change, marked


@compiled
def _construct(tokens: Tokens, template: Template, scratch: Scratch) -> Any:
    """Insert the sequences one by one in random order, then descend; return the objective."""
    many = len(tokens.first) - 1
    for n in range(many):
        scratch.agenda[n] = n
        scratch.dirty[n] = True
    change = 0
    for i in range(many):
        j = i + random_below(template, many - i)
        n = scratch.agenda[j]
        scratch.agenda[j] = scratch.agenda[i]
        scratch.agenda[i] = n
        change += realign(tokens, template, scratch, n, -1, 0)
    change += _descend(tokens, template, scratch, many)
    return len(template.slot) * tokens.match_cost + change


@compiled
def _anneal(
    tokens: Tokens,
    template: Template,
    scratch: Scratch,
    best: Any,
    kept: Any,
    objective: Any,
    hot: float,
    cold: float,
    budget: float,
    until: float,
) -> None:
    """Make moves until the work done reaches ``until``; objective = [current, best]."""
    slot, size = template.slot, template.size
    while template.work[0] < until:
        temperature = hot * (cold / hot) ** (template.work[0] / budget)
        length = template.length[0]
        kept[:] = slot
        if random_below(template, 100) < RESEED_PERCENT:
            change, marked = _reseed(tokens, template, scratch)
        else:
            change, marked = _ruin(tokens, template, scratch)
        change += _descend(tokens, template, scratch, marked)
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
                slot[s] = kept[s]
                size[slot[s]] += 1
            template.length[0] = length


@cache
def _compile() -> None:
    """Load or compile the machine code, so that the trace of the first search starts at zero."""
    one = np.zeros(2, dtype=np.int64)
    tiny = AlignmentProblem(one, np.ones(2, dtype=np.int64), np.ones((1, 1), dtype=bool))
    tokens, template, scratch = allocate(tiny, 0)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best, kept = template.slot.copy(), template.slot.copy()
    _anneal(tokens, template, scratch, best, kept, objective, 1.0, 1.0, 1.0, 1.0)


def search(
    problem: AlignmentProblem, *, seconds: float, seed: int, floor: float
) -> tuple[NDArray[np.int64], list[tuple[float, int]]]:
    """Align sequences that are not empty on a template of any length.

    Parameters
    ----------
    seconds
        Sets the work to be done, at :data:`WORK_PER_SECOND`.
    floor
        A lower bound; the search ends when it reaches it.

    Returns
    -------
    slots, trace
        The slot of every token, and (seconds, objective) each time the best was improved.
    """
    _compile()
    start = perf_counter()
    tokens, template, scratch = allocate(problem, seed)
    objective = np.full(2, _construct(tokens, template, scratch), dtype=np.int64)
    best, kept = template.slot.copy(), template.slot.copy()
    trace = [(perf_counter() - start, int(objective[1]))]
    pairs = len(best) ** 2
    budget = min(seconds * WORK_PER_SECOND, WORK_AT_LEAST + WORK_PER_TOKEN_PAIR * pairs)
    # With little work per pair of tokens there is no time to cool down from a high temperature.
    warmth = min(1.0, max(2 * COLD, budget / (200 * pairs)))
    scale = -float(objective[1]) / len(best)
    while template.work[0] < budget and objective[1] > floor:
        done = float(template.work[0])
        until = min(budget, done + min(max(done, WORK_PER_CALL[0]), WORK_PER_CALL[1]))
        _anneal(
            tokens, template, scratch, best, kept, objective,
            warmth * scale, COLD * scale, budget, until,
        )  # fmt: skip
        if objective[1] < trace[-1][1]:
            trace.append((perf_counter() - start, int(objective[1])))
    return best, trace
