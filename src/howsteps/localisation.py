"""Localisation of a task: a script and features in, every step in every video out.

Modes ``paper`` and ``authors`` cluster the features inside the windows of the narration by
Frank-Wolfe, whose roundings are what the paper's error bars go over. Mode ``default`` learns each
step where it is named, and places it where it is most likely
(:mod:`howsteps.localise.self_training`).
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
from howsteps.localise.computed import Computed
from howsteps.localise.decision import HERE, NEAR, certain_by_mentions, decide
from howsteps.localise.extents import StepIntervals, locate
from howsteps.localise.hmm import place_aligned
from howsteps.localise.mention_prior import LagPrior, MentionPrior, WindowPrior
from howsteps.localise.model import Model, ModelOptions
from howsteps.localise.oracle import Floats, Mask, Places
from howsteps.localise.position_prior import position_prior
from howsteps.localise.problem import LocaliseError, checked_features
from howsteps.localise.self_training import LEARNING, Learning, learn
from howsteps.localise.sparse import CompressedVideos
from howsteps.localise.windows import (
    AFTER,
    BEFORE,
    RelaxedWindow,
    Windows,
    mention_windows,
    step_windows,
    surest_windows,
)
from howsteps.narration.features import Kind, Vocabulary, video_interval_count
from howsteps.script.echoes import echoes, spoken_by_video
from howsteps.task import BETWEEN, SAID, Localisation, Mode, Script, Task, Video

FeaturesByVideo = Mapping[str, NDArray[np.floating]]

LEAD = 2.0  # seconds from the middle of a mention to the middle of what it names
_AUTHORS_AFTER = 30.0  # intervals


@dataclass(frozen=True)
class TaskLocalisation:
    """Where the steps are, and the model that was learnt.

    Attributes
    ----------
    localisations
        One for every video and step, in the order of the task.
    relaxed_windows
        Windows that contradicted the order and were opened; ``video`` counts in the task.
    model
        Localises the steps in new videos.
    signs
        In mode ``default`` N×K×S: what certainty was judged by, in the videos that have features.
    roundings
        N×K intervals of the placements visited after the chosen one, for the paper's error bars;
        none in mode ``default``.
    """

    localisations: tuple[Localisation, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...] = ()
    signs: Floats | None = None


def localise_task(
    task: Task,
    script: Script,
    features: FeaturesByVideo | None = None,
    *,
    narration: Kind = "words",
    seconds: float = 1 / 3,
    mode: Mode = "default",
    asked: int | None = None,
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
        T_n×d of the videos, by their id. None or empty: features of the narration. Steps in a
        video that is missing are placed by its mentions and the order.
    narration
        FeaturesByVideo of the narration: the ``words`` around every interval, or their ``meaning``.
    seconds
        How long an interval lasts.
    mode
        ``default``, ``paper`` or ``authors``.
    asked
        How many steps were requested of the script, for the λ of mode ``authors``; as many as it
        has when None.
    seed
        Of everything random.
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
        raise LocaliseError(f"{task.name}: the script has no step to place")
    data = _TaskData(task, script, features or {}, narration, seconds)
    if mode == "default":
        found = _learn(data, device, absent=absent)
    else:
        found = _cluster(data, mode, asked or data.steps, seed, device)
    missing = sorted(set(range(len(task.videos))) - set(data.placed))
    rest = data.by_mentions(missing, found.located)
    if mode == "default":
        rest = certain_by_mentions(rest, absent=absent)
    order = np.argsort([*data.placed, *missing])
    return TaskLocalisation(
        _in_order(task, [(data.placed, found.located), (missing, rest)], data),
        tuple(
            RelaxedWindow(data.placed[window.video], window.step, window.support)
            for window in found.relaxed
        ),
        found.model,
        tuple(np.concatenate([found_in, rest.intervals])[order] for found_in in found.roundings),
        found.located.signs,
    )


class _Found(NamedTuple):
    """The result of a mode in the videos that have features."""

    located: StepIntervals
    relaxed: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...]


class _TaskData:
    """Mentions, windows and features of a task, on the grid of intervals."""

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
        self.placed = [
            n
            for n, video in enumerate(task.videos)
            if self.lengths[n] >= self.steps and (not features or video.id in features)
        ]
        if not self.placed:
            raise LocaliseError(f"{task.name}: no video is long enough for {self.steps} steps")
        self._given = features
        self._task, self._script = task, script
        self._own = [(m, k, 1.0) for k, step in enumerate(script.steps) for m in step.mentions]
        self._mentions = [rows[:, :3] for rows in spoken_by_video(task, self._own)]

    def windows(
        self,
        before: float,
        after: float,
        *,
        seconds: float | None = None,
        mode: ClusteringMode = "paper",
    ) -> Windows:
        """Where the mentions allow each step, in the videos that have features."""
        seconds = seconds or self.seconds
        mentions = [self._mentions[n] for n in self.placed]
        return step_windows(
            [
                mention_windows(rows[:, :2], length, seconds, before=before, after=after, mode=mode)
                for rows, length in zip(mentions, self.coarse(seconds), strict=True)
            ],
            [rows[:, 2].astype(np.int64) for rows in mentions],
            self.steps,
            "hull" if mode == "authors" else "union",
        )

    def features(self) -> Iterator[NDArray[np.floating]]:
        """T_n×d of the videos that have features, one after the other.

        Those of the narration are made here and are mostly zeros: whoever keeps them all keeps
        them compressed.
        """
        if self.kind == "sight":
            yield from (self._given[self.videos[n].id] for n in self.placed)
            return
        vocabulary = Vocabulary.of(self.videos)
        for n in self.placed:
            yield vocabulary.features(
                self.videos[n], self.lengths[n], kind=self.kind, seconds=self.seconds
            )

    def mentions_of(self, number: int) -> Floats:
        """Mentions of a video that has features: start, end and step, S×3."""
        return self._mentions[self.placed[number]]

    def coarse(self, seconds: float) -> list[int]:
        """T_n of the videos that have features, in intervals of another length."""
        return [math.ceil(self.lengths[n] * self.seconds / seconds - 1e-9) for n in self.placed]

    @cached_property
    def spoken(self) -> list[Floats]:
        """What is said about steps in the videos that have features, S×4 each.

        Start, end, step, and how surely it is the step being done: the probability that it is work
        and not talk, less where it is an echo of what the script took.
        """
        rows = spoken_by_video(self._task, [*self._own, *echoes(self._task, self._script)])
        return [rows[n] for n in self.placed]

    def support(self) -> Floats:
        """The share of the videos that name each step."""
        steps = np.arange(self.steps)
        named: Floats = np.mean([np.isin(steps, rows[:, 2]) for rows in self._mentions], axis=0)
        return named

    def prior(self, how: Learning, seconds: float) -> MentionPrior:
        """What is said in the videos that have features, on a grid of its own."""
        lengths = self.coarse(seconds)
        if how.window is None:
            said = [self._mentions[n] for n in self.placed]
            return LagPrior(said, lengths, self.steps, seconds)
        before, after = how.window

        def surest(video: int) -> Floats:
            said, length = self.spoken[video], lengths[video]
            return surest_windows(said, length, seconds, self.steps, before=before, after=after)

        return WindowPrior(Computed(surest, len(lengths)), how.log_prior, seconds)

    def by_mentions(self, videos: Sequence[int], found: StepIntervals) -> StepIntervals:
        """Place steps a moment after they are named, the others spread between those.

        The confidence is estimated on the videos that have features: the share of their steps
        (named ones and others apart) that were ``found`` within 2.5 s of such a place. The extent
        of a step is 2.5 s around its place, up to the border with the next one.
        """
        places, named = self._mention_places(videos)
        reach = round(NEAR / self.seconds)
        ends = np.array([self.lengths[n] - 1 for n in videos], np.int64)[:, None]
        between = (places[:, :-1] + places[:, 1:]) // 2
        first, last = np.maximum(places - reach, 0), np.minimum(places + reach, ends)
        first[:, 1:] = np.maximum(first[:, 1:], between + 1)
        last[:, :-1] = np.minimum(last[:, :-1], between)
        expected, was_named = self._mention_places(self.placed)
        confirmed = (found.intervals >= 0) & (np.abs(expected - found.intervals) <= reach)

        def share(like: Mask) -> float:
            return float(confirmed[like].mean()) if like.any() else 0.0

        absent = places < 0
        confidence = np.where(named, share(was_named), share(~was_named))
        return StepIntervals(
            places,
            np.where(absent, -1, first),
            np.where(absent, -1, last),
            np.where(absent, 0.0, confidence),
            np.select([absent, named], ["", SAID], default=BETWEEN),
            np.where(absent, 0.0, 1.0),
        )

    def _mention_places(self, videos: Sequence[int]) -> tuple[Places, Mask]:
        """The interval of every step by its mentions alone, and which steps are named; N×K.

        −1 in a video that is too short.
        """
        long_enough = [n for n in videos if self.lengths[n] >= self.steps]
        places = np.full((len(videos), self.steps), -1)
        if long_enough:
            mentions = [self._mentions[n] for n in long_enough]
            places[np.isin(videos, long_enough)] = place_aligned(
                [rows[:, 2].astype(np.int64) for rows in mentions],
                [
                    np.minimum(
                        ((rows[:, :2].mean(axis=1) + LEAD) / self.seconds).astype(np.int64),
                        self.lengths[n] - 1,
                    )
                    for n, rows in zip(long_enough, mentions, strict=True)
                ],
                [self.lengths[n] for n in long_enough],
                self.steps,
            )
        named = np.array(
            [np.isin(np.arange(self.steps), self._mentions[n][:, 2]) for n in videos], np.bool_
        ).reshape(places.shape)
        return places, named


def _cluster(data: _TaskData, mode: ClusteringMode, asked: int, seed: int, device: str) -> _Found:
    """Cluster the features inside the windows, as the paper does."""
    before, after = (0.0, _AUTHORS_AFTER) if mode == "authors" else (BEFORE, AFTER)
    windows = data.windows(before, after, mode=mode)
    result = cluster(
        list(data.features()),
        windows.allowed,
        steps=data.steps,
        regularisation=1.0 / (AUTHORS_VIDEOS * asked) if mode == "authors" else None,
        mode=mode,
        solver="frank-wolfe",
        support=windows.support,
        seed=seed,
        device=device,
    )
    alike = LEARNING[data.kind].alike
    options = ModelOptions(mode, None, data.seconds, learnt_from=data.kind)
    model = Model.learnt(result, data.labels, options)
    return _Found(
        locate(result.intervals, result.scores, result.null_scores, result.windows, alike=alike),
        result.relaxed_windows,
        model,
        result.roundings,
    )


def _learn(data: _TaskData, device: str, *, absent: bool) -> _Found:
    """Learn each step where it is named, and put it where it is most likely."""
    how = LEARNING[data.kind]
    grid = how.grid(data.seconds)
    coarse = grid * data.seconds
    usual = None
    if how.usual:
        usual = position_prior(data.spoken, data.coarse(coarse), data.steps, coarse)
    features, prior = _prepared(data, how), data.prior(how, coarse)
    learnt = learn(features, prior, how, seconds=coarse, usual=usual, device=device)
    log_odds = learnt.prior.log_odds()
    located = decide(
        learnt.scores,
        log_odds,
        how,
        seconds=coarse,
        grid=grid,
        lengths=[data.lengths[n] for n in data.placed],
        usual=usual,
        support=data.support(),
        mentioned=data.windows(*how.window, seconds=coarse).named if how.window else None,
        absent=absent,
    )
    outside = [
        RelaxedWindow(n, int(k), float((data.mentions_of(n)[:, 2] == k).sum()))
        for n, said in enumerate(log_odds)
        for k in np.unique(data.mentions_of(n)[:, 2].astype(np.int64))
        if located.intervals[n, k] >= 0 and said[located.intervals[n, k] // grid, k] < HERE
    ]
    options = ModelOptions("default", how.regularisation, data.seconds, learnt_from=data.kind)
    model = Model(data.labels, learnt.weights, np.empty(0), options)
    return _Found(located, tuple(outside), model, ())


def _prepared(data: _TaskData, how: Learning) -> Videos:
    """The features as the classifiers take them."""
    if data.kind == "words":
        return CompressedVideos(how.prepared(x, data.seconds) for x in data.features())
    whole = checked_features(list(data.features()), data.steps)
    return [how.prepared(x, data.seconds) for x in whole]


def _in_order(
    task: Task, parts: Sequence[tuple[Sequence[int], StepIntervals]], data: _TaskData
) -> tuple[Localisation, ...]:
    """Localisations of several groups of videos, in the order of the task."""
    found: list[Localisation] = []
    for numbers, located in parts:
        videos = [task.videos[n].id for n in numbers]
        found += located.in_seconds(videos, [data.seconds] * len(videos))
    number = {video.id: n for n, video in enumerate(task.videos)}
    return tuple(sorted(found, key=lambda one: (number[one.video], one.step)))
