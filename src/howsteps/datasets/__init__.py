"""Read tasks and ground truth.

::

    [task] = howsteps.datasets.read_tasks("videos/")      # captions, videos or a task file
    [truth] = howsteps.datasets.read_truth("steps.csv")   # the format is detected
    for labelled in howsteps.datasets.read_labelled("coin/"):
        labelled.task, labelled.truth, labelled.features

:func:`read_tasks` repairs what it can and lists problems instead of raising errors. Ground truth is
read strictly: an error names the file and the line. The known data sets are one list,
:data:`howsteps.datasets.registry.DATA_SETS`.
"""

from howsteps.datasets.collection import Collection, read_tasks
from howsteps.datasets.registry import read_labelled, read_truth

__all__ = ["Collection", "read_labelled", "read_tasks", "read_truth"]
