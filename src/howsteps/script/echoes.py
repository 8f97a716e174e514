"""Echoes: mentions of a step that the script leaves out because of their order or their words.

A script keeps the mentions that follow its order, of the acts that it selected. To decide where a
narrator speaks of a step, and whether at all, similar mentions count too: all mentions are matched
against the acts of the steps, as those of a written script are
(:mod:`howsteps.script.label_match`).
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.script.events import candidate_mentions
from howsteps.script.label_match import MIN_PROBABILITY as LIKELY
from howsteps.script.label_match import match_probabilities
from howsteps.task import Mention, Script, Task

MIN_PROBABILITY = 0.1
# The weight of a likely echo; a mention of the script has 1. In annotated videos 46 % of the
# mentions of a script lie inside the step, and 22 % of the likely echoes, however likely: an act
# mentioned again is as often a preview, a recap or another attempt.
ECHO_WEIGHT = 0.4


class Echo(NamedTuple):
    """A mention that echoes a step, and its weight in [0, 1]."""

    mention: Mention
    step: int
    weight: float


def spoken_by_video(
    task: Task, weighted_mentions: Iterable[tuple[Mention, int, float]]
) -> list[NDArray[np.float64]]:
    """The mentions of steps in every video, as S×4 arrays sorted by time.

    Columns: start, end, step, and weight times the probability that the mention is work.

    Parameters
    ----------
    weighted_mentions
        (mention, step, weight); mentions of other videos are ignored.
    """
    rows: dict[str, list[tuple[float, float, int, float]]] = {v.id: [] for v in task.videos}
    for mention, step, weight in weighted_mentions:
        if mention.video in rows:
            rows[mention.video].append((mention.start, mention.end, step, weight * mention.work))
    return [np.array(sorted(rows[v.id])).reshape(-1, 4) for v in task.videos]


def echoes(task: Task, script: Script) -> list[Echo]:
    """The echoes of all steps of a script, each of the step that it matches best."""
    in_script = {(m.video, m.start, m.end) for step in script.steps for m in step.mentions}
    mentions: list[Mention] = []
    positions: list[float] = []
    for video, candidates in zip(task.videos, candidate_mentions(task), strict=True):
        length = max(video.length, 1.0)
        mentions += candidates
        positions += [min(mention.start / length, 1.0) for mention in candidates]
    if not mentions or not in_script:
        return []
    acts = [step.mentions for step in script.steps]
    by_mention = match_probabilities(acts, mentions, np.array(positions)).T
    found = []
    for mention, probabilities in zip(mentions, by_mention, strict=True):
        step = int(probabilities.argmax())
        probability = float(probabilities[step])
        is_new = (mention.video, mention.start, mention.end) not in in_script
        if probability >= MIN_PROBABILITY and is_new:
            weight = ECHO_WEIGHT if probability >= LIKELY else probability
            found.append(Echo(mention, step, weight))
    return found
