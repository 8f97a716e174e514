"""Networks in PyTorch (extra ``gpu``): VGG-16, GPUs, and networks that users bring themselves.

Every position of a map is one local descriptor: 512 numbers for VGG-16 (conv5_3, the paper's), 320
for EfficientNet-Lite0, which needs PyTorch on a GPU only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.vision.options import LITE0, TIMM, VGG16, AppearanceOptions
from howsteps.vision.weights import find, lite0_checkpoint

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("gpu", "a network in PyTorch") from error

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_LITE = ((127 / 255,) * 3, (128 / 255,) * 3)


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """A network ready to look: on its device, in its number format, with its normalisation."""

    module: nn.Module
    mean: Tensor
    scale: Tensor
    device: str
    dtype: torch.dtype

    def maps(self, frames: Tensor) -> Tensor:
        """B×H×W×3 frames (bytes) → B×d×h×w maps, on the device.

        Channels come last in memory on the way in and all the way through, as in the frames.
        """
        with torch.inference_mode():
            values = frames.to(self.device, non_blocking=True).to(self.dtype)
            return _as_maps(self.module((values.permute(0, 3, 1, 2) - self.mean) * self.scale))

    def describe(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Local descriptors of frames of one size: B × positions × d."""
        maps = self.maps(torch.from_numpy(frames)).float().flatten(2).transpose(1, 2)
        found: NDArray[np.float32] = maps.cpu().numpy()
        return found

    def pooled(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """One vector for each frame: the channels of its head, or else of its maps, averaged."""
        with torch.inference_mode():
            maps = self.maps(torch.from_numpy(frames))
            own = getattr(self.module, "pooled", None)
            values = own(maps) if own is not None else maps.mean(dim=(2, 3))
            found: NDArray[np.float32] = values.float().cpu().numpy()
        return found


def load(options: AppearanceOptions | None = None, device: str = "cpu") -> TorchNetwork:
    """Make a network ready.

    On a GPU numbers have half precision; on a processor single precision is quicker.

    Raises
    ------
    HowstepsError
        The device is not there, or the file does not hold the network's weights.
    """
    options = options or AppearanceOptions()
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise HowstepsError(f"device {device}: PyTorch finds no GPU on this machine")
    dtype = torch.float16 if device.startswith("cuda") else torch.float32
    name = options.network
    own = Path(options.weights) if options.weights else None
    path = lite0_checkpoint() if name == LITE0 and own is None else find(name, own)
    normal = _LITE if name == LITE0 else _IMAGENET
    if name.startswith(TIMM):
        module, normal = _from_timm(name.removeprefix(TIMM), path)
    elif name in {LITE0, VGG16} and path is not None:
        module = _from_checkpoint(name, path)
    elif path is not None:
        module = _from_torchscript(path)
    return ready(module, device, dtype, normal)


def ready(
    module: nn.Module,
    device: str,
    dtype: torch.dtype,
    normal: tuple[Sequence[float], Sequence[float]] = _IMAGENET,
) -> TorchNetwork:
    """Put a module on its device, in its number format, channels last."""
    module = module.eval().to(device=device, dtype=dtype)
    module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    mean, deviation = (
        torch.tensor(part, device=device, dtype=dtype)[:, None, None] * 255 for part in normal
    )
    return TorchNetwork(module, mean, 1 / deviation, device, dtype)


def _from_checkpoint(name: str, path: Path) -> nn.Module:
    from howsteps.vision.networks import EfficientNetLite0, Vgg16  # noqa: PLC0415

    module = EfficientNetLite0() if name == LITE0 else Vgg16()
    try:
        # weights_only: numbers are read from the file, and no code is.
        module.take(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises whatever the broken file leads to
        raise InputError(path, f"does not hold the weights of {name}") from error
    return module


def _from_torchscript(path: Path) -> nn.Module:
    try:
        module: nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        raise InputError(path, "is not a TorchScript file") from error
    return module


def _from_timm(name: str, path: Path | None) -> tuple[nn.Module, Any]:
    import timm  # noqa: PLC0415 - optional, asked for by name

    try:
        model = timm.create_model(
            name,
            pretrained=path is None,
            checkpoint_path=str(path) if path else "",
            num_classes=0,
            global_pool="",
        )
    except Exception as error:  # unknown name, no network, wrong file: whatever timm raises
        raise HowstepsError(f"{TIMM}{name} cannot be loaded: {error}") from error
    return model, (model.pretrained_cfg["mean"], model.pretrained_cfg["std"])


def _as_maps(found: Tensor) -> Tensor:
    """Maps as they are; tokens B×n×d and vectors B×d as maps of one row."""
    if found.ndim == 4:
        return found
    if found.ndim == 3:
        return found.transpose(1, 2)[:, :, None]
    if found.ndim == 2:
        return found[:, :, None, None]
    raise HowstepsError(f"the network gives {found.ndim} axes; maps have 4, tokens 3, vectors 2")
