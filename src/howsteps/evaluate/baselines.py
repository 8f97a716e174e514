"""Two baselines for scripts.

*Frequent*: the relations of most videos, sorted by their median time. On raw captions it comes
close to the alignment. *Text-free*: random times, one in each of K equal parts of the video; it
shows how much an evaluation by time alone rewards chance.
"""

from collections import defaultdict
from statistics import median

import numpy as np

from howsteps.task import Localisation, Mention, Relation, Script, Step, Task


def frequent(task: Task, steps: int) -> Script:
    """The ``steps`` relations that most videos name, in order of their median relative time.

    The time in a video is that of the first mention. Ties in frequency go to the first in the
    alphabet.
    """
    mentions: defaultdict[Relation, list[Mention]] = defaultdict(list)
    times: defaultdict[Relation, list[float]] = defaultdict(list)
    for video in task.videos:
        seen: set[Relation] = set()
        length = video.length or 1.0
        for mention in sorted(video.mentions, key=lambda m: (m.start, m.end)):
            mentions[mention.relation].append(mention)
            if mention.relation not in seen:
                seen.add(mention.relation)
                times[mention.relation].append(mention.start / length)
    chosen = sorted(times, key=lambda relation: (-len(times[relation]), relation))[:steps]
    chosen.sort(key=lambda relation: (median(times[relation]), relation))
    return Script(tuple(Step(str(relation), tuple(mentions[relation])) for relation in chosen))


def text_free(task: Task, steps: int, seed: int = 0) -> tuple[Localisation, ...]:
    """One uniform random time in each of ``steps`` equal parts of every video."""
    generator = np.random.default_rng(seed)
    return tuple(
        Localisation(video.id, step, float((step + part) / steps * video.length))
        for video in task.videos
        for step, part in enumerate(generator.random(steps))
    )
