"""``crosstask-recall``: the list of steps is known, and each step is placed once in each video.

A prediction is correct when its second is one of those that the step's true intervals touch: time
is cut into whole seconds, from ⌊start⌋ up to ⌈end⌉, as in the program of Zhukov et al. (2019)::

    recall = correct / #(video, step) pairs that exist

There is no matching: step k of the prediction is step k of the list. Over several tasks, the mean
of the tasks' recalls is reported.
"""

from collections.abc import Sequence
from math import ceil, floor

from howsteps.evaluate.score import Score, counted
from howsteps.task import Localisation, Truth


def crosstask_recall(predictions: Sequence[Localisation], truth: Truth) -> Score:
    """Recall, beside the precision and F1 of the same predictions."""
    seconds: dict[tuple[str, int], set[int]] = {}
    for a in truth.annotations:
        touched = range(floor(a.start), ceil(a.end))
        seconds.setdefault((a.video, a.step), set()).update(touched)
    made = {
        (p.video, p.step): p.time
        for p in predictions
        if p.time is not None and p.video in truth.durations
    }
    correct = sum(floor(time) in seconds.get(pair, ()) for pair, time in made.items())
    same = tuple(range(len(truth.steps)))
    return Score(*counted(correct, len(made), len(seconds)), matching=same, note="known steps")
