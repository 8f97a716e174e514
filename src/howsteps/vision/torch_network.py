"""Networks in PyTorch (extra ``gpu``): VGG-16, networks on GPUs, and networks of the user.

Every position of a feature map is one local descriptor: 512 channels for VGG-16 (conv5_3, as in the
paper), 320 for EfficientNet-Lite0, which needs PyTorch on a GPU only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.vision.options import LITE0, TIMM, VGG16, AppearanceOptions
from howsteps.vision.weights import lite0_checkpoint, weights_file

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("gpu", "a network in PyTorch") from error

_IMAGENET = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_LITE = ((127 / 255,) * 3, (128 / 255,) * 3)


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
        """One vector for each frame: global average of the head, or of the maps; B × d."""
        with torch.inference_mode():
            maps = self.maps(torch.from_numpy(frames))
            head = getattr(self.module, "pooled", None)
            values = head(maps) if head is not None else maps.mean(dim=(2, 3))
            vectors: NDArray[np.float32] = values.float().cpu().numpy()
        return vectors


def load(options: AppearanceOptions | None = None, device: str = "cpu") -> TorchNetwork:
    """Load a network: in half precision on a GPU, in single precision on a CPU.

    Raises
    ------
    HowstepsError
        If the device does not exist, or the file does not hold the network's weights.
    """
    options = options or AppearanceOptions()
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise HowstepsError(f"device {device}: PyTorch finds no GPU on this machine")
    dtype = torch.float16 if device.startswith("cuda") else torch.float32
    name = options.network
    weights = Path(options.weights) if options.weights else None
    use_default = name == LITE0 and weights is None
    path = lite0_checkpoint() if use_default else weights_file(name, weights)
    normalisation = _LITE if name == LITE0 else _IMAGENET
    if name.startswith(TIMM):
        module, normalisation = _from_timm(name.removeprefix(TIMM), path)
    elif name in {LITE0, VGG16} and path is not None:
        module = _from_checkpoint(name, path)
    elif path is not None:
        module = _from_torchscript(path)
    return prepare(module, device, dtype, normalisation)


def prepare(
    module: nn.Module,
    device: str,
    dtype: torch.dtype,
    normalisation: tuple[Sequence[float], Sequence[float]] = _IMAGENET,
) -> TorchNetwork:
    """Move a module to a device and dtype, channels last.

    ``normalisation`` is the mean and standard deviation of the input channels, in [0, 1].
    """
    module = module.eval().to(device=device, dtype=dtype)
    module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    mean, deviation = (
        torch.tensor(part, device=device, dtype=dtype)[:, None, None] * 255
        for part in normalisation
    )
    return TorchNetwork(module, mean, 1 / deviation, device, dtype)


def _from_checkpoint(name: str, path: Path) -> nn.Module:
    from howsteps.vision.networks import EfficientNetLite0, Vgg16  # noqa: PLC0415

    module = EfficientNetLite0() if name == LITE0 else Vgg16()
    try:
        # weights_only: no code is loaded from the file.
        module.load_checkpoint(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises many types
        raise InputError(path, f"does not hold the weights of {name}") from error
    return module


def _from_torchscript(path: Path) -> nn.Module:
    try:
        module: nn.Module = torch.jit.load(path, map_location="cpu")  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError) as error:
        raise InputError(path, "is not a TorchScript file") from error
    return module


def _from_timm(name: str, path: Path | None) -> tuple[nn.Module, Any]:
    import timm  # noqa: PLC0415 - optional

    try:
        model = timm.create_model(
            name,
            pretrained=path is None,
            checkpoint_path=str(path) if path else "",
            num_classes=0,
            global_pool="",
        )
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
