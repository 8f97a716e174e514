"""``script``: the discovered steps must be right, and in the right order.

Each discovered step may count as one of several true steps, or as none (``options``). The longest
chain of discovered steps that count as true steps in the order of the job, each true step once, is
what was recovered::

    precision = chain / discovered steps      recall = chain / true steps

What a discovered step counts as is judged by people (``judgement``) or found from when things
happen (``cooccurrence``); ``Score.note`` says which.
"""

from collections.abc import Collection, Sequence

from howsteps.evaluate.score import Score, counted


def chain(options: Sequence[Collection[int]], order: Sequence[int]) -> tuple[int | None, ...]:
    """The longest chain: for each discovered step the true step it counts as, or None.

    Parameters
    ----------
    options
        The true steps that each discovered step may count as.
    order
        The true steps in the order of the job.
    """
    place = {step: at for at, step in enumerate(order)}
    # longest[at]: the longest chain so far whose last true step stands at that place of the order.
    nothing: tuple[tuple[int, int], ...] = ()
    longest: dict[int, tuple[tuple[int, int], ...]] = {}
    for discovered, allowed in enumerate(options):
        # From the last place to the first: a discovered step counts once in a chain.
        for at in sorted((place[step] for step in allowed), reverse=True):
            before = max((longest[p] for p in longest if p < at), key=len, default=nothing)
            if len(before) + 1 > len(longest.get(at, nothing)):
                longest[at] = (*before, (discovered, order[at]))
    best = max(longest.values(), key=len, default=nothing)
    counts = dict(best)
    return tuple(counts.get(discovered) for discovered in range(len(options)))


def script_score(options: Sequence[Collection[int]], order: Sequence[int], note: str) -> Score:
    """Precision and recall of a script in order; ``note`` says where ``options`` come from."""
    counts = chain(options, order)
    recovered = sum(step is not None for step in counts)
    return Score(*counted(recovered, len(options), len(order)), matching=counts, note=note)
