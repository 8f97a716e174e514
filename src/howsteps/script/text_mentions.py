"""From a page of text (``script.md``) to a script: assign mentions to the steps of the page.

A step that was not renamed keeps its mentions. So do the acts listed below it ("also: …"), under
whichever step they are listed now. Anything else that a person writes takes the mentions that say
all of its words; those of another step too, if that says fewer of them: "wash the *left* wrist".
A label about which nothing is known is then matched against the narrations
(:mod:`howsteps.script.matching`); it may match nothing. The mentions of a deleted step are dropped,
unless another step lists their acts.
"""

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from howsteps.errors import InputError, Problem
from howsteps.narration.relevance import stem
from howsteps.script.acts import Act, act_of, positions_of, title_words
from howsteps.script.matching import match_labels, sides_of
from howsteps.script.names import examples
from howsteps.script.text_form import (
    SHOWN_ACTS,
    TextStep,
    act_names,
    also_text,
    key_of_phrase,
    phrases_of,
)
from howsteps.task import Mention, Script, Step, Task

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
    page = _page_steps(steps, known_steps, path)
    mentions_by_step = _known_mentions(page, known_steps)
    for text, step, mentions in zip(steps, page, mentions_by_step, strict=True):
        if not mentions and step.same is None:
            step.unknown.append(text.label)
    said = take_what_is_said(
        task,
        [[*step.phrases, *step.unknown] for step in page],
        [(text.label, *text.also) for text in steps],
        mentions_by_step,
    )
    for text, step in zip(steps, page, strict=True):
        if text.label in step.unknown and not said.isdisjoint(step.phrases):
            step.unknown.remove(text.label)
    texts = sorted({text for step in page for text in step.unknown})
    if texts:
        acts = dict(zip(texts, read_labels(texts), strict=True))
        title = title_words(task.name)
        labels = [
            _without_whole_task([act for text in step.unknown for act in acts[text]], title)
            for step in page
        ]
        add_matches(task, mentions_by_step, labels)
    made = tuple(
        _step(text, mentions, task, known)
        for text, mentions in zip(steps, mentions_by_step, strict=True)
    )
    remarks = []
    for text, step in zip(steps, page, strict=True):
        reasons = [
            f"no step is called {name!r}; mentions that match it are added to {text.label!r}"
            for name in text.joins
            if name in step.unknown
        ]
        reasons += [
            f"nobody says {name!r}; it counts for {text.label!r} as soon as somebody does"
            for name in step.phrases
            if name not in said
        ]
        remarks += [Problem(path, reason, text.line, harmless=True) for reason in reasons]
    return Script(made), remarks


def unmentioned(steps: Sequence[TextStep], script: Script, path: Path) -> list[Problem]:
    """A remark on every step of a page that no video mentions."""
    return [
        Problem(path, f"no narrator mentions the step {text.label!r}", text.line, harmless=True)
        for text, step in zip(steps, script.steps, strict=True)
        if not step.mentions
    ]


def with_matches(script: Script, task: Task, read_labels: LabelReader) -> Script:
    """Add what is said of steps without mentions, and of what a person wrote below the others."""
    written = [phrases_of(step.also or "") for step in script.steps]
    if not any(written) and all(step.mentions for step in script.steps):
        return script
    mentions_by_step = [list(step.mentions) for step in script.steps]
    every = [(step.label, *own) for step, own in zip(script.steps, written, strict=True)]
    texts = [() if step.mentions else own for step, own in zip(script.steps, every, strict=True)]
    take_what_is_said(task, texts, every, mentions_by_step)
    # What is in a step stays there: a person may have moved it.
    take_what_is_said(task, written, every, mentions_by_step, only_free=True)
    new = [step.label for step in script.steps if not step.mentions]
    acts = dict(zip(new, read_labels(new), strict=True)) if new else {}
    add_matches(task, mentions_by_step, [acts.get(step.label, ()) for step in script.steps])
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
    named: Mapping[str, AbstractSet[Act]]  # the acts that a phrase below it stands for
    shown: AbstractSet[Act]  # the acts that the page listed
    also: str  # as it was written on the page

    @staticmethod
    def of(step: Step) -> "_KnownStep":
        names = act_names(step.mentions)
        return _KnownStep(
            key_of_phrase(step.label),
            step.mentions,
            Counter(map(act_of, step.mentions)),
            {key_of_phrase(name): acts for name, acts in names.items()},
            set().union(*[*names.values()][:SHOWN_ACTS]),
            also_text(step),
        )

    def share(self, acts: AbstractSet[Act], among: AbstractSet[Act]) -> float:
        """Of the mentions with acts in ``among``, the share with acts in ``acts``."""
        total = sum(self.counts[act] for act in among)
        return sum(self.counts[act] for act in among & acts) / max(total, 1)


@dataclass
class _PageStep:
    """What is known about a step of the page; known steps are indices.

    ``listed`` has the acts below it, ``phrases`` what somebody must say, ``joined`` the known steps
    joined to it, ``same`` the known step that it is, ``unknown`` the texts that must be matched
    against the narrations. One that ``keeps_all`` has nothing new below it.
    """

    listed: set[Act]
    phrases: list[str]
    joined: list[int]
    same: int | None
    unknown: list[str]
    keeps_all: bool = False


def _page_steps(
    steps: Sequence[TextStep], known: Sequence[_KnownStep], path: Path
) -> list[_PageStep]:
    """Look up every label and phrase of the page among the known steps and acts."""
    index: dict[str, int] = {}
    named: defaultdict[str, set[Act]] = defaultdict(set)
    for k, step in enumerate(known):
        index.setdefault(step.key, k)
        for name, acts in step.named.items():
            named[name] |= acts
    page = []
    for text in steps:
        joins = {name: index.get(key_of_phrase(name)) for name in text.joins}
        _check_joined(text, [name for name, k in joins.items() if k is not None], steps, path)
        new = [name for name, k in joins.items() if k is None and key_of_phrase(name) not in named]
        keys = map(key_of_phrase, (*text.also, *text.joins))
        listed = set[Act]().union(*(named.get(key, ()) for key in keys))
        if text.more:  # acts that were not shown stay with the majority of the shown ones
            hidden = [
                k.counts.keys() - k.shown
                for k in known
                if k.share(listed, k.shown) >= SAME_STEP_SHARE
            ]
            listed.update(*hidden)
        joined = [k for k in joins.values() if k is not None]
        same = index.get(key_of_phrase(text.label))
        if same is not None and not known[same].mentions:
            same = None  # nothing is known about it yet
        page.append(_PageStep(listed, [*text.also], joined, same, new))
    left = set(range(len(known))) - {k for step in page for k in (step.same, *step.joined)}
    for found, text in zip(page, steps, strict=True):
        if found.same is None and text.also and left:
            shares = {
                k: max(
                    known[k].also == text.written,
                    known[k].share(found.listed, known[k].counts.keys()),
                )
                for k in left
            }
            best = max(sorted(left), key=lambda k: shares[k])
            if shares[best] >= SAME_STEP_SHARE:
                found.same = best
                left.remove(best)
        if found.same is not None:
            found.keeps_all = not text.also or text.written == known[found.same].also
        if found.keeps_all:
            found.phrases = [each for each in text.also if key_of_phrase(each) not in named]
    return page


def _check_joined(
    text: TextStep, joined: Sequence[str], steps: Sequence[TextStep], path: Path
) -> None:
    for name in joined:
        for other in steps:
            if key_of_phrase(other.label) == key_of_phrase(name):
                reason = f"{name!r} is joined to {text.label!r}, and is a step by itself too"
                raise InputError(path, reason, other.line)


def _known_mentions(page: Sequence[_PageStep], known: Sequence[_KnownStep]) -> list[list[Mention]]:
    """The mentions of every step as far as they are known; no mention is in two steps."""
    found: list[list[Mention]] = [[] for _ in page]
    for k, step in enumerate(known):
        owners = {act: _owner(page, k, act, step.counts) for act in step.counts}
        for mention in step.mentions:
            if (owner := owners[act_of(mention)]) is not None:
                found[owner].append(mention)
    return found


def _owner(page: Sequence[_PageStep], k: int, act: Act, acts: Collection[Act]) -> int | None:
    """The step of the page that gets an act of the known step k; None if there is none.

    Parameters
    ----------
    acts
        All acts of the known step.
    """
    same = next((index for index, step in enumerate(page) if step.same == k), None)
    if same is not None and (page[same].keeps_all or act in page[same].listed):
        return same
    for index, step in enumerate(page):
        if act in step.listed:
            return index
    for index, step in enumerate(page):
        if k in step.joined:
            return index
    # A step that lists nothing of its own keeps what it had.
    return same if same is not None and page[same].listed.isdisjoint(acts) else None


def _without_whole_task(acts: Sequence[Mention], title: Collection[str]) -> Sequence[Mention]:
    """The acts of a label without the task itself: "find a safe place to *change the tire*"."""
    return [act for act in acts if not {act.verb, act.noun} <= {*title}] or acts


def take_what_is_said(
    task: Task,
    texts: Sequence[Sequence[str]],
    own: Sequence[Sequence[str]],
    mentions_by_step: list[list[Mention]],
    *,
    only_free: bool = False,
) -> set[str]:
    """Add to each step the mentions that say all words of one of its texts, in place.

    Of several steps, the one with the longest text gets it.

    Parameters
    ----------
    own
        The label of each step, and the phrases below it: a step loses only what says fewer of its
        words.
    only_free
        A step loses nothing.

    Returns
    -------
    The texts that somebody says.
    """
    holder = {mention: k for k, mentions in enumerate(mentions_by_step) for mention in mentions}
    wanted = [{text: _stems(text) for text in each} for each in texts]
    words = [[_stems(text) for text in each] for each in own]
    verbs = set().union(*(stems for each in wanted for stems in each.values()))
    said: set[str] = set()
    for mention, needed, spoken in _words_by_mention(task, verbs):
        lengths = [0] * len(wanted)
        for k, each in enumerate(wanted):
            for text, stems in each.items():
                if needed <= stems <= spoken:
                    said.add(text)
                    lengths[k] = max(lengths[k], len(stems))
        k = max(range(len(lengths)), key=lengths.__getitem__)
        held = holder.get(mention)
        if not lengths[k] or held == k or (held is not None and only_free):
            continue
        if held is not None:
            if any(stems <= spoken and len(stems) >= lengths[k] for stems in words[held]):
                continue
            mentions_by_step[held].remove(mention)
        mentions_by_step[k].append(mention)
    return said


def _words_by_mention(
    task: Task, verbs: Collection[str]
) -> Iterator[tuple[Mention, AbstractSet[str], AbstractSet[str]]]:
    """The mentions with one of these verbs, each with two sets of stems.

    The first has its verb and its object, the second all that is said until the next mention: the
    parser may miss a modifier.
    """
    for video in task.videos:
        starts = sorted(mention.start for mention in video.mentions)
        for mention in video.mentions:
            if mention.negated or stem(mention.verb) not in verbs:
                continue
            phrase = _stems(mention.phrase)
            spoken = {*phrase, *map(stem, mention.modifiers)}
            if mention.sentence < len(video.sentences):
                after = bisect(starts, mention.start)
                end = starts[after] if after < len(starts) else np.inf
                words = video.sentences[mention.sentence].words
                spoken |= _stems(
                    " ".join(word.text for word in words if mention.start <= word.start < end)
                )
            yield mention, phrase & {stem(mention.verb), stem(mention.noun)}, spoken


def _stems(text: str) -> set[str]:
    return {*map(stem, key_of_phrase(text).split())}


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
    # Where somebody says "wash the left wrist", what names no side may be on the other.
    labels = [
        () if mentions and any(map(sides_of, acts)) else acts
        for mentions, acts in zip(mentions_by_step, labels, strict=True)
    ]
    free: list[Mention] = []
    positions: list[float] = []
    for video in task.videos:
        new = [m for m in video.mentions if not m.negated and m not in taken]
        free += new
        positions += positions_of(video, new).tolist()
    steps = [acts or known for acts, known in zip(labels, mentions_by_step, strict=True)]
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
    before = [s for s in known.steps if s.also is None and also_text(s) == text.written]
    label = key_of_phrase(text.label)
    is_own = any(text.written or key_of_phrase(s.label) == label for s in before)
    return Step(
        text.label,
        ordered,
        same.examples if same else examples(task, ordered),
        text.optional,
        text.alternative,
        also=None if is_own else text.written,
    )
