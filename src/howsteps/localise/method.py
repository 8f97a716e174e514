"""The default method: from a task and its script to the place of every step in every video.

:func:`localise` reads in the order of the method: the evidence of the words, classifiers of the
features by self-training, the decision with the order of the steps, certainty, and the model for
new videos. :class:`TaskData` puts a task on the grid of intervals; the paper's method
(:mod:`howsteps.paper`) starts from it too.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from howsteps.errors import HowstepsError
from howsteps.localise.decision import StepIntervals, decide
from howsteps.localise.evidence import SegmentPrior
from howsteps.localise.features import Floats, Mask, Videos, checked_features
from howsteps.localise.model import LEARNT, Model
from howsteps.localise.self_training import KINDS, REGULARISATION, FeatureKind, learn
from howsteps.narration.features import Vocabulary, video_interval_count
from howsteps.script.matching import near_mentions, spoken_by_video
from howsteps.store import ModelOptions
from howsteps.task import Localisation, Mention, Reading, Script, Task

FeaturesByVideo = Mapping[str, NDArray[np.floating]]


@dataclass(frozen=True)
class TaskLocalisation:
    """The localised steps of a task, and the model that was learnt.

    Attributes
    ----------
    localisations
        One for every video and step, in the order of the task.
    model
        Localises the steps in new videos.
    cues
        N×K×S: inputs of the certainty models (:mod:`howsteps.localise.certainty`), for the videos
        with features.
    """

    localisations: tuple[Localisation, ...]
    model: Model
    cues: Floats | None = None


def localise(
    task: Task,
    script: Script,
    features: FeaturesByVideo | None = None,
    *,
    seconds: float = 1 / 3,
    absent: bool = True,
    readings: Sequence[Reading] = (),
    read_videos: Collection[str] = (),
) -> TaskLocalisation:
    """Find every step of a script in every video of its task.

    Parameters
    ----------
    task
        Videos with captions (:func:`howsteps.narration.extract_relations`).
    script
        Steps with their mentions (:func:`howsteps.script.discover`).
    features
        T_n×d by video id. None or empty: features of the narration are used. In a video that is
        missing, steps are placed as if there were none.
    seconds
        Duration of an interval.
    absent
        Leave out the steps that are probably not in a video.
    readings, read_videos
        Where a language model read that steps are done, and the ids of the videos that it read: a
        step without a reading in one of them is probably absent.

    Raises
    ------
    HowstepsError
        When the script has no step, or no video is long enough for all of them.
    """
    data = TaskData(task, script, features or {}, seconds, readings, read_videos)
    kind = KINDS[data.kind]
    coarsening = kind.coarsening(seconds)
    prior = SegmentPrior(
        data.with_near_mentions(),
        [math.ceil(length / coarsening) for length in data.lengths],
        data.steps,
        coarsening * seconds,
        data.readings,
        **kind.known,
    )
    learnt = learn(_prepared(data, kind), prior, seen=kind.seen)
    located = decide(
        learnt.prior,
        learnt.scores,
        kind,
        coarsening=coarsening,
        lengths=data.lengths,
        named=data.named,
        support=data.support,
        absent=absent,
    )
    places = data.localisations(located)
    if features and any(video.id not in features for video in task.videos):
        by_words = _by_words(
            task,
            script,
            seconds=seconds,
            absent=absent,
            readings=readings,
            read_videos=read_videos,
        )
        places = tuple(
            at if at.video in features else by_words.get((at.video, at.step), at) for at in places
        )
    settings = ModelOptions("default", REGULARISATION, seconds, learnt_from=data.kind)
    settings = replace(settings, **{name: getattr(learnt.prior, name) for name in LEARNT})
    model = Model(tuple(step.label for step in script.steps), learnt.weights, settings)
    return TaskLocalisation(places, model, located.cues)


def _prepared(data: "TaskData", kind: FeatureKind) -> Videos:
    """Return the features as the classifiers take them."""
    if data.kind == "words":
        return [csr_array(kind.prepare(x, data.seconds)) for x in data.features()]
    checked = checked_features(list(data.features()), data.steps)
    return [kind.prepare(x, data.seconds) for x in checked]


def _by_words(task: Task, script: Script, **options: Any) -> dict[tuple[str, int], Localisation]:
    """Return the places by words alone, by video and step; none if nobody says anything."""
    try:
        found = localise(task, script, **options)
    except HowstepsError:
        return {}
    return {(at.video, at.step): at for at in found.localisations}


class TaskData:
    """The videos of a task in which steps can be placed, on the grid of intervals.

    Attributes
    ----------
    used
        Indices of the videos with features, or of all if none has, that are long enough.
    lengths
        T_n of the videos used.
    steps, seconds
        K, and the duration of an interval.
    kind
        Kind of the features, a key of :data:`~howsteps.localise.self_training.KINDS`.
    mentions
        S_n×4 per video used: start and end in seconds, the step, and 1.
    readings
        S_n×3, the same of what a language model read; None in a video that was not read.
    named, support
        N×K: whether the script's mentions, or the readings, name a step; and the share of all
        videos in which they do. For one that was read, of those that were: reading finds more than
        is mentioned.
    """

    def __init__(
        self,
        task: Task,
        script: Script,
        features: FeaturesByVideo,
        seconds: float,
        readings: Sequence[Reading] = (),
        read_videos: Collection[str] = (),
    ) -> None:
        if not script.steps:
            raise HowstepsError("the script has no step to place")
        self._task, self._script, self._features = task, script, features
        self.seconds, self.steps = seconds, len(script.steps)
        self.kind: Literal["sight", "words"] = "sight" if features else "words"
        lengths = [
            len(features[v.id]) if v.id in features else video_interval_count(v, seconds)
            for v in task.videos
        ]
        self.used = [
            n
            for n, video in enumerate(task.videos)
            if lengths[n] >= self.steps and (not features or video.id in features)
        ]
        if not self.used:
            raise HowstepsError(f"no video is long enough for {self.steps} steps")
        self.lengths = [lengths[n] for n in self.used]
        said = spoken_by_video(task, self._step_mentions())
        for rows in said:
            rows[:, 3] = 1.0
        self.mentions = [said[n] for n in self.used]
        read = _rows_of(readings, task, read_videos)
        self.readings = [read[n] for n in self.used]
        by_video = [a if b is None else b for a, b in zip(said, read, strict=True)]
        named = np.array([np.isin(np.arange(self.steps), rows[:, 2]) for rows in by_video])
        support = np.tile(named.mean(axis=0), (len(named), 1))
        if (was_read := np.array([rows is not None for rows in read])).any():
            support[was_read] = named[was_read].mean(axis=0)
        self.named: Mask = named[self.used]
        self.support: Floats = support[self.used]

    def _step_mentions(self) -> list[tuple[Mention, int, float]]:
        return [(m, k, 1.0) for k, step in enumerate(self._script.steps) for m in step.mentions]

    def with_near_mentions(self) -> list[Floats]:
        """Return the mentions and near-mentions of the steps, S_n×4 per video used.

        The last column is a weight; that of a near-mention, one that the script leaves out, is
        lower.
        """
        mentions = [*self._step_mentions(), *near_mentions(self._task, self._script)]
        rows = spoken_by_video(self._task, mentions)
        return [rows[n] for n in self.used]

    def features(self) -> Iterator[NDArray[np.floating]]:
        """Yield the features, T_n×d per video used.

        Those of the narration are computed here and are sparse: keep them compressed.
        """
        videos = [self._task.videos[n] for n in self.used]
        if self.kind == "sight":
            yield from (self._features[video.id] for video in videos)
            return
        vocabulary = Vocabulary.of(self._task.videos)
        if not vocabulary.words:
            raise HowstepsError("the videos have neither features nor captions")
        for video, length in zip(videos, self.lengths, strict=True):
            yield vocabulary.features(video, length, seconds=self.seconds)

    def localisations(self, located: StepIntervals) -> tuple[Localisation, ...]:
        """Return one for every video and step of the task; absent in videos that are not used."""
        ids = [self._task.videos[n].id for n in self.used]
        found = located.in_seconds(ids, self.seconds)
        by_place = {(at.video, at.step): at for at in found}
        return tuple(
            by_place.get((video.id, k), Localisation(video.id, k, None))
            for video in self._task.videos
            for k in range(self.steps)
        )


def _rows_of(
    readings: Sequence[Reading], task: Task, read_videos: Collection[str]
) -> list[Floats | None]:
    """Return start, end and step of the readings, S_n×3 per video; None if it was not read."""
    rows: dict[str, list[tuple[float, float, int]]] = {video: [] for video in read_videos}
    for reading in readings:
        rows.setdefault(reading.video, []).append((reading.start, reading.end, reading.step))
    return [
        np.array(rows[video.id], np.float64).reshape(-1, 3) if video.id in rows else None
        for video in task.videos
    ]
