"""A learnt model: find the steps in new videos."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import InputError
from howsteps.io.arrays import read_arrays
from howsteps.io.files import read_bounded
from howsteps.localise.backend import Videos
from howsteps.localise.clustering import Clustering
from howsteps.localise.cost import Weights
from howsteps.localise.decision import decide
from howsteps.localise.extents import StepIntervals, locate
from howsteps.localise.mention_prior import WindowPrior
from howsteps.localise.null_scores import absence_costs
from howsteps.localise.oracle import Floats, Mask, cheapest_placement
from howsteps.localise.problem import LocaliseError, checked_features, checked_windows
from howsteps.localise.self_training import GRID, LEARNING
from howsteps.localise.windows import relax
from howsteps.task import LIKE_SEEN

FILE = "model.json"
VERSION = 2
_LARGEST = 2**20  # bytes of model.json
_LARGEST_WEIGHT = 1e12  # what is learnt from features is far smaller
_MODES = ("default", "paper", "authors")
_RANGES = {"regularisation": (0.0, 1e9), "seconds_per_interval": (0.01, 3600.0)}


@dataclass(frozen=True)
class ModelOptions:
    """The settings of a model, which new features have to agree with.

    ``learnt_from`` is the kind of features, which names the settings of mode ``default`` in
    :data:`howsteps.localise.self_training.LEARNING`; empty where it is not known.
    """

    mode: str = "paper"
    regularisation: float | None = None
    seconds_per_interval: float | None = None
    learnt_from: str = ""


@dataclass(frozen=True)
class Model:
    """The steps of a job and a linear score for each.

    Attributes
    ----------
    steps
        The labels of the script, in order.
    weights
        W* and b*.
    null_scores
        Scores of null samples, sorted: what a score is compared with. Empty in mode ``default``,
        whose confidences are probabilities.
    options
        What it was learnt with.
    """

    steps: tuple[str, ...]
    weights: Weights
    null_scores: Floats
    options: ModelOptions = field(default_factory=ModelOptions)

    @staticmethod
    def learnt(
        clustering: Clustering, steps: Sequence[str], options: ModelOptions | None = None
    ) -> "Model":
        """The model of a clustering; ``steps`` are the labels."""
        if len(steps) != clustering.intervals.shape[1]:
            raise LocaliseError(f"{len(steps)} labels for {clustering.intervals.shape[1]} steps")
        return Model(
            tuple(steps),
            clustering.weights,
            np.sort(clustering.null_scores, axis=None),
            options or ModelOptions(),
        )

    def localise(
        self,
        features: Sequence[ArrayLike],
        windows: Sequence[ArrayLike] | None = None,
        *,
        absent: bool = False,
        said: Sequence[Floats] | None = None,
    ) -> StepIntervals:
        """Locate the steps in new videos, with windows from their captions or without.

        Windows that contradict the order are opened, as :func:`~howsteps.localise.relax` does. In
        mode ``default`` they are weighed against the scores and the order; there ``said`` (T×K a
        video, from 0 to 1) may say in their place how surely each interval names each step.
        """
        count = len(self.steps)
        videos = checked_features(features, count)
        if videos[0].shape[1] != len(self.weights.matrix):
            raise LocaliseError(
                f"the videos have {videos[0].shape[1]} features an interval, "
                f"the model has {len(self.weights.matrix)}"
            )
        allowed = checked_windows(windows, [len(x) for x in videos], count)
        if self.options.mode == "default":
            # A window that is open everywhere says nothing.
            return self._most_likely(videos, said or [w & ~w.all(axis=0) for w in allowed], absent)
        opened, _ = relax(allowed)
        scores = [self.weights.scores(x) for x in videos]
        absence = absence_costs(scores, self.null_scores, opened, np.ones(len(videos)))
        places = [
            # Least squares of one row: ‖z − s‖² changes by 1 − 2s where z becomes one.
            cheapest_placement(1.0 - 2.0 * score, window, absence[n] if absent else None)
            for n, (score, window) in enumerate(zip(scores, opened, strict=True))
        ]
        kind = LEARNING.get(self.options.learnt_from)
        alike = kind.alike if kind else LIKE_SEEN
        return locate(np.array(places), scores, self.null_scores, opened, alike=alike)

    def _most_likely(
        self, videos: Videos, said: Sequence[Floats | Mask], absent: bool
    ) -> StepIntervals:
        """Locate as mode ``default`` does: a window is evidence, not a constraint."""
        how = LEARNING[self.options.learnt_from]
        seconds = self.options.seconds_per_interval or GRID
        grid = how.grid(seconds)
        named = [
            # The coarse interval is as sure as the surest of its own.
            np.maximum.reduceat(sure, np.arange(0, len(sure), grid))
            for sure in said
        ]
        coarse = grid * seconds
        return decide(
            [how.smoothed(self.weights.scores(how.prepared(x, seconds)), coarse) for x in videos],
            WindowPrior(named, how.log_prior, coarse).log_odds(),
            how,
            seconds=grid * seconds,
            grid=grid,
            lengths=[len(x) for x in videos],
            absent=absent,
        )

    def save(self, folder: Path) -> None:
        """Write ``model.json`` (what people read) and ``model.npz`` (the arrays)."""
        folder.mkdir(parents=True, exist_ok=True)
        text = {"version": VERSION, "steps": list(self.steps), "options": asdict(self.options)}
        (folder / FILE).write_text(
            json.dumps(text, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        np.savez(
            folder / "model.npz",
            weights=self.weights.matrix,
            bias=self.weights.bias,
            null_scores=self.null_scores,
        )

    @staticmethod
    def load(folder: Path) -> "Model":
        """Read what :meth:`save` wrote."""
        path = folder / FILE
        try:
            text: dict[str, Any] = json.loads(read_bounded(path, _LARGEST, "a model"))
            if text["version"] != VERSION:
                raise InputError(path, f"version {text['version']!r} of the model, not {VERSION}")
            steps = _names(text["steps"])
            options = _checked(ModelOptions(**text["options"]))
            arrays = read_arrays(folder / "model.npz")
            weights = Weights(arrays["weights"], arrays["bias"])
            null = arrays["null_scores"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise InputError(path, f"not a model that was saved here: {problem}") from problem
        for array in (weights.matrix, weights.bias, null):
            if array.dtype.kind != "f" or not (np.abs(array) <= _LARGEST_WEIGHT).all():
                reason = f"has values that are not numbers of at most {_LARGEST_WEIGHT:.0e}"
                raise InputError(folder / "model.npz", reason)
        shapes = weights.matrix.shape[1:], weights.bias.shape, null.ndim, null.size > 0
        if shapes != ((len(steps),), (len(steps),), 1, options.mode != "default"):
            raise InputError(path, "the arrays do not fit the steps")
        return Model(steps, weights, np.sort(null), options)


def _checked(options: ModelOptions) -> ModelOptions:
    """The options, if each is of its type and in its range; else a ``ValueError``."""
    if options.mode not in _MODES:
        raise ValueError(f"there is no mode {options.mode!r}")
    unknown_is_fine = options.mode != "default" and options.learnt_from == ""
    if options.learnt_from not in LEARNING and not unknown_is_fine:
        raise ValueError(f"learnt from {options.learnt_from!r}, which is not known")
    for name, (least, most) in _RANGES.items():
        value = getattr(options, name)
        if value is None:
            continue
        # Not a bool, which counts as a number; and no NaN, which is in no range.
        if type(value) not in (int, float) or not least <= value <= most:
            raise ValueError(f"{name} is {value!r}, not a number from {least:g} to {most:g}")
    return options


def _names(value: Any) -> tuple[str, ...]:
    """Names out of JSON, such as can be written down again."""
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise TypeError("not a list of names")
    "".join(value).encode("utf-8")
    return tuple(value)
