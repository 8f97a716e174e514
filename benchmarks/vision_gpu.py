"""Throughput of VGG-16 up to conv5_3 on a GPU, compared with its peak.

``PYTHONPATH=src python3 -m benchmarks.vision_gpu`` needs NumPy and PyTorch only. Weights are
random, scaled so that activations neither vanish nor overflow: speed does not depend on them. Each
row times :meth:`~howsteps.paper.vgg16.TorchNetwork.maps` on frames in GPU memory, then
with transfers of images and descriptors (``describe``), then layer by layer.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from howsteps.paper.vgg16 import TorchNetwork, Vgg16, prepare

# Width and height: the two scales of a 16:9 video in `howsteps features`, the training resolution
# of the paper's networks, and 720p.
SIZES = ((384, 224), (288, 160), (224, 224), (1280, 720))
PEAK = 790e12  # FLOP/s of an H200 in half precision


def network(device: str, dtype: torch.dtype) -> TorchNetwork:
    """Return VGG-16 with random weights that preserve the scale of activations."""
    torch.manual_seed(0)
    module = Vgg16()
    for layer in module.features:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
    return prepare(module, device, dtype)


def arithmetic(module: Vgg16, width: int, height: int) -> float:
    """Return the floating-point operations of the convolutions for one image."""
    total = 0.0
    for layer in module.features:
        if isinstance(layer, nn.MaxPool2d):
            width, height = width // 2, height // 2
        elif isinstance(layer, nn.Conv2d):
            total += 2 * layer.weight.numel() * width * height
    return total


def seconds(work: Callable[[], object], device: str, least: float = 1.0) -> float:
    """Return the seconds of one call, averaged over at least ``least`` seconds."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    for _ in range(3):
        work()
    wait()
    calls, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < least:
        for _ in range(4):
            work()
        wait()
        calls += 4
    return spent / calls


def eager(module: Vgg16, images: torch.Tensor) -> torch.Tensor:
    """Run the network layer by layer."""
    with torch.inference_mode():
        maps: torch.Tensor = module.features(images)
        return maps


def measure(
    device: str, dtype: torch.dtype, batches: list[int], sizes: list[tuple[int, int]]
) -> None:
    """Print a row for each size and batch."""
    net = network(device, dtype)
    assert isinstance(net.module, Vgg16)
    for width, height in sizes:
        work = arithmetic(net.module, width, height)
        for batch in batches:
            if batch * width * height > 64e6:
                continue
            rng = np.random.default_rng(0)
            images = rng.integers(0, 256, (batch, height, width, 3), dtype=np.uint8)
            on_device = torch.from_numpy(images).to(device)
            floats = ((on_device.to(dtype).permute(0, 3, 1, 2)) - net.mean) * net.scale
            maps = seconds(lambda on_device=on_device: net.maps(on_device), device)
            layers = seconds(lambda floats=floats: eager(net.module, floats), device)
            with_transfers = seconds(lambda images=images: net.describe(images), device)
            print(
                f"| {str(dtype).removeprefix('torch.')} | {width}×{height} | {batch} | "
                f"{batch / maps:,.0f} | {work * batch / maps / 1e12:.0f} | "
                f"{100 * work * batch / maps / PEAK:.0f} % | {batch / with_transfers:,.0f} | "
                f"{batch / layers:,.0f} |",
                flush=True,
            )


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batches", type=int, nargs="*", default=[8, 32, 128, 512])
    parser.add_argument("--sizes", nargs="*", default=[f"{w}x{h}" for w, h in SIZES])
    arguments = parser.parse_args()
    # Sizes repeat, so that searching for the fastest algorithm pays off.
    torch.backends.cudnn.benchmark = True
    cuda = arguments.device.startswith("cuda")
    if cuda:
        print(torch.cuda.get_device_name(arguments.device), "torch", torch.__version__)
    heads = "numbers, picture, batch, frames/s, TFLOP/s, of 790, there and back, layer by layer"
    print(f"| {heads.replace(', ', ' | ')} |\n|---|---|---|---|---|---|---|---|")
    sizes = [(int(w), int(h)) for w, h in (size.split("x") for size in arguments.sizes)]
    for dtype in (torch.float16, torch.bfloat16) if cuda else (torch.float32,):
        measure(arguments.device, dtype, arguments.batches, sizes)


if __name__ == "__main__":
    main()
