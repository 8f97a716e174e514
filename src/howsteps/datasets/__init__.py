"""Read tasks and ground truth.

:func:`read_tasks` reads caption files, video files and task files, and lists problems instead of
raising errors. Ground truth is read strictly, by
:func:`howsteps.datasets.registry.read_truth_files`.
"""

from howsteps.datasets.collection import Collection, read_tasks

__all__ = ["Collection", "read_tasks"]
