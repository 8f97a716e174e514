"""The default method: from a task and its script to the place of every step in every video.

:func:`localise` reads in the order of the method: the evidence of the words, classifiers of the
features by self-training, the decision with the order of the steps, certainty, and the model for
new videos. :class:`TaskData` puts a task on the grid of intervals; the paper's method
(:mod:`howsteps.paper`) starts from it too.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from howsteps.errors import HowstepsError
from howsteps.localise.decision import (
    NAMED_LOG_ODDS,
    NEAR,
    StepIntervals,
    decide,
    fixed_extents,
    separate,
    with_certainty,
)
from howsteps.localise.evidence import reading_middles
from howsteps.localise.features import Floats, Mask, Places, Videos, checked_features
from howsteps.localise.model import LEARNT, Model
from howsteps.localise.order import place_aligned
from howsteps.localise.self_training import KINDS, REGULARISATION, FeatureKind, learn
from howsteps.localise.windows import RelaxedWindow
from howsteps.narration.features import Vocabulary, video_interval_count
from howsteps.script.matching import near_mentions, spoken_by_video
from howsteps.store import ModelOptions
from howsteps.task import BETWEEN, LIKELY, READ, SAID, Localisation, Reading, Script, Task, Video

FeaturesByVideo = Mapping[str, NDArray[np.floating]]

LEAD = 2.0  # seconds from the middle of a mention to the middle of its step
READ_LEAD = 4.0  # the least from the start of a reading
GUESS = LIKELY - 0.01  # the highest confidence of a guess


@dataclass(frozen=True)
class TaskLocalisation:
    """The localised steps of a task, and the model that was learnt.

    Attributes
    ----------
    localisations
        One for every video and step, in the order of the task.
    relaxed_windows
        Mentions that were overruled; ``video`` is the index of the video in the task.
    model
        Localises the steps in new videos.
    cues
        N×K×S: inputs of the certainty models (:mod:`howsteps.localise.certainty`), for the videos
        with features.
    """

    localisations: tuple[Localisation, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
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
        missing, steps are placed by its mentions and the order.
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
    coarse = coarsening * seconds
    prior = kind.prior(
        data.all_mentions(), data.lengths_at(coarse), data.steps, coarse, data.readings
    )
    learnt = learn(_prepared(data, kind), prior, fitted=kind.fitted)
    of_script = replace(learnt.prior, mentions=data.mentions)
    located = decide(
        learnt.prior,
        learnt.scores,
        kind,
        coarsening=coarsening,
        lengths=[data.lengths[n] for n in data.with_features],
        support=data.support(),
        of_script=of_script,
        absent=absent,
    )
    overruled = [
        RelaxedWindow(n, int(k), float((rows[:, 2] == k).sum()))
        for n, rows in enumerate(data.mentions)
        if data.readings[n] is None
        for odds in [of_script.log_odds(n)]
        for k in np.unique(rows[:, 2].astype(np.int64))
        if (t := located.intervals[n, k]) >= 0 and odds[t // coarsening, k] < NAMED_LOG_ODDS
    ]
    rest = with_certainty(
        data.place_by_mentions(located), data.read(data.without_features), absent=absent
    )
    settings = ModelOptions("default", REGULARISATION, seconds, learnt_from=data.kind)
    settings = replace(settings, **{name: getattr(learnt.prior, name) for name in LEARNT})
    return TaskLocalisation(
        data.in_task_order(located, rest),
        data.of_task(overruled),
        Model(data.labels, learnt.weights, settings),
        located.cues,
    )


def _prepared(data: "TaskData", kind: FeatureKind) -> Videos:
    """Return the features as the classifiers take them."""
    if data.kind == "words":
        return [csr_array(kind.prepare(x, data.seconds)) for x in data.features()]
    checked = checked_features(list(data.features()), data.steps)
    return [kind.prepare(x, data.seconds) for x in checked]


class TaskData:
    """Mentions and features of a task, on the grid of intervals.

    Attributes
    ----------
    labels, steps
        The labels of the steps, and K.
    kind
        Kind of the features, a key of :data:`~howsteps.localise.self_training.KINDS`.
    lengths
        T_n of every video of the task.
    with_features, without_features
        Indices of the videos that are localised by features, and of the others.
    mentions
        S_n×4 per video with features: start and end in seconds, the step, and 1.
    readings
        S_n×3, the same of what a language model read; None in a video that was not read.
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
        self.seconds = seconds
        self.labels = tuple(step.label for step in script.steps)
        self.steps = len(script.steps)
        self.kind: Literal["sight", "words"] = "sight" if features else "words"
        self.lengths = [
            len(features[v.id]) if v.id in features else video_interval_count(v, seconds)
            for v in task.videos
        ]
        self.with_features = [
            n
            for n, video in enumerate(task.videos)
            if self.lengths[n] >= self.steps and (not features or video.id in features)
        ]
        if not self.with_features:
            raise HowstepsError(f"no video is long enough for {self.steps} steps")
        self.without_features = sorted(set(range(len(task.videos))) - set(self.with_features))
        self._step_mentions = [
            (m, k, 1.0) for k, step in enumerate(script.steps) for m in step.mentions
        ]
        said = spoken_by_video(task, self._step_mentions)
        for rows in said:
            rows[:, 3] = 1.0
        self.mentions = [said[n] for n in self.with_features]
        read: dict[str, list[tuple[float, float, int]]] = {video: [] for video in read_videos}
        for reading in readings:
            read.setdefault(reading.video, []).append((reading.start, reading.end, reading.step))
        self._readings = [
            np.array(read[video.id], np.float64).reshape(-1, 3) if video.id in read else None
            for video in task.videos
        ]
        self.readings = [self._readings[n] for n in self.with_features]
        self._by_video = [
            mentions if rows is None else rows
            for mentions, rows in zip(said, self._readings, strict=True)
        ]

    @property
    def _videos(self) -> Sequence[Video]:
        return self._task.videos

    def features(self) -> Iterator[NDArray[np.floating]]:
        """Yield the features, T_n×d per video with features.

        Those of the narration are computed here and are sparse: keep them compressed.
        """
        if self.kind == "sight":
            yield from (self._features[self._videos[n].id] for n in self.with_features)
            return
        vocabulary = Vocabulary.of(self._videos)
        if not vocabulary.words:
            raise HowstepsError("the videos have neither features nor captions")
        for n in self.with_features:
            yield vocabulary.features(self._videos[n], self.lengths[n], seconds=self.seconds)

    def lengths_at(self, seconds: float) -> list[int]:
        """Return T_n in intervals of another duration, for the videos with features."""
        return [
            math.ceil(self.lengths[n] * self.seconds / seconds - 1e-9) for n in self.with_features
        ]

    def all_mentions(self) -> list[Floats]:
        """Return the mentions and near-mentions of the steps, S_n×4 per video with features.

        The weight of a near-mention, one that the script leaves out, is lower.
        """
        mentions = [*self._step_mentions, *near_mentions(self._task, self._script)]
        rows = spoken_by_video(self._task, mentions)
        return [rows[n] for n in self.with_features]

    def support(self) -> Floats:
        """Return the share of videos that name each step, N×K for the videos with features.

        For one that a language model read, of those that it read: it finds more than is mentioned.
        """
        every = range(len(self._videos))
        named, read = self._named(every), self.read(every)
        support = np.tile(named.mean(axis=0), (len(named), 1))
        if read.any():
            support[read] = named[read].mean(axis=0)
        return support[self.with_features]

    def read(self, videos: Sequence[int]) -> Mask:
        """Return which of the videos were read by a language model."""
        return np.array([self._readings[n] is not None for n in videos], np.bool_)

    def place_by_mentions(self, located: StepIntervals) -> StepIntervals:
        """Place steps where they were read or shortly after mentions, the others evenly between.

        This is for the videos without features. The confidence is estimated on those with features:
        the share of their steps (named and other ones separately) that are ``located`` within 2.5 s
        of such a place. The extent of a step is 2.5 s around its place, up to the border with the
        next one.
        """
        videos = self.without_features
        places, named = self._mention_places(videos), self._named(videos)
        radius = round(NEAR / self.seconds)
        first, last = places.copy(), places.copy()
        for row, n in enumerate(videos):
            by_time = np.argsort(places[row], kind="stable")
            first[row, by_time], last[row, by_time] = fixed_extents(
                places[row, by_time], (NEAR, NEAR), 1 / self.seconds, self.lengths[n]
            )
        expected = self._mention_places(self.with_features)
        expected_named = self._named(self.with_features)
        confirmed = (located.intervals >= 0) & (np.abs(expected - located.intervals) <= radius)

        def accuracy(steps: Mask) -> float:
            return float(confirmed[steps].mean()) if steps.any() else 0.0

        absent = places < 0
        confidence = np.where(named, accuracy(expected_named), accuracy(~expected_named))
        read = self.read(videos)[:, None]
        return StepIntervals(
            places,
            first,
            last,
            np.where(absent, 0.0, confidence),
            np.select([absent, named & read, named], ["", READ, SAID], default=BETWEEN),
            np.where(absent, 0.0, 1.0),
        )

    def in_task_order(
        self, located: StepIntervals, rest: StepIntervals
    ) -> tuple[Localisation, ...]:
        """Return localisations in order of the task, of videos with and without features."""
        groups = ((self.with_features, located), (self.without_features, rest))
        localisations: list[Localisation] = []
        for indices, group in groups:
            names = [self._videos[n].id for n in indices]
            stated = self._guessed_if_unsaid(group)
            localisations += stated.in_seconds(names, [self.seconds] * len(names))
        index = {video.id: n for n, video in enumerate(self._videos)}
        return tuple(sorted(localisations, key=lambda at: (index[at.video], at.step)))

    def _guessed_if_unsaid(self, located: StepIntervals) -> StepIntervals:
        """A step that nobody names in any video is a guess by the order: nothing speaks for it."""
        named = self._named(range(len(self._videos))).any(axis=0)
        unsaid = ~named & (located.intervals >= 0)
        return replace(
            located,
            confidence=np.where(unsaid, np.minimum(located.confidence, GUESS), located.confidence),
            evidence=np.where(unsaid, BETWEEN, located.evidence),
        )

    def of_task(self, windows: Sequence[RelaxedWindow]) -> tuple[RelaxedWindow, ...]:
        """Return windows of the videos with features, with the index of the video in the task."""
        return tuple(RelaxedWindow(self.with_features[w.video], w.step, w.support) for w in windows)

    def _mention_places(self, videos: Sequence[int]) -> Places:
        """Return the interval of every step by words alone, N×K; −1 in a video too short."""
        long_enough = [n for n in videos if self.lengths[n] >= self.steps]
        places = np.full((len(videos), self.steps), -1)
        if long_enough:
            mentions = [self._by_video[n] for n in long_enough]
            lengths = [self.lengths[n] for n in long_enough]
            aligned = [rows[:, 2].astype(np.int64) for rows in mentions]
            times = [
                reading_middles(rows, READ_LEAD) if read else rows[:, :2].mean(axis=1) + LEAD
                for rows, read in zip(mentions, self.read(long_enough), strict=True)
            ]
            intervals = [
                np.minimum((seconds / self.seconds).astype(np.int64), length - 1)
                for seconds, length in zip(times, lengths, strict=True)
            ]
            placed = place_aligned(aligned, intervals, lengths, self.steps)
            for row in np.flatnonzero(self.read(long_enough)):  # in whatever order they were read
                placed[row, aligned[row][::-1]] = intervals[row][::-1]
                placed[row] = separate(placed[row], lengths[row])
            places[np.isin(videos, long_enough)] = placed
        return places

    def _named(self, videos: Sequence[int]) -> Mask:
        """Return which steps the script's mentions name in each video, N×K."""
        steps = np.arange(self.steps)
        named = [np.isin(steps, self._by_video[n][:, 2]) for n in videos]
        return np.array(named, np.bool_).reshape(len(videos), self.steps)
