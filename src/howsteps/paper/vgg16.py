"""VGG-16 in PyTorch, up to conv5_3, as in the paper.

Parameters have the names of torchvision's checkpoint ``vgg16-397923af.pth``.
"""

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
        """B×H×W×3 frames (uint8) → B×512×H/16×W/16."""
        like = next(self.parameters())
        mean, deviation = (torch.tensor(x).to(like)[:, None, None] for x in (_MEAN, _DEVIATION))
        values = frames.to(like).permute(0, 3, 1, 2) / 255  # channels last in memory
        maps: Tensor = self.features((values - mean) / deviation)
        return maps

    def describe(self, frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Local descriptors of frames of one size: B × positions × d."""
        with torch.inference_mode():
            maps = self(torch.from_numpy(frames)).float().flatten(2).transpose(1, 2)
        descriptors: NDArray[np.float32] = maps.cpu().numpy()
        return descriptors


def load(path: Path, device: str = "cpu") -> Vgg16:
    """Load VGG-16 with the weights of a file; the precision is half on a GPU, single on a CPU."""
    network = Vgg16()
    try:
        # weights_only: no code is loaded from the file.
        weights = torch.load(path, map_location="cpu", weights_only=True)
        parts = {name: value for name, value in weights.items() if name.startswith("features.")}
        network.load_state_dict(parts)  # without the classifier
    except Exception as error:  # torch raises many types
        raise InputError(path, "does not hold the weights of vgg16") from error
    on_gpu = device.startswith("cuda")
    if on_gpu and not torch.cuda.is_available():
        raise HowstepsError(f"device {device}: PyTorch finds no GPU on this machine")
    network = network.eval().to(device, torch.float16 if on_gpu else torch.float32)
    return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]
