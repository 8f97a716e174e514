"""A learnt model that localises the steps in new videos, and its files."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from howsteps.errors import HowstepsError, InputError
from howsteps.io.arrays import read_arrays
from howsteps.io.files import Folder
from howsteps.localise.decision import StepIntervals, decide
from howsteps.localise.evidence import SegmentPrior, standardised
from howsteps.localise.features import Floats, checked_features
from howsteps.localise.ridge import Weights
from howsteps.localise.self_training import GRID, KINDS
from howsteps.store import ModelOptions, ModelRecord, read_record

FILE = "model.json"
LEARNT = "lag", "separation", "duration"
_LARGEST = 2**20  # bytes of model.json
_LARGEST_WEIGHT = 1e12  # real weights are far smaller


@dataclass(frozen=True)
class Model:
    """The steps of a task, and a linear classifier of each; a folder of two files.

    Attributes
    ----------
    steps
        The labels of the script, in order.
    weights
        W* and b*.
    options
        The options it was learnt with.
    """

    steps: tuple[str, ...]
    weights: Weights
    options: ModelOptions

    def save(self, folder: Path | Folder) -> None:
        """Write ``model.json`` (labels and options) and ``model.npz`` (arrays) into a folder."""
        if isinstance(folder, Path):
            folder = Folder(folder)
        record = asdict(ModelRecord(4, self.steps, self.options))
        folder.write(FILE, f"{json.dumps(record, indent=2, ensure_ascii=False)}\n".encode())
        with folder.writing("model.npz") as file:
            np.savez(file, weights=self.weights.matrix, bias=self.weights.bias)

    @staticmethod
    def load(folder: Path) -> "Model":
        """Read a model that :meth:`save` wrote."""
        path = folder / FILE
        record = read_record(path, ModelRecord, _LARGEST)
        steps, options = record.steps, record.options
        if options.learnt_from not in KINDS:
            raise InputError(path, f"options.learnt_from: {options.learnt_from!r} is not known")
        try:
            arrays = read_arrays(folder / "model.npz")
            weights = Weights(arrays["weights"], arrays["bias"])
        except KeyError as missing:
            raise InputError(folder / "model.npz", f"has no array {missing}") from None
        for array in (weights.matrix, weights.bias):
            # Half floats overflow below the limit.
            is_real = array.dtype in (np.float32, np.float64)
            if not is_real or not (np.abs(array) <= _LARGEST_WEIGHT).all():
                reason = f"has values that are not numbers of at most {_LARGEST_WEIGHT:.0e}"
                raise InputError(folder / "model.npz", reason)
        if weights.matrix.shape[1:] != (len(steps),) or weights.bias.shape != (len(steps),):
            raise InputError(path, "the arrays do not fit the steps")
        return Model(steps, weights, options)

    def localise(
        self,
        features: Sequence[ArrayLike],
        *,
        mentions: Sequence[Floats] | None = None,
        readings: Sequence[Floats | None] | None = None,
        absent: bool = False,
    ) -> StepIntervals:
        """Localise the steps in new videos.

        Parameters
        ----------
        features
            T_n×d per video.
        mentions
            S_n×4 per video: start and end in seconds, the step, and the probability that it is
            being done.
        readings
            S_n×3 per video that a language model read: start and end in seconds, and the step.
        absent
            Leave out the steps that are probably not in a video.

        Raises
        ------
        HowstepsError
            The features are not those that the model was learnt from.
        """
        videos = checked_features(features, len(self.steps))
        if videos[0].shape[1] != len(self.weights.matrix):
            raise HowstepsError(
                f"the videos have {videos[0].shape[1]} features per interval, "
                f"the model has {len(self.weights.matrix)}"
            )
        kind = KINDS[self.options.learnt_from]
        fine = self.options.seconds_per_interval or GRID
        coarsening = kind.coarsening(fine)
        scores = [standardised(self.weights.scores(kind.prepare(x, fine))) for x in videos]
        learnt = {name: getattr(self.options, name) for name in LEARNT}
        learnt = {name: value for name, value in learnt.items() if value is not None}
        prior = SegmentPrior(
            mentions or [np.empty((0, 4))] * len(videos),
            [len(score) for score in scores],
            len(self.steps),
            coarsening * fine,
            readings or (),
            **(kind.known | learnt),
        )
        return decide(
            prior.measure(scores),
            scores,
            kind,
            coarsening=coarsening,
            lengths=[len(x) for x in videos],
            absent=absent,
        )
