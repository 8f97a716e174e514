"""The edits of a script that the page can make, and their journal.

:mod:`howsteps.serve.changes` describes both. ``parts/edits.js`` of the page applies the same edits
to what is shown; tests check that the two agree.

The journal, ``edits.jsonl`` in the work folder, is written before an edit takes effect. Its first
line is the state before all edits; then there is a line for each edit, undo, redo and placement.
An edit ``again`` replaces the last one: a place that is moved by five presses of a key is one edit.
A script that another program wrote, or a person typed into ``script.md``, is an edit as well, so
that what was done before it can be undone. To resume, the lines are replayed; a last line that was
cut off is dropped::

    {"start": {"op": "write", "base": {"steps": …}, …}, "narration": "9f0c…"}
    {"do": {"op": "rename", "step": 0, "label": "loosen the nuts"}}
    {"undo": true}
    {"again": {"op": "place", …}}
    {"placed": 2}
    {"written": {"op": "write", …}}
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from howsteps import store
from howsteps.errors import CannotWrite, HowstepsError, InputError
from howsteps.io.files import Folder, key_of, read_bounded
from howsteps.pipeline.earlier import (
    ids,
    localised_by_hand,
    parts_of,
    searched,
    with_aside,
    with_videos,
    without,
)
from howsteps.pipeline.work_folder import read_decisions
from howsteps.serve import changes
from howsteps.task import BY_HAND, LATEST, Localisation, Mention, Result, Script, Step, Task, Video

FILE = "edits.jsonl"
_LARGEST = 2**28  # bytes
MAX_STEPS = 100
LONGEST_LABEL = 200  # characters
_ROUNDING = 0.01  # seconds; the page rounds times


_MAX_EDITS = 10_000
_FULL = f"stop the server, move {FILE} away, and start it again"


class Refused(HowstepsError):
    """What the page asks for cannot be done; ``status`` is the one of HTTP."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.status = status


class EditedStep(NamedTuple):
    """A step, and the places that a person gave it, by video; these go wherever the step goes."""

    step: Step
    places: Mapping[str, Localisation] = {}

    def but(self, **changes: Any) -> "EditedStep":
        """The same step with other fields."""
        return self._replace(step=replace(self.step, **changes))


@dataclass(frozen=True)
class Draft:
    """A script being edited, and the videos set aside, of which its steps keep what is known."""

    task: Task
    edited: tuple[EditedStep, ...]
    aside: tuple[Video, ...] = ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps in order."""
        return tuple(edited.step for edited in self.edited)

    @property
    def shown(self) -> tuple[Step, ...]:
        """The steps in order, with their mentions in the videos that are used."""
        return Script(self.steps).within(ids(self.task)).steps

    @property
    def every(self) -> Task:
        """All videos."""
        return with_videos(self.task, replace(self.task, videos=self.aside))

    @property
    def by_hand(self) -> tuple[Localisation, ...]:
        """The places that a person chose."""
        return tuple(
            replace(place, step=k)
            for k, edited in enumerate(self.edited)
            for place in edited.places.values()
        )


def draft_of(whole: Result) -> Draft:
    """Start a draft from a whole result."""
    places: list[dict[str, Localisation]] = [{} for _ in whole.steps]
    for place in whole.localisations:
        if place.evidence == BY_HAND:
            places[place.step][place.video] = place
    used, aside = (part.task for part in parts_of(whole))
    return Draft(used, tuple(map(EditedStep, whole.steps, places)), aside.videos)


def read_draft(folder: Path, result: Result) -> Draft:
    """Start a draft from the result of a work folder, with what a person decided there."""
    whole = with_aside(result, folder)
    by_hand = localised_by_hand(read_decisions(folder).places, whole.script, whole.task)
    return draft_of(replace(whole, localisations=by_hand))


def apply_edit(draft: Draft, edit: changes.Edit) -> Draft:
    """Apply an edit to a draft; one that cannot be made is ``Refused``."""
    _check(draft, edit)
    if isinstance(edit, changes.Keep | changes.Drop):
        return _chosen(draft, edit)
    rows = list(draft.edited)
    match edit:
        case changes.Rename(k, label):
            rows[k] = rows[k].but(label=_label(draft, label, k))
        case changes.Mark(k, value):
            rows[k] = rows[k].but(optional=value)
        case changes.Move(k, to):
            rows.insert(to, rows.pop(k))
        case changes.Delete(k):
            del rows[k]
        case changes.Add(at, label):
            rows.insert(at, EditedStep(Step(_label(draft, label), (), also="")))
        case changes.Merge(k, into):
            rows[into] = _merged(rows[into], rows[k])
            del rows[k]
        case changes.Split(k):
            rows[k : k + 1] = _split(draft, edit)
        case changes.Put(k, name):
            place = _placed(draft, edit)
            rows[k] = rows[k]._replace(places={**rows[k].places, name: place})
        case changes.Release(k, name):
            others = {video: place for video, place in rows[k].places.items() if video != name}
            rows[k] = rows[k]._replace(places=others)
    if len(rows) > max(MAX_STEPS, len(draft.edited)):
        raise Refused(f"a script has {MAX_STEPS} steps at most")
    return replace(draft, edited=tuple(rows))


def _check(draft: Draft, edit: changes.Edit) -> None:
    """Check that the steps and the video of an edit exist, and that a merge has two steps."""
    numbers = [getattr(edit, name, -1) for name in ("step", "to", "into")]
    for number in (*numbers, getattr(edit, "at", 0) - 1):  # a new one may be the last
        if number >= len(draft.edited):
            raise Refused(f"there is no step {number}")
    if isinstance(edit, changes.Merge) and edit.step == edit.into:
        raise Refused("a step cannot be merged with itself")
    video = getattr(edit, "video", None)
    known = draft.aside if isinstance(edit, changes.Keep) else draft.task.videos
    if video is not None and video not in {each.id for each in known}:
        raise Refused(f"there is no video {video!r:.80}")


def _merged(kept: EditedStep, other: EditedStep) -> EditedStep:
    """Two steps as one; where both were placed by hand, the place of the kept one wins."""
    one, two = kept.step, other.step
    merged = kept.but(
        mentions=_sorted((*one.mentions, *two.mentions)),
        examples=(*one.examples, *two.examples),
        optional=one.optional and two.optional,
        read_in=one.read_in | two.read_in,
    )
    return merged._replace(places={**other.places, **kept.places})


def _split(draft: Draft, edit: changes.Split) -> tuple[EditedStep, EditedStep]:
    """A step without the chosen mentions, and a new one that has them."""
    chosen, edited = _mentions(draft.task, edit.mentions), draft.edited[edit.step]
    if not (chosen and chosen < set(draft.shown[edit.step].mentions)):
        raise Refused("choose some mentions of the step, but not all")
    rest = tuple(mention for mention in edited.step.mentions if mention not in chosen)
    new = Step(_label(draft, edit.label), _sorted(chosen))
    return edited.but(mentions=rest), EditedStep(new)


def _written(draft: Draft, edit: changes.Write) -> Draft:
    """Take a whole script; its mentions must be in the narrations."""
    task, aside = _divided(draft, edit.videos)
    script = store.script_of(edit.base, draft.every)
    if len(script.steps) > max(MAX_STEPS, len(draft.steps)):
        raise Refused(f"{len(script.steps)} steps; a script has {MAX_STEPS} at most")
    store.check_localisations(edit.by_hand, draft.every, script, "by_hand")
    made = draft_of(Result(draft.every, script, edit.by_hand))
    return replace(made, task=task, aside=aside)


def _chosen(draft: Draft, edit: changes.Keep | changes.Drop) -> Draft:
    """Leave out a video, or use one that was set aside and match its narration with the steps."""
    used = ids(draft.task) ^ {edit.video}
    if not used:
        raise Refused("no video would be left")
    task, aside = _divided(draft, used)
    script = searched(Script(draft.steps), draft.every, used & {edit.video})
    rows = (row._replace(step=step) for row, step in zip(draft.edited, script.steps, strict=True))
    return Draft(task, tuple(rows), aside)


def _placed(draft: Draft, edit: changes.Put) -> Localisation:
    if edit.time is None:
        if not (edit.start is None and edit.end is None):
            raise Refused("without a 'time', 'start' and 'end' must be null")
        return Localisation(edit.video, edit.step, None, evidence=BY_HAND)
    if edit.start is None or edit.end is None or not edit.start <= edit.time <= edit.end:
        raise Refused("'time' must lie between 'start' and 'end'")
    [video] = (video for video in draft.task.videos if video.id == edit.video)
    length = LATEST if video.duration is None else video.duration
    if edit.time > length + _ROUNDING:
        raise Refused("a time must lie inside the video")
    # The page keeps the length of a place that is moved to the end.
    time, start, end = (
        min(store.stored_time(each), length) for each in (edit.time, edit.start, edit.end)
    )
    return Localisation(edit.video, edit.step, time, start, end, 1.0, BY_HAND, 1.0)


def _label(draft: Draft, given: str, index: int | None = None) -> str:
    """Check and clean a label, which must be unique; ``index`` is the step that is renamed."""
    label = " ".join("".join(c if c.isprintable() else " " for c in given).split())
    if not 0 < len(label) <= LONGEST_LABEL:
        raise Refused(f"a label must have 1 to {LONGEST_LABEL} characters")
    others = {step.label.casefold() for k, step in enumerate(draft.steps) if k != index}
    if label.casefold() in others:
        raise Refused(f"there is already a step {label!r}")
    return label


def _mentions(task: Task, given: Iterable[tuple[str, int]]) -> set[Mention]:
    """Look up mentions, given as pairs of a video id and an index."""
    known = {video.id: video.mentions for video in task.videos}
    try:
        return {known[video][index] for video, index in given}
    except LookupError:
        raise Refused("there is no such mention") from None


def _sorted(mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    return tuple(sorted(set(mentions), key=lambda m: (m.video, m.start, m.end, m.phrase)))


@dataclass(frozen=True)
class History:
    """The edits of a draft, of which ``n_done`` are done and the others undone.

    ``drafts`` are those before each edit, and after the last. ``revision`` counts edits, undos and
    redos; ``placed`` is the revision that was placed last.
    """

    drafts: tuple[Draft, ...]
    edits: tuple[changes.Edit, ...] = ()
    n_done: int = 0
    revision: int = 0
    placed: int = 0

    @property
    def draft(self) -> Draft:
        """The script as it is now."""
        return self.drafts[self.n_done]

    @property
    def next_undo(self) -> changes.Edit | None:
        """The edit that would be undone, if any."""
        return self.edits[self.n_done - 1] if self.n_done else None

    @property
    def next_redo(self) -> changes.Edit | None:
        """The edit that would be made again, if any."""
        return next(iter(self.edits[self.n_done :]), None)

    def after(self, line: changes.JournalLine) -> "History":
        """The history after another line of the journal; one that does not fit is ``Refused``."""
        if line.placed is not msgspec.UNSET:
            if line.placed > self.revision:
                raise Refused(f"there is no revision {line.placed}")
            return replace(self, placed=line.placed)
        if line.gathered:  # goes with the edit before it
            drafts = [*self.drafts]
            drafts[self.n_done] = _written(self.draft, line.gathered)
            return replace(self, drafts=tuple(drafts))
        if self.revision >= _MAX_EDITS:
            raise Refused(f"the limit of {_MAX_EDITS:,} edits is reached: {_FULL}")
        if line.written:
            history = self._edited(line.written, _written(self.draft, line.written))
        elif line.do:
            history = self._edited(line.do, apply_edit(self.draft, line.do))
        elif line.again:
            is_moved = isinstance(line.again, changes.Put | changes.Move)
            if not is_moved or summary(line.again) != summary(self.next_undo):
                raise Refused("this does not repeat the last edit")
            before = replace(self, n_done=self.n_done - 1)
            history = before._edited(line.again, apply_edit(before.draft, line.again))
        elif line.undo:
            if self.next_undo is None:
                raise Refused("there is nothing to undo")
            history = replace(self, n_done=self.n_done - 1)
        else:
            if self.next_redo is None:
                raise Refused("there is nothing to redo")
            history = replace(self, n_done=self.n_done + 1)
        return replace(history, revision=self.revision + 1)

    def _edited(self, edit: changes.Edit, draft: Draft) -> "History":
        done = self.n_done
        drafts = (*self.drafts[: done + 1], draft)
        return replace(self, drafts=drafts, edits=(*self.edits[:done], edit), n_done=done + 1)


class Journal:
    """The file with the edits of a result, and their history.

    ``kept`` is the name of the last journal that was put aside, as it is of other narrations.
    """

    def __init__(self, path: Path, history: History, content: bytes) -> None:
        self.path = path
        self.history = history
        self.kept = next((other.name for other in reversed(_kept(path))), "")
        self._size = len(content)  # bytes of the file that hold complete lines
        self._state = _state(self.path.stat())  # of the file, as it was written last

    @classmethod
    def resume(cls, folder: Path, result: Result, *, is_waiting: bool = True) -> "Journal":
        """Read the journal of a work folder, or start a new one.

        A journal of other narrations is put aside. A new script of another command is an edit; but
        if edits wait to be placed, they wait for that script (unless not ``is_waiting``). An
        invalid line is an ``InputError``.
        """
        path, now = folder / FILE, read_draft(folder, result)
        data = read_bounded(path, _LARGEST, "a journal") if path.exists() else b""
        lines = data.split(b"\n")[:-1]
        if lines and not _is_json(lines[-1]):  # a power cut can corrupt a line before its end
            lines.pop()
        found = _replayed(path, lines, now) if lines else None
        if found is None:
            if len(lines) > 1:
                path.replace(_numbered(path, len(_kept(path)) + 1))
            start = changes.JournalStart(start=_record(now), narration=_narration(now))
            content = msgspec.json.encode(start) + b"\n"
            Folder(folder).write(FILE, content)
            return cls(path, History((now,)), content)
        history, placed = found
        complete = b"".join(line + b"\n" for line in lines)
        if complete != data:
            Folder(folder).write(FILE, complete)
        journal = cls(path, history, complete)
        is_waiting &= history.placed != history.revision
        is_ours = ids(now.task) == ids(history.draft.task) and _digest(now.shown) == placed
        if not (is_waiting or is_ours):
            journal.write(result)
        return journal

    def change(self, change: changes.Change) -> None:
        """Make, repeat, undo or redo an edit; if that is ``Refused``, nothing is written."""
        given = {name: getattr(change, name) for name in changes.Change.__struct_fields__}
        self._commit(changes.JournalLine(**given))

    def write(self, result: Result) -> None:
        """Take a result that was written elsewhere, and is placed, as an edit."""
        draft = read_draft(self.path.parent, result)
        self._commit(changes.JournalLine(written=_record(draft)))
        self.place(self.history.revision, result)

    def place(self, revision: int, result: Result) -> None:
        """Record that a revision was placed, and which mentions its new steps were matched with."""
        draft = self.history.draft
        if revision == self.history.revision and _digest(draft.shown) != _digest(result.steps):
            found = read_draft(self.path.parent, result)
            self._commit(changes.JournalLine(gathered=_record(found)))
        self._commit(changes.JournalLine(placed=revision))

    def _commit(self, entry: changes.JournalLine) -> None:
        """Write a line to disk, then let it take effect."""
        history, line = self.history.after(entry), msgspec.json.encode(entry) + b"\n"
        try:
            with Folder(self.path.parent).open(self.path.name, "r+b") as file:
                if _state(os.fstat(file.fileno())) != self._state:
                    reason = "was changed by another program; stop the server, and start it again"
                    raise CannotWrite(f"{FILE} {reason}")
                self._append_to(file.fileno(), line)
        except OSError as error:
            raise CannotWrite(f"cannot write {FILE}: {error.strerror}") from error
        self.history = history

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


def _replayed(path: Path, lines: Sequence[bytes], now: Draft) -> tuple[History, str] | None:
    """The history in the lines of a journal, and a hash of the script that was placed last.

    None if it is of other narrations.
    """
    number = 1
    try:
        start = store.decoded(lines[0], changes.JournalStart)
        if start.narration != _narration(now):
            return None
        history = History((_written(now, start.start),))
        placed = _digest(history.draft.shown)
        for number, line in enumerate(lines[1:], 2):  # noqa: B007 - of an error
            entry = store.decoded(line, changes.JournalLine)
            history = history.after(entry)
            if history.placed == history.revision:
                placed = _digest(history.draft.shown)
    except (Refused, ValueError) as error:
        reason = f"is not a valid line of a journal; move {FILE} away to continue: {error}"
        raise InputError(path, reason, number) from None
    return history, placed


def summary(edit: changes.Edit | None) -> dict[str, Any] | None:
    """What the page needs to name an edit."""
    if edit is None:
        return None
    told = ("step", "at", "video")
    return {"op": type(edit).__struct_config__.tag} | {
        name: getattr(edit, name) for name in told if hasattr(edit, name)
    }


def _state(status: os.stat_result) -> tuple[int, int, int]:
    """What tells whether a file was replaced or changed."""
    return status.st_ino, status.st_size, status.st_mtime_ns


def _is_json(line: bytes) -> bool:
    try:
        store.decoded(line, dict)
    except ValueError:
        return False
    return True


def _divided(draft: Draft, used: Collection[str]) -> tuple[Task, tuple[Video, ...]]:
    """The task of these videos, and the others."""
    every = draft.every
    return without(every, ids(every) - {*used}), without(every, used).videos


def _narration(draft: Draft) -> str:
    """A hash that identifies the narrations of all videos, those set aside too."""
    said = [
        [v.id, msgspec.to_builtins(store.narration_record(v).mentions)] for v in draft.every.videos
    ]
    return key_of(1, task=draft.task.name, said=said)


def _record(draft: Draft) -> changes.Write:
    """A draft as an edit that makes it."""
    return changes.Write(
        base=store.script_record(Script(draft.steps), draft.every),
        by_hand=tuple(map(store.rounded, draft.by_hand)),
        videos=tuple(video.id for video in draft.task.videos),
    )


def _digest(script: Sequence[Step]) -> str:
    steps = [[s.label, s.optional, [[m.video, m.start] for m in s.mentions]] for s in script]
    return key_of(1, steps=steps)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}-{number}{path.suffix}")


def _kept(path: Path) -> list[Path]:
    """The journals that were put aside, the last one last."""
    return [*takewhile(Path.exists, (_numbered(path, number) for number in count(1)))]
