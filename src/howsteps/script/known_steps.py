"""Find known steps in new narrations.

The acts of the steps are matched against the mentions, as those of a written script are
(:mod:`howsteps.script.label_match`). Of the matches, those are kept that follow the order of the
script best, as when the script was learnt.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.script.chains import keep_in_order
from howsteps.script.events import candidate_mentions
from howsteps.script.label_match import match_labels
from howsteps.task import Mention, Task


def find_known_steps(steps: Sequence[Sequence[Mention]], task: Task) -> list[tuple[Mention, ...]]:
    """The mentions of each step in the videos of a task; each video is treated independently.

    Parameters
    ----------
    steps
        The acts of every step, in the order of the script; a step without acts has no matches.
    """
    found: list[tuple[Mention, ...]] = [() for _ in steps]
    for video, mentions in zip(task.videos, candidate_mentions(task), strict=True):
        length = max(video.length, 1.0)
        positions = np.array([min(1.0, mention.start / length) for mention in mentions])
        matches = match_labels(steps, [bool(acts) for acts in steps], mentions, positions.tolist())
        matched = [step for step, indices in enumerate(matches) if indices]
        if not matched:
            continue
        kept = keep_in_order(
            [np.array(matches[step], np.int64) for step in matched],
            np.zeros(len(mentions), np.int64),
            positions,
            work=np.array([mention.work for mention in mentions]),
        )
        for step, indices in zip(matched, kept, strict=True):
            found[step] += tuple(mentions[i] for i in indices)
    return found
