"""How sure is a script? Discover it again from halves of the videos, and see what comes back.

For a random half of the videos, let M_k be the mentions of step k in that half, and M'_j those of
the steps that the half alone gives. Step k is found again when some j has a Jaccard index of at
least one half:

    |M_k ∩ M'_j| ≥ ½ |M_k ∪ M'_j|

The stability of a step is the share of halves in which it is found again, of those that name it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from howsteps.errors import HowstepsError
from howsteps.task import Mention, Script, Step, Task

FEWEST_VIDEOS = 6  # halves of fewer say nothing
HALVES = 6


def with_stability(
    script: Script, task: Task, again: Callable[[Task], Script], *, seed: int = 0
) -> Script:
    """The script with the stability of every step; None where there are too few videos to tell.

    Parameters
    ----------
    again
        Discovers a script from a task with half of the videos.
    """
    told = [video for video in task.videos if video.mentions]
    if len(told) < FEWEST_VIDEOS:
        return script
    generator = np.random.default_rng(seed)
    named = np.zeros(len(script.steps))
    found = np.zeros(len(script.steps))
    for _ in range(HALVES):
        chosen = sorted(generator.permutation(len(told))[: len(told) // 2])
        half = replace(task, videos=tuple(told[n] for n in chosen))
        try:
            others = again(half).steps
        except HowstepsError:  # the half names nothing at all
            others = ()
        present, recovered = _recovered(script.steps, half, others)
        named += present
        found += recovered
    steps = tuple(
        replace(step, stability=round(float(f / n), 3) if n else None)
        for step, f, n in zip(script.steps, found, named, strict=True)
    )
    return replace(script, steps=steps)


def _recovered(
    steps: Sequence[Step], half: Task, others: Sequence[Step]
) -> tuple[list[bool], list[bool]]:
    """For each step whether the half names it, and whether the half finds it again."""
    videos = {video.id for video in half.videos}
    own = [{m for m in step.mentions if m.video in videos} for step in steps]
    theirs = [set(step.mentions) for step in others]
    return [bool(m) for m in own], [any(_alike(m, other) for other in theirs) for m in own]


def _alike(one: set[Mention], two: set[Mention]) -> bool:
    return bool(one) and 2 * len(one & two) >= len(one | two)
