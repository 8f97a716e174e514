"""From a page of text (``script.md``) to a script: assign mentions to the steps of the page.

A step that was not renamed keeps its mentions. So do the acts listed below it ("also: …"), under
whichever step they are listed now. A new step with the verb and object of another shares its
mentions, by the words that tell the two apart. Any other label about which nothing is known is
matched against the narrations (:mod:`howsteps.script.matching`); it may match nothing. The mentions
of a deleted step are dropped, unless another step lists their acts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from howsteps.errors import InputError, Problem
from howsteps.narration.relevance import stem
from howsteps.script.acts import Act, act_of, positions_of, title_words
from howsteps.script.matching import match_labels
from howsteps.script.names import examples
from howsteps.script.text_form import SHOWN_ACTS, TextStep, act_names, key_of_phrase
from howsteps.task import Mention, Script, Step, Task, Video

# Parses labels into the acts that each of them names.
LabelReader: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[Mention]]]

MANY_VIDEOS = 8  # from this many on, two videos must mention a new step
# A new label is a known step if this share of the step's mentions is of acts listed below it.
SAME_STEP_SHARE = 0.5


def script_of_text(
    steps: Sequence[TextStep],
    task: Task,
    known: Script,
    read_labels: LabelReader,
    path: Path,
) -> tuple[Script, list[Problem]]:
    """Make the script that a page describes.

    Parameters
    ----------
    steps
        The steps on the page.
    task
        With mentions.
    known
        The script that the page was made from; without steps if there is none.
    read_labels
        Called once, with all labels about which nothing is known, if there are any.
    path
        Of the page, for messages.

    Returns
    -------
    The script, and a remark on every step to join and every phrase that is not there.

    Raises
    ------
    InputError
        A step is joined to another one and is also listed by itself.
    """
    known_steps = [_KnownStep.of(step) for step in known.steps]
    page = _page_steps(steps, known_steps, _acts_by_phrase(task, known), path)
    mentions_by_step = _known_mentions(page, known_steps, task)
    for text, step, mentions in zip(steps, page, mentions_by_step, strict=True):
        if not mentions and step.same is None:
            step.unknown.append(text.label)
    texts = sorted({text for step in page for text in step.unknown})
    if texts:
        acts = dict(zip(texts, read_labels(texts), strict=True))
        title = title_words(task.name)
        labels = [
            _without_whole_task([act for text in step.unknown for act in acts[text]], title)
            for step in page
        ]
        _match(task, [(text.label, *(text.also or ())) for text in steps], mentions_by_step, labels)
    made = tuple(
        _step(step, mentions, task, known)
        for step, mentions in zip(steps, mentions_by_step, strict=True)
    )
    unknown = [
        Problem(
            path,
            f"{why} {name!r}; mentions that match it are added to {text.label!r}",
            text.line,
            harmless=True,
        )
        for text, step in zip(steps, page, strict=True)
        for why, names in (("no step is called", text.joins), ("nobody says", text.also or ()))
        for name in names
        if name in step.unknown
    ]
    return Script(made), unknown


def unmentioned(steps: Sequence[TextStep], script: Script, path: Path) -> list[Problem]:
    """A remark on every step of a page that no video mentions."""
    return [
        Problem(path, f"no narrator mentions the step {text.label!r}", text.line, harmless=True)
        for text, step in zip(steps, script.steps, strict=True)
        if not step.mentions
    ]


def with_matches(script: Script, task: Task, read_labels: LabelReader) -> Script:
    """Match the labels of steps without mentions, which share those of steps of the same act."""
    new = [step.label for step in script.steps if not step.mentions]
    if not new:
        return script
    acts = dict(zip(new, read_labels(new), strict=True))
    mentions_by_step = [list(step.mentions) for step in script.steps]
    labels = [() if step.mentions else acts[step.label] for step in script.steps]
    _match(task, [(step.label,) for step in script.steps], mentions_by_step, labels)
    steps = []
    for step, mentions in zip(script.steps, mentions_by_step, strict=True):
        ordered = in_order_of_time(mentions, task)
        changed = replace(step, mentions=ordered, examples=examples(task, ordered))
        steps.append(step if {*step.mentions} == {*ordered} else changed)
    return replace(script, steps=tuple(steps))


class _KnownStep(NamedTuple):
    """A step of the script that the page was made from."""

    key: str  # of its label
    mentions: tuple[Mention, ...]
    counts: Counter[Act]  # of the mentions
    shown: AbstractSet[Act]  # the acts that the page listed

    @staticmethod
    def of(step: Step) -> "_KnownStep":
        shown = list(act_names(step.mentions).values())[:SHOWN_ACTS]
        counts = Counter(map(act_of, step.mentions))
        return _KnownStep(key_of_phrase(step.label), step.mentions, counts, set().union(*shown))

    def share(self, acts: AbstractSet[Act], among: AbstractSet[Act]) -> float:
        """Of the mentions with acts in ``among``, the share with acts in ``acts``."""
        total = sum(self.counts[act] for act in among)
        return sum(self.counts[act] for act in among & acts) / max(total, 1)


@dataclass
class _PageStep:
    """What is known about a step of the page; known steps are indices.

    ``listed`` has the acts below it, ``joined`` the known steps joined to it, ``same`` the known
    step that it is, ``unknown`` the texts that must be matched against the narrations.
    """

    lists_acts: bool  # whether there is an "also:"
    listed: set[Act]
    joined: list[int]
    same: int | None
    unknown: list[str]


def _page_steps(
    steps: Sequence[TextStep],
    known: Sequence[_KnownStep],
    acts_by_phrase: Mapping[str, AbstractSet[Act]],
    path: Path,
) -> list[_PageStep]:
    """Look up every label and phrase of the page among the known steps and acts."""
    index: dict[str, int] = {}
    for k, step in enumerate(known):
        index.setdefault(step.key, k)
    page = []
    for text in steps:
        also = [*(text.also or ())]
        joins = {name: index.get(key_of_phrase(name)) for name in text.joins}
        phrases = also + [name for name, k in joins.items() if k is None]
        listed = set[Act]().union(*(acts_by_phrase.get(key_of_phrase(p), ()) for p in phrases))
        unknown = [
            phrase
            for phrase in phrases
            if (key := key_of_phrase(phrase)) not in acts_by_phrase and key not in index
        ]
        if text.more:  # acts that were not shown stay with the majority of the shown ones
            hidden = [
                k.counts.keys() - k.shown
                for k in known
                if k.share(listed, k.shown) >= SAME_STEP_SHARE
            ]
            listed.update(*hidden)
        for name in (name for name, k in joins.items() if k is not None):
            for other in steps:
                if key_of_phrase(other.label) == key_of_phrase(name):
                    reason = f"{name!r} is joined to {text.label!r}, and is a step by itself too"
                    raise InputError(path, reason, other.line)
        joined = [k for k in joins.values() if k is not None]
        same = index.get(key_of_phrase(text.label))
        if same is not None and not known[same].mentions:
            same = None  # nothing is known about it yet
        page.append(_PageStep(text.also is not None, listed, joined, same, unknown))
    left = set(range(len(known))) - {k for step in page for k in (step.same, *step.joined)}
    for found in page:
        if found.same is None and found.listed and left:
            shares = {k: known[k].share(found.listed, known[k].counts.keys()) for k in left}
            best = max(sorted(left), key=lambda k: shares[k])
            if shares[best] >= SAME_STEP_SHARE:
                found.same = best
                left.remove(best)
    return page


def _known_mentions(
    page: Sequence[_PageStep], known: Sequence[_KnownStep], task: Task
) -> list[list[Mention]]:
    """The mentions of every step as far as they are known; no mention is in two steps."""
    found: list[list[Mention]] = [[] for _ in page]
    held = {act for step in known for act in step.counts}
    for k, step in enumerate(known):
        owners = {act: _owner(page, k, act, step.counts) for act in step.counts}
        for mention in step.mentions:
            if (owner := owners[act_of(mention)]) is not None:
                found[owner].append(mention)
    for mention in (mention for video in task.videos for mention in video.mentions):
        if not mention.negated and (act := act_of(mention)) not in held:
            listing = [index for index, step in enumerate(page) if act in step.listed]
            if listing:
                found[listing[0]].append(mention)
    return found


def _owner(page: Sequence[_PageStep], k: int, act: Act, acts: Collection[Act]) -> int | None:
    """The step of the page that gets an act of the known step k; None if there is none.

    Parameters
    ----------
    acts
        All acts of the known step.
    """
    same = next((index for index, step in enumerate(page) if step.same == k), None)
    if same is not None and (not page[same].lists_acts or act in page[same].listed):
        return same
    for index, step in enumerate(page):
        if act in step.listed:
            return index
    for index, step in enumerate(page):
        if k in step.joined:
            return index
    # A step that lists nothing of its own keeps what it had.
    return same if same is not None and page[same].listed.isdisjoint(acts) else None


def _acts_by_phrase(task: Task, known: Script) -> dict[str, set[Act]]:
    """The acts that a phrase stands for: those that the page named so, else its most frequent."""
    counts: dict[str, Counter[Act]] = {}
    for video in task.videos:
        for mention in video.mentions:
            key = key_of_phrase(mention.phrase)
            counts.setdefault(key, Counter())[act_of(mention)] += 1
    spoken = {key: {max(acts, key=lambda a: (acts[a], a))} for key, acts in counts.items()}
    on_page: dict[str, set[Act]] = {}
    for step in known.steps:
        for name, acts in act_names(step.mentions).items():
            on_page.setdefault(key_of_phrase(name), set()).update(acts)
    return {**spoken, **on_page}


def _without_whole_task(acts: Sequence[Mention], title: Collection[str]) -> Sequence[Mention]:
    """The acts of a label without the task itself: "find a safe place to *change the tire*"."""
    return [act for act in acts if not {act.verb, act.noun} <= {*title}] or acts


def _match(
    task: Task,
    phrases: Sequence[Sequence[str]],
    mentions_by_step: list[list[Mention]],
    labels: list[Sequence[Mention]],
) -> None:
    """Add to each step with a label to be matched its share of the mentions, or its matches.

    "Wrap the left wrist" beside "wrap the wrist" has none where nobody says "left".
    """
    named = [
        {*map(act_of, own or acts)} for own, acts in zip(mentions_by_step, labels, strict=True)
    ]
    told = share_out(task, phrases, mentions_by_step, labels)
    matched = {step for step in told.values() if step is not None}
    words = [{*key_of_phrase(each[0]).split()} for each in phrases]
    for k, plainer in permutations(range(len(words)), 2):
        if words[plainer] < words[k] and named[k] <= named[plainer]:
            matched.add(k)
    unmatched = [() if k in matched else acts for k, acts in enumerate(labels)]
    add_matches(task, mentions_by_step, unmatched, told.keys())


def share_out(
    task: Task,
    phrases: Sequence[Sequence[str]],
    mentions_by_step: list[list[Mention]],
    labels: Sequence[Sequence[Mention]],
) -> dict[Mention, int | None]:
    """Share the mentions of an act among the steps that it names, in place.

    A new step takes those that say a word that tells it from the others: "wash the *left* wrist".

    Parameters
    ----------
    phrases
        The label of each step, and the phrases listed below it.
    labels
        As for :func:`add_matches`.

    Returns
    -------
    The new step that each mention was given to; None for one that another step is told by.
    """
    pairs = list(zip(mentions_by_step, labels, strict=True))
    is_new = [bool(acts) and not own for own, acts in pairs]
    named = [{*map(act_of, own or acts)} for own, acts in pairs]
    given: dict[Mention, int | None] = {}
    for act in sorted(set().union(*(acts for acts, new in zip(named, is_new, strict=True) if new))):
        group = [k for k, acts in enumerate(named) if act in acts]
        if len(group) < 2:
            continue
        words = {k: _words_about(act, phrases[k]) for k in group}
        telling = {k: words[k].difference(*(words[j] for j in group if j != k)) for k in group}
        holder = {mention: k for k in group for mention in mentions_by_step[k]}
        for video in task.videos:
            for mention in video.mentions:
                if act_of(mention) != act or mention.negated:
                    continue
                if (step := _told(mention, video, telling)) is None:
                    continue
                given[mention] = step if is_new[step] else None
                if is_new[step]:
                    mentions_by_step[step].append(mention)
                    if mention in holder:
                        mentions_by_step[holder[mention]].remove(mention)
    return given


def _words_about(act: Act, phrases: Iterable[str]) -> set[str]:
    """The words of the phrases that name the object of an act, without those of the act itself."""
    about = (words for phrase in phrases if act.noun in (words := _lemmas(phrase, act)))
    return set().union(*about) - {*act}


def _lemmas(text: str, act: Act) -> set[str]:
    """The stems of the words of a text; of the act's own words, the lemmas."""
    own = {stem(word): word for word in (act.verb, act.noun)}
    return {own.get(word, word) for word in map(stem, key_of_phrase(text).split())}


def _told(mention: Mention, video: Video, telling: Mapping[int, AbstractSet[str]]) -> int | None:
    """The step of which a mention says the most telling words; None if it says none or equal."""
    around = [*mention.modifiers, *(place.noun for place in mention.places), *mention.tools]
    if mention.sentence < len(video.sentences):  # the parser may miss a modifier
        words = video.sentences[mention.sentence].words
        around += [w.text for w in words if mention.start <= w.start < mention.end]
    said = {*map(stem, key_of_phrase(" ".join((mention.phrase, *around))).split())}
    counts = Counter({k: len(said & own) for k, own in telling.items()}).most_common(2)
    return counts[0][0] if counts[0][1] > sum(count for _, count in counts[1:]) else None


def add_matches(
    task: Task,
    mentions_by_step: list[list[Mention]],
    labels: Sequence[Sequence[Mention]],
    left_out: Collection[Mention] = (),
) -> None:
    """Add to each step the mentions that match its label, in place.

    Parameters
    ----------
    labels
        The acts that the label of each step names; empty for a step that is not to be matched.
    left_out
        Mentions that are not to be added to any step.
    """
    taken = {mention for mentions in mentions_by_step for mention in mentions}.union(left_out)
    free: list[Mention] = []
    positions: list[float] = []
    for video in task.videos:
        new = [m for m in video.mentions if not m.negated and m not in taken]
        free += new
        positions += positions_of(video, new).tolist()
    steps = [[*acts, *known] for acts, known in zip(labels, mentions_by_step, strict=True)]
    matches = match_labels(steps, [bool(label) for label in labels], free, np.array(positions))
    # Among many narrators, a single one is as likely to mean something else.
    min_videos = 2 if len({mention.video for mention in free}) >= MANY_VIDEOS else 1
    for mentions, matched in zip(mentions_by_step, matches, strict=True):
        new = [free[index] for index in matched]
        if mentions or len({mention.video for mention in new}) >= min_videos:
            mentions.extend(new)


def in_order_of_time(mentions: Sequence[Mention], task: Task) -> tuple[Mention, ...]:
    """The mentions in order of the videos and of time."""
    order = {video.id: index for index, video in enumerate(task.videos)}
    return tuple(sorted(mentions, key=lambda m: (order[m.video], m.start, m.end)))


def _step(text: TextStep, mentions: Sequence[Mention], task: Task, known: Script) -> Step:
    ordered = in_order_of_time(mentions, task)
    same = next((s for s in known.steps if ordered and {*s.mentions} == {*ordered}), None)
    return Step(
        text.label,
        ordered,
        same.examples if same else examples(task, ordered),
        text.optional,
        text.alternative,
    )
