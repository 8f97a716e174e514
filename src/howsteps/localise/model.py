"""A learnt model that localises the steps in new videos, and the file format of all models."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from howsteps.errors import InputError
from howsteps.io.arrays import read_arrays
from howsteps.io.files import Folder, read_bounded
from howsteps.localise.decision import StepIntervals, decide
from howsteps.localise.features import (
    Floats,
    LocaliseError,
    Mask,
    checked_features,
    checked_windows,
)
from howsteps.localise.ridge import Weights
from howsteps.localise.self_training import GRID, LEARNING_OPTIONS
from howsteps.localise.word_evidence import (
    LagPrior,
    ReadPrior,
    WindowPrior,
    window_probabilities,
)

FILE = "model.json"
VERSION = 2
_LARGEST = 2**20  # bytes of model.json
_LARGEST_WEIGHT = 1e12  # real weights are far smaller
_RANGES = {"regularisation": (0.0, 1e9), "seconds_per_interval": (0.01, 3600.0)}


@dataclass(frozen=True)
class ModelOptions:
    """The options a model was learnt with; new features must agree with them.

    ``learnt_from`` is the kind of features, a key of
    :data:`howsteps.localise.self_training.LEARNING_OPTIONS`; empty where it is unknown.
    """

    mode: str = "paper"
    regularisation: float | None = None
    seconds_per_interval: float | None = None
    learnt_from: str = ""


@dataclass(frozen=True)
class SavedModel:
    """The steps of a task, and a linear classifier of each; a folder of two files.

    Attributes
    ----------
    steps
        The labels of the script, in order.
    weights
        W* and b*.
    null_scores
        Scores of null samples, sorted, which the confidences of the paper's method are computed
        from; empty in mode ``default``.
    options
        The options it was learnt with.
    """

    steps: tuple[str, ...]
    weights: Weights
    null_scores: Floats
    options: ModelOptions = field(default_factory=ModelOptions)
    modes: ClassVar[tuple[str, ...]] = ("default", "paper", "authors")

    def checked_videos(self, features: Sequence[ArrayLike]) -> tuple[NDArray[np.floating], ...]:
        """Return the features of new videos; raise ``LocaliseError`` if they do not fit."""
        videos = checked_features(features, len(self.steps))
        if videos[0].shape[1] != len(self.weights.matrix):
            raise LocaliseError(
                f"the videos have {videos[0].shape[1]} features per interval, "
                f"the model has {len(self.weights.matrix)}"
            )
        return videos

    def save(self, folder: Path | Folder) -> None:
        """Write ``model.json`` (labels and options) and ``model.npz`` (arrays) into a folder."""
        if isinstance(folder, Path):
            folder = Folder(folder)
        text = {"version": VERSION, "steps": list(self.steps), "options": asdict(self.options)}
        folder.write(FILE, f"{json.dumps(text, indent=2, ensure_ascii=False)}\n".encode())
        with folder.writing("model.npz") as file:
            np.savez(
                file,
                weights=self.weights.matrix,
                bias=self.weights.bias,
                null_scores=self.null_scores,
            )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that :meth:`save` wrote."""
        path = folder / FILE
        try:
            text: dict[str, Any] = json.loads(read_bounded(path, _LARGEST, "a model"))
            if text["version"] != VERSION:
                raise InputError(path, f"version {text['version']!r} of the model, not {VERSION}")
            steps = _names(text["steps"])
            options = _checked(ModelOptions(**text["options"]), cls.modes)
            arrays = read_arrays(folder / "model.npz")
            weights = Weights(arrays["weights"], arrays["bias"])
            null = arrays["null_scores"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise InputError(path, f"not a model that was saved here: {problem}") from problem
        for array in (weights.matrix, weights.bias, null):
            # Half floats overflow below the limit.
            is_real = array.dtype in (np.float32, np.float64)
            if not is_real or not (np.abs(array) <= _LARGEST_WEIGHT).all():
                reason = f"has values that are not numbers of at most {_LARGEST_WEIGHT:.0e}"
                raise InputError(folder / "model.npz", reason)
        shapes = weights.matrix.shape[1:], weights.bias.shape, null.ndim, null.size > 0
        if shapes != ((len(steps),), (len(steps),), 1, options.mode != "default"):
            raise InputError(path, "the arrays do not fit the steps")
        return cls(steps, weights, np.sort(null), options)


@dataclass(frozen=True)
class Model(SavedModel):
    """What the default method has learnt from a task; see :class:`SavedModel`."""

    modes: ClassVar[tuple[str, ...]] = ("default",)

    def localise(
        self,
        features: Sequence[ArrayLike],
        windows: Sequence[ArrayLike] | None = None,
        *,
        absent: bool = False,
        mentions: Sequence[Floats | None] | None = None,
        readings: Sequence[Floats | None] | None = None,
    ) -> StepIntervals:
        """Localise the steps in new videos.

        Parameters
        ----------
        features
            T_n×d per video.
        windows
            T_n×K per video: where the narration allows each step, as evidence beside the scores and
            the order. None: everywhere.
        absent
            Leave out the steps that are probably not in a video.
        mentions
            S_n×4 per video, in place of ``windows``: start and end in seconds, the step, and the
            probability that it is being done. None for a video without narration: that a narrator
            does not mention a step is evidence too.
        readings
            S_n×3 per video that a language model read: start and end in seconds, and the step.
        """
        videos = self.checked_videos(features)
        lengths = [len(x) for x in videos]
        allowed = checked_windows(windows, lengths, len(self.steps))
        options = LEARNING_OPTIONS[self.options.learnt_from]
        seconds = self.options.seconds_per_interval or GRID
        coarsening = options.coarsening(seconds)
        coarse_seconds = coarsening * seconds
        scores = [self.weights.scores(options.prepare(x, seconds)) for x in videos]
        narrated = None
        if mentions is None:
            # A window that allows every interval is no evidence.
            named: Sequence[Floats | Mask] = [window & ~window.all(axis=0) for window in allowed]
            prior: WindowPrior | LagPrior = self._window_prior(named, coarsening, coarse_seconds)
        else:
            narrated = np.array([rows is not None for rows in mentions])
            spoken = [np.empty((0, 4)) if rows is None else rows for rows in mentions]
            prior = self._mention_prior(spoken, lengths, coarsening, coarse_seconds)
        log_odds = prior.log_odds()
        if readings is not None:
            coarse, n_steps = [-(-length // coarsening) for length in lengths], len(self.steps)
            read = ReadPrior(prior, readings, coarse, n_steps, coarse_seconds, options.read_spread)
            log_odds = read.log_odds()
        return decide(
            [options.smooth_scores(score, coarse_seconds) for score in scores],
            log_odds,
            options,
            seconds=coarse_seconds,
            coarsening=coarsening,
            lengths=lengths,
            narrated=narrated,
            readings=readings,
            absent=absent,
        )

    def _mention_prior(
        self, mentions: Sequence[Floats], lengths: Sequence[int], coarsening: int, seconds: float
    ) -> WindowPrior | LagPrior:
        """Return the evidence of mentions on the coarse grid, whose intervals last ``seconds``."""
        options, n_steps = LEARNING_OPTIONS[self.options.learnt_from], len(self.steps)
        if options.window is None:
            coarse = [-(-length // coarsening) for length in lengths]
            return LagPrior([rows[:, :3] for rows in mentions], coarse, n_steps, seconds)
        before, after = options.window
        fine = seconds / coarsening
        named = [
            window_probabilities(rows, length, fine, n_steps, before=before, after=after)
            for rows, length in zip(mentions, lengths, strict=True)
        ]
        return self._window_prior(named, coarsening, seconds)

    def _window_prior(
        self, windows: Sequence[Floats | Mask], coarsening: int, seconds: float
    ) -> WindowPrior:
        """Return the evidence of windows of the fine grid on the coarse grid."""
        coarse = [
            np.maximum.reduceat(window, np.arange(0, len(window), coarsening)) for window in windows
        ]
        return WindowPrior(coarse, LEARNING_OPTIONS[self.options.learnt_from].log_prior, seconds)


def _checked(options: ModelOptions, modes: tuple[str, ...]) -> ModelOptions:
    """Return the options; raise ``ValueError`` if one has a wrong type or is out of range."""
    if options.mode not in modes:
        raise ValueError(f"mode {options.mode!r}, not {' or '.join(map(repr, modes))}")
    may_be_unknown = options.mode != "default" and options.learnt_from == ""
    if options.learnt_from not in LEARNING_OPTIONS and not may_be_unknown:
        raise ValueError(f"learnt from {options.learnt_from!r}, which is not known")
    for name, (least, most) in _RANGES.items():
        value = getattr(options, name)
        if value is None:
            continue
        # bool is a subclass of int; NaN fails every comparison.
        if type(value) not in (int, float) or not least <= value <= most:
            raise ValueError(f"{name} is {value!r}, not a number from {least:g} to {most:g}")
    return options


def _names(value: Any) -> tuple[str, ...]:
    """Return the names of a JSON list; raise an error if they could not be written again."""
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise TypeError("not a list of names")
    "".join(value).encode("utf-8")  # refuses lone surrogates
    return tuple(value)
