"""A subsample of the videos of a task, with the data that methods share, computed once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.labelled import GRID, Labelled, select_videos
from howsteps.evaluate.protocols import Localisations, NotMeasured
from howsteps.narration.features import Kind, narration_features, video_interval_count
from howsteps.script import discover
from howsteps.task import Localisation, Mention, Script, Task, Truth

# The extraction of relations of each mode: the authors' program has that of the paper.
EXTRACTION = {"paper": "paper", "authors": "paper", "default": "default"}


class Subsample:
    """The videos that all methods are run on.

    Parameters
    ----------
    labelled
        The task.
    narrated
        The task with the mentions of the modes ``paper`` and ``default``; empty without narrations.
    videos
        Names of the videos in the subsample.
    narration
        Features of the narration (``words`` or ``meaning``) to use if there are none of the video.
    search_seconds
        Effort of the search for a script.
    """

    def __init__(
        self,
        labelled: Labelled,
        narrated: Mapping[str, Task],
        videos: Sequence[str],
        *,
        narration: Kind = "words",
        search_seconds: float = 5.0,
    ) -> None:
        self.narration = narration
        self.labelled = select_videos(labelled, videos)
        chosen = set(videos)
        self._narrated = {
            mode: replace(task, videos=tuple(v for v in task.videos if v.id in chosen))
            for mode, task in narrated.items()
        }
        self._search_seconds = search_seconds
        self._scripts: dict[tuple[str, int, int], Script] = {}

    @property
    def truth(self) -> Truth:
        """The annotations of these videos."""
        return self.labelled.truth

    @property
    def videos(self) -> list[str]:
        """Names of the videos, in the order of the task."""
        return [video.id for video in self.labelled.task.videos]

    def task(self, mode: str) -> Task:
        """Return the videos with the mentions of a mode."""
        if not self._narrated:
            raise NotMeasured("the data set has no narrations")
        return self._narrated[EXTRACTION[mode]]

    def mentions(self, mode: str) -> list[list[Mention]]:
        """Return the mentions of every video, in order of time."""
        return [
            sorted(video.mentions, key=lambda m: (m.start, m.end))
            for video in self.task(mode).videos
        ]

    def script(self, mode: str, steps: int, seed: int) -> Script:
        """Return the script of a mode; discovered on first use."""
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
        """T_n, the number of intervals of every video."""
        if self.labelled.features:
            return [len(self.labelled.features[video]) for video in self.videos]
        videos = self.labelled.task.videos
        if any(video.duration is None for video in videos):
            raise NotMeasured("the length of the videos is not known")
        return [video_interval_count(video, GRID) for video in videos]

    @cached_property
    def features(self) -> list[NDArray[np.float32]]:
        """X_n, T_n×d: features of the videos, or of the narration if there are none."""
        if self.labelled.features:
            return [self.labelled.features[video] for video in self.videos]
        return narration_features(self.task("paper").videos, kind=self.narration, seconds=GRID)

    def in_seconds(self, intervals: NDArray[np.int64]) -> Localisations:
        """Return localisations in the middle of intervals (N×K, −1: absent)."""
        return tuple(
            Localisation(video, k, None if t < 0 else (int(t) + 0.5) * GRID)
            for video, row in zip(self.videos, intervals, strict=True)
            for k, t in enumerate(row)
        )
