"""The edits of a script that the page can make, applied one after another.

An edit is an object with the name of its operation under ``op``; steps are numbered from 0, in the
script at that time. ``parts/edits.js`` of the page applies the same edits to what is shown; tests
check that the two agree.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from howsteps.errors import HowstepsError
from howsteps.io.checked import LATEST, Malformed, number
from howsteps.report.content import video_length
from howsteps.task import BY_HAND, Localisation, Mention, Result, Step, Task

MAX_STEPS = 100
LONGEST_LABEL = 200  # characters
GATHER = "gather"
_ROUNDING = 0.01  # seconds; the page rounds times
_AFTER_WORDS = 60.0  # seconds
_OUTSIDE = "a time must lie inside the video"

Edit: TypeAlias = Mapping[str, Any]


class BadEdit(HowstepsError):
    """An edit that cannot be made; the message says why."""


@dataclass(frozen=True)
class Draft:
    """A script being edited: its steps, and the places that a person chose."""

    task: Task
    steps: tuple[Step, ...]
    by_hand: tuple[Localisation, ...] = ()


def draft_of(result: Result) -> Draft:
    """Start a draft from a result."""
    by_hand = tuple(each for each in result.localisations if each.evidence == BY_HAND)
    return Draft(result.task, result.script.steps, by_hand)


def apply_edits(draft: Draft, edits: Iterable[Edit]) -> Draft:
    """Apply edits to a draft.

    Raises
    ------
    BadEdit
        An edit is invalid.
    """
    for edit in edits:
        draft = _apply_edit(draft, edit)
    return draft


def _apply_edit(draft: Draft, edit: Edit) -> Draft:
    name = edit.get("op") if isinstance(edit, Mapping) else None
    operation = _OPERATIONS.get(name) if isinstance(name, str) else None
    if operation is None:
        raise BadEdit(f"there is no edit {name!r}; there are {', '.join(_OPERATIONS)}")
    arguments = {key: value for key, value in edit.items() if key != "op"}
    parameters = [key for key in inspect.signature(operation).parameters if key != "draft"]
    if arguments.keys() != set(parameters):
        raise BadEdit(f"{name!r} needs {', '.join(parameters)}")
    return operation(draft, **arguments)


def _rename(draft: Draft, step: object, label: object) -> Draft:
    index = _step_index(draft, step)
    return _with(draft, index, replace(draft.steps[index], label=_label(draft, label, index)))


def _optional(draft: Draft, step: object, value: object) -> Draft:
    if not isinstance(value, bool):
        raise BadEdit("'value' must be true or false")
    index = _step_index(draft, step)
    return _with(draft, index, replace(draft.steps[index], optional=value))


def _move(draft: Draft, step: object, to: object) -> Draft:
    index, target = _step_index(draft, step), _step_index(draft, to)
    order = [k for k in range(len(draft.steps)) if k != index]
    order.insert(target, index)
    return _reordered(draft, order)


def _delete(draft: Draft, step: object) -> Draft:
    index = _step_index(draft, step)
    return _reordered(draft, [k for k in range(len(draft.steps)) if k != index])


def _add(draft: Draft, at: object, label: object) -> Draft:
    index = _step_index(draft, at, past_end=True)
    return _inserted(draft, index, Step(_label(draft, label), ()))


def _merge(draft: Draft, step: object, into: object) -> Draft:
    index, target = _step_index(draft, step), _step_index(draft, into)
    if index == target:
        raise BadEdit("a step cannot be merged with itself")
    kept, other = draft.steps[target], draft.steps[index]
    merged = replace(
        kept,
        mentions=_sorted(draft.task, (*kept.mentions, *other.mentions)),
        examples=(*kept.examples, *other.examples),
        stability=None,
        optional=kept.optional and other.optional,
    )
    # Where both steps were placed by hand, the place of the kept step wins.
    placed = {each.video for each in draft.by_hand if each.step == target}
    by_hand = tuple(
        replace(each, step=target) if each.step == index else each
        for each in draft.by_hand
        if each.step != index or each.video not in placed
    )
    return _delete(replace(_with(draft, target, merged), by_hand=by_hand), index)


def _split(draft: Draft, step: object, label: object, mentions: object) -> Draft:
    index = _step_index(draft, step)
    chosen = _mentions(draft.task, mentions)
    before = draft.steps[index].mentions
    if not (chosen and chosen < set(before)):
        raise BadEdit("choose some mentions of the step, but not all")
    rest = tuple(mention for mention in before if mention not in chosen)
    new = Step(_label(draft, label), _sorted(draft.task, chosen))
    kept = replace(draft.steps[index], mentions=rest, stability=None)
    return _inserted(_with(draft, index, kept), index + 1, new)


def _gather(draft: Draft, step: object, mentions: object) -> Draft:
    """Set the mentions that a new step was matched with; written by the server, not the page."""
    index = _step_index(draft, step)
    if draft.steps[index].mentions:
        raise BadEdit("the step has mentions already")
    found = _sorted(draft.task, _mentions(draft.task, mentions))
    return _with(draft, index, replace(draft.steps[index], mentions=found))


def _place(
    draft: Draft, step: object, video: object, time: object, start: object, end: object
) -> Draft:
    index, name = _step_index(draft, step), _video(draft, video)
    if time is None:
        if not (start is None and end is None):
            raise BadEdit("without a 'time', 'start' and 'end' must be null")
        new = Localisation(name, index, None, evidence=BY_HAND)
    else:
        first, middle, last = (_seconds(value) for value in (start, time, end))
        if not first <= middle <= last:
            raise BadEdit("'time' must lie between 'start' and 'end'")
        length = _latest(draft, name)
        if middle > length + _ROUNDING:
            raise BadEdit(_OUTSIDE)
        # The page keeps the length of a place that is moved to the end.
        first, middle, last = (min(value, length) for value in (first, middle, last))
        new = Localisation(name, index, middle, first, last, 1.0, BY_HAND, 1.0)
    return replace(draft, by_hand=(*_without(draft, name, index), new))


def _release(draft: Draft, step: object, video: object) -> Draft:
    return replace(draft, by_hand=_without(draft, _video(draft, video), _step_index(draft, step)))


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


def _step_index(draft: Draft, value: object, *, past_end: bool = False) -> int:
    steps = len(draft.steps) + past_end
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < steps:
        raise BadEdit(f"there is no step {value!r:.40}")
    return value


def _label(draft: Draft, value: object, index: int | None = None) -> str:
    """Check and clean a label, which must be unique; ``index`` is the step that is renamed."""
    if not isinstance(value, str):
        raise BadEdit("a label must be text")
    label = " ".join("".join(c if c.isprintable() else " " for c in value).split())
    if not 0 < len(label) <= LONGEST_LABEL:
        raise BadEdit(f"a label must have 1 to {LONGEST_LABEL} characters")
    others = {step.label.casefold() for k, step in enumerate(draft.steps) if k != index}
    if label.casefold() in others:
        raise BadEdit(f"there is already a step {label!r}")
    return label


def _video(draft: Draft, value: object) -> str:
    if not (isinstance(value, str) and any(video.id == value for video in draft.task.videos)):
        raise BadEdit(f"there is no video {value!r:.80}")
    return value


def _latest(draft: Draft, name: str) -> float:
    """The end of a video; if its duration is unknown, it may go on after the last word."""
    [video] = (video for video in draft.task.videos if video.id == name)
    if video.duration is not None:
        return video.duration
    length = video_length(video, [each for each in draft.by_hand if each.video == name])
    return length + _AFTER_WORDS if length else LATEST


def _seconds(value: object) -> float:
    try:
        seconds = number(value)
    except Malformed:
        raise BadEdit("a time must be a number of seconds") from None
    if not 0 <= seconds <= LATEST:
        raise BadEdit(_OUTSIDE)
    return round(seconds, 3)


def _mentions(task: Task, value: object) -> set[Mention]:
    """Look up mentions, given as pairs of a video id and an index."""
    known = {video.id: video.mentions for video in task.videos}
    found = set()
    for pair in value if isinstance(value, Sequence) and not isinstance(value, str) else [None]:
        match pair:
            case [str(video), int(index)] if video in known and 0 <= index < len(known[video]):
                found.add(known[video][index])
            case _:
                raise BadEdit(f"there is no mention {pair!r:.80}")
    return found


def _sorted(task: Task, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    order = {video.id: index for index, video in enumerate(task.videos)}
    return tuple(sorted(set(mentions), key=lambda m: (order[m.video], m.start, m.end, m.phrase)))


def _with(draft: Draft, index: int, step: Step) -> Draft:
    return replace(draft, steps=(*draft.steps[:index], step, *draft.steps[index + 1 :]))


def _without(draft: Draft, video: str, step: int) -> tuple[Localisation, ...]:
    return tuple(each for each in draft.by_hand if (each.video, each.step) != (video, step))


def _inserted(draft: Draft, index: int, step: Step) -> Draft:
    if len(draft.steps) == MAX_STEPS:
        raise BadEdit(f"a script has {MAX_STEPS} steps at most")
    by_hand = tuple(replace(each, step=each.step + (each.step >= index)) for each in draft.by_hand)
    steps = (*draft.steps[:index], step, *draft.steps[index:])
    return replace(draft, steps=steps, by_hand=by_hand)


def _reordered(draft: Draft, order: Sequence[int]) -> Draft:
    """Keep the steps with these indices, in this order, along with their manual places."""
    new = {old: index for index, old in enumerate(order)}
    by_hand = tuple(
        replace(each, step=new[each.step]) for each in draft.by_hand if each.step in new
    )
    return replace(draft, steps=tuple(draft.steps[k] for k in order), by_hand=by_hand)
