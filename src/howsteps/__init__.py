"""howsteps: many videos of the same job in, the steps of the job out.

The public names are loaded when they are first used, so that ``import howsteps`` stays quick.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "Caption": "howsteps.task",
    "Localisation": "howsteps.task",
    "Mention": "howsteps.task",
    "Relation": "howsteps.task",
    "Result": "howsteps.task",
    "Script": "howsteps.task",
    "Sentence": "howsteps.task",
    "Step": "howsteps.task",
    "Task": "howsteps.task",
    "Video": "howsteps.task",
    "Word": "howsteps.task",
    "discover": "howsteps.pipeline.run",
    "read_result": "howsteps.result",
    "run": "howsteps.pipeline.run",
}

_STAGES = ("datasets", "evaluate", "localise", "narration", "report", "script")

__all__ = ["__version__", *_HOME, *_STAGES]  # noqa: PLE0604 - the keys are names


def __getattr__(name: str) -> Any:
    """Load a stage, or a public name from the module it lives in."""
    if name in _STAGES:
        return import_module(f"howsteps.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'howsteps' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME, *_STAGES])
