"""The default localiser: the place of every step of a script in every video of its task.

:func:`localise` does it all. The modules, in the order of the method:

==================  ==============================================================================
``features``        features of the videos, checked, and products with them
``evidence``        evidence of mentions, readings and scores: steps are segments
``ridge``           ridge classifiers of the steps, scored by leaving one video out
``order``           the order of the steps: cheapest placement, soft order marginals
``self_training``   classifiers and posteriors, learnt from each other
``decision``        places and extents
``certainty``       calibrated probabilities of presence and of a correct place
``segments``        steps of silent videos, by sight alone; extents that cover a video
``model``           what was learnt, for new videos
``method``          all of it, for a task
==================  ==============================================================================

The method of the paper is in :mod:`howsteps.paper`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howsteps.localise.decision import StepIntervals
    from howsteps.localise.method import TaskLocalisation, localise
    from howsteps.localise.model import Model
    from howsteps.localise.segments import filled, find_steps
    from howsteps.localise.windows import mention_windows
    from howsteps.store import ModelOptions

_MODULES = {
    "Model": "model",
    "ModelOptions": "model",
    "StepIntervals": "decision",
    "TaskLocalisation": "method",
    "filled": "segments",
    "find_steps": "segments",
    "localise": "method",
    "mention_windows": "windows",
}

__all__ = [
    "Model",
    "ModelOptions",
    "StepIntervals",
    "TaskLocalisation",
    "filled",
    "find_steps",
    "localise",
    "mention_windows",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Import a public name on first use: Numba and SciPy take a while to load."""
        if name in _MODULES:
            return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
