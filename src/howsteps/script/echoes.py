"""Mentions of a step that its script leaves aside: said again, out of order, or in other words.

A script takes the mentions that follow its order, of the acts that it chose. For the question
whether a narrator speaks of a step at all, the same acts said elsewhere count as well, and so do
acts that are probably of the same step (:mod:`howsteps.script.step_model`).
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.script import step_model
from howsteps.script.act_table import Act, act_of, table_of
from howsteps.script.baselines import duration
from howsteps.script.events import candidates
from howsteps.task import Mention, Script, Task

SAME, SIMILAR = 0.8, 0.5  # what the same act, and a similar one, is worth of a mention of the step
LEAST = 0.3  # probability of being the same step


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
    from howsteps.wordnet import WordNet  # noqa: PLC0415 - takes a while

    acts = [Counter(act_of(m) for m in step.mentions if m.verb) for step in script.steps]
    own = {(m.video, m.start, m.end) for step in script.steps for m in step.mentions}
    heard = candidates(task)
    table = table_of(heard, [duration(video) for video in task.videos])
    if not table.acts or not any(acts):
        return []
    number = {act: place for place, act in enumerate(table.acts)}
    mentions = [mention for row in heard for mention in row]
    similar = step_model.shipped().same_step(table, mentions, WordNet.load())
    member = np.zeros((len(table.acts), len(acts)))
    for step, counts in enumerate(acts):
        known = {number[act]: count for act, count in counts.items() if act in number}
        if known:
            weights = np.array([*known.values()], np.float64)
            member[:, step] = similar[:, [*known]] @ weights / weights.sum()
    chosen: dict[Act, int] = {}
    for step, counts in enumerate(acts):
        for act, count in counts.items():
            if act not in chosen or count > acts[chosen[act]][act]:
                chosen[act] = step
    found = []
    for mention in mentions:
        act = act_of(mention)
        if (mention.video, mention.start, mention.end) in own:
            continue
        if act in chosen:
            found.append(Echo(mention, chosen[act], SAME))
        elif act in number:
            step = int(member[number[act]].argmax())
            share = float(member[number[act], step])
            if share >= LEAST:
                found.append(Echo(mention, step, SIMILAR * share))
    return found
