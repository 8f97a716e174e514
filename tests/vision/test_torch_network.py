"""Networks in PyTorch that users bring: outputs, and error messages."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from howsteps.errors import HowstepsError, InputError
from howsteps.vision.network import load
from howsteps.vision.torch_network import TorchNetwork, prepare

RAMP = np.linspace(0, 255, 224 * 224 * 3).reshape(1, 224, 224, 3).astype(np.uint8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_any_torchscript_file_is_a_network(tmp_path: Path) -> None:
    path = tmp_path / "own.pt"
    torch.jit.trace(nn.Conv2d(3, 8, 4, stride=4), torch.zeros(1, 3, 32, 32)).save(str(path))
    assert load(str(path)).describe(RAMP[:, :32, :48]).shape == (1, 96, 8)
    path.write_bytes(b"no network")
    with pytest.raises(InputError, match="not a TorchScript file"):
        load(str(path))


class Tokens(nn.Module):
    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return frames.flatten(2).transpose(1, 2)[:, :10]


class Vector(nn.Module):
    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return frames.mean(dim=(2, 3))


@pytest.mark.parametrize(("module", "positions"), [(Tokens(), 10), (Vector(), 1)])
def test_tokens_and_vectors_are_descriptors_too(module: nn.Module, positions: int) -> None:
    network = prepare(module)
    assert network.describe(RAMP[:, :16, :16]).shape == (1, positions, 3)


def test_a_gpu_that_is_not_there() -> None:
    if not torch.cuda.is_available():
        with pytest.raises(HowstepsError, match="finds no GPU"):
            prepare(Vector(), device="cuda")


def test_timm_brings_its_own_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Model(nn.Conv2d):
        pretrained_cfg = {"mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}  # noqa: RUF012

    arguments: dict[str, object] = {}

    def create_model(name: str, **options: object) -> nn.Module:
        arguments.update(options, name=name)
        if name == "unknown":
            raise RuntimeError("no such model")
        return Model(3, 5, 8, stride=8)

    fake = types.ModuleType("timm")
    fake.create_model = create_model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "timm", fake)
    monkeypatch.setattr("howsteps.vision.network.find_spec", lambda name: object())
    network = load("timm:convnext_tiny")
    assert isinstance(network, TorchNetwork)
    assert arguments["name"] == "convnext_tiny"
    assert arguments["pretrained"] is True
    assert float(network.scale[0]) == pytest.approx(1 / (0.25 * 255))
    assert network.describe(RAMP[:, :32, :32]).shape == (1, 16, 5)
    with pytest.raises(HowstepsError, match="timm:unknown cannot be loaded: no such model"):
        load("timm:unknown")
