"""Which clusters of acts are the steps of the job, and how many.

The worth of a cluster is how many videos say it, each counted by how sure it is that what they say
is a step; an act that only readies a thing ("take a towel") counts less, and so does a cluster that
is said all over the video. Clusters are taken one by one. Each time the worth of the others falls
by their similarity to what is taken already, so no step comes twice. The longer the script is, the
more a further step must be worth.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from howsteps.script.act_features import spread_of
from howsteps.script.act_table import ActTable, Matrix
from howsteps.script.clusters import linkage_between
from howsteps.script.verb_classes import is_helper
from howsteps.script.word_vectors import vectors_of

FEWEST, MOST = 5, 15
HELPER = 0.6
JOB, LIKE = 0.5, 0.45  # what the job itself counts; the cosine at which nouns are alike
SPREAD = 2.0  # how much a wide spread costs
REPETITION = 2.0  # the power of the penalty for being similar to a step
SHARE = 0.22  # of the worth of the three best: what a tenth step must be worth
USUAL = 10  # steps of a script
CANDIDATES = 40


def worth_of(
    table: ActTable, clusters: Sequence[Sequence[int]], is_step: Matrix, title: Collection[str] = ()
) -> Matrix:
    """What each cluster is worth; ``title`` are the words of the title."""
    helper = np.array([HELPER if is_helper(act.verb, act.particle) else 1.0 for act in table.acts])
    factor = helper * np.where(job_itself(table, title), JOB, 1.0) * is_step
    sure = (table.counts > 0) * factor[:, None]
    worth = np.zeros(len(clusters))
    for at, cluster in enumerate(clusters):
        own = np.concatenate([table.members[act] for act in cluster])
        spread = spread_of(table.place[own])
        worth[at] = sure[list(cluster)].max(axis=0).sum() * np.exp(-SPREAD * spread)
    return worth


def job_itself(table: ActTable, title: Collection[str]) -> NDArray[np.bool_]:
    """Which acts may be the whole job: the verb of the title, done to the like of its nouns.

    "Clean the cooktop" is how to clean a stove top, not a step of it.
    """
    verbs = {act.verb for act in table.acts} & set(title)
    nouns = sorted(set(title) - verbs)
    like = vectors_of([act.noun for act in table.acts]) @ vectors_of(nouns).T
    near = like.max(axis=1, initial=0.0) >= LIKE
    return np.asarray(near & [act.verb in verbs for act in table.acts])


def select(
    table: ActTable,
    clusters: Sequence[list[int]],
    similarity: Matrix,
    worth: Matrix,
    most: int | None = None,
) -> list[int]:
    """The clusters that become steps, the best first.

    Parameters
    ----------
    most
        K, the most steps to take; None: between 5 and 15, as long as they are worth it. What most
        narrators say is taken in any case.
    """
    weights = table.videos
    narrators = table.narrators(range(len(table.acts)))
    named_by = [table.narrators(own) for own in clusters]
    alone = min(2, narrators)  # what one narrator says is no step
    left = [int(at) for at in np.argsort(-worth, kind="stable")[:CANDIDATES]]
    penalty = dict.fromkeys(left, 0.0)
    chosen: list[int] = []
    gains: list[float] = []
    names: set[tuple[str, str]] = set()
    while left and len(chosen) < (most or MOST):
        gain = {at: worth[at] * (1.0 - penalty[at]) ** REPETITION for at in left}
        if most is None and len(chosen) >= FEWEST:
            bar = _least(len(chosen) + 1) * np.mean(gains[:3])
            gain = {at: g for at, g in gain.items() if g >= bar or 2 * named_by[at] > narrators}
            if not gain:
                break
        best = max(gain, key=lambda at: gain[at])
        left.remove(best)
        if named_by[best] < alone:
            continue
        name = _name(table, clusters[best])
        if name in names:
            continue
        names.add(name)
        chosen.append(best)
        gains.append(gain[best])
        for at in left:
            alike = linkage_between(similarity, weights, clusters[at], clusters[best])
            penalty[at] = max(penalty[at], alike)
    return chosen


def _least(number: int) -> float:
    """What the step of this number must be worth, as a share of the three best."""
    return SHARE * (number / USUAL) ** 2


def _name(table: ActTable, cluster: Sequence[int]) -> tuple[str, str]:
    leader = max(cluster, key=lambda act: (table.videos[act], -act))
    return table.acts[leader].verb, table.acts[leader].noun
