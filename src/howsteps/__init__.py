"""howsteps: many videos of the same job in, the steps of the job out.

The public names are loaded when they are first used, so that ``import howsteps`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Caption",
    "Editor",
    "Files",
    "HowstepsError",
    "InputError",
    "Localisation",
    "Mention",
    "MissingExtra",
    "Problem",
    "Relation",
    "Result",
    "Run",
    "RunOptions",
    "Script",
    "Sentence",
    "Step",
    "Task",
    "Video",
    "Word",
    "__version__",
    "apply",
    "datasets",
    "discover",
    "evaluate",
    "export",
    "localise",
    "narration",
    "place_again",
    "read_result",
    "report",
    "run",
    "script",
    "write_page",
]

if TYPE_CHECKING:
    from howsteps import datasets, evaluate, localise, narration, report, script
    from howsteps.api import (
        Editor,
        Files,
        Run,
        RunOptions,
        apply,
        discover,
        export,
        place_again,
        read_result,
        run,
        write_page,
    )
    from howsteps.errors import HowstepsError, InputError, MissingExtra, Problem
    from howsteps.task import (
        Caption,
        Localisation,
        Mention,
        Relation,
        Result,
        Script,
        Sentence,
        Step,
        Task,
        Video,
        Word,
    )
else:
    # A type checker reads the imports above; at run time each name is looked up when it is used.
    _PACKAGES = {"datasets", "evaluate", "localise", "narration", "report", "script"}
    _ERRORS = {"HowstepsError", "InputError", "MissingExtra", "Problem"}
    _CALLS = {
        *(
            "Editor",
            "Files",
            "Run",
            "RunOptions",
            "apply",
            "discover",
            "export",
            "place_again",
            "read_result",
            "run",
        ),
        "write_page",
    }

    def __getattr__(name: str) -> Any:
        """Load a public name."""
        if name not in __all__:
            raise AttributeError(f"module 'howsteps' has no attribute {name!r}")
        if name in _PACKAGES:
            return import_module(f"howsteps.{name}")
        home = "api" if name in _CALLS else "errors" if name in _ERRORS else "task"
        return getattr(import_module(f"howsteps.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
