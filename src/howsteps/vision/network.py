"""Networks that describe frames: the shipped one runs in ONNX Runtime, others in PyTorch.

*Pooled* features are one vector for the whole frame. *Local descriptors* are the vectors at every
position of a feature map.
"""

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import GPU, HowstepsError, InputError, MissingExtra
from howsteps.io.files import read_bounded, sha256_of_file

LITE0, TIMM = "efficientnet-lite0", "timm:"
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

    def pooled(self, frames: Frames) -> Floats:
        """One vector for each frame, B × d."""
        ...


class OnnxNetwork:
    """A network in an ONNX file with the outputs ``maps`` (B×d×h×w) and ``pooled`` (B×d)."""

    def __init__(self, path: Path, device: str = "cpu", threads: int = 1) -> None:
        try:
            import onnxruntime  # noqa: PLC0415 - an extra, and slow to load
        except ImportError as error:
            raise MissingExtra("vision", "looking at video files") from error
        require_runtime(LITE0, device)
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
        [values] = self._session.run([output], {"frames": frames})
        return values


def load(network: str = LITE0, device: str = "cpu", threads: int = 1) -> Network:
    """Load a network."""
    path = weights_file(network)
    if network == LITE0 and path is not None:
        return OnnxNetwork(path, device, threads)
    from howsteps.vision.torch_network import load as load_torch  # noqa: PLC0415 - PyTorch

    return load_torch(network, path, device)


def require_runtime(network: str, device: str = "cpu") -> None:
    """Check, before any video is decoded, that a network can run on a device."""
    if network != LITE0:
        if GPU.missing:
            raise MissingExtra(GPU.name, "a network in PyTorch")
    elif device != "cpu":
        import onnxruntime  # noqa: PLC0415 - slow to load

        if CUDA not in onnxruntime.get_available_providers():
            needed = "this ONNX Runtime is for CPUs; pip install onnxruntime-gpu"
            raise HowstepsError(f"device {device}: {needed}")


def weights_file(network: str) -> Path | None:
    """Return the file of a network's weights; None for timm, which finds its own."""
    if network.startswith(TIMM):
        if find_spec("timm") is None:
            raise HowstepsError(f"{network} needs the package timm: pip install timm")
        return None
    path = SHIPPED if network == LITE0 else Path(network)
    if not path.is_file():
        known = "see howsteps features --help"
        raise HowstepsError(f"{network}: neither a network ({known}) nor a TorchScript file")
    return path


def identity(network: str, path: Path | None) -> str:
    """Return a name of the network with the hash of its weights, for keys of the cache."""
    if path is None:
        return f"{network} of timm {metadata.version('timm')}"
    return f"{network} {sha256_of_file(path)}"
