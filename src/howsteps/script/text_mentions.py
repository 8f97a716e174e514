"""From a page of text (``script.md``) to a script: assign mentions to the steps of the page.

A step that was not renamed keeps its mentions. So do the acts listed below it ("also: …"), under
whichever step they are listed now. A label about which nothing is known is matched against the
narrations (:mod:`howsteps.script.matching`); it may match nothing. The mentions of a deleted
step are dropped, unless another step lists their acts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from howsteps.errors import InputError, Problem
from howsteps.script.acts import Act, act_of, positions_of, title_words
from howsteps.script.matching import match_labels
from howsteps.script.names import examples
from howsteps.script.text_form import SHOWN_ACTS, TextStep, act_names, key_of_phrase
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
    The script, and a remark on every step that no video mentions.

    Raises
    ------
    InputError
        A step is joined to another one and is also listed by itself.
    """
    gathering = _Gathering(steps, task, known, path)
    mentions_by_step = gathering.mentions()
    unknown = [gathering.unknown(index) for index in range(len(steps))]
    texts = sorted({text for row in unknown for text in row})
    if texts:
        acts = dict(zip(texts, read_labels(texts), strict=True))
        title = title_words(task.name)
        labels = [
            _without_whole_task([act for text in row for act in acts[text]], title)
            for row in unknown
        ]
        _add_matches(task, mentions_by_step, labels)
    made = tuple(
        _step(step, mentions, task, known)
        for step, mentions in zip(steps, mentions_by_step, strict=True)
    )
    remarks = [
        Problem(path, f"no narrator mentions the step {step.label!r}", text.line, harmless=True)
        for text, step in zip(steps, made, strict=True)
        if not step.mentions
    ]
    remarks += [
        Problem(
            path,
            f"no step is called {name!r}; mentions that match it are added to {text.label!r}",
            text.line,
            harmless=True,
        )
        for index, text in enumerate(steps)
        for name in text.joins
        if name in unknown[index]
    ]
    return Script(made), remarks


def with_matches(script: Script, task: Task, read_labels: LabelReader) -> Script:
    """Match the labels of steps without mentions against the mentions that no step has."""
    new = [step.label for step in script.steps if not step.mentions]
    if not new:
        return script
    acts = dict(zip(new, read_labels(new), strict=True))
    mentions_by_step = [list(step.mentions) for step in script.steps]
    labels = [() if step.mentions else acts[step.label] for step in script.steps]
    _add_matches(task, mentions_by_step, labels)
    steps = [
        step if step.mentions else _with_mentions(step, mentions, task)
        for step, mentions in zip(script.steps, mentions_by_step, strict=True)
    ]
    return replace(script, steps=tuple(steps))


def _with_mentions(step: Step, mentions: Sequence[Mention], task: Task) -> Step:
    ordered = _in_order(mentions, task)
    return replace(step, mentions=ordered, examples=examples(task, ordered))


class _Gathering:
    """Assigns mentions of the known script, and of acts listed on the page, to steps."""

    def __init__(self, steps: Sequence[TextStep], task: Task, known: Script, path: Path) -> None:
        self._steps, self._task, self._known = steps, task, known
        self._acts_by_phrase = _acts_by_phrase(task, known)
        # For each known step: its acts, and those of them that the page showed.
        self._known_acts = [{act_of(mention) for mention in step.mentions} for step in known.steps]
        names = [list(act_names(step.mentions).values()) for step in known.steps]
        self._shown_acts = [set().union(*acts[:SHOWN_ACTS]) for acts in names]
        # For each step of the page: acts listed below it, known steps joined to it, and the known
        # step that it is.
        self._listed = [self._listed_acts(step) for step in steps]
        self._joined = [self._joined_steps(step, path) for step in steps]
        self._counterpart = self._counterparts()

    def mentions(self) -> list[list[Mention]]:
        """The mentions of every step as far as they are known; no mention is in two steps."""
        found: list[list[Mention]] = [[] for _ in self._steps]
        taken: set[Mention] = set()

        def take(index: int, mentions: Iterable[Mention]) -> None:
            new = [m for m in dict.fromkeys(mentions) if m not in taken]
            found[index] += new
            taken.update(new)

        for index, acts in enumerate(self._listed):
            if acts:
                take(index, self._mentions_of(index, acts))
        for index, joined in enumerate(self._joined):
            for step in joined:
                take(index, self._known.steps[step].mentions)
        for index, known in enumerate(self._counterpart):
            if known is not None and not self._listed[index] & self._known_acts[known]:
                take(index, self._known.steps[known].mentions)
        return found

    def unknown(self, index: int) -> list[str]:
        """The label and phrases of a step that must be matched against the narrations."""
        step = self._steps[index]
        texts = [
            phrase
            for phrase in (*(step.gathers or ()), *step.joins)
            if key_of_phrase(phrase) not in self._acts_by_phrase
            and self._known_step(phrase) is None
        ]
        is_known = (
            self._counterpart[index] is not None or self._listed[index] or self._joined[index]
        )
        return texts if is_known else [step.label, *texts]

    def _mentions_of(self, index: int, acts: set[Act]) -> list[Mention]:
        """The mentions of acts listed below a step.

        Those of the known step that it is; else those of known steps that no longer list the act;
        else, if no known step has the act, all.
        """
        counterpart = self._counterpart[index]
        found: list[Mention] = []
        for act in acts:
            if counterpart is not None and act in self._known_acts[counterpart]:
                sources = [counterpart]
            else:
                holders = [k for k, known in enumerate(self._known_acts) if act in known]
                sources = [k for k in holders if not self._keeps(k, act)]
                if not holders:
                    found += _mentions_of_act(self._task, act)
            found += [m for k in sources for m in self._known.steps[k].mentions if act_of(m) == act]
        return found

    def _keeps(self, known: int, act: Act) -> bool:
        """Whether an act is still listed below the known step that had it."""
        return any(
            counterpart == known and (step.gathers is None or act in listed)
            for step, counterpart, listed in zip(
                self._steps, self._counterpart, self._listed, strict=True
            )
        )

    def _listed_acts(self, step: TextStep) -> set[Act]:
        phrases = [*(step.gathers or ())]
        phrases += [phrase for phrase in step.joins if self._known_step(phrase) is None]
        acts = {
            act for phrase in phrases for act in self._acts_by_phrase.get(key_of_phrase(phrase), ())
        }
        if not step.more:
            return acts
        # "and 7 more": acts that were not shown stay with the majority of the shown ones.
        hidden = (
            known - shown
            for k, (known, shown) in enumerate(zip(self._known_acts, self._shown_acts, strict=True))
            if self._share(k, acts, shown) >= SAME_STEP_SHARE
        )
        return acts.union(*hidden)

    def _joined_steps(self, step: TextStep, path: Path) -> list[int]:
        found = []
        for phrase in step.joins:
            if (known := self._known_step(phrase)) is None:
                continue
            key = key_of_phrase(phrase)
            for other in self._steps:
                if key_of_phrase(other.label) == key:
                    reason = f"{phrase!r} is joined to {step.label!r}, and is a step by itself too"
                    raise InputError(path, reason, other.line)
            found.append(known)
        return found

    def _known_step(self, label: str) -> int | None:
        key = key_of_phrase(label)
        same = (k for k, s in enumerate(self._known.steps) if key_of_phrase(s.label) == key)
        return next(same, None)

    def _counterparts(self) -> list[int | None]:
        """The known step that each step is: the same label, or most of its mentions."""
        found = [self._known_step(step.label) for step in self._steps]
        joined = {k for row in self._joined for k in row}
        left = set(range(len(self._known.steps))) - {*found, *joined}
        for index, acts in enumerate(self._listed):
            if found[index] is None and acts and left:
                shares = {k: self._share(k, acts, self._known_acts[k]) for k in left}
                best = max(sorted(left), key=lambda k: shares[k])
                if shares[best] >= SAME_STEP_SHARE:
                    found[index] = best
                    left.remove(best)
        return found

    def _share(self, known: int, acts: set[Act], among: set[Act]) -> float:
        """Of a known step's mentions with acts in ``among``, the share with acts in ``acts``."""
        found = [act for m in self._known.steps[known].mentions if (act := act_of(m)) in among]
        return sum(act in acts for act in found) / max(len(found), 1)


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


def _mentions_of_act(task: Task, act: Act) -> list[Mention]:
    return [
        mention
        for video in task.videos
        for mention in video.mentions
        if not mention.negated and act_of(mention) == act
    ]


def _without_whole_task(acts: Sequence[Mention], title: Collection[str]) -> Sequence[Mention]:
    """The acts of a label without the task itself: "find a safe place to *change the tire*"."""
    return [act for act in acts if not {act.verb, act.noun} <= {*title}] or acts


def _add_matches(
    task: Task, mentions_by_step: list[list[Mention]], labels: Sequence[Sequence[Mention]]
) -> None:
    """Add to each step the mentions that match its label, in place.

    Parameters
    ----------
    labels
        The acts that the label of each step names; empty for a step that is not to be matched.
    """
    taken = {mention for mentions in mentions_by_step for mention in mentions}
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


def _in_order(mentions: Sequence[Mention], task: Task) -> tuple[Mention, ...]:
    order = {video.id: index for index, video in enumerate(task.videos)}
    return tuple(sorted(mentions, key=lambda m: (order[m.video], m.start, m.end)))


def _step(text: TextStep, mentions: Sequence[Mention], task: Task, known: Script) -> Step:
    ordered = _in_order(mentions, task)
    same = next((s for s in known.steps if ordered and {*s.mentions} == {*ordered}), None)
    return Step(
        text.label,
        ordered,
        same.examples if same else examples(task, ordered),
        same.stability if same else None,
        text.optional,
        text.alternative,
    )
