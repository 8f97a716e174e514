"""The events of a run, which are passed to a callback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from howsteps.errors import Problem


class _Event(msgspec.Struct, frozen=True, tag_field="event"):
    """As a line of JSON, an event has its kind and its fields."""


class StageBegan(_Event, frozen=True, tag="stage-began"):
    """A stage begins on a task; ``total`` is the number of items, or 1 for a whole task."""

    stage: str
    task: str
    total: int


class ItemDone(_Event, frozen=True, tag="item-done"):
    """An item is done; ``cached`` if nothing had to be computed."""

    stage: str
    task: str
    item: str
    cached: bool


class ItemAt(_Event, frozen=True, tag="item-at"):
    """Progress within a video, in seconds of it; ``total`` is its duration, if known."""

    stage: str
    task: str
    item: str
    seconds: float
    total: float | None


class StageEnded(_Event, frozen=True, tag="stage-ended"):
    """A stage is done; ``cached`` of ``total`` results came from the cache."""

    stage: str
    task: str
    total: int
    cached: int
    seconds: float


class ProblemFound(_Event, frozen=True, tag="noted"):
    """A problem or remark was reported."""

    problem: Problem


class Wrote(_Event, frozen=True, tag="wrote"):
    """A file or folder was written."""

    task: str
    path: Path


class Sends(_Event, frozen=True, tag="sends"):
    """Questions are about to be sent to a language model, with so many tokens at most."""

    task: str
    what: str
    address: str
    requests: int
    tokens: int


Event: TypeAlias = StageBegan | ItemAt | ItemDone | StageEnded | ProblemFound | Wrote | Sends
Callback: TypeAlias = Callable[[Event], None]


def ignore_event(event: Event) -> None:
    """Do nothing."""


def record(event: Event) -> dict[str, Any]:
    """Convert an event to a dictionary, for a line of JSON."""
    fields: dict[str, Any] = msgspec.to_builtins(event, enc_hook=str)  # paths
    problem = fields.pop("problem", {})
    return {**fields, **problem}
