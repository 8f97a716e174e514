"""Features and windows in, the place of every step in every video out.

:func:`cluster` is the call most people need; docs/localise.md explains the problem and each solver.
"""

from howsteps.localise.clustering import Clustering, cluster
from howsteps.localise.problem import LocaliseError
from howsteps.localise.windows import RelaxedWindow, Windows, mention_windows, relax, step_windows

__all__ = [
    "Clustering",
    "LocaliseError",
    "RelaxedWindow",
    "Windows",
    "cluster",
    "mention_windows",
    "relax",
    "step_windows",
]
