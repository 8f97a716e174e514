"""Some videos of a task, and what several methods need of them, made once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.labelled import GRID, Labelled, of_videos
from howsteps.evaluate.protocols import NotMeasured, Places
from howsteps.narration.features import Kind, interval_count, narration_features
from howsteps.script import discover
from howsteps.task import Localisation, Mention, Script, Task, Truth

# The authors' program hears as the paper does.
HEARING = {"paper": "paper", "authors": "paper", "default": "default"}


class Subsample:
    """Videos that all methods are run on.

    Parameters
    ----------
    labelled
        The task.
    heard
        The task as heard in the modes ``paper`` and ``default``; empty without narrations.
    videos
        The names of those that are drawn.
    narration
        How narrations stand in for features of the video, where there are none.
    search_seconds
        What the search for a script is allowed.
    """

    def __init__(
        self,
        labelled: Labelled,
        heard: Mapping[str, Task],
        videos: Sequence[str],
        *,
        narration: Kind = "words",
        search_seconds: float = 5.0,
    ) -> None:
        self.narration = narration
        self.labelled = of_videos(labelled, videos)
        chosen = set(videos)
        self._heard = {
            mode: replace(task, videos=tuple(v for v in task.videos if v.id in chosen))
            for mode, task in heard.items()
        }
        self._search_seconds = search_seconds
        self._scripts: dict[tuple[str, int, int], Script] = {}

    @property
    def truth(self) -> Truth:
        """What people saw in these videos."""
        return self.labelled.truth

    @property
    def videos(self) -> list[str]:
        """Their names, in the order of the task."""
        return [video.id for video in self.labelled.task.videos]

    def task(self, mode: str) -> Task:
        """The videos as they are heard in a mode."""
        if not self._heard:
            raise NotMeasured("the data set has no narrations")
        return self._heard[HEARING[mode]]

    def mentions(self, mode: str) -> list[list[Mention]]:
        """What is mentioned in every video, in time."""
        return [
            sorted(video.mentions, key=lambda m: (m.start, m.end))
            for video in self.task(mode).videos
        ]

    def script(self, mode: str, steps: int, seed: int) -> Script:
        """The script of a mode, discovered when it is first asked for."""
        key = (mode, steps, seed)
        if key not in self._scripts:
            self._scripts[key] = discover(
                self.task(mode),
                steps=steps,
                mode=mode,
                seed=seed,
                seconds=self._search_seconds,
                match=self.labelled.matches,
            )
        if not self._scripts[key].steps:
            raise NotMeasured(f"no script: too many relations tie for at most {steps} steps")
        return self._scripts[key]

    @cached_property
    def lengths(self) -> list[int]:
        """T_n: intervals of every video."""
        if self.labelled.features:
            return [len(self.labelled.features[video]) for video in self.videos]
        videos = self.labelled.task.videos
        if any(video.duration is None for video in videos):
            raise NotMeasured("the length of the videos is not known")
        return [interval_count(video, GRID) for video in videos]

    @cached_property
    def features(self) -> list[NDArray[np.float32]]:
        """X_n, T_n×d: of the video, or what is said around every interval where there are none."""
        if self.labelled.features:
            return [self.labelled.features[video] for video in self.videos]
        return narration_features(self.task("paper").videos, kind=self.narration, seconds=GRID)

    def in_seconds(self, intervals: NDArray[np.int64]) -> Places:
        """Places of intervals (N×K, −1: absent): a step happens in the middle of its interval."""
        return tuple(
            Localisation(video, k, None if t < 0 else (int(t) + 0.5) * GRID)
            for video, row in zip(self.videos, intervals, strict=True)
            for k, t in enumerate(row)
        )
