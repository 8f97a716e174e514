"""What a run tells whoever watches it: plain values, whoever shows them."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from howsteps.errors import Problem


@dataclass(frozen=True, slots=True)
class StageBegan:
    """A stage begins on a task, with so many videos (or one whole task) to do."""

    stage: str
    task: str
    total: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """A video is done; ``kept`` when nothing had to be computed for it."""

    stage: str
    task: str
    item: str
    kept: bool


@dataclass(frozen=True, slots=True)
class ItemAt:
    """How far a long item is, in seconds of its film; ``total`` where that is known."""

    stage: str
    task: str
    item: str
    seconds: float
    total: float | None


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage is done; ``kept`` is how many of ``total`` were there already."""

    stage: str
    task: str
    total: int
    kept: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Noted:
    """Something was mended or set aside, or is only worth saying."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file for people is there."""

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
    """Tell nobody."""


def record(event: Event) -> dict[str, Any]:
    """An event as plain values, for a line of JSON."""
    fields = asdict(event)
    fields |= fields.pop("problem", {})
    if "path" in fields:
        fields["path"] = str(fields["path"])
    return {"event": _NAMES[type(event)], **fields}
