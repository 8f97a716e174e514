"""Readers: each turns files on disk into tasks.

::

    path ─► collection ─┬─► task_file     one JSON with the videos of a task
                        └─► caption_files caption files side by side, and the videos beside them

Ground truth is read apart from narrations, and strictly: ``truth.read``.
"""

from howsteps.datasets.collection import Collection, read_tasks

__all__ = ["Collection", "read_tasks"]
