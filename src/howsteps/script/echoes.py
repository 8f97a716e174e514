"""Mentions of a step that its script leaves aside: said again, out of order, or in other words.

A script takes the mentions that follow its order, of the acts that it chose. For the question
where a narrator speaks of a step, and whether at all, what is said in similar words counts as well:
all mentions are compared with the acts of the steps as if a person had written those down
(:mod:`howsteps.script.label_match`).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.script.baselines import duration
from howsteps.script.events import candidates
from howsteps.script.label_match import LEAST as LIKELY
from howsteps.script.label_match import probabilities
from howsteps.task import Mention, Script, Task

LEAST = 0.1  # probability of being of the step
# Where people marked the steps, 46 % of the mentions of a script are inside, and 22 % of the likely
# echoes, however likely: an act said once more is as often a preview, a recap or another try.
WORTH = 0.4


class Echo(NamedTuple):
    """A mention that speaks of a step, and how surely (0 to 1)."""

    mention: Mention
    step: int
    share: float


def spoken_by_video(
    task: Task, said: Iterable[tuple[Mention, int, float]]
) -> list[NDArray[np.float64]]:
    """Mentions of steps in every video: start, end, step, and how surely it is being done, S×4."""
    rows: dict[str, list[tuple[float, float, int, float]]] = {v.id: [] for v in task.videos}
    for mention, step, share in said:
        if mention.video in rows:
            rows[mention.video].append((mention.start, mention.end, step, share * mention.work))
    return [np.array(sorted(rows[v.id])).reshape(-1, 4) for v in task.videos]


def echoes(task: Task, script: Script) -> list[Echo]:
    """What narrators say about steps beside the mentions of the script."""
    own = {(m.video, m.start, m.end) for step in script.steps for m in step.mentions}
    heard, places = [], []
    for video, mentions in zip(task.videos, candidates(task), strict=True):
        heard += mentions
        places += [min(m.start / max(duration(video), 1.0), 1.0) for m in mentions]
    if not heard or not own:
        return []
    probable = probabilities([step.mentions for step in script.steps], heard, np.array(places))
    found = []
    for mention, of_step in zip(heard, probable.T, strict=True):
        step = int(of_step.argmax())
        likely = float(of_step[step])
        if likely >= LEAST and (mention.video, mention.start, mention.end) not in own:
            found.append(Echo(mention, step, WORTH if likely >= LIKELY else likely))
    return found
