"""Steps that are known, found again in a new narration.

The acts of the steps are compared with what is said, as those of a written script are
(:mod:`howsteps.script.label_match`). Of the mentions that are probably of a step those are kept
that follow the order of the script best, as when the script was learnt.
"""

from collections.abc import Sequence

import numpy as np

from howsteps.script.baselines import duration
from howsteps.script.chains import kept_in_order
from howsteps.script.events import candidates
from howsteps.script.label_match import match_labels
from howsteps.task import Mention, Task


def find_again(steps: Sequence[Sequence[Mention]], task: Task) -> list[tuple[Mention, ...]]:
    """The mentions of each step in the videos of a task, each video by itself.

    ``steps`` has the acts of every step, in the order of the script; a step without acts is found
    nowhere.
    """
    found: list[tuple[Mention, ...]] = [() for _ in steps]
    for video, heard in zip(task.videos, candidates(task), strict=True):
        length = max(duration(video), 1.0)
        places = np.array([min(1.0, mention.start / length) for mention in heard])
        matched = match_labels(steps, [bool(own) for own in steps], heard, places.tolist())
        if not any(matched):
            continue
        work = np.array([mention.work for mention in heard])
        numbers = [np.array(own, np.int64) for own in matched]
        named = [number for number, own in enumerate(numbers) if len(own)]
        kept = kept_in_order(
            [numbers[number] for number in named],
            np.zeros(len(heard), np.int64),
            places,
            work=work,
        )
        for number, own in zip(named, kept, strict=True):
            found[number] += tuple(heard[at] for at in own)
    return found
