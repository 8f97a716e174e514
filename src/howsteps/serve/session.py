"""The state of a work folder while it is served: edits come in, a thread places them again."""

import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from howsteps.datasets.collection import WORK_FOLDER, is_video
from howsteps.errors import HowstepsError, InputError
from howsteps.io.files import Folder, fingerprint
from howsteps.pipeline.context import Event, StageBegan
from howsteps.pipeline.earlier import ids
from howsteps.pipeline.options import trusted_options
from howsteps.pipeline.placing import place_again, typed_page
from howsteps.pipeline.work_folder import (
    SCRIPT_TEXT,
    check_parts,
    root_of,
    write_exports,
    writing_to,
)
from howsteps.report.content import content
from howsteps.report.exports import FORMATS
from howsteps.report.page import PAGE, known_thumbnails, write_page
from howsteps.serve.changes import Change
from howsteps.serve.edits import Draft, Journal, Refused, summary
from howsteps.store import FILE, read_result, result_file
from howsteps.task import BY_HAND, Result, Step

# The folders of an absolute path. Their names may contain spaces, but do not end with one, so that
# two paths in a sentence stay apart.
_NAME = r"[^/\\:'\"\n]*[^/\\:'\"\s]"
_FOLDERS = re.compile(rf"(?<![\w.:/\\])(?:[A-Za-z]:)?[/\\](?:{_NAME}[/\\])+")


def without_folders(message: object, work: Path) -> str:
    """Return a message with paths relative to the work folder, and only the names of others."""
    text = str(message).replace(f"{work}{os.sep}", "").replace(str(work), "the work folder")
    return _FOLDERS.sub("", text)


LOCK = ".serve.lock"
_OUTDATED = 409  # the status of HTTP
_PLACING = ("placing", "frames")  # activities
_LOOK_EVERY = 1.0  # seconds between looks at what other programs wrote


class Asked(Change, kw_only=True):
    """A change that a page asks for, and the revision that it shows."""

    revision: int


class _Superseded(Exception):
    """A newer edit makes the current work obsolete."""


class Session:
    """The state of one work folder while it is served.

    ``videos`` are more folders with videos that may be played (:meth:`playable`).
    """

    def __init__(self, folder: Path, videos: Sequence[Path] = ()) -> None:
        self.folder = folder.absolute()
        if folder.is_file():
            raise HowstepsError(f"{folder} is a file, not a folder")
        result_file(self.folder)  # fail before a lock file is created
        check_parts(self.folder)
        above = self.folder.parent
        if (above / WORK_FOLDER).is_file():  # of several jobs
            above = above.parent
        self._video_folders = [each.resolve() for each in (above, *videos)]
        busy = f"{folder} is served already, by another process"
        self._lock = Folder(self.folder).lock(LOCK, busy)
        self._fingerprint = fingerprint(self.folder / FILE)  # of the result read or written last
        self._text: tuple[int, int] | None = None  # of script.md, as it was looked at last
        self._is_typed = False  # script.md has edits that wait to be placed
        self.result = read_result(self.folder)
        self.journal = Journal.resume(self.folder, self.result)
        self._changed = threading.Condition()
        self._activity = self._error = ""
        # Larger than any of an earlier server, whose page may still be open.
        self._version = time.time_ns() // 10**6
        self._renewals = 0  # how often all was new: other videos, or another program's script
        self._stopped = False
        self.is_closing = False  # if so, event streams end
        page = self.folder / PAGE
        is_old = page.is_file() and page.stat().st_mtime < (self.folder / FILE).stat().st_mtime
        self._stale = is_old or not page.is_file()
        with suppress(InputError):  # there is no script.md
            self._look()
        self._thread = threading.Thread(target=self._work, name="howsteps-placing", daemon=True)

    def start(self) -> None:
        """Start the background thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current work; the rest is done at the next start."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        self._lock.close()

    def status(self) -> dict[str, Any]:
        """The state of the session, for the page."""
        with self._changed:
            history = self.journal.history
            return {
                "revision": history.revision,
                "placed": history.placed,
                "undo": summary(history.next_undo),
                "redo": summary(history.next_redo),
                "version": self._version,
                "activity": self._activity,
                "error": self._error,
                "renewals": self._renewals,
                "kept": self.journal.kept,
            }

    def content(self) -> dict[str, Any]:
        """The content of the page: the script as it is edited now, with the places known so far."""
        with self._changed:
            version, history = self._version, self.journal.history
            result = _as_edited(self.result, history.draft)
        thumbnails = known_thumbnails(result, self.folder)
        shown = content(result, self.folder, thumbnails, playable=self.playable)
        formats = [[each.name, each.about] for each in FORMATS.values() if each.own_folder]
        state = {"version": version, "revision": history.revision}
        return {**shown, **state, "formats": formats}

    def playable(self, media: Path) -> Path | None:
        """The file to play for a video, without links; None if the page may not play it.

        It must be a regular file with the extension of a video, below the folder that holds the
        work folder, or below one that the user named: a result from somebody else may lead to any
        file.
        """
        try:
            real = media.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):  # it is gone, or links in a circle
            return None
        is_below = any(real.is_relative_to(folder) for folder in self._video_folders)
        return real if is_below and is_video(real) and real.is_file() else None

    def remarks(self) -> list[str]:
        """What is not used of the folder, for the person who starts the server."""
        media = [video.media for video in self.result.task.videos if video.media is not None]
        unplayed = sum(path.is_file() and not self.playable(path) for path in media)
        elsewhere = f"{unplayed} videos lie elsewhere, and are not played without --videos"
        _, ignored = trusted_options(root_of(self.folder))
        return [elsewhere] * bool(unplayed) + [str(remark) for remark in ignored]

    def edit(self, asked: Asked) -> dict[str, Any]:
        """Make, undo or redo an edit; return the status.

        It is ``Refused`` if the page does not show the newest script.
        """
        with self._changed:
            if self._activity not in _PLACING:  # or result.json may be new, but ours
                self._check_unchanged()
            if asked.revision != self.journal.history.revision:
                raise Refused("the script was changed in the meantime; reload the page", _OUTDATED)
            self.journal.change(asked)
            self._error = ""
            self._changed.notify_all()
        return self.status()

    def _take(self, result: Result, found: tuple[int, int]) -> None:
        """Show a result that was read or written, with its fingerprint; its page follows."""
        self.result, self._fingerprint, self._stale = result, found, True
        self._version += 1

    def _check_unchanged(self) -> None:
        """If another program has written a result, take it, and refuse to go on.

        Otherwise the next edit would be one of the old script, and replace the new result.
        """
        found = fingerprint(self.folder / FILE)
        if found == self._fingerprint:
            return
        result = read_result(self.folder)
        self.journal = Journal.resume(self.folder, result, is_waiting=False)
        self._take(result, found)
        self._stale = False  # the other program writes the page
        self._renewals += 1
        self._changed.notify_all()
        raise Refused("the folder was changed by another program; reload the page", _OUTDATED)

    def _look(self) -> None:
        """Look whether another program wrote a result, or a person edited ``script.md``."""
        self._check_unchanged()
        text = fingerprint(self.folder / SCRIPT_TEXT)
        if text != self._text:
            self._text, self._is_typed = text, typed_page(self.folder) is not None

    def wait_until_placed(self, seconds: float) -> bool:
        """Wait until all edits are placed and written; False after a timeout."""
        with self._changed:
            return self._changed.wait_for(
                lambda: bool(self._error) or not (self._next_action() or self._activity), seconds
            )

    def _has_unplaced_edits(self) -> bool:
        return self.journal.history.placed != self.journal.history.revision and not self._error

    def _next_action(self) -> Callable[[], None] | None:
        if self._is_typed:
            return self._place_text
        if self._has_unplaced_edits():
            return self._place
        return self._write if self._stale else None

    def _work(self) -> None:
        while True:
            with self._changed:
                self._activity = ""
                self._changed.notify_all()
                while (action := self._next_action()) is None and not self._stopped:
                    self._changed.wait(_LOOK_EVERY)
                    with suppress(HowstepsError):  # the next edit reports it
                        self._look()
                if self._stopped or action is None:
                    return
            try:
                action()
            except _Superseded:
                pass
            except HowstepsError as error:
                self._fail(str(error))
            except Exception as error:
                self._fail(f"placing again failed: {type(error).__name__}: {error}")

    def _fail(self, reason: str) -> None:
        with self._changed:
            self._error = without_folders(reason, self.folder)
            self._version += 1

    def _place(self) -> None:
        with self._changed:
            self._activity = "placing"
            self._check_unchanged()
            history = self.journal.history
        if not history.draft.steps:
            raise HowstepsError("a script without steps cannot be placed; add one, or undo")
        draft, shown = history.draft, ids(self.result.task)
        try:
            result = place_again(
                self.folder,
                replace(self.result.script, steps=draft.steps),
                keep=sorted(ids(draft.task) - shown),
                drop=sorted(shown - ids(draft.task)),
                by_hand=draft.by_hand,
                pages=False,
                unchanged_since=self._fingerprint,
                callback=self._on_event,
            )
        except HowstepsError:
            with self._changed:
                self._check_unchanged()
            raise
        with self._changed:
            self._renewals += ids(result.task) != shown
            self._take(result, fingerprint(self.folder / FILE))
            self.journal.place(history.revision, result)

    def _place_text(self) -> None:
        """Place the steps that a person typed into ``script.md``; that is an edit too."""
        with self._changed:
            self._activity, self._is_typed, self._error = "placing", False, ""
            self._check_unchanged()
        result = place_again(
            self.folder,
            self.folder / SCRIPT_TEXT,
            pages=False,
            unchanged_since=self._fingerprint,
            callback=self._on_event,
        )
        with self._changed:
            self.journal.write(result)
            self._renewals += 1
            self._take(result, fingerprint(self.folder / FILE))

    def _on_event(self, event: Event) -> None:
        if isinstance(event, StageBegan):
            with self._changed:
                self._activity = {"features": "frames"}.get(event.stage, "placing")

    def _write(self) -> None:
        """Make thumbnails, write the page and the exports; stop at a newer edit."""
        with self._changed:
            self._activity, result = "thumbnails", self.result
            self._stale = False  # if this fails, it is not tried again
        with writing_to(root_of(self.folder)):
            self._check_current()
            write_page(result, self.folder, progress=lambda _: self._check_current())
            with self._changed:
                self._version += 1  # now with thumbnails
                self._activity = "exports"
            write_exports(result, self.folder, before_each=self._check_current)

    def _check_current(self) -> None:
        with self._changed:
            self._check_unchanged()
            if self._stopped or self._has_unplaced_edits():
                self._stale = True
                raise _Superseded


def _as_edited(result: Result, draft: Draft) -> Result:
    """A result with the steps of a draft; those that have to be placed again have no places."""
    if ids(draft.task) != ids(result.task):
        return result  # the page is loaded anew when the videos are placed
    now = {_identity(step): k for k, step in enumerate(draft.shown)}
    used = ids(draft.task)
    by_hand = {(place.video, place.step): place for place in draft.by_hand if place.video in used}
    places = {
        (place.video, k): replace(place, step=k)
        for place in result.localisations
        for k in [now.get(_identity(result.steps[place.step]))]
        if k is not None and place.evidence != BY_HAND
    }
    script = replace(result.script, steps=draft.shown)
    return replace(result, script=script, localisations=tuple({**places, **by_hand}.values()))


def _identity(step: Step) -> object:
    return step.mentions or step.label
