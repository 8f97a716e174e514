"""The edits of a script that the page can make, and their journal.

An edit is an object with the name of its operation under ``op``; steps are numbered from 0, in the
script at that time. ``parts/edits.js`` of the page applies the same edits to what is shown; tests
check that the two agree.

The journal, ``edits.jsonl`` in the work folder, is written before an edit takes effect. Its first
line is the script before all edits; then there is a line for each edit, undo, redo and placement.
An edit ``again`` replaces the last one: a place that is moved by five presses of a key is one edit.
To resume, the lines are replayed; a last line that was cut off is dropped::

    {"base": {"steps": …}, "by_hand": […], "narration": "9f0c…"}
    {"do": {"op": "rename", "step": 0, "label": "loosen the nuts"}}
    {"undo": true}
    {"again": {"op": "place", …}}
    {"placed": 2, "script": "07ab…"}
"""

import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from howsteps.errors import CannotWrite, HowstepsError, InputError
from howsteps.io.files import Folder, key_of, read_bounded
from howsteps.report.content import video_length
from howsteps.store import (
    Malformed,
    ScriptRecord,
    converted,
    narration_record,
    rounded,
    script_of,
    script_record,
)
from howsteps.task import (
    BY_HAND,
    LATEST,
    Localisation,
    Mention,
    Result,
    Script,
    Seconds,
    Step,
    Task,
)

MAX_STEPS = 100
LONGEST_LABEL = 200  # characters
GATHER = "gather"
_REPEATABLE = {"place": ("step", "video"), "move": ("step",)}  # with what stays the same
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


def apply_edit(draft: Draft, edit: Edit) -> Draft:
    """Apply an edit to a draft; an invalid one is a ``BadEdit``."""
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
        optional=kept.optional and other.optional,
        read_in=kept.read_in | other.read_in,
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
    kept = replace(draft.steps[index], mentions=rest)
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
        return round(msgspec.convert(value, Seconds), 3)
    except msgspec.ValidationError as error:
        outside = "got" not in str(error)  # a number, but not one of a time
        raise BadEdit(_OUTSIDE if outside else "a time must be a number of seconds") from None


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
    if len(draft.steps) >= MAX_STEPS:
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


FILE = "edits.jsonl"
_LARGEST = 2**28  # bytes
_LONGEST_EDIT = 2**18  # bytes of a line
_MAX_EDITS = 10_000
_FULL = f"stop the server, move {FILE} away, and start it again"


class Journal:
    """The edits of a result: done, undone, placed.

    ``revision`` counts edits, undos and redos; ``placed`` is the revision that was placed last.
    """

    def __init__(self, path: Path, base: Draft) -> None:
        self.path = path
        self.draft = base
        self.done: list[tuple[Edit, Draft]] = []  # with the draft before each, for undo
        self.undone: list[Edit] = []
        self.revision = self.placed = 0
        self._size = 0  # bytes of the file that hold complete lines
        self._state = (0, 0, 0)  # of the file, as it was written last

    @classmethod
    def resume(cls, folder: Path, result: Result) -> "Journal":
        """Read the journal of a work folder, or start a new one.

        A journal of another result is kept under another name. An invalid line is an
        ``InputError``.
        """
        path = folder / FILE
        return (cls._replayed(path, result) if path.exists() else None) or cls.restart(
            folder, result
        )

    @classmethod
    def restart(cls, folder: Path, result: Result) -> "Journal":
        """Start a new journal of a result; an existing one is kept under another name."""
        path = folder / FILE
        if path.exists():
            path.replace(_unused_name(path))
        journal = cls(path, draft_of(result))
        record = script_record(Script(journal.draft.steps), result.task)
        first = {
            "base": {"steps": msgspec.to_builtins(record.steps)},
            "by_hand": msgspec.to_builtins([rounded(each) for each in journal.draft.by_hand]),
            "narration": _narration(result),
            "found": _digest(result.script),
        }
        journal._write(_line(first))
        return journal

    @classmethod
    def _replayed(cls, path: Path, result: Result) -> "Journal | None":
        data = read_bounded(path, _LARGEST, "a journal")
        complete = data[: data.rfind(b"\n") + 1]
        if complete.count(b"\n") > 4 * _MAX_EDITS:  # an edit has three at most
            raise InputError(path, f"has too many lines; move {FILE} away to continue")
        entries = [_entry(line) for line in complete.splitlines()]
        if entries and entries[-1] is None:  # a power cut can corrupt a line before its end
            complete = complete[: complete.rstrip(b"\n").rfind(b"\n") + 1]
            entries.pop()
        first = entries[0] if entries else None
        if first is None or first.get("narration") != _narration(result):
            return None
        try:
            base = converted({"alignment": {}, **first["base"]}, ScriptRecord)
            steps = script_of(base, result.task).steps
            by_hand = converted(first["by_hand"], tuple[Localisation, ...])
            if len(steps) > max(MAX_STEPS, len(result.script.steps)):
                raise Malformed(f"{len(steps)} steps; a script has {MAX_STEPS} at most")
        except (Malformed, KeyError, TypeError) as error:
            raise InputError(path, f"is not a journal of edits ({error})", 1) from error
        journal, known = cls(path, Draft(result.task, steps, by_hand)), {first.get("found")}
        for line, entry in enumerate(entries[1:], 2):
            if entry is None:
                reason = "is not a valid line of a journal; move the file away to continue"
                raise InputError(path, reason, line)
            try:
                journal._replay(entry)
            except (BadEdit, Malformed, KeyError, TypeError) as error:
                raise InputError(path, f"cannot be replayed: {error}", line) from error
            known.add(entry.get("script"))
        if journal.placed == journal.revision and _digest(result.script) not in known:
            return None  # another command has written a new script since
        if complete != data:
            journal._write(complete)
        journal._size, journal._state = len(complete), _state(path.stat())
        return journal

    @property
    def next_undo(self) -> Edit | None:
        """The edit that would be undone, if any."""
        return next((edit for edit, _ in reversed(self.done) if edit["op"] != GATHER), None)

    def do(self, edit: Edit, *, again: bool = False) -> None:
        """Make an edit, or make it instead of the last one.

        If it cannot be made (``BadEdit``), nothing is written.
        """
        if self.revision >= _MAX_EDITS:
            raise BadEdit(f"the limit of {_MAX_EDITS:,} edits is reached: {_FULL}")
        if isinstance(edit, Mapping) and edit.get("op") == GATHER:
            raise BadEdit(f"{GATHER!r} is not for the page")
        self._commit({"again" if again else "do": edit})

    def undo(self) -> None:
        """Undo the last edit."""
        self._commit({"undo": True})

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        self._commit({"redo": True})

    def place(self, revision: int, script: Script) -> None:
        """Record that a revision was placed, and which mentions its new steps were matched with."""
        if revision == self.revision and (found := _gathered(self.draft, script)):
            self._commit({"gathered": found})
        self._commit({"placed": revision, "script": _digest(script)})

    def _commit(self, entry: Mapping[str, Any]) -> None:
        """Validate an entry on a copy, write it to disk, then apply it."""
        trial = copy(self)
        trial.done, trial.undone = [*self.done], [*self.undone]
        trial._replay(entry)
        self._append(entry)
        trial._size, trial._state = self._size, self._state
        self.__dict__.update(trial.__dict__)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        match entry:
            case {"do": edit}:
                self._apply(edit)
                self.undone.clear()
            case {"again": edit}:
                self._forget_gathered()
                last = self.done[-1][0] if self.done else {}
                same = _REPEATABLE.get(str(last.get("op")))
                if same is None or any(edit.get(key) != last.get(key) for key in ("op", *same)):
                    raise BadEdit("this does not repeat the last edit")
                _, self.draft = self.done.pop()
                self._apply(edit)
                self.undone.clear()
            case {"gathered": [*edits]}:
                for edit in edits:
                    self._apply(edit)
                return
            case {"undo": True}:
                self._forget_gathered()
                if not self.done:
                    raise BadEdit("there is nothing to undo")
                edit, self.draft = self.done.pop()
                self.undone.append(edit)
            case {"redo": True}:
                if not self.undone:
                    raise BadEdit("there is nothing to redo")
                self._apply(self.undone.pop())
            case {"placed": int(revision)} if 0 <= revision <= self.revision:
                self.placed = revision
                return
            case _:
                raise BadEdit("this is not an edit")
        self.revision += 1

    def _forget_gathered(self) -> None:
        while self.done and self.done[-1][0]["op"] == GATHER:
            _, self.draft = self.done.pop()

    def _apply(self, edit: Edit) -> None:
        before, self.draft = self.draft, apply_edit(self.draft, edit)
        self.done.append((edit, before))

    def _write(self, content: bytes) -> None:
        Folder(self.path.parent).write(self.path.name, content)
        self._size, self._state = len(content), _state(self.path.stat())

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = _line(entry)
        if {"do", "again"} & entry.keys() and len(line) > _LONGEST_EDIT:
            raise BadEdit(f"an edit has {_LONGEST_EDIT:,} bytes at most")
        if self._size + len(line) > _LARGEST:  # it could not be read again
            raise BadEdit(f"the journal of edits is full: {_FULL}")
        try:
            with Folder(self.path.parent).open(self.path.name, "r+b") as file:
                if _state(os.fstat(file.fileno())) != self._state:
                    reason = "was changed by another program; stop the server, and start it again"
                    raise CannotWrite(f"{FILE} {reason}")
                self._append_to(file.fileno(), line)
        except OSError as error:
            raise CannotWrite(f"cannot write {FILE}: {error.strerror}") from error

    def _append_to(self, file: int, line: bytes) -> None:
        try:
            os.lseek(file, self._size, os.SEEK_SET)
            rest = line
            while rest:
                rest = rest[os.write(file, rest) :]
            os.fsync(file)
            self._size += len(line)
        finally:
            with suppress(OSError):  # a full disk leaves part of the line
                os.ftruncate(file, self._size)
            self._state = _state(os.fstat(file))


def summary(edit: Edit | None) -> dict[str, Any] | None:
    """What the page needs to name an edit."""
    return {key: edit[key] for key in ("op", "step", "at") if key in edit} if edit else None


def _state(status: os.stat_result) -> tuple[int, int, int]:
    """What tells whether a file was replaced or changed."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _narration(result: Result) -> str:
    """A hash that identifies the narrations of a result."""
    mentions = [
        [video.id, msgspec.to_builtins(narration_record(video).mentions)]
        for video in result.task.videos
    ]
    return key_of(1, task=result.task.name, said=mentions)


def _digest(script: Script) -> str:
    steps = [[s.label, s.optional, [[m.video, m.start] for m in s.mentions]] for s in script.steps]
    return key_of(1, steps=steps)


def _unused_name(path: Path) -> Path:
    """A numbered variant of a path that does not exist yet."""
    number = 1
    while (other := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    return other


def _gathered(draft: Draft, script: Script) -> list[dict[str, Any]]:
    """The mentions of a script's steps that have none yet in the draft, as edits."""
    index = {video.id: {m: i for i, m in enumerate(video.mentions)} for video in draft.task.videos}
    return [
        {"op": GATHER, "step": k, "mentions": [[m.video, index[m.video][m]] for m in new.mentions]}
        for k, (old, new) in enumerate(zip(draft.steps, script.steps, strict=True))
        if new.mentions and not old.mentions
    ]
