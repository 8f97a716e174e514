"""The events of a run, which are passed to a callback."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from howsteps.errors import Problem


@dataclass(frozen=True, slots=True)
class StageBegan:
    """A stage begins on a task; ``total`` is the number of items, or 1 for a whole task."""

    stage: str
    task: str
    total: int


@dataclass(frozen=True, slots=True)
class ItemDone:
    """An item is done; ``cached`` if nothing had to be computed."""

    stage: str
    task: str
    item: str
    cached: bool


@dataclass(frozen=True, slots=True)
class ItemAt:
    """Progress within a video, in seconds of it; ``total`` is its duration, if known."""

    stage: str
    task: str
    item: str
    seconds: float
    total: float | None


@dataclass(frozen=True, slots=True)
class StageEnded:
    """A stage is done; ``cached`` of ``total`` results came from the cache."""

    stage: str
    task: str
    total: int
    cached: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ProblemFound:
    """A problem or remark was reported."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class Wrote:
    """A file or folder was written."""

    task: str
    path: Path


@dataclass(frozen=True, slots=True)
class Sends:
    """Questions are about to be sent to a language model, with so many tokens at most."""

    task: str
    what: str
    address: str
    requests: int
    tokens: int


Event: TypeAlias = StageBegan | ItemAt | ItemDone | StageEnded | ProblemFound | Wrote | Sends
Callback: TypeAlias = Callable[[Event], None]

_NAMES = {
    StageBegan: "stage-began",
    ItemAt: "item-at",
    ItemDone: "item-done",
    StageEnded: "stage-ended",
    ProblemFound: "noted",
    Wrote: "wrote",
    Sends: "sends",
}


def ignore_event(event: Event) -> None:
    """Do nothing."""


def record(event: Event) -> dict[str, Any]:
    """Convert an event to a dictionary, for a line of JSON."""
    fields = asdict(event)
    fields |= fields.pop("problem", {})
    if "path" in fields:
        fields["path"] = str(fields["path"])
    return {"event": _NAMES[type(event)], **fields}
