"""VGG-16 up to conv5_3 on a GPU, held against what its arithmetic allows.

``PYTHONPATH=src python3 -m benchmarks.vision_gpu`` needs NumPy and PyTorch only. Weights are drawn
by chance, scaled so that numbers neither vanish nor overflow: speed does not depend on them. Each
line times :meth:`~howsteps.vision.torch_network.TorchNetwork.maps` on frames on the GPU already,
then with pictures and descriptors carried there and back (``describe``), then layer by layer.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from howsteps.vision.networks import Vgg16
from howsteps.vision.torch_network import TorchNetwork, ready

# Width and height: the two scales of a 16:9 film as `howsteps features` looks at it, the size at
# which the paper's networks were trained, and the film itself at 720p.
SIZES = ((384, 224), (288, 160), (224, 224), (1280, 720))
PEAK = 790e12  # multiplications and additions a second that an H200 does in half precision


def network(device: str, dtype: torch.dtype) -> TorchNetwork:
    """VGG-16 with weights that keep the size of what passes through."""
    torch.manual_seed(0)
    module = Vgg16()
    for layer in module.features:
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight)
            nn.init.zeros_(layer.bias)
    return ready(module, device, dtype)


def arithmetic(module: Vgg16, width: int, height: int) -> float:
    """Multiplications and additions of the convolutions for one picture."""
    total = 0.0
    for layer in module.features:
        if isinstance(layer, nn.MaxPool2d):
            width, height = width // 2, height // 2
        elif isinstance(layer, nn.Conv2d):
            total += 2 * layer.weight.numel() * width * height
    return total


def seconds(work: Callable[[], object], device: str, least: float = 1.0) -> float:
    """Seconds that one call takes, from as many calls as fill ``least`` seconds."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    for _ in range(3):
        work()
    wait()
    calls, began = 0, time.perf_counter()
    while (spent := time.perf_counter() - began) < least:
        for _ in range(4):
            work()
        wait()
        calls += 4
    return spent / calls


def eager(module: Vgg16, pictures: torch.Tensor) -> torch.Tensor:
    """The same layers one after another, each a kernel or two of its own."""
    with torch.inference_mode():
        maps: torch.Tensor = module.features(pictures)
        return maps


def measure(
    device: str, dtype: torch.dtype, batches: list[int], sizes: list[tuple[int, int]]
) -> None:
    """Print a line for each size and batch."""
    net = network(device, dtype)
    assert isinstance(net.module, Vgg16)
    for width, height in sizes:
        work = arithmetic(net.module, width, height)
        for batch in batches:
            if batch * width * height > 64e6:
                continue
            chance = np.random.default_rng(0)
            pictures = chance.integers(0, 256, (batch, height, width, 3), dtype=np.uint8)
            there = torch.from_numpy(pictures).to(device)
            floats = ((there.to(dtype).permute(0, 3, 1, 2)) - net.mean) * net.scale
            own = seconds(lambda there=there: net.maps(there), device)
            plain = seconds(lambda floats=floats: eager(net.module, floats), device)
            carried = seconds(lambda pictures=pictures: net.describe(pictures), device)
            print(
                f"| {str(dtype).removeprefix('torch.')} | {width}×{height} | {batch} | "
                f"{batch / own:,.0f} | {work * batch / own / 1e12:.0f} | "
                f"{100 * work * batch / own / PEAK:.0f} % | {batch / carried:,.0f} | "
                f"{batch / plain:,.0f} |",
                flush=True,
            )


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batches", type=int, nargs="*", default=[8, 32, 128, 512])
    parser.add_argument("--sizes", nargs="*", default=[f"{w}x{h}" for w, h in SIZES])
    arguments = parser.parse_args()
    # Sizes repeat all day long: the quickest algorithm is worth looking for once.
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
