"""The edits that the page can make, and the lines of their journal, as records."""

from typing import TypeAlias

from msgspec import UNSET, UnsetType

from howsteps.store import Record, ScriptRecord
from howsteps.task import Index, Localisation, Seconds


class Edit(Record, tag_field="op", tag=str.lower):
    """An edit; steps are numbered from 0, in the script at that time."""


class Rename(Edit):
    """Change the label of a step."""

    step: Index
    label: str


class Move(Edit):
    """Give a step another number."""

    step: Index
    to: Index


class Merge(Edit):
    """Add a step to another."""

    step: Index
    into: Index


class Split(Edit):
    """Give some mentions of a step (video, index) to a new one after it."""

    step: Index
    label: str
    mentions: list[tuple[str, Index]]


class Delete(Edit):
    """Remove a step."""

    step: Index


class Add(Edit):
    """Insert a new step."""

    at: Index
    label: str


class Mark(Edit, tag="optional"):
    """Say whether a step is optional."""

    step: Index
    value: bool


class Put(Edit, tag="place"):
    """Place a step in a video by hand; without times, it is absent."""

    step: Index
    video: str
    time: Seconds | None
    start: Seconds | None
    end: Seconds | None


class Release(Edit):
    """Take back where a step was placed by hand."""

    step: Index
    video: str


class Keep(Edit):
    """Use a video that was set aside."""

    video: str


class Drop(Edit):
    """Leave out a video."""

    video: str


class Write(Edit):
    """Take a whole script, its places by hand and its videos; of the server, not the page."""

    base: ScriptRecord
    by_hand: tuple[Localisation, ...]
    videos: tuple[str, ...]


PageEdit: TypeAlias = (
    Rename | Move | Merge | Split | Delete | Add | Mark | Put | Release | Keep | Drop
)


class Change(Record, omit_defaults=True):
    """One of an edit, an edit that replaces the last one, undo and redo."""

    do: PageEdit | UnsetType = UNSET
    again: PageEdit | UnsetType = UNSET
    undo: bool | UnsetType = UNSET
    redo: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        names = set(self.__struct_fields__) - {"revision"}
        given = [name for name in names if getattr(self, name) is not UNSET]
        if len(given) != 1 or getattr(self, given[0]) is False:
            raise ValueError(f"Expected one of {', '.join(sorted(names))}")


class JournalLine(Change, omit_defaults=True):
    """A line after the first: a change, or the revision that was placed.

    ``written`` is the script of another program; ``gathered`` is the one before it with the
    mentions that its new steps were matched with.
    """

    written: Write | UnsetType = UNSET
    gathered: Write | UnsetType = UNSET
    placed: Index | UnsetType = UNSET


class JournalStart(Record):
    """The first line: the script before all edits, and a hash of what is said in the videos."""

    start: Write
    narration: str
