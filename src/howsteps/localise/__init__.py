"""Localisation on arrays: from features and windows to the place of every step in every video.

:func:`cluster` is the paper's method; docs/research/localise.md explains the problem and each
solver. Names are imported on first use, so that the backend works without Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howsteps.localise.clustering import Clustering, cluster
    from howsteps.localise.estimator import StepLocaliser
    from howsteps.localise.extents import StepIntervals, locate
    from howsteps.localise.model import Model, ModelOptions
    from howsteps.localise.problem import LocaliseError
    from howsteps.localise.windows import (
        RelaxedWindow,
        Windows,
        mention_windows,
        relax,
        step_windows,
    )

_MODULES = {
    "Clustering": "clustering",
    "LocaliseError": "problem",
    "StepIntervals": "extents",
    "StepLocaliser": "estimator",
    "Model": "model",
    "ModelOptions": "model",
    "RelaxedWindow": "windows",
    "Windows": "windows",
    "cluster": "clustering",
    "locate": "extents",
    "mention_windows": "windows",
    "relax": "windows",
    "step_windows": "windows",
}

__all__ = [
    "Clustering",
    "LocaliseError",
    "Model",
    "ModelOptions",
    "RelaxedWindow",
    "StepIntervals",
    "StepLocaliser",
    "Windows",
    "cluster",
    "locate",
    "mention_windows",
    "relax",
    "step_windows",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name from its module."""
        if name in _MODULES:
            return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
