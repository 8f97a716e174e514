"""Methods by name: each predicts scripts or localisations for a sample of videos.

A method of one's own is a function of the same form (:func:`howsteps.evaluate.compare`)::

    def mine(sample: Sample, steps: int, seed: int) -> Prediction: ...
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from functools import cached_property
from statistics import median
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import GRID, Labelled
from howsteps.errors import HowstepsError, unknown_name
from howsteps.evaluate.protocols import Localisations, Prediction
from howsteps.task import Localisation, Mention, Relation, Script, Step, Task, Truth

_T = TypeVar("_T")


class Sample:
    """The videos that all methods are run on: those of ``videos`` in a labelled task.

    Methods learn from all of them, and are scored on those in ``truth``. ``narrated`` is the task
    with the mentions of each extraction (``paper``, ``default``); empty without narrations.
    """

    def __init__(
        self, labelled: Labelled, narrated: Mapping[str, Task], videos: Collection[str]
    ) -> None:
        chosen = set(videos)

        def of(task: Task) -> Task:
            # In the order of a run: what starts at random depends on it.
            kept = (video for video in task.videos if video.id in chosen)
            return replace(task, videos=tuple(sorted(kept, key=lambda video: video.id)))

        self.labelled = replace(labelled.of(chosen), task=of(labelled.task))
        self._narrated = {mode: of(task) for mode, task in narrated.items()}
        self._kept: dict[Hashable, object] = {}

    @property
    def task(self) -> Task:
        """The videos with their captions."""
        return self.labelled.task

    @property
    def truth(self) -> Truth:
        """The annotations of these videos."""
        return self.labelled.truth

    @property
    def annotated(self) -> "Sample":
        """The videos that have annotations."""
        return Sample(self.labelled, self._narrated, self.truth.durations)

    @property
    def videos(self) -> list[str]:
        """Names of the videos, sorted."""
        return [video.id for video in self.task.videos]

    def narrated(self, extraction: str = "default") -> Task:
        """Return the videos with their mentions, extracted as by ``default`` or ``paper``."""
        if not self._narrated:
            raise HowstepsError("the data set has no narrations")
        return self._narrated[extraction]

    def once(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """Return ``make()``, computed once for all methods that ask for the same key."""
        if key not in self._kept:
            self._kept[key] = make()
        return cast(_T, self._kept[key])

    @cached_property
    def lengths(self) -> list[int]:
        """T_n, the number of intervals of every video."""
        from howsteps.narration.features import video_interval_count  # noqa: PLC0415 - loads spaCy

        if self.labelled.features:
            return [len(self.labelled.features[video]) for video in self.videos]
        if any(video.duration is None for video in self.task.videos):
            raise HowstepsError("the length of the videos is not known")
        return [video_interval_count(video, GRID) for video in self.task.videos]

    @cached_property
    def features(self) -> list[NDArray[np.float32]]:
        """X_n, T_n×d: features of the videos, or of the narration if there are none."""
        from howsteps.narration.features import narration_features  # noqa: PLC0415

        if self.labelled.features:
            return [self.labelled.features[video] for video in self.videos]
        return narration_features(self.narrated("paper").videos, seconds=GRID)

    def in_seconds(self, intervals: NDArray[np.int64]) -> Localisations:
        """Return localisations in the middle of intervals (N×K, −1: absent)."""
        return tuple(
            Localisation(video, k, None if t < 0 else (int(t) + 0.5) * GRID)
            for video, row in zip(self.videos, intervals, strict=True)
            for k, t in enumerate(row)
        )


Method: TypeAlias = Callable[[Sample, int, int], Any]


def choose(names: Collection[str], known: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods of these names."""
    if unknown := [name for name in names if name not in known]:
        raise HowstepsError(unknown_name("method", unknown[0], known))
    return {name: known[name] for name in names}


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


def text_free(lengths: Mapping[str, float], steps: int, seed: int = 0) -> Script:
    """A script without words: one random time in each of ``steps`` equal parts of every video."""
    parts = np.random.default_rng(seed).random((len(lengths), steps))
    times = (np.arange(steps) + parts) / steps * np.array(list(lengths.values()))[:, None]
    return Script(
        tuple(
            Step("", tuple(Mention(v, "", "", "", t, t) for v, t in zip(lengths, of, strict=True)))
            for of in times.T.tolist()
        )
    )


def _uniform(sample: Sample, steps: int, seed: int) -> Prediction:
    """Spread the steps evenly over every video."""
    from howsteps.localise.order import uniform  # noqa: PLC0415 - loads Numba

    return Prediction(steps, sample.in_seconds(uniform(sample.lengths, steps)))


def _frequent(sample: Sample, steps: int, seed: int) -> Script:
    """Return the relations that most videos name, in order of their median time."""
    return frequent(sample.narrated("paper"), steps)


def _text_free(sample: Sample, steps: int, seed: int) -> Script:
    """Return random times, one in each of K equal parts of every video."""
    seconds = (length * GRID for length in sample.lengths)
    return text_free(dict(zip(sample.videos, seconds, strict=True)), steps, seed)


def _default(sample: Sample, steps: int, seed: int) -> Prediction:
    """Discover a script and localise its steps, as ``howsteps run`` does."""
    from howsteps.localise import localise  # noqa: PLC0415 - loads Numba
    from howsteps.script import discover  # noqa: PLC0415

    task = sample.narrated()
    script = discover(task, steps=steps)
    if not script.steps:
        raise HowstepsError("no step is found")
    found = localise(task, script, sample.labelled.features, seconds=GRID)
    return Prediction(len(script.steps), found.localisations, script=script)


# The second and the third are baselines of scripts alone.
METHODS: Mapping[str, Method] = {
    "uniform": _uniform,
    "frequent": _frequent,
    "text-free": _text_free,
    "default": _default,
}
