"""Make the table of verbs: ``python -m training.background CAPTIONS OUTLINES FILE``.

CAPTIONS is a folder of tasks. The table has, for every verb, the share of videos that use it with
an object, in thousandths, averaged over tasks with equal weight. Only verbs that occur in at least
three tasks are written, so that the file reveals nothing about a single video.

OUTLINES is a folder of outlines of other jobs, one JSON object per line. From them comes where in a
job a verb usually comes, from 0 to 1.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from howsteps import datasets
from howsteps.narration import extract_relations
from howsteps.task import Task

MIN_TASKS = 3
MIN_PLACED = 10  # occurrences of a verb in the outlines
POSITION_PRIOR = 8  # pseudo-count
NAME_WEIGHT = 4  # of the name of a step in the position, in acts
PARTICLES = frozenset("apart aside away back down in off on out over together up".split())


def main() -> None:
    """Extract the relations of the tasks and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("captions", type=Path)
    parser.add_argument("outlines", type=Path)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    tasks = [extract_relations(task) for task in datasets.read_tasks(options.captions).tasks]
    known = table(tasks) | {"position": positions(sorted(options.outlines.glob("*.jsonl")))}
    options.file.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


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


def positions(outlines: Iterable[Path]) -> dict[str, float]:
    """The mean position of verbs in a job."""
    places: defaultdict[str, list[float]] = defaultdict(list)
    for line in (line for path in outlines for line in path.read_text("utf-8").splitlines()):
        steps = json.loads(line)["steps"]
        for number, step in enumerate(steps):
            position = number / max(len(steps) - 1, 1)
            for verb, *others in map(str.split, [step["name"]] * NAME_WEIGHT + step["acts"]):
                for key in (verb, *(f"{verb}_{word}" for word in others if word in PARTICLES)):
                    places[key].append(position)
    return {
        verb: round((sum(own) + POSITION_PRIOR / 2) / (len(own) + POSITION_PRIOR), 3)
        for verb, own in places.items()
        if len(own) >= MIN_PLACED
    }


if __name__ == "__main__":
    main()
