"""The journal of edits: ``edits.jsonl`` in the work folder, written before an edit takes effect.

The first line is the script before all edits; then there is a line for each edit, undo, redo and
placement. To resume, the lines are replayed; a last line that was cut off is dropped::

    {"base": {"steps": …}, "by_hand": […], "narration": "9f0c…"}
    {"do": {"op": "rename", "step": 0, "label": "loosen the nuts"}}
    {"undo": true}
    {"placed": 2, "script": "07ab…"}
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from howsteps.errors import CannotWrite, InputError
from howsteps.io.checked import Malformed
from howsteps.io.files import key_of, read_bounded, write_atomically
from howsteps.records import (
    localisation_records,
    localisations_from,
    narration_record,
    script_from,
    script_record,
)
from howsteps.serve.edits import GATHER, BadEdit, Draft, Edit, apply_edits, draft_of
from howsteps.task import Result, Script

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
        self.path, self.base = path, base
        self.draft = base
        self.done: list[Edit] = []
        self.undone: list[Edit] = []
        self.revision = self.placed = 0
        self._size = 0  # bytes of the file that hold complete lines

    @classmethod
    def resume(cls, folder: Path, result: Result) -> "Journal":
        """Read the journal of a work folder, or start a new one.

        A journal of another result is kept under another name.

        Raises
        ------
        InputError
            A line of the journal is invalid.
        """
        path = folder / FILE
        if path.exists():
            journal = cls._replayed(path, result)
            if journal is not None:
                return journal
        return cls.restart(folder, result)

    @classmethod
    def restart(cls, folder: Path, result: Result) -> "Journal":
        """Start a new journal of a result; an existing one is kept under another name."""
        path = folder / FILE
        if path.exists():
            path.replace(_unused_name(path))
        journal = cls(path, draft_of(result))
        first = {**_script(journal.base), "narration": _narration(result)}
        line = _line({**first, "found": _digest(result.script)})
        write_atomically(path, line)
        journal._size = len(line)
        return journal

    @classmethod
    def _replayed(cls, path: Path, result: Result) -> "Journal | None":
        data = read_bounded(path, _LARGEST, "a journal")
        complete = data[: data.rfind(b"\n") + 1]
        entries = [_entry(line) for line in complete.splitlines()]
        if entries and entries[-1] is None:  # a power cut can corrupt a line before its end
            complete = complete[: complete.rstrip(b"\n").rfind(b"\n") + 1]
            entries.pop()
        first = entries[0] if entries else None
        if first is None or first.get("narration") != _narration(result):
            return None
        try:
            base = Draft(
                result.task,
                script_from({"alignment": {}, **first["base"]}, result.task).steps,
                localisations_from({"localisations": first["by_hand"]}),
            )
        except (Malformed, KeyError, TypeError) as error:
            raise InputError(path, f"is not a journal of edits ({error})", 1) from error
        journal, known = cls(path, base), {first.get("found")}
        for number, entry in enumerate(entries[1:], 2):
            if entry is None:
                reason = "is not a valid line of a journal; move the file away to continue"
                raise InputError(path, reason, number)
            try:
                journal._replay(entry)
            except (BadEdit, Malformed, KeyError, TypeError, IndexError) as error:
                raise InputError(path, f"cannot be replayed: {error}", number) from error
            known.add(entry.get("script"))
        if journal.placed == journal.revision and _digest(result.script) not in known:
            return None  # another command has written a new script since
        if complete != data:
            write_atomically(path, complete)
        journal._size = len(complete)
        return journal

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return any(edit["op"] != GATHER for edit in self.done)

    def do(self, edit: Edit) -> None:
        """Make an edit.

        Raises
        ------
        BadEdit
            It cannot be made, and nothing was written.
        """
        if self.revision >= _MAX_EDITS:
            raise BadEdit(f"the limit of {_MAX_EDITS:,} edits is reached: {_FULL}")
        if isinstance(edit, Mapping) and edit.get("op") == GATHER:
            raise BadEdit(f"{GATHER!r} is not for the page")
        self._commit({"do": edit})

    def undo(self) -> None:
        """Undo the last edit."""
        if not self.can_undo:
            raise BadEdit("there is nothing to undo")
        self._commit({"undo": True})

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        if not self.undone:
            raise BadEdit("there is nothing to redo")
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
        trial._append(entry)
        self.__dict__.update(trial.__dict__)

    def _replay(self, entry: Mapping[str, Any]) -> None:
        match entry:
            case {"do": edit}:
                self.draft = apply_edits(self.draft, [edit])
                self.done.append(edit)
                self.undone.clear()
            case {"gathered": [*edits]}:
                self.draft = apply_edits(self.draft, edits)
                self.done += edits
                return
            case {"undo": True}:
                while self.done[-1]["op"] == GATHER:
                    self.done.pop()
                self.undone.append(self.done.pop())
                self.draft = apply_edits(self.base, self.done)
            case {"redo": True}:
                self.done.append(self.undone.pop())
                self.draft = apply_edits(self.draft, self.done[-1:])
            case {"placed": int(revision)} if 0 <= revision <= self.revision:
                self.placed = revision
                return
            case _:
                raise BadEdit("this is not an edit")
        self.revision += 1

    def _append(self, entry: Mapping[str, Any]) -> None:
        line = _line(entry)
        if "do" in entry and len(line) > _LONGEST_EDIT:
            raise BadEdit(f"an edit has {_LONGEST_EDIT:,} bytes at most")
        if self._size + len(line) > _LARGEST:  # it could not be read again
            raise BadEdit(f"the journal of edits is full: {_FULL}")
        try:
            with self.path.open("r+b") as file:
                file.truncate(self._size)
                file.seek(self._size)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):  # a full disk leaves part of the line
                os.truncate(self.path, self._size)
            raise CannotWrite(f"cannot write {FILE}: {error.strerror}") from error
        self._size += len(line)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _script(draft: Draft) -> dict[str, Any]:
    record = script_record(Script(draft.steps), draft.task)
    return {
        "base": {"steps": record["steps"]},
        "by_hand": localisation_records(draft.by_hand),
    }


def _narration(result: Result) -> str:
    """A hash that identifies the narrations of a result."""
    mentions = [[video.id, narration_record(video)["mentions"]] for video in result.task.videos]
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
