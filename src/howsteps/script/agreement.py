"""How sure is a script? Discover it again from parts of the videos, and see what comes back.

For a random three quarters of the videos, let M_k be what the videos of that part say of step k
(a relation counts once for each video), and M'_j what they say of the steps that the part alone
gives. Step k is found again when the part's steps that lie mostly in it, together M', have a
Jaccard index with it of at least one half:

    M' = ∪ { M'_j : |M_k ∩ M'_j| ≥ ½ |M'_j| },     |M_k ∩ M'| ≥ ½ |M_k ∪ M'|

They may be two: a step that nearly everybody names is often parted where there are fewer videos.
The stability of a step is the share of parts in which it is found again, of those that name it.
(Halves of the videos would be too strict with few of them: of ten narrators, five seldom name a
step twice.) Modes ``paper`` and ``authors`` show it; in mode ``default`` the number of videos that
name a step tells more of it, and costs nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from howsteps.errors import HowstepsError
from howsteps.task import Relation, Script, Step, Task

Said = tuple[str, Relation]

FEWEST_VIDEOS = 6  # parts of fewer say nothing
PART = 0.75
DRAWS = 12


def with_stability(
    script: Script, task: Task, again: Callable[[Task], Script], *, seed: int = 0
) -> Script:
    """The script with the stability of every step; None where there are too few videos to tell.

    Parameters
    ----------
    again
        Discovers a script from a task with part of the videos.
    """
    told = [video for video in task.videos if video.mentions]
    if len(told) < FEWEST_VIDEOS or not script.steps:
        return script
    generator = np.random.default_rng(seed)
    named = np.zeros(len(script.steps))
    found = np.zeros(len(script.steps))
    for _ in range(DRAWS):
        chosen = sorted(generator.permutation(len(told))[: round(PART * len(told))])
        part = replace(task, videos=tuple(told[n] for n in chosen))
        try:
            others = again(part).steps
        except HowstepsError:  # the part names nothing at all
            others = ()
        present, recovered = _recovered(script.steps, part, others)
        named += present
        found += recovered
    steps = tuple(
        replace(step, stability=round(float(f / n), 3) if n else None)
        for step, f, n in zip(script.steps, found, named, strict=True)
    )
    return replace(script, steps=steps)


def _recovered(
    steps: Sequence[Step], part: Task, others: Sequence[Step]
) -> tuple[list[bool], list[bool]]:
    """For each step whether the part names it, and whether the part finds it again."""
    videos = {video.id for video in part.videos}
    own = [{said for said in _said(step) if said[0] in videos} for step in steps]
    theirs = [_said(step) for step in others]
    return [bool(m) for m in own], [_found_again(m, theirs) for m in own]


def _said(step: Step) -> set[Said]:
    # Who says it at several times is not always taken at the same one.
    return {(mention.video, mention.relation) for mention in step.mentions}


def _found_again(own: set[Said], theirs: Sequence[set[Said]]) -> bool:
    inside = set().union(*(other for other in theirs if 2 * len(own & other) >= len(other)))
    return bool(own) and 2 * len(own & inside) >= len(own | inside)
