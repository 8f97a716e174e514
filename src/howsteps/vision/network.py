"""Networks that look at frames: the one that ships runs in ONNX Runtime, all others in PyTorch.

Both answer two questions. *Local descriptors*, one for every position of a map, are what a codebook
quantises. *Pooled* features are one vector for the whole frame: what the network knows of it.
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError, MissingExtra
from howsteps.io.files import read_bounded
from howsteps.vision.options import LITE0, AppearanceOptions
from howsteps.vision.weights import find

_LARGEST = 2**31  # bytes of an ONNX file, as of its format

Frames = NDArray[np.uint8]  # B×H×W×3
Floats = NDArray[np.float32]


class Network(Protocol):
    """Something that looks at frames of one size."""

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
        options.log_severity_level = 4  # its warnings are about its own optimiser
        try:
            self._session: Any = onnxruntime.InferenceSession(
                read_bounded(path, _LARGEST, "a network"),
                options,
                providers=["CPUExecutionProvider"],
            )
        except Exception as error:  # whatever the runtime raises on a broken file
            raise InputError(path, "is not an ONNX network") from error

    def describe(self, frames: Frames) -> Floats:
        """Local descriptors, B × positions × d."""
        maps = self._run("maps", frames)
        return np.ascontiguousarray(maps.reshape(*maps.shape[:2], -1).transpose(0, 2, 1))

    def pooled(self, frames: Frames) -> Floats:
        """One vector for each frame, B × d."""
        return self._run("pooled", frames)

    def _run(self, output: str, frames: Frames) -> Floats:
        [found] = self._session.run([output], {"frames": frames})
        values: Floats = found
        return values


def load(
    options: AppearanceOptions | None = None, device: str = "cpu", threads: int = 1
) -> Network:
    """Make a network ready.

    Raises
    ------
    HowstepsError
        The device is not there, the file does not hold the network's weights, or PyTorch is needed
        and not installed.
    """
    options = options or AppearanceOptions()
    if options.network == LITE0 and options.weights is None and device == "cpu":
        path = find(LITE0)
        assert path is not None  # only timm finds its own  # noqa: S101
        return OnnxNetwork(path, threads)
    from howsteps.vision.torch_network import load as load_torch  # noqa: PLC0415 - PyTorch

    return load_torch(options, device)
