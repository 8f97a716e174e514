"""The paper's method as an estimator: fit on some videos, predict in others."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from howsteps.localise.clustering import Clustering, ClusteringMode, ClusteringSolver, cluster
from howsteps.localise.cost import Weights
from howsteps.localise.extents import StepIntervals
from howsteps.localise.model import Model, ModelOptions
from howsteps.localise.oracle import Floats, Places
from howsteps.localise.problem import LocaliseError


class StepLocaliser:
    """Localise the steps of a task in videos.

    Parameters
    ----------
    steps
        K, or the names of the steps in order. None: the number of columns of the windows.
    mode, solver, regularisation, absent, restarts, tolerance, iterations, seed, device
        As for :func:`~howsteps.localise.cluster`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> videos = [rng.random((20, 4), dtype=np.float32) for _ in range(4)]
    >>> for x in videos:
    ...     x[5] += (3, 0, 0, 0)
    ...     x[12] += (0, 3, 0, 0)
    >>> localiser = StepLocaliser(steps=["boil", "pour"]).fit(videos[:3])
    >>> localiser.predict(videos[3:])
    array([[ 5, 12]])
    """

    def __init__(
        self,
        steps: int | Sequence[str] | None = None,
        *,
        mode: ClusteringMode = "paper",
        solver: ClusteringSolver | None = None,
        regularisation: float | None = None,
        absent: bool = False,
        restarts: int = 0,
        tolerance: float = 1e-6,
        iterations: int | None = None,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        self.steps = steps
        self.mode = mode
        self.regularisation = regularisation
        self.absent = absent
        self._options: dict[str, Any] = {
            "solver": solver,
            "restarts": restarts,
            "tolerance": tolerance,
            "iterations": iterations,
            "seed": seed,
            "device": device,
        }
        self._clustering: Clustering | None = None
        self._model: Model | None = None

    def fit(
        self,
        features: Sequence[ArrayLike],
        windows: Sequence[ArrayLike] | None = None,
        *,
        support: ArrayLike | None = None,
    ) -> Self:
        """Cluster the features of some videos, and learn a linear classifier of each step.

        Parameters
        ----------
        features
            T_n×d per video.
        windows
            T_n×K per video: where the narration allows each step. None: everywhere.
        support
            N×K: weight of each window, for those that contradict the order.
        """
        names = self._names(windows)
        self._clustering = cluster(
            features,
            windows,
            steps=len(names),
            mode=self.mode,
            regularisation=self.regularisation,
            support=support,
            absent=self.absent,
            **self._options,
        )
        self._model = None
        return self

    def predict(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> Places:
        """Return the interval of every step in new videos, N×K; −1 where a step is absent."""
        return self.locate(features, windows).intervals

    def fit_predict(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> Places:
        """Fit, and return the interval of every step in these videos, N×K."""
        return self.fit(features, windows).clustering.intervals

    def locate(
        self, features: Sequence[ArrayLike], windows: Sequence[ArrayLike] | None = None
    ) -> StepIntervals:
        """Return the places in new videos with extent, confidence and evidence."""
        return self.model.localise(features, windows, absent=self.absent)

    @property
    def clustering(self) -> Clustering:
        """The result of :func:`~howsteps.localise.cluster` for the videos of :meth:`fit`."""
        if self._clustering is None:
            raise LocaliseError("the localiser is not fitted: call fit(features, windows) first")
        return self._clustering

    @property
    def model(self) -> Model:
        """The model that :meth:`predict` uses; it can be saved."""
        if self._model is None:
            names = self._names(self.clustering.windows)
            options = ModelOptions(self.mode, self.regularisation)
            self._model = Model.learnt(self.clustering, names, options)
        return self._model

    @property
    def weights(self) -> Weights:
        """W (d×K) and b (K) of the linear classifiers."""
        return self.clustering.weights

    @property
    def scores(self) -> tuple[Floats, ...]:
        """T_n×K per video of :meth:`fit`: scores by the classifier of the other videos."""
        return self.clustering.scores

    def _names(self, windows: Sequence[ArrayLike] | None) -> list[str]:
        if isinstance(self.steps, str):
            raise LocaliseError(f"steps are a number or a list of names, not {self.steps!r}")
        if self.steps is None:
            if windows is None or not len(windows) or np.ndim(windows[0]) != 2:
                raise LocaliseError("the number of steps is not known: give steps or windows")
            return [f"step {k}" for k in range(np.shape(windows[0])[1])]
        if isinstance(self.steps, int | np.integer):
            return [f"step {k}" for k in range(self.steps)]
        return list(self.steps)
