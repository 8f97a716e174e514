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

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from howsteps.localise.method import TaskLocalisation as TaskLocalisation
    from howsteps.localise.method import localise as localise
    from howsteps.localise.model import Model as Model
    from howsteps.localise.segments import filled as filled
    from howsteps.localise.segments import find_steps as find_steps

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "method": ["TaskLocalisation", "localise"],
        "model": ["Model"],
        "segments": ["filled", "find_steps"],
    },
)
