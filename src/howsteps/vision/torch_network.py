"""Networks in PyTorch (extra ``gpu``): those that users bring themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.vision.network import TIMM

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("gpu", "a network in PyTorch") from error

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """A module on its device, with its dtype and normalisation of the input."""

    module: nn.Module
    mean: Tensor
    scale: Tensor
    device: str
    dtype: torch.dtype

    def maps(self, frames: Tensor) -> Tensor:
        """B×H×W×3 frames (uint8) → B×d×h×w maps, on the device.

        The memory format is channels last throughout, as in the frames.
        """
        with torch.inference_mode():
            values = frames.to(self.device, non_blocking=True).to(self.dtype)
            return _as_maps(self.module((values.permute(0, 3, 1, 2) - self.mean) * self.scale))

    def describe(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Local descriptors of frames of one size: B × positions × d."""
        maps = self.maps(torch.from_numpy(frames)).float().flatten(2).transpose(1, 2)
        descriptors: NDArray[np.float32] = maps.cpu().numpy()
        return descriptors

    def pooled(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """One vector for each frame: global average of the maps; B × d."""
        values = self.maps(torch.from_numpy(frames)).mean(dim=(2, 3))
        vectors: NDArray[np.float32] = values.float().cpu().numpy()
        return vectors


def load(network: str, path: Path | None, device: str = "cpu") -> TorchNetwork:
    """Load a network of timm, or a TorchScript file."""
    if path is None:
        return prepare(*_from_timm(network.removeprefix(TIMM)), device=device)
    try:
        module: nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        raise InputError(path, "is not a TorchScript file") from error
    return prepare(module, device=device)


def prepare(
    module: nn.Module,
    normalisation: tuple[Sequence[float], Sequence[float]] = _IMAGENET,
    *,
    device: str = "cpu",
    dtype: torch.dtype | None = None,
) -> TorchNetwork:
    """Move a module to a device, channels last.

    ``normalisation`` is the mean and standard deviation of the input channels, in [0, 1]. The
    default precision is half on a GPU, and single on a CPU.
    """
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise HowstepsError(f"device {device}: PyTorch finds no GPU on this machine")
    dtype = dtype or (torch.float16 if device.startswith("cuda") else torch.float32)
    module = module.eval().to(device=device, dtype=dtype)
    module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    mean, deviation = (
        torch.tensor(part, device=device, dtype=dtype)[:, None, None] * 255
        for part in normalisation
    )
    return TorchNetwork(module, mean, 1 / deviation, device, dtype)


def _from_timm(name: str) -> tuple[nn.Module, Any]:
    import timm  # noqa: PLC0415 - optional

    try:
        model = timm.create_model(name, pretrained=True, num_classes=0, global_pool="")
    except Exception as error:  # timm raises many types
        raise HowstepsError(f"{TIMM}{name} cannot be loaded: {error}") from error
    return model, (model.pretrained_cfg["mean"], model.pretrained_cfg["std"])


def _as_maps(output: Tensor) -> Tensor:
    """Return maps unchanged, and tokens B×n×d or vectors B×d as maps of one row."""
    if output.ndim == 4:
        return output
    if output.ndim == 3:
        return output.transpose(1, 2)[:, :, None]
    if output.ndim == 2:
        return output[:, :, None, None]
    raise HowstepsError(f"the network gives {output.ndim} axes; maps have 4, tokens 3, vectors 2")
