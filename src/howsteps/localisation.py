"""The stage put together: a script and features in, the place of every step in every video out.

Modes ``paper`` and ``authors`` cluster the features inside the windows of the narration, by
Frank-Wolfe: the roundings that it visits are what the paper's error bars go over. Mode
``default`` learns what a step looks or sounds like where it is named, and puts it where it is most
likely (:mod:`howsteps.localise.self_training`).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from howsteps.localise.clustering import AUTHORS_VIDEOS, cluster
from howsteps.localise.extents import NAMED, NEITHER, StepIntervals, locate
from howsteps.localise.hmm import place_aligned
from howsteps.localise.model import Model, ModelOptions
from howsteps.localise.oracle import Mask, Places
from howsteps.localise.problem import LocaliseError, checked_features
from howsteps.localise.self_training import LEARNING, NEAR, decide, learn
from howsteps.localise.windows import (
    AFTER,
    BEFORE,
    RelaxedWindow,
    Windows,
    mention_windows,
    step_windows,
)
from howsteps.narration.features import Kind, Vocabulary, video_interval_count
from howsteps.task import Localisation, Mode, Script, Task, Video

ClusterMode = Literal["paper", "authors"]
Features = Mapping[str, NDArray[np.floating]]

LEAD = 2.0  # seconds from the middle of a mention to the middle of what it names
_AUTHORS_AFTER = 30.0  # intervals


@dataclass(frozen=True)
class TaskLocalisation:
    """Where the steps are, and what was learnt on the way.

    Attributes
    ----------
    localisations
        One for every video and step, in the order of the task.
    relaxed_windows
        Windows that contradicted the order and were opened; ``video`` counts in the task.
    model
        Finds the steps in new videos.
    roundings
        N×K intervals of the placements visited after the chosen one, from which the paper's error
        bars are made; none in mode ``default``.
    """

    localisations: tuple[Localisation, ...]
    relaxed_windows: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...] = ()


def localise_task(
    task: Task,
    script: Script,
    features: Features | None = None,
    *,
    narration: Kind = "words",
    seconds: float = 1 / 3,
    mode: Mode = "default",
    asked: int | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> TaskLocalisation:
    """Find every step of a script in every video of its task.

    Parameters
    ----------
    task
        Videos with captions (:func:`howsteps.narration.extract_relations`).
    script
        Steps with their mentions (:func:`howsteps.script.discover`).
    features
        T_n×d of the videos, by their id. None or empty: the narration alone. A video that is
        missing is placed by its mentions and the order.
    narration
        How the narration stands in for features: by the ``words`` around every interval, or by
        their ``meaning``.
    seconds
        How long an interval lasts.
    mode
        ``default``, ``paper`` or ``authors``.
    asked
        How many steps the script was asked for, which the λ of mode ``authors`` goes by; as many as
        it has when None.
    seed
        Of everything random.
    device
        As for :func:`howsteps.localise.cluster`.

    Raises
    ------
    LocaliseError
        When the script has no step, or no video is long enough for all of them.
    """
    if mode not in ("default", "paper", "authors"):
        raise LocaliseError(f"unknown mode {mode!r}: say 'default', 'paper' or 'authors'")
    if narration not in get_args(Kind):
        raise LocaliseError(f"no features {narration!r} of a narration: say 'words' or 'meaning'")
    if not script.steps:
        raise LocaliseError(f"{task.name}: the script has no step to place")
    told = _Narration(task, script, features or {}, narration, seconds)
    if mode == "default":
        found = _learn(told, device)
    else:
        found = _cluster(told, mode, asked or told.steps, seed, device)
    missing = sorted(set(range(len(task.videos))) - set(told.placed))
    rest = told.by_mentions(missing, found.located)
    order = np.argsort([*told.placed, *missing])
    return TaskLocalisation(
        _in_order(task, [(told.placed, found.located), (missing, rest)], told),
        tuple(
            RelaxedWindow(told.placed[window.video], window.step, window.support)
            for window in found.relaxed
        ),
        found.model,
        tuple(np.concatenate([found_in, rest.intervals])[order] for found_in in found.roundings),
    )


class _Found(NamedTuple):
    """What a mode found in the videos that have features."""

    located: StepIntervals
    relaxed: tuple[RelaxedWindow, ...]
    model: Model
    roundings: tuple[Places, ...]


class _Narration:
    """Mentions, windows and features of a task, on the grid of intervals."""

    def __init__(
        self, task: Task, script: Script, features: Features, narration: Kind, seconds: float
    ) -> None:
        self.seconds = seconds
        self.labels = tuple(step.label for step in script.steps)
        self.videos: Sequence[Video] = task.videos
        self.steps = len(script.steps)
        self.kind = "sight" if features else narration
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
        if features:
            self.features = [features[task.videos[n].id] for n in self.placed]
        else:
            vocabulary = Vocabulary.of(task.videos)
            self.features = [
                vocabulary.features(
                    task.videos[n], self.lengths[n], kind=narration, seconds=seconds
                )
                for n in self.placed
            ]
        spoken: dict[str, list[tuple[float, float, int]]] = {v.id: [] for v in task.videos}
        for k, step in enumerate(script.steps):
            for mention in step.mentions:
                if mention.video in spoken:
                    spoken[mention.video].append((mention.start, mention.end, k))
        self._spoken = [np.array(sorted(spoken[v.id])).reshape(-1, 3) for v in task.videos]

    def windows(
        self,
        before: float,
        after: float,
        *,
        seconds: float | None = None,
        mode: ClusterMode = "paper",
    ) -> Windows:
        """Where the mentions let each step be, in the videos that have features."""
        seconds = seconds or self.seconds
        spoken = [self._spoken[n] for n in self.placed]
        lengths = [math.ceil(self.lengths[n] * self.seconds / seconds - 1e-9) for n in self.placed]
        return step_windows(
            [
                mention_windows(said[:, :2], length, seconds, before=before, after=after, mode=mode)
                for said, length in zip(spoken, lengths, strict=True)
            ],
            [said[:, 2].astype(np.int64) for said in spoken],
            self.steps,
            "hull" if mode == "authors" else "union",
        )

    def by_mentions(self, videos: Sequence[int], seen: StepIntervals) -> StepIntervals:
        """Place steps a moment after they are named, the others spread between those.

        What cannot be seen is as sure as it proved in the videos that were: the confidence is the
        share of their steps, of those that are named or of the others, that were found (``seen``)
        within 2.5 s of such a place. That is also how far a step reaches around its place, unless
        the next one is nearer.
        """
        places, named = self._spoken_places(videos)
        reach = round(NEAR / self.seconds)
        ends = np.array([self.lengths[n] - 1 for n in videos], np.int64)[:, None]
        between = (places[:, :-1] + places[:, 1:]) // 2
        first, last = np.maximum(places - reach, 0), np.minimum(places + reach, ends)
        first[:, 1:] = np.maximum(first[:, 1:], between + 1)
        last[:, :-1] = np.minimum(last[:, :-1], between)
        expected, was_named = self._spoken_places(self.placed)
        borne_out = (seen.intervals >= 0) & (np.abs(expected - seen.intervals) <= reach)

        def share(alike: Mask) -> float:
            return float(borne_out[alike].mean()) if alike.any() else 0.0

        absent = places < 0
        confidence = np.where(named, share(was_named), share(~was_named))
        return StepIntervals(
            places,
            np.where(absent, -1, first),
            np.where(absent, -1, last),
            np.where(absent, 0.0, confidence),
            np.select([absent, named], ["", NAMED], default=NEITHER),
        )

    def _spoken_places(self, videos: Sequence[int]) -> tuple[Places, Mask]:
        """The interval of every step by what is said alone, −1 in too short a video; N×K.

        And which of them are named.
        """
        long_enough = [n for n in videos if self.lengths[n] >= self.steps]
        places = np.full((len(videos), self.steps), -1)
        if long_enough:
            spoken = [self._spoken[n] for n in long_enough]
            places[np.isin(videos, long_enough)] = place_aligned(
                [said[:, 2].astype(np.int64) for said in spoken],
                [
                    np.minimum(
                        ((said[:, :2].mean(axis=1) + LEAD) / self.seconds).astype(np.int64),
                        self.lengths[n] - 1,
                    )
                    for n, said in zip(long_enough, spoken, strict=True)
                ],
                [self.lengths[n] for n in long_enough],
                self.steps,
            )
        named = np.array(
            [np.isin(np.arange(self.steps), self._spoken[n][:, 2]) for n in videos], np.bool_
        ).reshape(places.shape)
        return places, named


def _cluster(told: _Narration, mode: ClusterMode, asked: int, seed: int, device: str) -> _Found:
    """Cluster the features inside the windows: what the paper does."""
    before, after = (0.0, _AUTHORS_AFTER) if mode == "authors" else (BEFORE, AFTER)
    windows = told.windows(before, after, mode=mode)
    result = cluster(
        told.features,
        windows.allowed,
        steps=told.steps,
        regularisation=1.0 / (AUTHORS_VIDEOS * asked) if mode == "authors" else None,
        mode=mode,
        solver="frank-wolfe",
        support=windows.support,
        evidence=True,
        seed=seed,
        device=device,
    )
    model = Model.learnt(result, told.labels, ModelOptions(mode, None, told.seconds))
    return _Found(
        locate(result.intervals, result.scores, model.chance, windows.allowed),
        result.relaxed_windows,
        model,
        result.roundings,
    )


def _learn(told: _Narration, device: str) -> _Found:
    """Learn each step where it is named, and put it where it is most likely."""
    how = LEARNING[told.kind]
    grid = how.grid(told.seconds)
    lengths = [told.lengths[n] for n in told.placed]
    windows = told.windows(how.before, how.after, seconds=grid * told.seconds)
    named = [
        window & (support > 0)
        for window, support in zip(windows.allowed, windows.support, strict=True)
    ]
    learnt = learn(
        [how.prepared(x, told.seconds) for x in checked_features(told.features, told.steps)],
        named,
        how,
        seconds=grid * told.seconds,
        device=device,
    )
    located = decide(
        learnt.scores,
        named,
        how.log_prior,
        seconds=grid * told.seconds,
        grid=grid,
        lengths=lengths,
    )
    outside = [
        RelaxedWindow(n, int(k), float(windows.support[n, k]))
        for n, window in enumerate(named)
        for k in np.flatnonzero(window.any(axis=0))
        if not window[located.intervals[n, k] // grid, k]
    ]
    options = ModelOptions("default", how.regularisation, told.seconds, learnt_from=told.kind)
    model = Model(told.labels, learnt.weights, np.empty(0), options)
    return _Found(located, tuple(outside), model, ())


def _in_order(
    task: Task, parts: Sequence[tuple[Sequence[int], StepIntervals]], told: _Narration
) -> tuple[Localisation, ...]:
    """Localisations of several groups of videos, in the order of the task."""
    found: list[Localisation] = []
    for numbers, located in parts:
        videos = [task.videos[n].id for n in numbers]
        found += located.in_seconds(videos, [told.seconds] * len(videos))
    number = {video.id: n for n, video in enumerate(task.videos)}
    return tuple(
        sorted(found, key=lambda localise_task: (number[localise_task.video], localise_task.step))
    )
