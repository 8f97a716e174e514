"""The script in modes ``paper`` and ``authors``: align the mentions, keep the slots with support.

The mentions of all videos are aligned on one template (:mod:`.alignment`); the slots with most
support are the steps (Section 4.1, "the K action steps"). Where no number of steps is given, K is
chosen by stability: as many as two halves of the videos agree on (:func:`choose_step_count`).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import HowstepsError, unknown_name
from howsteps.narration.relations import usual_phrase
from howsteps.narration.wordnet import WordNet, match_matrix
from howsteps.paper.alignment import AUTHORS, FrankWolfe, align
from howsteps.paper.alignment_problem import make_problem, shared_problem
from howsteps.script.discovery import check_mentions
from howsteps.script.names import examples
from howsteps.task import Mention, Relation, Script, Step, Task

MatchFunction = Callable[[Sequence[Relation]], NDArray[np.bool_]]
Sequences = Sequence[Sequence[int]]

BROAD_SIMILARITY = 0.9
# Of the number of steps.
STEP_COUNTS = range(4, 16)
USUAL_STEPS = 10  # as in the paper
MIN_NARRATIONS = 8  # below, there is no split
SPLITS = 24
SECONDS = 0.05  # of search for each half
MARGIN = 2.0  # standard errors
# Of stability.
MIN_VIDEOS = 6  # with mentions; below, there is no stability
SUBSAMPLE_SHARE = 0.75
SUBSAMPLES = 12


@dataclass(frozen=True)
class ScriptOptions:
    """Options of script discovery by alignment; a mode is a set of them.

    Parameters
    ----------
    vocabulary
        Align only the mentions of this many most frequent relations (authors: 45).
    keep_last
        Align only the last mention of a relation that a narration repeats (authors).
    broad
        After the alignment, let earlier, similar mentions of a narration join its steps (authors).
    solver
        Of the alignment; None: the search.
    """

    vocabulary: int | None = None
    keep_last: bool = False
    broad: bool = False
    solver: FrankWolfe | None = None


OPTIONS: Mapping[str, ScriptOptions] = {
    "paper": ScriptOptions(),
    "authors": ScriptOptions(vocabulary=45, keep_last=True, broad=True, solver=AUTHORS),
}


def discover(
    task: Task,
    *,
    steps: int | None = None,
    mode: str = "paper",
    seed: int = 0,
    seconds: float = 5.0,
    certificate_seconds: float = 0.0,
    match: MatchFunction | None = None,
    options: ScriptOptions | None = None,
) -> Script:
    """Discover the steps of a task by aligning the mentions of its videos.

    Parameters
    ----------
    steps
        K, the maximum number of steps; None: chosen by stability.
    mode
        ``paper`` or ``authors``: a set of :class:`ScriptOptions`.
    seconds, certificate_seconds
        As for :func:`howsteps.paper.alignment.align`.
    match
        From D relations to the D×D matrix of which match; None: by WordNet.
    options
        Used instead of those of the mode.
    """
    if mode not in OPTIONS:
        raise HowstepsError(unknown_name("mode", mode, OPTIONS))
    check_mentions(task, steps)
    options = options or OPTIONS[mode]
    mentions_by_video = [
        sorted((m for m in video.mentions if m.noun), key=lambda m: (m.start, m.end))
        for video in task.videos
    ]
    relations = sorted({mention.relation for row in mentions_by_video for mention in row})
    index = {relation: i for i, relation in enumerate(relations)}
    matrix = (match or wordnet_match)(relations)
    sequences = [[index[mention.relation] for mention in row] for row in mentions_by_video]
    indices = aligned_indices(sequences, options)
    aligned = [[row[i] for i in kept] for row, kept in zip(sequences, indices, strict=True)]
    alignment = align(
        aligned,
        matrix,
        seconds=seconds,
        seed=seed,
        solver=options.solver,
        certificate_seconds=certificate_seconds,
    )
    supports = shared_support(alignment.slots)
    if steps is None:
        kept = keep_some(supports, choose_step_count(aligned, matrix, seed=seed))
    else:
        kept = keep(supports, steps)
    step_of_slot = {slot: step for step, slot in enumerate(kept)}
    step_of = [[-1] * len(row) for row in sequences]  # −1: no step
    for row, places, slots in zip(step_of, indices, alignment.slots, strict=True):
        for i, slot in zip(places, slots, strict=True):
            row[i] = step_of_slot.get(slot, -1)
    if options.broad:
        step_of = broaden(sequences, step_of, matrix, len(kept))
    groups: list[list[Mention]] = [[] for _ in kept]
    for mentions, steps_of_row in zip(mentions_by_video, step_of, strict=True):
        for mention, step in zip(mentions, steps_of_row, strict=True):
            if step >= 0:
                groups[step].append(mention)
    return Script(
        steps=tuple(_labelled_step(task, group) for group in groups),
        objective=alignment.objective,
        objective_per_token=alignment.objective_per_token,
        bound=alignment.bound,
        seconds=alignment.seconds,
    )


def wordnet_match(relations: Sequence[Relation]) -> NDArray[np.bool_]:
    """Relations match where verbs and nouns each share a synset."""
    return match_matrix(relations, WordNet.load())


def aligned_indices(sequences: Sequences, options: ScriptOptions) -> list[list[int]]:
    """The indices of the mentions that are aligned, in each sequence of relations.

    With ``vocabulary``, those of the most frequent relations (ties go to the lower index); with
    ``keep_last``, the last mention of each relation.
    """
    indices = [list(range(len(row))) for row in sequences]
    if options.vocabulary is not None:
        counts = Counter(relation for row in sequences for relation in row)
        by_frequency = sorted(counts, key=lambda relation: (-counts[relation], relation))
        frequent = set(by_frequency[: options.vocabulary])
        indices = [[i for i, d in enumerate(row) if d in frequent] for row in sequences]
    if options.keep_last:
        last = [{row[i]: i for i in kept} for row, kept in zip(sequences, indices, strict=True)]
        indices = [sorted(row.values()) for row in last]
    return indices


def _labelled_step(task: Task, mentions: Sequence[Mention]) -> Step:
    """Make a step of mentions, labelled by its most frequent relation."""
    step = Step(label="", mentions=tuple(mentions))
    usual = step.relations[0][0]
    naming = [mention for mention in mentions if mention.relation == usual]
    return replace(step, label=usual_phrase(naming), examples=examples(task, naming))


def shared_support(slots: Sequences) -> NDArray[np.int64]:
    """Count the mentions in every slot; zero if only one of several narrations fills it."""
    supports = np.bincount([slot for row in slots for slot in row]).astype(np.int64)
    several = sum(1 for row in slots if row) > 1
    return np.where(supports > 1, supports, 0) if several else supports


def threshold(supports: ArrayLike, steps: int) -> int:
    """Return s*, the smallest support that leaves at most K slots: ties are never split.

    s* = min {s ≥ 1 : #{l : support_l ≥ s} ≤ K}
    """
    falling = np.sort(np.asarray(supports, dtype=np.int64))[::-1]
    return 1 if len(falling) <= steps else max(1, int(falling[steps]) + 1)


def keep(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps, in order."""
    return np.flatnonzero(np.asarray(supports) >= threshold(supports, steps)).tolist()


def keep_some(supports: ArrayLike, steps: int) -> list[int]:
    """Return the slots that become steps; if more than K tie at the top, all of those.

    For a K that was chosen automatically, which must not empty the script.
    """
    counts = np.asarray(supports, dtype=np.int64)
    best = int(counts.max(initial=0))
    return keep(counts, max(steps, int((counts == best).sum()))) if best else []


def broaden(
    sequences: Sequences, step_of: Sequences, match: ArrayLike, steps: int
) -> list[list[int]]:
    """Let earlier mentions join the steps of their narration (the authors' "broad" constraints).

    A mention without a step (−1 in ``step_of``) joins the first step k that its narration names
    later on, if its mean similarity (``match``, D×D) to the relations aligned in step k exceeds
    0.9.
    """
    similarity = np.asarray(match, dtype=np.float64)
    aligned: list[list[int]] = [[] for _ in range(steps)]
    for row, steps_of_row in zip(sequences, step_of, strict=True):
        for relation, step in zip(row, steps_of_row, strict=True):
            if step >= 0:
                aligned[step].append(relation)
    broadened = [list(row) for row in step_of]
    for n, (row, steps_of_row) in enumerate(zip(sequences, step_of, strict=True)):
        for step in range(steps):
            if step not in steps_of_row:
                continue
            for i in range(list(steps_of_row).index(step)):
                mean = similarity[row[i], aligned[step]].mean()
                if broadened[n][i] < 0 and mean > BROAD_SIMILARITY:
                    broadened[n][i] = step
    return broadened


def choose_step_count(sequences: Sequences, match: NDArray[np.bool_], *, seed: int) -> int:
    """Choose K by stability; with few narrations it is the largest.

    The videos are split into two random halves, many times. Each half is aligned on its own by a
    short search, which gives a script for every K. With L the length of the longest common
    subsequence of the two scripts, of k and k' steps, each step represented by its most frequent
    relation,

        gain(K) = mean over the splits of  2L − (k + k')/2,

    so a step of both halves counts 1 and a step of one half −1/2. A further step pays only if both
    halves have it more often than not, and a short script has a low gain however well the halves
    agree.
    """
    shared = shared_problem(make_problem(sequences, match))  # the rest cannot be a step
    rows = [list(row) for row in shared.split(shared.tokens)]
    if len(rows) < MIN_NARRATIONS:
        return STEP_COUNTS[-1]
    generator = np.random.default_rng(seed)
    gains = np.zeros((SPLITS, len(STEP_COUNTS)))
    for split in range(SPLITS):
        order = generator.permutation(len(rows))
        halves = [
            _supports_and_relations([rows[n] for n in order[part::2]], shared.match, seed)
            for part in (0, 1)
        ]
        for index, steps in enumerate(STEP_COUNTS):
            one, two = (
                [usual[slot] for slot in keep(supports, steps)] for supports, usual in halves
            )
            common = common_steps(one, two, shared.match)
            gains[split, index] = 2 * common - (len(one) + len(two)) / 2
    return best_step_count(gains)


def best_step_count(gains: NDArray[np.float64]) -> int:
    """The best K, from the gains (splits × values of K), smoothed by a moving average of three.

    Of all K whose gain is within two standard errors of the maximum, the one nearest to the paper's
    ten. If the maximum is not two standard errors above zero, as with some thirty videos of real
    speech, the halves are uninformative, and K is ten.
    """
    padded = np.pad(gains, ((0, 0), (1, 1)), mode="edge")
    smooth = (padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]) / 3
    mean = smooth.mean(axis=0)
    best = int(mean.argmax())
    margin = MARGIN * float(smooth[:, best].std(ddof=1)) / np.sqrt(len(gains))
    if mean[best] <= margin:
        return USUAL_STEPS
    good = [STEP_COUNTS[index] for index in np.flatnonzero(mean >= mean[best] - margin)]
    return min(good, key=lambda steps: abs(steps - USUAL_STEPS))


def common_steps(one: Sequence[int], two: Sequence[int], match: NDArray[np.bool_]) -> int:
    """Length of the longest common subsequence of two scripts."""
    row = np.zeros(len(two) + 1, dtype=np.int64)
    for relation in one:
        above = row.copy()
        for j, other in enumerate(two):
            row[j + 1] = max(above[j + 1], row[j], above[j] + match[relation, other])
    return int(row[-1])


def _supports_and_relations(
    sequences: list[list[int]], match: NDArray[np.bool_], seed: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Align some narrations; return support and most frequent relation of every slot."""
    alignment = align(sequences, match, seconds=SECONDS, seed=seed)
    members: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, slots in zip(sequences, alignment.slots, strict=True):
        for relation, slot in zip(row, slots, strict=True):
            members[slot][relation] += 1
    supports = shared_support(alignment.slots)
    counts = (members[slot] for slot in range(len(supports)))
    return supports, [min(count, key=lambda d: (-count[d], d)) for count in counts]


def with_stability(
    script: Script, task: Task, again: Callable[[Task], Script], *, seed: int = 0
) -> Script:
    """The script with the stability of every step; unchanged if there are too few videos.

    For a random three quarters of the videos, let M_k be the (video, relation) pairs of step k in
    the subsample, and M'_j those of the steps discovered (by ``again``) from the subsample alone.
    Step k is recovered when the union M' of the steps that lie mostly in it has a Jaccard index
    with it of at least one half:

        M' = ∪ { M'_j : |M_k ∩ M'_j| ≥ ½ |M'_j| },     |M_k ∩ M'| ≥ ½ |M_k ∪ M'|

    It is a union because a step of nearly all videos is often split in two when there are fewer.
    The stability of a step is the share of subsamples in which it is recovered, of those that name
    it. (Halves of the videos would be too strict: of ten narrators, five seldom name a step twice.)
    """
    narrated = [video for video in task.videos if video.mentions]
    if len(narrated) < MIN_VIDEOS or not script.steps:
        return script
    generator = np.random.default_rng(seed)
    # Times are left out: of repeated mentions, not always the same one is aligned.
    pairs = [{(m.video, m.relation) for m in step.mentions} for step in script.steps]
    n_named, n_recovered = np.zeros(len(pairs)), np.zeros(len(pairs))
    for _ in range(SUBSAMPLES):
        size = round(SUBSAMPLE_SHARE * len(narrated))
        chosen = sorted(generator.permutation(len(narrated))[:size])
        subsample = replace(task, videos=tuple(narrated[n] for n in chosen))
        try:
            others = again(subsample).steps
        except HowstepsError:  # the subsample has no mentions
            others = ()
        other_pairs = [{(m.video, m.relation) for m in step.mentions} for step in others]
        videos = {video.id for video in subsample.videos}
        for k, all_pairs in enumerate(pairs):
            own = {pair for pair in all_pairs if pair[0] in videos}
            union = set().union(*(o for o in other_pairs if 2 * len(own & o) >= len(o)))
            n_named[k] += bool(own)
            n_recovered[k] += bool(own) and 2 * len(own & union) >= len(own | union)
    steps = tuple(
        replace(step, stability=round(float(recovered / named), 3) if named else None)
        for step, recovered, named in zip(script.steps, n_recovered, n_named, strict=True)
    )
    return replace(script, steps=steps)
