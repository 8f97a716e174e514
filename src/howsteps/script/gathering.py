"""From a page of text to a script: every step finds the mentions that are its own.

A step that was not renamed keeps the mentions that it had, and so do the acts that stand below it
("also: …"), under whatever step they stand now. A step of which nothing is known is matched with
what is said (:mod:`howsteps.script.label_match`), or nobody names it. The mentions of a step that
was deleted go to nobody, unless another step names them.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from howsteps.errors import InputError, Problem
from howsteps.script.act_table import Act, act_of
from howsteps.script.baselines import duration
from howsteps.script.label_match import match_labels
from howsteps.script.labels import examples
from howsteps.script.stop_relations import title_words
from howsteps.script.text_form import SHOWN_ACTS, TextStep, act_names, key_of_phrase
from howsteps.task import Mention, Script, Step, Task

# The acts that each of some labels names.
LabelReader: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[Mention]]]

MANY_VIDEOS = 8  # of so many narrators, two must name a step that somebody added
SAME = 0.5  # share of a step's mentions that must stand below a new label to be that step


def script_of_text(
    steps: Sequence[TextStep],
    task: Task,
    known: Script,
    read_labels: LabelReader,
    path: Path,
) -> tuple[Script, list[Problem]]:
    """The script that a page means, for a task whose narrations have been heard.

    Parameters
    ----------
    steps
        As they stand on the page.
    known
        The script that the page was made from; without steps where there is none.
    read_labels
        Called once with all labels of which nothing is known, if there are any.
    path
        Named in errors and remarks.

    Returns
    -------
    The script, and a remark on every step that nobody names.

    Raises
    ------
    InputError
        A step is joined to another one and stands by itself too.
    """
    gathering = _Gathering(steps, task, known, path)
    own = gathering.mentions()
    said = [gathering.unknown(number) for number in range(len(steps))]
    wanted = sorted({text for texts in said for text in texts})
    if wanted:
        acts = dict(zip(wanted, read_labels(wanted), strict=True))
        title = title_words(task.name)
        labels = [_steps_alone([a for text in texts for a in acts[text]], title) for texts in said]
        _match(task, own, labels)
    made = tuple(
        _step(step, mentions, task, known) for step, mentions in zip(steps, own, strict=True)
    )
    remarks = [
        Problem(path, f"nobody names the step {step.label!r}", text.line, harmless=True)
        for text, step in zip(steps, made, strict=True)
        if not step.mentions
    ]
    remarks += [
        Problem(
            path,
            f"no step is called {name!r}, so {text.label!r} takes in what narrators say like that",
            text.line,
            harmless=True,
        )
        for number, text in enumerate(steps)
        for name in text.joins
        if name in said[number]
    ]
    return Script(made), remarks


def with_matches(script: Script, task: Task, read_labels: LabelReader) -> Script:
    """A script whose steps without mentions are matched with what is said and no step has."""
    new = [step.label for step in script.steps if not step.mentions]
    if not new:
        return script
    acts = dict(zip(new, read_labels(new), strict=True))
    own = [list(step.mentions) for step in script.steps]
    _match(task, own, [() if step.mentions else acts[step.label] for step in script.steps])
    steps = [
        step if step.mentions else _with_mentions(step, found, task)
        for step, found in zip(script.steps, own, strict=True)
    ]
    return replace(script, steps=tuple(steps))


def _with_mentions(step: Step, mentions: Sequence[Mention], task: Task) -> Step:
    own = _in_order(mentions, task)
    return replace(step, mentions=own, examples=examples(task, own))


class _Gathering:
    """Which mentions of the known script, or named on the page, belong to which step."""

    def __init__(self, steps: Sequence[TextStep], task: Task, known: Script, path: Path) -> None:
        self._steps, self._task, self._known = steps, task, known
        self._acts = _acts_by_phrase(task, known)
        self._own = [{act_of(mention) for mention in step.mentions} for step in known.steps]
        names = [list(act_names(step.mentions).values()) for step in known.steps]
        self._shown = [set().union(*of[:SHOWN_ACTS]) for of in names]
        self._listed = [self._listed_acts(step) for step in steps]
        self._joined = [self._joined_steps(step, path) for step in steps]
        self._was = self._counterparts()

    def mentions(self) -> list[list[Mention]]:
        """The mentions of every step, as far as they are known; no mention is in two steps."""
        found: list[list[Mention]] = [[] for _ in self._steps]
        taken: set[Mention] = set()

        def take(number: int, mentions: Iterable[Mention]) -> None:
            new = [m for m in dict.fromkeys(mentions) if m not in taken]
            found[number] += new
            taken.update(new)

        for number, acts in enumerate(self._listed):
            if acts:
                take(number, self._of_acts(number, acts))
        for number, joined in enumerate(self._joined):
            for step in joined:
                take(number, self._known.steps[step].mentions)
        for number, was in enumerate(self._was):
            if was is not None and not self._listed[number] & self._own[was]:
                take(number, self._known.steps[was].mentions)
        return found

    def unknown(self, number: int) -> list[str]:
        """The texts of a step that say what it is, where nothing is known of them."""
        step = self._steps[number]
        texts = [
            phrase
            for phrase in (*(step.gathers or ()), *step.joins)
            if key_of_phrase(phrase) not in self._acts and self._known_step(phrase) is None
        ]
        told = self._was[number] is not None or self._listed[number] or self._joined[number]
        return texts if told else [step.label, *texts]

    def _of_acts(self, number: int, acts: set[Act]) -> list[Mention]:
        """The mentions of the acts below a step: its own, those of others that gave them away."""
        was = self._was[number]
        found: list[Mention] = []
        for act in acts:
            if was is not None and act in self._own[was]:
                givers = [was]
            else:
                holders = [k for k, own in enumerate(self._own) if act in own]
                givers = [k for k in holders if not self._keeps(k, act)]
                if not holders:
                    found += _candidates(self._task, act)
            found += [m for k in givers for m in self._known.steps[k].mentions if act_of(m) == act]
        return found

    def _keeps(self, known: int, act: Act) -> bool:
        """Whether an act still stands below the step that had it."""
        return any(
            was == known and (step.gathers is None or act in listed)
            for step, was, listed in zip(self._steps, self._was, self._listed, strict=True)
        )

    def _listed_acts(self, step: TextStep) -> set[Act]:
        phrases = [*(step.gathers or ())]
        phrases += [p for p in step.joins if self._known_step(p) is None]
        acts = {act for phrase in phrases for act in self._acts.get(key_of_phrase(phrase), ())}
        if not step.more:
            return acts
        # The page shows some acts of a step; the others are where most of those are.
        rest = (
            own - shown
            for k, (own, shown) in enumerate(zip(self._own, self._shown, strict=True))
            if self._share(k, acts, shown) >= SAME
        )
        return acts.union(*rest)

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
        """The known step that each step is: of the same label, or with most of its mentions."""
        found = [self._known_step(step.label) for step in self._steps]
        gone = {k for joined in self._joined for k in joined}
        left = set(range(len(self._known.steps))) - {*found, *gone}
        for number, acts in enumerate(self._listed):
            if found[number] is None and acts and left:
                shares = {k: self._share(k, acts, self._own[k]) for k in left}
                best = max(sorted(left), key=lambda k: shares[k])
                if shares[best] >= SAME:
                    found[number] = best
                    left.remove(best)
        return found

    def _share(self, known: int, acts: set[Act], among: set[Act]) -> float:
        """The share of a known step's mentions (of some of its acts) that are of these acts."""
        said = [act for m in self._known.steps[known].mentions if (act := act_of(m)) in among]
        return sum(act in acts for act in said) / max(len(said), 1)


def _acts_by_phrase(task: Task, known: Script) -> dict[str, set[Act]]:
    """The acts that a phrase stands for: those that the page wrote so, else what it usually is."""
    counts: dict[str, Counter[Act]] = {}
    for video in task.videos:
        for mention in video.mentions:
            key = key_of_phrase(mention.phrase)
            counts.setdefault(key, Counter())[act_of(mention)] += 1
    found = {key: {max(acts, key=lambda a: (acts[a], a))} for key, acts in counts.items()}
    written: dict[str, set[Act]] = {}
    for step in known.steps:
        for name, acts in act_names(step.mentions).items():
            written.setdefault(key_of_phrase(name), set()).update(acts)
    return {**found, **written}


def _candidates(task: Task, act: Act) -> list[Mention]:
    return [
        mention
        for video in task.videos
        for mention in video.mentions
        if not mention.negated and act_of(mention) == act
    ]


def _steps_alone(acts: Sequence[Mention], title: Collection[str]) -> Sequence[Mention]:
    """The acts of a label without the job itself: "find a safe place to *change the tire*"."""
    return [act for act in acts if not {act.verb, act.noun} <= {*title}] or acts


def _match(task: Task, own: list[list[Mention]], labels: Sequence[Sequence[Mention]]) -> None:
    """Add to steps the mentions that their labels are matched with."""
    taken = {mention for mentions in own for mention in mentions}
    heard, places = [], []
    for video in task.videos:
        length = max(duration(video), 1.0)
        for mention in video.mentions:
            if not mention.negated and mention not in taken:
                heard.append(mention)
                places.append(min(1.0, mention.start / length))
    steps = [[*label, *mentions] for label, mentions in zip(labels, own, strict=True)]
    found = match_labels(steps, [bool(label) for label in labels], heard, places)
    fewest = 2 if len({mention.video for mention in heard}) >= MANY_VIDEOS else 1
    for mentions, more in zip(own, found, strict=True):
        new = [heard[at] for at in more]
        # Of many narrators a single one is as likely to mean something else.
        if mentions or len({mention.video for mention in new}) >= fewest:
            mentions.extend(new)


def _in_order(mentions: Sequence[Mention], task: Task) -> tuple[Mention, ...]:
    order = {video.id: place for place, video in enumerate(task.videos)}
    return tuple(sorted(mentions, key=lambda m: (order[m.video], m.start, m.end)))


def _step(text: TextStep, mentions: Sequence[Mention], task: Task, known: Script) -> Step:
    own = _in_order(mentions, task)
    before = next((s for s in known.steps if own and {*s.mentions} == {*own}), None)
    return Step(
        text.label,
        own,
        before.examples if before else examples(task, own),
        before.stability if before else None,
        text.optional,
        text.alternative,
    )
