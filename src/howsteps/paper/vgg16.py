"""VGG-16 in PyTorch, up to conv5_3, as in the paper.

Parameters have the names of torchvision's checkpoint ``vgg16-397923af.pth``.
"""

from collections.abc import Mapping
from pathlib import Path

from howsteps.errors import InputError, MissingExtra
from howsteps.vision.torch_network import TorchNetwork, prepare

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise MissingExtra("paper", "VGG-16") from error

_LAYERS = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512)


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
        maps = frames
        for layer in self.features:
            if isinstance(layer, nn.MaxPool2d) or (isinstance(layer, nn.ReLU) and not maps.is_cuda):
                maps = layer(maps)
            elif isinstance(layer, nn.Conv2d):
                maps = _conv_relu(layer, maps) if maps.is_cuda else layer(maps)
        return maps

    def load_checkpoint(self, weights: Mapping[str, Tensor]) -> None:
        """Load a checkpoint, without its classifier."""
        features = {name: value for name, value in weights.items() if name.startswith("features.")}
        self.load_state_dict(features)


def load(path: Path, device: str = "cpu") -> TorchNetwork:
    """Load VGG-16 with the weights of a file."""
    module = Vgg16()
    try:
        # weights_only: no code is loaded from the file.
        module.load_checkpoint(torch.load(path, map_location="cpu", weights_only=True))
    except Exception as error:  # torch raises many types
        raise InputError(path, "does not hold the weights of vgg16") from error
    return prepare(module, device=device)


def _conv_relu(layer: nn.Conv2d, maps: Tensor) -> Tensor:
    """max(0, w ∗ x + b) in one kernel: on a GPU, memory bandwidth is the bottleneck."""
    return torch.cudnn_convolution_relu(maps, layer.weight, layer.bias, (1, 1), (1, 1), (1, 1), 1)
