"""Features and windows in, the place of every step in every video out.

:func:`place` is the stage put together, :func:`cluster` the paper's method on arrays;
docs/localise.md explains the problem and each solver. The names are loaded when they are first
used: the algebra alone needs no compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howsteps.localise.clustering import Clustering, cluster
    from howsteps.localise.located import Located, locate
    from howsteps.localise.model import Model, Options
    from howsteps.localise.placing import Placement, place
    from howsteps.localise.problem import LocaliseError
    from howsteps.localise.windows import (
        RelaxedWindow,
        Windows,
        mention_windows,
        relax,
        step_windows,
    )

_HOME = {
    "Clustering": "clustering",
    "LocaliseError": "problem",
    "Located": "located",
    "Model": "model",
    "Options": "model",
    "Placement": "placing",
    "RelaxedWindow": "windows",
    "Windows": "windows",
    "cluster": "clustering",
    "locate": "located",
    "mention_windows": "windows",
    "place": "placing",
    "relax": "windows",
    "step_windows": "windows",
}

__all__ = [
    "Clustering",
    "LocaliseError",
    "Located",
    "Model",
    "Options",
    "Placement",
    "RelaxedWindow",
    "Windows",
    "cluster",
    "locate",
    "mention_windows",
    "place",
    "relax",
    "step_windows",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module it lives in."""
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
