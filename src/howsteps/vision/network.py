"""Networks that describe frames: the shipped one runs in ONNX Runtime, all others in PyTorch.

*Local descriptors* are the vectors at every position of a feature map, for a codebook. *Pooled*
features are one vector for the whole frame.
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import read_bounded
from howsteps.vision.options import LITE0, AppearanceOptions
from howsteps.vision.weights import weights_file

_LARGEST = 2**31  # bytes: the limit of the ONNX format

Frames = NDArray[np.uint8]  # B×H×W×3
Floats = NDArray[np.float32]


class Network(Protocol):
    """A network that describes frames of one size."""

    def describe(self, frames: Frames) -> Floats:
        """Local descriptors, B × positions × d."""
        ...

    def pooled(self, frames: Frames) -> Floats:
        """One vector for each frame, B × d."""
        ...


class OnnxNetwork:
    """A network in an ONNX file with the outputs ``maps`` (B×d×h×w) and ``pooled`` (B×d)."""

    def __init__(self, path: Path, threads: int = 1) -> None:
        try:
            import onnxruntime  # noqa: PLC0415 - an extra, and slow to load
        except ImportError as error:
            raise MissingExtra("vision", "looking at video files") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # its warnings concern its optimiser only
        try:
            self._session: Any = onnxruntime.InferenceSession(
                read_bounded(path, _LARGEST, "a network"),
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # the runtime raises many types
            raise InputError(path, "is not an ONNX network") from error

    def describe(self, frames: Frames) -> Floats:
        """Local descriptors, B × positions × d."""
        maps = self._run("maps", frames)
        return np.ascontiguousarray(maps.reshape(*maps.shape[:2], -1).transpose(0, 2, 1))

    def pooled(self, frames: Frames) -> Floats:
        """One vector for each frame, B × d."""
        return self._run("pooled", frames)

    def _run(self, output: str, frames: Frames) -> Floats:
        values: Floats
        [values] = self._session.run([output], {"frames": frames})
        return values


def load(
    options: AppearanceOptions | None = None, device: str = "cpu", threads: int = 1
) -> Network:
    """Load a network.

    Raises
    ------
    HowstepsError
        If the device does not exist, the file does not hold the network's weights, or PyTorch is
        needed and not installed.
    """
    options = options or AppearanceOptions()
    if options.network == LITE0 and options.weights is None and device == "cpu":
        path = weights_file(LITE0)
        assert path is not None  # None is for timm only  # noqa: S101
        return OnnxNetwork(path, threads)
    from howsteps.vision.torch_network import load as load_torch  # noqa: PLC0415 - PyTorch

    return load_torch(options, device)
