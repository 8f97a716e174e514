"""VGG-16 in PyTorch, up to conv5_3, as in the paper.

Parameters have the names of torchvision's checkpoint ``vgg16-397923af.pth``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError, MissingExtra

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("paper", "VGG-16") from error

_LAYERS = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512)
# Mean and standard deviation of the input channels, in [0, 1].
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Vgg16(nn.Module):
    """VGG-16 up to conv5_3 with its ReLU: 512 channels, stride 16."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width in _LAYERS:
            if width == 0:
                layers.append(nn.MaxPool2d(2, 2))
            else:
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)]
                channels = width
        self.features = nn.Sequential(*layers)

    def forward(self, frames: Tensor) -> Tensor:
        """B×3×H×W → B×512×H/16×W/16."""
        maps: Tensor = self.features(frames)
        return maps

    def load_checkpoint(self, weights: Mapping[str, Tensor]) -> None:
        """Load a checkpoint, without its classifier."""
        features = {name: value for name, value in weights.items() if name.startswith("features.")}
        self.load_state_dict(features)


@dataclass(frozen=True, slots=True)
class TorchNetwork:
    """A module on its device, with its dtype and normalisation of the input."""

    module: nn.Module
    mean: Tensor
    scale: Tensor
    device: str
    dtype: torch.dtype

    def maps(self, frames: Tensor) -> Tensor:
        """B×H×W×3 frames (uint8) → B×d×h×w maps, on the device; channels last throughout."""
        with torch.inference_mode():
            values = frames.to(self.device, non_blocking=True).to(self.dtype)
            maps: Tensor = self.module((values.permute(0, 3, 1, 2) - self.mean) * self.scale)
            return maps

    def describe(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Local descriptors of frames of one size: B × positions × d."""
        maps = self.maps(torch.from_numpy(frames)).float().flatten(2).transpose(1, 2)
        descriptors: NDArray[np.float32] = maps.cpu().numpy()
        return descriptors


def prepare(
    module: nn.Module, device: str = "cpu", dtype: torch.dtype | None = None
) -> TorchNetwork:
    """Move a module to a device; the precision is half on a GPU, and single on a CPU."""
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise HowstepsError(f"device {device}: PyTorch finds no GPU on this machine")
    dtype = dtype or (torch.float16 if device.startswith("cuda") else torch.float32)
    module = module.eval().to(device=device, dtype=dtype)
    module = module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    mean, deviation = (
        torch.tensor(part, device=device, dtype=dtype)[:, None, None] * 255
        for part in (_MEAN, _DEVIATION)
    )
    return TorchNetwork(module, mean, 1 / deviation, device, dtype)


def load(path: Path, device: str = "cpu") -> TorchNetwork:
    """Load VGG-16 with the weights of a file."""
    module = Vgg16()
    try:
        # weights_only: no code is loaded from the file.
        module.load_checkpoint(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises many types
        raise InputError(path, "does not hold the weights of vgg16") from error
    return prepare(module, device)
