"""Discover the script of a task: its steps in order, from the mentions of its videos.

::

    mentions ─► acts ─► step_model ─► clusters ─► order ─► names

What the steps are and in which order they come are solved separately: clustering of acts ignores
the order, and rank aggregation finds it afterwards. Steps are learnt from the narrations that are
not near-duplicates of others; their mentions are then collected from all narrations.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.narration.wordnet import WordNet
from howsteps.script import step_model
from howsteps.script.acts import (
    ActTable,
    act_of,
    build_act_table,
    candidate_mentions,
    title_words,
)
from howsteps.script.clusters import MIN_STEPS, average_linkage, cluster_scores, select_clusters
from howsteps.script.names import name_steps
from howsteps.script.near_duplicates import Shingles
from howsteps.script.order import aggregate, keep_in_order, precedence
from howsteps.task import Mention, Script, Task

# The similarity at which two clusters are merged. Where the first value leaves too few clusters for
# a script, as when every act is "rub the …", the next ones are tried.
MERGE_THRESHOLDS = (0.4, 0.5, 0.6, 0.7)
REFINEMENTS = 2  # of the order, after dropping mentions that break it


def discover(task: Task, *, steps: int | None = None) -> Script:
    """Discover the script of a task; it does not depend on the order of the videos.

    Parameters
    ----------
    task
        Videos with mentions (:func:`howsteps.narration.extract_relations`).
    steps
        K, the maximum number of steps; None: chosen automatically.

    Raises
    ------
    HowstepsError
        No video has a mention, or ``steps`` is less than one.
    """
    start = perf_counter()
    check_mentions(task, steps)
    task = replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))
    mentions_by_video = candidate_mentions(task)
    is_original = Shingles.of(task.videos).originals(task.videos)
    durations = [video.length for video in task.videos]
    of_originals = [
        row if original else ()
        for row, original in zip(mentions_by_video, is_original, strict=True)
    ]
    table = build_act_table(of_originals, durations)
    if not table.acts:
        return Script((), seconds=perf_counter() - start)
    clusters = cluster_acts(table, [m for row in of_originals for m in row], task.name, steps)
    full_table = _with_all_mentions(table, mentions_by_video, durations)
    members = [
        np.sort(np.concatenate([full_table.members[act] for act in cluster]))
        for cluster in clusters
    ]
    mentions = [mention for row in mentions_by_video for mention in row]
    ordered = order_steps(members, full_table, np.array([mention.work for mention in mentions]))
    # An act of one narrator is not a step.
    min_support = min(2, sum(map(bool, mentions_by_video)))
    kept = [step for step in ordered if len({*full_table.video[step]}) >= min_support]
    return Script(
        name_steps(task, [[mentions[i] for i in step] for step in kept]),
        seconds=perf_counter() - start,
    )


def check_mentions(task: Task, steps: int | None) -> None:
    """Raise if no video has a mention, or ``steps`` is less than one."""
    if steps is not None and steps < 1:
        raise HowstepsError(f"a script has at least one step, not {steps}")
    if not any(video.mentions for video in task.videos):
        raise HowstepsError(f"{task.name}: no video has a mention; were its captions read?")


def cluster_acts(
    table: ActTable, mentions: Sequence[Mention], title: str, steps: int | None
) -> list[list[int]]:
    """Cluster acts and select the clusters that are steps; returns their acts, best step first.

    Parameters
    ----------
    mentions
        Those that the table was built from.
    title
        The name of the task.
    """
    wordnet, model = WordNet.load(), step_model.shipped()
    similarity = model.same_step(table, mentions, wordnet)
    forbidden = step_model.forbidden_pairs(table, wordnet)
    min_support = min(2, table.support(range(len(table.acts))))
    for threshold in MERGE_THRESHOLDS:
        clusters = average_linkage(similarity, np.sqrt(table.video_counts), forbidden, threshold)
        if sum(table.support(cluster) >= min_support for cluster in clusters) >= MIN_STEPS:
            break
    is_step = model.is_step(table, mentions, title)
    scores = cluster_scores(table, clusters, is_step, title_words(title))
    return [clusters[i] for i in select_clusters(table, clusters, similarity, scores, steps)]


def order_steps(
    steps: Sequence[NDArray[np.int64]], table: ActTable, work: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """Order the steps, and drop the mentions that break the order.

    Parameters
    ----------
    steps
        The mentions of each step, as indices into the mentions of ``table``.
    work
        The probability that each mention is work, not talk.

    Returns
    -------
    The kept mentions of each step, in the order of the script; a step keeps all of its mentions
    where none follows the order.
    """
    members = [step for step in steps if len(step)]
    kept: list[NDArray[np.int64]] = list(members)
    for _ in range(1 + REFINEMENTS):
        # The order of all mentions counts half as much as that of the kept ones.
        before = precedence(kept, table.video, table.time)
        before += 0.5 * precedence(members, table.video, table.time)
        order = aggregate(before, np.array([table.position[step].mean() for step in kept]))
        members = [members[step] for step in order]
        in_order = keep_in_order(members, table.video, table.position, work=work)
        kept = [
            some if len(some) else everything
            for some, everything in zip(in_order, members, strict=True)
        ]
    return kept


def _with_all_mentions(
    table: ActTable, mentions_by_video: Sequence[Sequence[Mention]], durations: Sequence[float]
) -> ActTable:
    """The same acts, with the mentions of near-duplicates too."""
    index = {act: i for i, act in enumerate(table.acts)}
    act = [index.get(act_of(mention), -1) for row in mentions_by_video for mention in row]
    full = build_act_table(mentions_by_video, durations)
    return replace(full, acts=table.acts, act=np.array(act, np.int64))
