"""Stability of steps: discover the script again from subsamples of the videos.

For a random three quarters of the videos, let M_k be the (video, relation) pairs of step k in the
subsample, and M'_j those of the steps discovered from the subsample alone. Step k is recovered when
the union M' of the steps that lie mostly in it has a Jaccard index with it of at least one half:

    M' = ∪ { M'_j : |M_k ∩ M'_j| ≥ ½ |M'_j| },     |M_k ∩ M'| ≥ ½ |M_k ∪ M'|

It is a union because a step of nearly all videos is often split in two when there are fewer. The
stability of a step is the share of subsamples in which it is recovered, of those that name it.
(Halves of the videos would be too strict: of ten narrators, five seldom name a step twice.) Modes
``paper`` and ``authors`` show it; in mode ``default`` the support of a step says more, at no cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from howsteps.errors import HowstepsError
from howsteps.task import Relation, Script, Step, Task

VideoRelation = tuple[str, Relation]

MIN_VIDEOS = 6  # with mentions; below, there is no stability
SUBSAMPLE_SHARE = 0.75
SUBSAMPLES = 12


def with_stability(
    script: Script, task: Task, again: Callable[[Task], Script], *, seed: int = 0
) -> Script:
    """The script with the stability of every step; unchanged if there are too few videos.

    Parameters
    ----------
    again
        Discovers a script from a task with some of the videos.
    """
    narrated = [video for video in task.videos if video.mentions]
    if len(narrated) < MIN_VIDEOS or not script.steps:
        return script
    generator = np.random.default_rng(seed)
    n_named = np.zeros(len(script.steps))
    n_recovered = np.zeros(len(script.steps))
    for _ in range(SUBSAMPLES):
        chosen = sorted(
            generator.permutation(len(narrated))[: round(SUBSAMPLE_SHARE * len(narrated))]
        )
        subsample = replace(task, videos=tuple(narrated[n] for n in chosen))
        try:
            others = again(subsample).steps
        except HowstepsError:  # the subsample has no mentions
            others = ()
        named, recovered = _named_and_recovered(script.steps, subsample, others)
        n_named += named
        n_recovered += recovered
    steps = tuple(
        replace(step, stability=round(float(recovered / named), 3) if named else None)
        for step, recovered, named in zip(script.steps, n_recovered, n_named, strict=True)
    )
    return replace(script, steps=steps)


def _named_and_recovered(
    steps: Sequence[Step], subsample: Task, others: Sequence[Step]
) -> tuple[list[bool], list[bool]]:
    """Whether the subsample names each step, and whether its own steps recover it."""
    videos = {video.id for video in subsample.videos}
    pairs = [{pair for pair in _video_relations(step) if pair[0] in videos} for step in steps]
    others_pairs = [_video_relations(step) for step in others]
    return [bool(m) for m in pairs], [_is_recovered(m, others_pairs) for m in pairs]


def _video_relations(step: Step) -> set[VideoRelation]:
    # Times are left out: of repeated mentions, not always the same one is aligned.
    return {(mention.video, mention.relation) for mention in step.mentions}


def _is_recovered(step: set[VideoRelation], others: Sequence[set[VideoRelation]]) -> bool:
    union = set().union(*(other for other in others if 2 * len(step & other) >= len(other)))
    return bool(step) and 2 * len(step & union) >= len(step | union)
