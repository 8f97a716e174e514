"""Discover the script of a task: its steps in order, from the mentions of its videos.

::

    mentions ─► acts ─► step_model ─► clusters ─► order ─► small events joined ─► names

What the steps are and in which order they come are solved separately: clustering of acts ignores
the order, and rank aggregation finds it afterwards. Steps are learnt from the narrations that are
not near-duplicates of others; their mentions are then collected from all narrations.

The act at the heart of a job is often said without an object ("and now flip", "blend until
smooth"); such mentions count under the object that they most likely have. Ingredients that are
added one after the other are one step: "add the salt, pepper and nutmeg".
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError
from howsteps.narration.grammar import is_substance
from howsteps.narration.wordnet import WordNet
from howsteps.script import step_model
from howsteps.script.acts import (
    LIGHT_VERBS,
    VAGUE_NOUNS,
    ActTable,
    Matrix,
    act_of,
    build_act_table,
    candidate_mentions,
    done_by_others,
)
from howsteps.script.clusters import (
    average_linkage,
    cluster_scores,
    least_support,
    select_clusters,
)
from howsteps.script.names import (
    NEED_A_PLACE,
    PRODUCTS,
    Name,
    Namer,
    examples,
    name_of_additions,
)
from howsteps.script.near_duplicates import originals
from howsteps.script.order import aggregate, keep_in_order, precedence
from howsteps.script.similarity import (
    classes_of,
    is_helper,
    sound_alike,
    specificity,
)
from howsteps.task import Mention, Script, Step, Task, Video

MERGE_THRESHOLD = 0.4  # similarity at which two clusters are merged
MIN_NAMED = 3  # clusters; where narrators agree on fewer names, what one of them says is one
MOSTLY = 0.7  # of the narrators of a step who follow the order: then all of them may name it
SPARE = 5  # clusters beyond twice the steps asked for
# An object is implied only for verbs that say what is done, and where work is not unlikely.
MIN_SPECIFICITY, MIN_WORK = 0.2, 0.3
HANDLED = 6  # nouns before a mention that it may refer to
COMMONER = 3  # times as many narrators say a noun as another that was misheard for it
IMPLIED_SHARE = 0.3  # of the videos of the verb's most common object
EVENT_SECONDS = 20.0  # between additions that are one event
MAX_JOINED = 3
# A step that so many narrators place somewhere is within this share of a video of where they do.
MIN_PLACED, MAX_AWAY = 3, 0.25


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
    check_mentions(task, steps)
    task = replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))
    of_others = done_by_others(task.videos)
    mentions_by_video = [
        [mention for mention in row if mention.relation not in of_others]
        for row in candidate_mentions(task)
    ]
    is_original = originals(task.videos)
    durations = [video.length for video in task.videos]
    of_originals = [
        row if original else ()
        for row, original in zip(mentions_by_video, is_original, strict=True)
    ]
    implied = implied_objects(task.videos) | misheard_objects(task.videos)
    table = build_act_table(of_originals, durations, implied)
    if not table.acts:
        return Script(())
    namer = Namer(task)
    clusters, similarity, scores = cluster_acts(
        table, [m for row in of_originals for m in row], task.name, namer
    )
    full_table = build_act_table(mentions_by_video, durations, implied, table.acts)
    mentions = [mention for row in mentions_by_video for mention in row]
    work = np.array([mention.work for mention in mentions])
    min_support = least_support(sum(map(bool, mentions_by_video)))

    def steps_of(chosen: Sequence[int]) -> tuple[Step, ...]:
        selected = [
            _where_named(
                np.sort(np.concatenate([full_table.members[act] for act in clusters[index]])),
                full_table,
                mentions,
                namer,
            )
            for index in chosen
        ]
        kept: dict[str, NamedStep] = {}
        for index, own in order_steps(selected, full_table, work):
            narrators, of = (len({*full_table.video[step]}) for step in (own, selected[index]))
            name = namer.name([mentions[i] for i in own], kept)
            if name is None and narrators >= MOSTLY * of:
                # The mentions that follow the order may leave out what makes a name.
                name = namer.name([mentions[i] for i in selected[index]], kept)
            if name is not None and narrators >= min_support:
                kept[name.label] = NamedStep(own, name)
        events = join_additions([*kept.values()], full_table, mentions)
        return tuple(_step(event, task, mentions) for event in events)

    # Some clusters get no name, or are joined to others: then the next best take their places.
    most = steps and 2 * steps + SPARE
    ranked = select_clusters(table, clusters, similarity, scores, most)
    count = steps or len(ranked)
    found = steps_of(ranked[:count])
    while steps and len(found) < steps and count < len(ranked):
        count = min(len(ranked), count + steps - len(found))
        wider = steps_of(ranked[:count])
        if len(wider) > steps:
            break
        found = max(found, wider, key=len)
    return Script(found)


class NamedStep(NamedTuple):
    """The mentions of a step, as indices, and its name."""

    mentions: NDArray[np.int64]
    name: Name


def _step(parts: Sequence[NamedStep], task: Task, mentions: Sequence[Mention]) -> Step:
    """The step of one or several parts."""
    names = [part.name for part in parts]
    name = names[0] if len(names) == 1 else name_of_additions(names)
    own = sorted((mentions[i] for part in parts for i in part.mentions), key=_by_time)
    step = Step(name.label, tuple(own), examples(task, name.mentions))
    return step.named_after(name.mentions[0].relation)


def _by_time(mention: Mention) -> tuple[str, float]:
    return mention.video, mention.start


def _where_named(
    step: NDArray[np.int64], table: ActTable, mentions: Sequence[Mention], namer: Namer
) -> NDArray[np.int64]:
    """The mentions near those at the place that the step is named after.

    "Take the steak out of the refrigerator" is not when it is taken off the grill.
    """
    name = namer.name([mentions[i] for i in step])
    verb, *words = name.label.split() if name else [""]
    if name is None or not (verb in NEED_A_PLACE or is_helper(verb, "")):
        return step
    nouns = {*words} - {name.mentions[0].relation.noun}
    there = [i for i in step if any(place.noun in nouns for place in mentions[i].places)]
    if len({*table.video[there]}) < MIN_PLACED:
        return step
    away = np.abs(table.position[step] - np.median(table.position[there]))
    return step[away <= MAX_AWAY]


def implied_objects(videos: Sequence[Video]) -> dict[Mention, str]:
    """The objects of mentions that name none: "and now *flip*", "let it simmer".

    An object that narrators of the task name with the same verb, if possible one that was handled
    shortly before. For a verb of work that nobody gives an object, what was handled before it in
    several videos.
    """
    objects: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    before: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    handled_by: dict[Mention, list[str]] = {}
    for video in videos:
        named: set[tuple[tuple[str, str], str]] = set()
        seen_before: set[tuple[tuple[str, str], str]] = set()
        handled: list[str] = []
        for mention in sorted(video.mentions, key=lambda m: (m.start, m.end)):
            verb = mention.verb, mention.particle
            if mention.noun and mention.noun not in VAGUE_NOUNS:
                handled = [mention.noun, *(n for n in handled if n != mention.noun)][:HANDLED]
                if not mention.negated:
                    named.add((verb, mention.noun))
            elif not mention.noun and not mention.places and mention.work >= MIN_WORK:
                handled_by[mention] = handled
                seen_before.update((verb, noun) for noun in handled[:3])
        for verb, noun in named:
            objects[verb][noun] += 1
        for verb, noun in seen_before:
            before[verb][noun] += 1
    implied = {}
    for mention, handled in handled_by.items():
        verb = mention.verb, mention.particle
        if specificity(mention.verb) >= MIN_SPECIFICITY:
            known = _of_two_videos(objects[verb])
            if not known and classes_of(*verb):
                known = objects[verb] or _of_two_videos(before[verb])
            if known:
                usual = min(known, key=lambda noun: (-known[noun], noun))
                enough = IMPLIED_SHARE * known[usual]
                implied[mention] = next((n for n in handled if known[n] >= enough), usual)
    return implied


def misheard_objects(videos: Sequence[Video]) -> dict[Mention, str]:
    """The objects of mentions that were probably misheard: "add the *flower*".

    A noun that few narrators say sounds like one that many do with the same verbs of work.
    """
    said: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    modifiers: defaultdict[str, set[str]] = defaultdict(set)
    for mention in (mention for video in videos for mention in video.mentions):
        if mention.noun and mention.verb not in LIGHT_VERBS:
            said[mention.noun][mention.verb].add(mention.video)
        modifiers[mention.noun].update(mention.modifiers)
    support = {noun: len(set().union(*by_verb.values())) for noun, by_verb in said.items()}
    usual = {
        noun: {verb for verb, by in by_verb.items() if len(by) >= 2}
        for noun, by_verb in said.items()
    }
    heard: dict[str, str] = {}
    for noun in sorted(support, key=lambda noun: (-support[noun], noun)):
        for common in (other for other in support if support[other] >= COMMONER * support[noun]):
            # A "heat source" is none where nobody has a "heat sauce".
            alike = not modifiers[noun] or not modifiers[noun].isdisjoint(modifiers[common])
            same_verbs = 2 * len(usual[common] & said[noun].keys()) >= len(said[noun])
            if alike and same_verbs and sound_alike(noun, common):
                heard[noun] = common
    return {
        mention: heard[mention.noun]
        for video in videos
        for mention in video.mentions
        if mention.noun in heard
    }


def _of_two_videos(counts: Counter[str]) -> Counter[str]:
    return Counter({noun: count for noun, count in counts.items() if count >= 2})


def join_additions(
    steps: Sequence[NamedStep], table: ActTable, mentions: Sequence[Mention]
) -> list[list[NamedStep]]:
    """Group steps that add one thing after the other within seconds."""
    events: list[list[NamedStep]] = []
    for step in steps:
        event = events[-1] if events else []
        may_join = event and len(event) < MAX_JOINED and all(map(_adds, (event[0].name, step.name)))
        if may_join and _are_one_event(event[-1].mentions, step.mentions, table):
            event.append(step)
        else:
            events.append([step])
    return events


def _adds(name: Name) -> bool:
    """Whether a name is that of adding a substance, not all of what there is."""
    act = act_of(name.mentions[0])
    if act.noun in PRODUCTS or not is_substance(act.noun):
        return False
    return "add" in classes_of(act.verb, act.particle)


def _are_one_event(one: NDArray[np.int64], two: NDArray[np.int64], table: ActTable) -> bool:
    """Whether most videos that name two groups of mentions do so within seconds."""
    videos = set(table.video[one]) & set(table.video[two])
    near = 0
    for video in videos:
        a, b = (table.time[group[table.video[group] == video]] for group in (one, two))
        near += bool(np.abs(a[:, None] - b[None, :]).min() <= EVENT_SECONDS)
    return near >= max(2, len(videos) / 2)


def check_mentions(task: Task, steps: int | None) -> None:
    """Raise if no video has a mention, or ``steps`` is less than one."""
    if steps is not None and steps < 1:
        raise HowstepsError(f"a script has at least one step, not {steps}")
    if not any(video.mentions for video in task.videos):
        was_read = any(video.sentences for video in task.videos)
        first = "call howsteps.narration.extract_relations(task), and pass what it returns"
        reason = "nobody says what is done" if was_read else f"first {first}"
        raise HowstepsError(f"{task.name}: no video has a mention; {reason}")


def cluster_acts(
    table: ActTable, mentions: Sequence[Mention], title: str, namer: Namer
) -> tuple[list[list[int]], Matrix, Matrix]:
    """Cluster acts; clusters that no name can be given that a reader could follow are left out.

    Parameters
    ----------
    mentions
        Those that the table was built from.
    title
        The name of the task.

    Returns
    -------
    The acts of each cluster, the similarity of all pairs of acts, and the score of each cluster.
    """
    wordnet, model = WordNet.load(), step_model.shipped()
    similarity = model.same_step(table, mentions, wordnet)
    forbidden = step_model.which_undo([(act.verb, act.particle) for act in table.acts])
    min_support = min(2, table.support(range(len(table.acts))))

    def of(cluster: Sequence[int]) -> list[Mention]:
        return [mentions[i] for act in cluster for i in table.members[act]]

    weights = np.sqrt(table.video_counts)
    clusters = average_linkage(similarity, weights, forbidden, MERGE_THRESHOLD)
    named = [cluster for cluster in clusters if namer.name(of(cluster))]
    if sum(table.support(cluster) >= min_support for cluster in named) < MIN_NAMED:
        namer.agreed = 1
        named = [cluster for cluster in clusters if namer.name(of(cluster))]
    clusters = named
    is_step = model.is_step(table, mentions, title)
    work = np.array([mention.work for mention in mentions])
    scores = cluster_scores(table, clusters, is_step, work)
    return clusters, similarity, scores


def order_steps(
    steps: Sequence[NDArray[np.int64]], table: ActTable, work: NDArray[np.float64]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Order the steps, and drop the mentions that break the order.

    Parameters
    ----------
    steps
        The mentions of each step, as indices into the mentions of ``table``.
    work
        The probability that each mention is work, not talk.

    Returns
    -------
    The index of each step and its kept mentions, in the order of the script.
    """
    before = precedence(steps, table.video, table.time)
    order = aggregate(before, np.array([table.position[step].mean() for step in steps]))
    kept = keep_in_order([steps[k] for k in order], table.video, table.position, work=work)
    return list(zip(order, kept, strict=True))
