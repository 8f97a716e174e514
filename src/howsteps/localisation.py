"""Localise the steps of a script in every video of its task.

Modes ``paper`` and ``authors`` cluster the features inside the windows of the narration by
Frank-Wolfe, whose roundings give the paper's error bars. Mode ``default`` learns each step where it
is named, and places it where it is most likely (:mod:`howsteps.localise.self_training`).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import unknown_name
from howsteps.localise.backend import Videos
from howsteps.localise.clustering import AUTHORS_VIDEOS, ClusteringMode, cluster
from howsteps.localise.decision import NAMED_LOG_ODDS, NEAR, decide, with_certainty
from howsteps.localise.extents import StepIntervals, locate
from howsteps.localise.hmm import place_aligned
from howsteps.localise.lazy import LazySequence
from howsteps.localise.mention_prior import LagPrior, MentionPrior, WindowPrior
from howsteps.localise.model import Model, ModelOptions
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.position_prior import position_prior
from howsteps.localise.problem import LocaliseError, checked_features
from howsteps.localise.self_training import LEARNING_OPTIONS, LearningOptions, learn
from howsteps.localise.sparse import CompressedVideos
from howsteps.localise.windows import (
    AFTER,
    BEFORE,
    RelaxedWindow,
    Windows,
    mention_windows,
    step_windows,
    window_probabilities,
)
from howsteps.narration.features import Kind, Vocabulary, video_interval_count
from howsteps.script.matching import near_mentions, spoken_by_video
from howsteps.task import BETWEEN, SAID, Localisation, Mode, Script, Task, Video

FeaturesByVideo = Mapping[str, NDArray[np.floating]]

LEAD = 2.0  # seconds from the middle of a mention to the middle of its step
_AUTHORS_AFTER = 30.0  # intervals


@dataclass(frozen=True)
class TaskLocalisation:
    """The localised steps of a task, and the model that was learnt.

    Attributes
    ----------
    localisations
        One for every video and step, in the order of the task.
    relaxed_windows
        Windows that contradicted the order and were relaxed (in mode ``default``: mentions that
        were overruled); ``video`` is the index of the video in the task.
    model
        Localises the steps in new videos.
    roundings
        N×K intervals of the placements visited after the chosen one, for the paper's error bars;
        none in mode ``default``.
    cues
        N×K×S in mode ``default``: inputs of the certainty models, for the videos with features.
    """

    localisations: tuple[Localisation, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...] = ()
    cues: Floats | None = None


def localise_task(
    task: Task,
    script: Script,
    features: FeaturesByVideo | None = None,
    *,
    narration: Kind = "words",
    seconds: float = 1 / 3,
    mode: Mode = "default",
    requested_steps: int | None = None,
    seed: int = 0,
    device: str = "cpu",
    absent: bool = True,
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
    narration
        Kind of the features of the narration: the ``words`` around every interval, or their
        ``meaning``.
    seconds
        Duration of an interval.
    mode
        ``default``, ``paper`` or ``authors``.
    requested_steps
        Number of steps that the script was asked for, for the λ of mode ``authors``. None: the
        number of steps it has.
    seed
        Seed of all random choices.
    device
        As for :func:`howsteps.localise.cluster`.
    absent
        In mode ``default``, leave out the steps that are probably not in a video. The paper's
        method places every step in every video.

    Raises
    ------
    LocaliseError
        When the script has no step, or no video is long enough for all of them.
    """
    if mode not in get_args(Mode):
        raise LocaliseError(unknown_name("mode", mode, get_args(Mode)))
    if narration not in get_args(Kind):
        raise LocaliseError(unknown_name("kind of features", narration, get_args(Kind)))
    if not script.steps:
        raise LocaliseError("the script has no step to place")
    data = _TaskData(task, script, features or {}, narration, seconds)
    if mode == "default":
        result = _self_train(data, device, absent=absent)
    else:
        result = _cluster(data, mode, requested_steps or data.steps, seed, device)
    without = sorted(set(range(len(task.videos))) - set(data.with_features))
    rest = data.place_by_mentions(without, result.located)
    if mode == "default":
        rest = with_certainty(rest, absent=absent)
    order = np.argsort([*data.with_features, *without])
    return TaskLocalisation(
        _in_task_order(task, [(data.with_features, result.located), (without, rest)], seconds),
        tuple(
            RelaxedWindow(data.with_features[window.video], window.step, window.support)
            for window in result.relaxed
        ),
        result.model,
        tuple(np.concatenate([places, rest.intervals])[order] for places in result.roundings),
        result.located.cues,
    )


class _Localised(NamedTuple):
    """The result of a mode for the videos with features."""

    located: StepIntervals
    relaxed: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...]


class _TaskData:
    """Mentions, windows and features of a task, on the grid of intervals.

    ``with_features`` holds the indices of the videos that are localised by features; most methods
    return one item for each of them.
    """

    def __init__(
        self, task: Task, script: Script, features: FeaturesByVideo, narration: Kind, seconds: float
    ) -> None:
        self.seconds = seconds
        self.labels = tuple(step.label for step in script.steps)
        self.videos: Sequence[Video] = task.videos
        self.steps = len(script.steps)
        self.kind: Kind | Literal["sight"] = "sight" if features else narration
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
            raise LocaliseError(f"no video is long enough for {self.steps} steps")
        self._features = features
        self._task, self._script = task, script
        self._step_mentions = [
            (m, k, 1.0) for k, step in enumerate(script.steps) for m in step.mentions
        ]
        # S×3 for every video of the task: start and end in seconds, and the step.
        self._all_mentions = [rows[:, :3] for rows in spoken_by_video(task, self._step_mentions)]
        self.mentions = [self._all_mentions[n] for n in self.with_features]

    def windows(
        self, before: float, after: float, seconds: float, mode: ClusteringMode = "paper"
    ) -> Windows:
        """Return the windows from Δb before to Δa after mentions, in intervals of ``seconds``."""
        return step_windows(
            [
                mention_windows(rows[:, :2], length, seconds, before=before, after=after, mode=mode)
                for rows, length in zip(self.mentions, self.lengths_at(seconds), strict=True)
            ],
            [rows[:, 2].astype(np.int64) for rows in self.mentions],
            self.steps,
            "hull" if mode == "authors" else "union",
        )

    def features(self) -> Iterator[NDArray[np.floating]]:
        """Yield the features, T_n×d per video.

        Those of the narration are computed here and are sparse: keep them compressed.
        """
        if self.kind == "sight":
            yield from (self._features[self.videos[n].id] for n in self.with_features)
            return
        vocabulary = Vocabulary.of(self.videos)
        if not vocabulary.words:
            raise LocaliseError("the videos have neither features nor captions")
        for n in self.with_features:
            yield vocabulary.features(
                self.videos[n], self.lengths[n], kind=self.kind, seconds=self.seconds
            )

    def lengths_at(self, seconds: float) -> list[int]:
        """Return T_n in intervals of another duration."""
        return [
            math.ceil(self.lengths[n] * self.seconds / seconds - 1e-9) for n in self.with_features
        ]

    @cached_property
    def mentions_and_near_mentions(self) -> list[Floats]:
        """Mentions and near-mentions of the steps, S×4 per video.

        Start, end, step, and the probability that the step is being done: that the mention is work
        and not talk, lower for a near-mention.
        """
        mentions = [*self._step_mentions, *near_mentions(self._task, self._script)]
        rows = spoken_by_video(self._task, mentions)
        return [rows[n] for n in self.with_features]

    def support(self) -> Floats:
        """Return the share of the videos of the task that name each step, K."""
        steps = np.arange(self.steps)
        named: Floats = np.mean([np.isin(steps, m[:, 2]) for m in self._all_mentions], axis=0)
        return named

    def mention_prior(self, options: LearningOptions, seconds: float) -> MentionPrior:
        """Return the evidence of the mentions, in intervals of ``seconds``."""
        lengths = self.lengths_at(seconds)
        if options.window is None:
            return LagPrior(self.mentions, lengths, self.steps, seconds)
        before, after = options.window

        def window(video: int) -> Floats:
            rows, length = self.mentions_and_near_mentions[video], lengths[video]
            return window_probabilities(
                rows, length, seconds, self.steps, before=before, after=after
            )

        return WindowPrior(LazySequence(window, len(lengths)), options.log_prior, seconds)

    def place_by_mentions(self, videos: Sequence[int], located: StepIntervals) -> StepIntervals:
        """Place steps shortly after their mentions, and the others evenly between those.

        ``videos`` are indices in the task. The confidence is estimated on the videos with features:
        the share of their steps (named and other ones separately) that are ``located`` within 2.5 s
        of such a place. The extent of a step is 2.5 s around its place, up to the border with the
        next one.
        """
        places, named = self._mention_places(videos)
        radius = round(NEAR / self.seconds)
        ends = np.array([self.lengths[n] - 1 for n in videos], np.int64)[:, None]
        between = (places[:, :-1] + places[:, 1:]) // 2
        first, last = np.maximum(places - radius, 0), np.minimum(places + radius, ends)
        first[:, 1:] = np.maximum(first[:, 1:], between + 1)
        last[:, :-1] = np.minimum(last[:, :-1], between)
        expected, expected_named = self._mention_places(self.with_features)
        confirmed = (located.intervals >= 0) & (np.abs(expected - located.intervals) <= radius)

        def accuracy(steps: Mask) -> float:
            return float(confirmed[steps].mean()) if steps.any() else 0.0

        absent = places < 0
        confidence = np.where(named, accuracy(expected_named), accuracy(~expected_named))
        return StepIntervals(
            places,
            np.where(absent, -1, first),
            np.where(absent, -1, last),
            np.where(absent, 0.0, confidence),
            np.select([absent, named], ["", SAID], default=BETWEEN),
            np.where(absent, 0.0, 1.0),
        )

    def _mention_places(self, videos: Sequence[int]) -> tuple[Places, Mask]:
        """Return the interval of every step by mentions alone, and which steps are named; N×K.

        Intervals are −1 in a video that is too short.
        """
        long_enough = [n for n in videos if self.lengths[n] >= self.steps]
        places = np.full((len(videos), self.steps), -1)
        if long_enough:
            mentions = [self._all_mentions[n] for n in long_enough]
            lengths = [self.lengths[n] for n in long_enough]
            aligned = [rows[:, 2].astype(np.int64) for rows in mentions]
            times = [rows[:, :2].mean(axis=1) + LEAD for rows in mentions]
            intervals = [
                np.minimum((seconds / self.seconds).astype(np.int64), length - 1)
                for seconds, length in zip(times, lengths, strict=True)
            ]
            placed = place_aligned(aligned, intervals, lengths, self.steps)
            places[np.isin(videos, long_enough)] = placed
        steps = np.arange(self.steps)
        named = np.array([np.isin(steps, self._all_mentions[n][:, 2]) for n in videos], np.bool_)
        return places, named.reshape(places.shape)


def _cluster(
    data: _TaskData, mode: ClusteringMode, requested_steps: int, seed: int, device: str
) -> _Localised:
    """Cluster the features inside the windows, as the paper does."""
    before, after = (0.0, _AUTHORS_AFTER) if mode == "authors" else (BEFORE, AFTER)
    windows = data.windows(before, after, data.seconds, mode)
    result = cluster(
        list(data.features()),
        windows.allowed,
        steps=data.steps,
        regularisation=1.0 / (AUTHORS_VIDEOS * requested_steps) if mode == "authors" else None,
        mode=mode,
        solver="frank-wolfe",
        support=windows.support,
        seed=seed,
        device=device,
    )
    alike = LEARNING_OPTIONS[data.kind].alike
    options = ModelOptions(mode, None, data.seconds, learnt_from=data.kind)
    model = Model.learnt(result, data.labels, options)
    return _Localised(
        locate(result.intervals, result.scores, result.null_scores, result.windows, alike=alike),
        result.relaxed_windows,
        model,
        result.roundings,
    )


def _self_train(data: _TaskData, device: str, *, absent: bool) -> _Localised:
    """Learn each step where it is named, and place it where it is most likely."""
    options = LEARNING_OPTIONS[data.kind]
    coarsening = options.coarsening(data.seconds)
    seconds = coarsening * data.seconds
    positions, lengths = None, data.lengths_at(seconds)
    if options.use_position:
        positions = position_prior(data.mentions_and_near_mentions, lengths, data.steps, seconds)
    features, prior = _prepared_features(data, options), data.mention_prior(options, seconds)
    learnt = learn(
        features, prior, options, seconds=seconds, position_prior=positions, device=device
    )
    log_odds = learnt.prior.log_odds()
    located = decide(
        learnt.scores,
        log_odds,
        options,
        seconds=seconds,
        coarsening=coarsening,
        lengths=[data.lengths[n] for n in data.with_features],
        position_prior=positions,
        support=data.support(),
        mentioned=data.windows(*options.window, seconds).named if options.window else None,
        absent=absent,
    )
    overruled = [
        RelaxedWindow(n, int(k), float((mentions[:, 2] == k).sum()))
        for n, (mentions, odds) in enumerate(zip(data.mentions, log_odds, strict=True))
        for k in np.unique(mentions[:, 2].astype(np.int64))
        if (t := located.intervals[n, k]) >= 0 and odds[t // coarsening, k] < NAMED_LOG_ODDS
    ]
    settings = ModelOptions("default", options.regularisation, data.seconds, learnt_from=data.kind)
    model = Model(data.labels, learnt.weights, np.empty(0), settings)
    return _Localised(located, tuple(overruled), model, ())


def _prepared_features(data: _TaskData, options: LearningOptions) -> Videos:
    """Return the features as the classifiers take them."""
    if data.kind == "words":
        return CompressedVideos(options.prepare(x, data.seconds) for x in data.features())
    checked = checked_features(list(data.features()), data.steps)
    return [options.prepare(x, data.seconds) for x in checked]


def _in_task_order(
    task: Task, groups: Sequence[tuple[Sequence[int], StepIntervals]], seconds: float
) -> tuple[Localisation, ...]:
    """Return the localisations of groups (indices of videos, places), in the order of the task."""
    localisations: list[Localisation] = []
    for indices, located in groups:
        videos = [task.videos[n].id for n in indices]
        localisations += located.in_seconds(videos, [seconds] * len(videos))
    index = {video.id: n for n, video in enumerate(task.videos)}
    return tuple(sorted(localisations, key=lambda at: (index[at.video], at.step)))
