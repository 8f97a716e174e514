"""The events of a run: plain values, given to a callback."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from howsteps.errors import Problem


@dataclass(frozen=True, slots=True)
class StageBegan:
    """A stage begins on a task; ``total`` counts its videos, or is 1 for a whole task."""

    stage: str
    task: str
    total: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """A video is done; ``cached`` when nothing had to be computed for it."""

    stage: str
    task: str
    item: str
    cached: bool


@dataclass(frozen=True, slots=True)
class ItemAt:
    """How far a long item is, in seconds of its video; ``total`` where that is known."""

    stage: str
    task: str
    item: str
    seconds: float
    total: float | None


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage is done; ``cached`` of ``total`` results were there already."""

    stage: str
    task: str
    total: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was repaired or set aside, or is a remark."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file or folder was written."""

    task: str
    path: Path


Event: TypeAlias = StageBegan | ItemAt | ItemDone | StageEnded | Noted | Wrote
Callback: TypeAlias = Callable[[Event], None]

_NAMES = {
    StageBegan: "stage-began",
    ItemAt: "item-at",
    ItemDone: "item-done",
    StageEnded: "stage-ended",
    Noted: "noted",
    Wrote: "wrote",
}


def ignore_event(event: Event) -> None:
    """Do nothing."""


def record(event: Event) -> dict[str, Any]:
    """An event as plain values, for a line of JSON."""
    fields = asdict(event)
    fields |= fields.pop("problem", {})
    if "path" in fields:
        fields["path"] = str(fields["path"])
    return {"event": _NAMES[type(event)], **fields}
