"""Count the verbs of many tasks: ``python -m training.background CAPTIONS FILE``.

CAPTIONS is a folder of tasks. For every verb, the share of videos that use it with an object,
averaged over the tasks so that all tasks have the same weight, in thousandths. Only verbs of at
least three tasks are written, so that the file reveals nothing about a single video.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from howsteps import datasets
from howsteps.narration import extract_relations
from howsteps.task import Task

FEWEST_TASKS = 3


def main() -> None:
    """Extract the relations of the tasks and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path)
    options.add_argument("file", type=Path)
    chosen = options.parse_args()
    tasks = [extract_relations(task) for task in datasets.read_tasks(chosen.captions).tasks]
    chosen.file.write_text(json.dumps(table(tasks), indent=1, sort_keys=True) + "\n", "utf-8")


def table(tasks: Iterable[Task]) -> dict[str, object]:
    """Numbers of tasks and videos, and the share of videos of every verb in thousandths."""
    shares: Counter[str] = Counter()
    found_in: Counter[str] = Counter()
    many = videos = 0
    for task in tasks:
        many, videos = many + 1, videos + len(task.videos)
        own = Counter(
            verb for video in task.videos for verb in {mention.verb for mention in video.mentions}
        )
        for verb, count in own.items():
            shares[verb] += count / len(task.videos)
            found_in[verb] += 1
    verbs = {
        verb: round(1000 * share / many)
        for verb, share in shares.items()
        if found_in[verb] >= FEWEST_TASKS
    }
    return {"tasks": many, "videos": videos, "verbs": {v: s for v, s in verbs.items() if s > 0}}


if __name__ == "__main__":
    main()
