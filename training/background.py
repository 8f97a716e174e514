"""Make the table of verbs: ``python -m training.background CAPTIONS FILE``.

CAPTIONS is a folder of tasks. The table has, for every verb, the share of videos that use it with
an object, in thousandths, averaged over tasks with equal weight. Only verbs that occur in at least
three tasks are written, so that the file reveals nothing about a single video.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from howsteps import datasets
from howsteps.narration import extract_relations
from howsteps.task import Task

MIN_TASKS = 3


def main() -> None:
    """Extract the relations of the tasks and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    tasks = [extract_relations(task) for task in datasets.read_tasks(options.captions).tasks]
    options.file.write_text(json.dumps(table(tasks), indent=1, sort_keys=True) + "\n", "utf-8")


def table(tasks: Iterable[Task]) -> dict[str, object]:
    """The number of tasks and videos, and the share of videos of every verb in thousandths."""
    shares: Counter[str] = Counter()
    task_counts: Counter[str] = Counter()
    n_tasks = n_videos = 0
    for task in tasks:
        n_tasks, n_videos = n_tasks + 1, n_videos + len(task.videos)
        video_counts = Counter(
            verb for video in task.videos for verb in {mention.verb for mention in video.mentions}
        )
        for verb, count in video_counts.items():
            shares[verb] += count / len(task.videos)
            task_counts[verb] += 1
    verbs = {
        verb: round(1000 * share / n_tasks)
        for verb, share in shares.items()
        if task_counts[verb] >= MIN_TASKS
    }
    return {
        "tasks": n_tasks,
        "videos": n_videos,
        "verbs": {v: s for v, s in verbs.items() if s > 0},
    }


if __name__ == "__main__":
    main()
