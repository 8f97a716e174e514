"""Steps as events: acts that narrators tell as one, then their order. Mode ``default``.

::

    mentions ─► act_table ─► step_model ─► clusters ─► step_selection ─► rank_aggregation ─► chains

What the steps are and in which order they come are two questions. Clusters of acts answer the
first one without any order; rank aggregation answers the second. The steps are learnt from
narrations that are nobody's copy, and found again in all of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from howsteps.script import step_model
from howsteps.script.act_features import forbidden_pairs
from howsteps.script.act_table import ActTable, act_of, table_of
from howsteps.script.baselines import duration
from howsteps.script.chains import kept_in_order
from howsteps.script.clusters import average_linkage
from howsteps.script.near_duplicates import Runs
from howsteps.script.rank_aggregation import aggregate, precedence
from howsteps.script.step_names import named
from howsteps.script.step_selection import FEWEST, select, worth_of
from howsteps.script.stop_relations import talk, title_words
from howsteps.task import Mention, Script, Task

# At which two clusters are one step. Where that leaves too few for a script, as when all that is
# said is "rub the …", more is asked.
LEAST_SIMILARITIES = (0.4, 0.5, 0.6, 0.7)
REFINEMENTS = 2  # of the order, after mentions that break it are set aside


def events(
    task: Task,
    *,
    steps: int | None = None,
    model: step_model.StepModel | None = None,
) -> Script:
    """The script of a task from what its narrators say, in whatever order its videos come.

    Parameters
    ----------
    steps
        K, the most steps; None: chosen.
    model
        Weights instead of those that come with howsteps.
    """
    begun = perf_counter()
    task = replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))
    heard = candidates(task)
    witnesses = Runs.of(task.videos).originals(task.videos)
    lengths = [duration(video) for video in task.videos]
    mentions = [mention for row in heard for mention in row]
    told = [row if witness else () for row, witness in zip(heard, witnesses, strict=True)]
    table = table_of(told, lengths)
    if not table.acts:
        return Script((), seconds=perf_counter() - begun)
    clusters = clustered(table, [m for row in told for m in row], task.name, steps, model)
    everyone = _heard_by_everyone(table, heard, lengths)
    groups = _members(everyone, clusters)
    fewest = min(2, sum(map(bool, heard)))  # what one narrator says is no step
    work = np.array([mention.work for mention in mentions])
    ordered = in_order(groups, everyone, work)
    found = [own for own in ordered if len({*everyone.video[own]}) >= fewest]
    return Script(
        named(task, [[mentions[at] for at in own] for own in found]),
        seconds=perf_counter() - begun,
    )


def candidates(task: Task) -> list[list[Mention]]:
    """The mentions of every video that may be of a step, in time."""
    is_talk = talk(task.name)
    return [
        [
            mention
            for mention in sorted(video.mentions, key=lambda m: (m.start, m.end))
            if not mention.negated and not is_talk(mention)
        ]
        for video in task.videos
    ]


def clustered(
    table: ActTable,
    mentions: Sequence[Mention],
    title: str,
    steps: int | None = None,
    model: step_model.StepModel | None = None,
) -> list[list[int]]:
    """The acts of each step, the best step first."""
    from howsteps.wordnet import WordNet  # noqa: PLC0415 - takes a while

    wordnet = WordNet.load()
    model = model or step_model.shipped()
    similarity = model.same_step(table, mentions, wordnet)
    forbidden = forbidden_pairs(table, wordnet)
    several = min(2, table.narrators(range(len(table.acts))))
    for least in LEAST_SIMILARITIES:
        groups = average_linkage(similarity, np.sqrt(table.videos), forbidden, least)
        if sum(table.narrators(own) >= several for own in groups) >= FEWEST:
            break
    is_step = model.is_step(table, mentions, title)
    worth = worth_of(table, groups, is_step, title_words(title))
    return [groups[at] for at in select(table, groups, similarity, worth, steps)]


def in_order(
    groups: Sequence[NDArray[np.int64]], table: ActTable, work: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """The steps in their order, each with the mentions that follow it.

    ``work`` is how likely each mention is work and not talk.
    """
    groups = [own for own in groups if len(own)]
    kept: list[NDArray[np.int64]] = list(groups)
    for _ in range(1 + REFINEMENTS):
        # What breaks the order of its video counts half.
        before = precedence(kept, table.video, table.time)
        before += 0.5 * precedence(groups, table.video, table.time)
        order = aggregate(before, np.array([table.place[own].mean() for own in kept]))
        groups = [groups[step] for step in order]
        found = kept_in_order(groups, table.video, table.place, work=work)
        kept = [own if len(own) else whole for own, whole in zip(found, groups, strict=True)]
    return kept


def _heard_by_everyone(
    table: ActTable, heard: Sequence[Sequence[Mention]], lengths: Sequence[float]
) -> ActTable:
    """The same acts, with the mentions of all videos."""
    number = {act: place for place, act in enumerate(table.acts)}
    whole = table_of(heard, lengths)
    act = [number.get(act_of(mention), -1) for row in heard for mention in row]
    return ActTable(
        table.acts, np.array(act, np.int64), whole.video, whole.time, whole.place, whole.lengths
    )


def _members(table: ActTable, clusters: Sequence[Sequence[int]]) -> list[NDArray[np.int64]]:
    return [np.sort(np.concatenate([table.members[act] for act in own])) for own in clusters]
