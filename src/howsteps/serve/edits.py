"""Edits of a script, as the page makes them: small values, applied one after another.

An edit is an object with the name of its operation under ``op``; steps count from 0, in the script
as it is when the edit comes. ``parts/edits.js`` of the page does the same to what is shown, and
tests hold the two to each other.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any, TypeAlias

from howsteps.errors import HowstepsError
from howsteps.task import BY_HAND, Localisation, Mention, Result, Step, Task

MOST_STEPS = 100
LONGEST_LABEL = 200  # characters
GATHER = "gather"
_LATEST = 1e6  # seconds

Edit: TypeAlias = Mapping[str, Any]


class BadEdit(HowstepsError):
    """An edit that cannot be made; the message says why."""


@dataclass(frozen=True)
class Draft:
    """A script while it is edited: its steps, and where a person put them."""

    task: Task
    steps: tuple[Step, ...]
    by_hand: tuple[Localisation, ...] = ()


def draft_of(result: Result) -> Draft:
    """What there is to edit in a result."""
    hand = tuple(one for one in result.localisations if one.evidence == BY_HAND)
    return Draft(result.task, result.script.steps, hand)


def edited(draft: Draft, edits: Iterable[Edit]) -> Draft:
    """A draft after some edits.

    Raises
    ------
    BadEdit
        One of them cannot be made.
    """
    for edit in edits:
        draft = _edited(draft, edit)
    return draft


def _edited(draft: Draft, edit: Edit) -> Draft:
    name = edit.get("op") if isinstance(edit, Mapping) else None
    operation = _OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise BadEdit(f"there is no edit {name!r}; there are {', '.join(_OPERATIONS)}")
    given = {key: value for key, value in edit.items() if key != "op"}
    wanted = [key for key in inspect.signature(operation).parameters if key != "draft"]
    if given.keys() != set(wanted):
        raise BadEdit(f"{name!r} needs {', '.join(wanted)}")
    return operation(draft, **given)


def _rename(draft: Draft, step: object, label: object) -> Draft:
    at = _number(draft, step)
    return _with(draft, at, replace(draft.steps[at], label=_label(draft, label, at)))


def _optional(draft: Draft, step: object, value: object) -> Draft:
    if not isinstance(value, bool):
        raise BadEdit("'value' is true or false")
    at = _number(draft, step)
    return _with(draft, at, replace(draft.steps[at], optional=value))


def _move(draft: Draft, step: object, to: object) -> Draft:
    at, goal = _number(draft, step), _number(draft, to)
    order = [k for k in range(len(draft.steps)) if k != at]
    order.insert(goal, at)
    return _in_order(draft, order)


def _delete(draft: Draft, step: object) -> Draft:
    at = _number(draft, step)
    return _in_order(draft, [k for k in range(len(draft.steps)) if k != at])


def _add(draft: Draft, at: object, label: object) -> Draft:
    place = _number(draft, at, past_end=True)
    return _inserted(draft, place, Step(_label(draft, label), ()))


def _merge(draft: Draft, step: object, into: object) -> Draft:
    at, goal = _number(draft, step), _number(draft, into)
    if at == goal:
        raise BadEdit("a step cannot be merged with itself")
    own, other = draft.steps[goal], draft.steps[at]
    joined = replace(
        own,
        mentions=_sorted(draft.task, (*own.mentions, *other.mentions)),
        examples=(*own.examples, *other.examples),
        stability=None,
        optional=own.optional and other.optional,
    )
    placed = {one.video for one in draft.by_hand if one.step == goal}
    moved = tuple(
        replace(one, step=goal) if one.step == at else one
        for one in draft.by_hand
        if one.step != at or one.video not in placed
    )
    return _delete(replace(_with(draft, goal, joined), by_hand=moved), at)


def _split(draft: Draft, step: object, label: object, mentions: object) -> Draft:
    at = _number(draft, step)
    chosen = _mentions(draft.task, mentions)
    own = draft.steps[at].mentions
    if not (chosen and chosen < set(own)):
        raise BadEdit("choose some mentions of the step, and leave it some")
    rest = tuple(mention for mention in own if mention not in chosen)
    new = Step(_label(draft, label), _sorted(draft.task, chosen))
    kept = replace(draft.steps[at], mentions=rest, stability=None)
    return _inserted(_with(draft, at, kept), at + 1, new)


def _gather(draft: Draft, step: object, mentions: object) -> Draft:
    """Not of the page: what a step that was added was matched with."""
    at = _number(draft, step)
    if draft.steps[at].mentions:
        raise BadEdit("a step gathers once")
    found = _sorted(draft.task, _mentions(draft.task, mentions))
    return _with(draft, at, replace(draft.steps[at], mentions=found))


def _place(
    draft: Draft, step: object, video: object, time: object, start: object, end: object
) -> Draft:
    at, name = _number(draft, step), _video(draft, video)
    if time is None:
        new = Localisation(name, at, None, evidence=BY_HAND)
    else:
        first, middle, last = (_seconds(value) for value in (start, time, end))
        if not first <= middle <= last:
            raise BadEdit("a place has its time between its start and its end")
        new = Localisation(name, at, middle, first, last, 1.0, BY_HAND, 1.0)
    return replace(draft, by_hand=(*_without(draft, name, at), new))


def _release(draft: Draft, step: object, video: object) -> Draft:
    return replace(draft, by_hand=_without(draft, _video(draft, video), _number(draft, step)))


_OPERATIONS: Mapping[str, Callable[..., Draft]] = {
    "rename": _rename,
    "move": _move,
    "merge": _merge,
    "split": _split,
    "delete": _delete,
    "add": _add,
    "optional": _optional,
    "place": _place,
    "release": _release,
    GATHER: _gather,
}


def _number(draft: Draft, value: object, *, past_end: bool = False) -> int:
    steps = len(draft.steps) + past_end
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < steps:
        raise BadEdit(f"there is no step {value!r:.40}")
    return value


def _label(draft: Draft, value: object, own: int | None = None) -> str:
    if not isinstance(value, str):
        raise BadEdit("a label is a text")
    label = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if not 0 < len(label) <= LONGEST_LABEL:
        raise BadEdit(f"a label has 1 to {LONGEST_LABEL} characters")
    others = {step.label.casefold() for k, step in enumerate(draft.steps) if k != own}
    if label.casefold() in others:
        raise BadEdit(f"there is a step {label!r} already")
    return label


def _video(draft: Draft, value: object) -> str:
    if not (isinstance(value, str) and any(video.id == value for video in draft.task.videos)):
        raise BadEdit(f"there is no video {value!r:.80}")
    return value


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadEdit("a time is a number of seconds")
    if not (isfinite(value) and 0 <= value <= _LATEST):
        raise BadEdit("a time lies in the video")
    return round(float(value), 3)


def _mentions(task: Task, value: object) -> set[Mention]:
    """The mentions that pairs of a video and a number point at."""
    known = {video.id: video.mentions for video in task.videos}
    found = set()
    for pair in value if isinstance(value, Sequence) and not isinstance(value, str) else [None]:
        match pair:
            case [str(video), int(at)] if video in known and 0 <= at < len(known[video]):
                found.add(known[video][at])
            case _:
                raise BadEdit(f"there is no mention {pair!r:.80}")
    return found


def _sorted(task: Task, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    order = {video.id: place for place, video in enumerate(task.videos)}
    return tuple(sorted(set(mentions), key=lambda m: (order[m.video], m.start, m.end, m.phrase)))


def _with(draft: Draft, at: int, step: Step) -> Draft:
    return replace(draft, steps=(*draft.steps[:at], step, *draft.steps[at + 1 :]))


def _without(draft: Draft, video: str, step: int) -> tuple[Localisation, ...]:
    return tuple(one for one in draft.by_hand if (one.video, one.step) != (video, step))


def _inserted(draft: Draft, at: int, step: Step) -> Draft:
    if len(draft.steps) == MOST_STEPS:
        raise BadEdit(f"a script has {MOST_STEPS} steps at most")
    hand = tuple(replace(one, step=one.step + (one.step >= at)) for one in draft.by_hand)
    return replace(draft, steps=(*draft.steps[:at], step, *draft.steps[at:]), by_hand=hand)


def _in_order(draft: Draft, order: Sequence[int]) -> Draft:
    """The steps with these numbers, in this order; what a person placed goes with its step."""
    new = {old: place for place, old in enumerate(order)}
    hand = tuple(replace(one, step=new[one.step]) for one in draft.by_hand if one.step in new)
    return replace(draft, steps=tuple(draft.steps[k] for k in order), by_hand=hand)
