"""Networks that describe frames, in ONNX Runtime: the one that ships, or a user's own file.

*Pooled* features are one vector for the whole frame. *Local descriptors* are the vectors at every
position of a feature map.
"""

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError
from howsteps.io.files import read_bounded, sha256_of_file

LITE0 = "efficientnet-lite0"
SHIPPED = Path(__file__).parent / "model" / "efficientnet-lite0.onnx"
CUDA = "CUDAExecutionProvider"
_LARGEST = 2**31  # bytes: the limit of the ONNX format

Frames = NDArray[np.uint8]  # B×H×W×3
Floats = NDArray[np.float32]


class Network(Protocol):
    """A network that describes frames of one size."""

    def describe(self, frames: Frames) -> Floats:
        """Local descriptors, B × positions × d."""
        ...


class OnnxNetwork:
    """A network in an ONNX file.

    Its input is ``frames`` (B×H×W×3, RGB, bytes), its outputs are ``maps`` (B×d×h×w; for modes
    ``paper`` and ``authors``) and ``pooled`` (B×d).
    """

    def __init__(self, path: Path, device: str = "cpu", threads: int = 1) -> None:
        import onnxruntime  # noqa: PLC0415 - an extra, which callers require, and slow to load

        require_runtime(device)
        providers = [*([CUDA] if device != "cpu" else []), "CPUExecutionProvider"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # its warnings concern its optimiser only
        try:
            self._session: Any = onnxruntime.InferenceSession(
                read_bounded(path, _LARGEST, "a network"), options, providers=providers
            )
        except Exception as error:  # the runtime raises many types
            raise InputError(path, "is not an ONNX network") from error
        # Without the CUDA libraries or a GPU, ONNX Runtime uses the CPU and says nothing.
        if self._session.get_providers()[0] != providers[0]:
            raise HowstepsError(f"device {device}: ONNX Runtime finds no GPU on this machine")

    def describe(self, frames: Frames) -> Floats:
        """Local descriptors, B × positions × d."""
        maps = self._run("maps", frames)
        return np.ascontiguousarray(maps.reshape(*maps.shape[:2], -1).transpose(0, 2, 1))

    def pooled(self, frames: Frames) -> Floats:
        """One vector for each frame, B × d."""
        return self._run("pooled", frames)

    def _run(self, output: str, frames: Frames) -> Floats:
        values: Floats
        try:
            [values] = self._session.run([output], {"frames": frames})
        except Exception as error:  # the runtime raises many types
            raise HowstepsError(f"the network does not turn frames into {output}") from error
        return values


def load(network: str = LITE0, device: str = "cpu", threads: int = 1) -> OnnxNetwork:
    """Load a network: the one that ships, or a path."""
    return OnnxNetwork(weights_file(network), device, threads)


def require_runtime(device: str) -> None:
    """Check, before any video is decoded, that networks can run on a device."""
    if device != "cpu":
        import onnxruntime  # noqa: PLC0415 - slow to load

        if CUDA not in onnxruntime.get_available_providers():
            needed = "this ONNX Runtime is for CPUs; pip install onnxruntime-gpu"
            raise HowstepsError(f"device {device}: {needed}")


def weights_file(network: str) -> Path:
    """Return the file of a network."""
    path = SHIPPED if network == LITE0 else Path(network)
    if not path.is_file():
        raise HowstepsError(f"{network}: neither {LITE0} nor an ONNX file")
    return path


def identity(network: str, path: Path) -> str:
    """Return a name of the network with the hash of its weights, for keys of the cache."""
    return f"{network} {sha256_of_file(path)}"
