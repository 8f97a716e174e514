"""A work folder that is being edited: its result, its journal, and the thread that places again.

One page at a time holds the pen. An edit is on disk before it is answered; then the thread places
the newest draft, takes the pictures, and writes the page and the exports at leisure. An edit that
comes in the meantime ends what it has made old.
"""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from howsteps.engine.events import Event, StageBegan
from howsteps.errors import HowstepsError
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.work_folder import EXPORTS
from howsteps.report.content import content
from howsteps.report.exports import FORMATS, TEXT_FORMATS, export
from howsteps.report.page import PAGE, known_thumbnails, write_page
from howsteps.result import FILE, read_result, result_file
from howsteps.serve import new_videos
from howsteps.serve.edits import BadEdit
from howsteps.serve.journal import Journal
from howsteps.task import Result

LOCK = ".serve.lock"


class Locked(HowstepsError):
    """Somebody else is editing."""


class Outdated(HowstepsError):
    """An edit of a page that has not seen the newest script."""


class _Superseded(Exception):
    """A newer edit makes what is being written old."""


class Session:
    """The edits of one work folder, for as long as it is served.

    Parameters
    ----------
    folder
        A work folder with a ``result.json``.

    Raises
    ------
    HowstepsError
        There is no result, its journal is damaged, or another server has the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        if folder.is_file():
            raise HowstepsError(f"{folder} is a file, not a folder")
        result_file(self.folder)  # before a lock is left where no work folder is
        self._lock_file = _locked(self.folder / LOCK)
        self.result = self.shown = read_result(self.folder)
        self.journal = Journal.resume(self.folder, self.result)
        self._changed = threading.Condition()
        self._pen: str | None = None
        self._doing = ""
        self._trouble = ""
        self._remark = ""
        self._taken = self._looked_at = 0  # files that were dropped, and those of them looked at
        self._refused: dict[str, str] = {}  # why, by the names of the files
        self._version = 1
        self._stopped = False
        self.is_closing = False
        page, made = self.folder / PAGE, self.folder / FILE
        self._stale = not page.is_file() or page.stat().st_mtime < made.stat().st_mtime
        self._unplaced = bool(new_videos.names(self.folder))
        self._thread = threading.Thread(target=self._work, name="howsteps-placing", daemon=True)

    def start(self) -> None:
        """Begin to place what is not placed yet."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is being done; what is left is done at the next start."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        self._lock_file.close()

    def close_news(self) -> None:
        """Let those go who wait for news: the server is about to stop."""
        self.is_closing = True

    def status(self) -> dict[str, Any]:
        """How things stand, for the page."""
        with self._changed:
            journal = self.journal
            return {
                "revision": journal.revision,
                "placed": journal.placed,
                "undo": journal.can_undo,
                "redo": bool(journal.undone),
                "version": self._version,
                "doing": self._doing,
                "trouble": self._trouble,
                "remark": self._remark,
                "looked_at": self._looked_at,
                "refused": dict(self._refused),
                "pen": self._pen,
            }

    def content(self) -> dict[str, Any]:
        """What the page shows, as it is placed now."""
        with self._changed:
            result, own, version = self.shown, len(self.result.task.videos), self._version
            placed, revision = self.journal.placed, self.journal.revision
        shown = content(result, self.folder, known_thumbnails(result, self.folder), served=True)
        for number, video in enumerate(shown["videos"]):
            video["new"] = number >= own
        formats = [[one.name, one.about] for one in FORMATS.values()]
        state = {"version": version, "placed": placed, "revision": revision}
        return {**shown, **state, "formats": formats}

    def take_pen(self, writer: str) -> None:
        """Let a page write, whoever wrote before."""
        with self._changed:
            self._pen = writer

    def lay_down(self, writer: str) -> None:
        """A page was closed: another may write."""
        with self._changed:
            if self._pen == writer:
                self._pen = None

    def take_new(self, name: str) -> int:
        """A new file was dropped: place it when there is nothing more urgent; return its number."""
        with self._changed:
            self._unplaced, self._remark = True, ""
            self._taken += 1
            self._refused.pop(name, None)  # it may be a better one
            self._changed.notify_all()
            return self._taken

    def edit(self, writer: str, revision: int, change: Mapping[str, Any]) -> dict[str, Any]:
        """Make an edit, or take one back, and return the status.

        Raises
        ------
        Locked
            Another page holds the pen.
        Outdated
            The page has not seen the newest script.
        BadEdit
            The edit cannot be made.
        """
        with self._changed:
            if self._pen not in (None, writer):
                raise Locked("another page is editing this script")
            if revision != self.journal.revision:
                raise Outdated("the script was changed in the meantime; look again")
            match change:
                case {"do": edit, **rest} if not rest:
                    self.journal.do(edit)
                case {"undo": True, **rest} if not rest:
                    self.journal.undo()
                case {"redo": True, **rest} if not rest:
                    self.journal.redo()
                case _:
                    raise BadEdit("send one of 'do', 'undo' and 'redo'")
            self._pen = writer
            self._trouble = ""
            self._changed.notify_all()
        return self.status()

    def wait_until_placed(self, seconds: float) -> bool:
        """Whether all edits are placed and written within some time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: (
                    bool(self._trouble)
                    or not (self._is_open() or self._unplaced or self._stale or self._doing)
                ),
                seconds,
            )

    def _is_open(self) -> bool:
        return self.journal.placed != self.journal.revision and not self._trouble

    def _work(self) -> None:
        while True:
            with self._changed:
                self._doing = ""
                self._changed.notify_all()
                self._changed.wait_for(
                    lambda: self._stopped or self._is_open() or self._unplaced or self._stale
                )
                if self._stopped:
                    return
                act: Callable[[], None] = self._write
                if self._is_open():
                    act = self._place
                elif self._unplaced:
                    act = self._place_new
            try:
                act()
            except _Superseded:
                pass
            except HowstepsError as error:
                self._fail(str(error))
            except Exception as error:
                self._fail(f"placing again failed: {type(error).__name__}: {error}")

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._trouble = reason
            self._stale = self._unplaced = False
            self._looked_at = self._taken
            self._version += 1

    def _place(self) -> None:
        with self._changed:
            self._doing = "placing"
            draft, revision = self.journal.draft, self.journal.revision
        if not draft.steps:
            raise HowstepsError("a script without steps cannot be placed; add one, or undo")
        script = replace(self.result.script, steps=draft.steps)
        result = place_again(
            self.folder,
            script,
            by_hand=draft.by_hand,
            matched=True,
            pages=False,
            callback=self._told,
        )
        with self._changed:
            self.journal.place(revision, result.script)
            self.result = result
            self._show(result)
            self._stale, self._unplaced = True, bool(new_videos.names(self.folder))

    def _place_new(self) -> None:
        """Place the videos that were dropped; the steps and their model are those of the others."""
        with self._changed:
            self._doing, result, taken = "learnt", self.result, self._taken
            self._unplaced = False
        remark = ""
        try:
            shown, refused = new_videos.with_new_videos(result, self.folder)
        except HowstepsError as error:
            shown, refused, remark = result, {}, str(error)
        with self._changed:
            there = new_videos.names(self.folder)
            gone = {name: why for name, why in self._refused.items() if name not in there}
            self._refused = dict([*gone.items(), *refused.items()][-new_videos.MOST_FILES :])
            self._remark, self._looked_at = remark, taken
            self._show(shown)

    def _show(self, shown: Result) -> None:
        self.shown = shown
        self._version += 1

    def _told(self, event: Event) -> None:
        if isinstance(event, StageBegan):
            with self._changed:
                self._doing = {"labels": "reading", "features": "looking"}.get(
                    event.stage, "placing"
                )

    def _write(self) -> None:
        """Take pictures, write the page and the exports; stop when there is something newer."""
        with self._changed:
            self._doing, result = "pictures", self.result
        write_page(result, self.folder, progress=lambda _: self._go_on())
        with self._changed:
            self._show(self.shown)  # now with its pictures
            self._doing = "exports"
        for name in TEXT_FORMATS:
            self._go_on()
            export(result, self.folder / EXPORTS, [name])
        with self._changed:
            self._stale = False

    def _go_on(self) -> None:
        with self._changed:
            if self._stopped or self._is_open():
                raise _Superseded


def _locked(path: Path) -> BinaryIO:
    """Hold a file for as long as this process lives; there is no lock to clean up after a crash."""
    file = path.open("ab")
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 - where there is one

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise Locked(f"{path.parent} is served already, by another howsteps") from error
    with suppress(OSError):
        os.chmod(path, 0o600)
    return file
