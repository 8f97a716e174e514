"""The shipped network: it agrees with that of its authors, without PyTorch."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from howsteps.errors import InputError
from howsteps.vision.network import OnnxNetwork, load
from howsteps.vision.weights import SHIPPED, identity

RAMP = np.linspace(0, 255, 224 * 224 * 3).reshape(1, 224, 224, 3).astype(np.uint8)


@pytest.fixture(scope="module")
def network() -> OnnxNetwork:
    found = load()
    assert isinstance(found, OnnxNetwork)
    return found


def test_the_hash_of_the_file_is_the_verified_one() -> None:
    digest = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    assert digest in (SHIPPED.parent / "README.md").read_text("utf-8")
    assert identity("efficientnet-lite0") == f"efficientnet-lite0 {digest}"


def test_it_agrees_with_its_authors(network: OnnxNetwork) -> None:
    """As computed by the package efficientnet-lite-pytorch with the same weights."""
    local = network.describe(RAMP)
    assert local.shape == (1, 49, 320)
    assert local[0, 24, :5].tolist() == pytest.approx(
        [-1.4320, 1.6487, 0.1513, -2.6857, 2.1557], abs=2e-4
    )
    assert float(local.mean()) == pytest.approx(0.003834, abs=2e-5)


def test_it_agrees_with_pytorch(network: OnnxNetwork) -> None:
    pytest.importorskip("torch")
    from howsteps.vision.torch_network import load as load_torch

    other = load_torch()
    frames = np.random.default_rng(0).integers(0, 256, (2, 97, 131, 3), dtype=np.uint8)
    assert network.describe(frames) == pytest.approx(other.describe(frames), abs=1e-4)
    assert network.pooled(frames) == pytest.approx(other.pooled(frames), abs=1e-4)


@pytest.mark.parametrize(("height", "width"), [(224, 384), (160, 288), (97, 131)])
def test_frames_of_any_size_are_accepted(network: OnnxNetwork, height: int, width: int) -> None:
    frames = np.zeros((2, height, width, 3), np.uint8)
    positions = -(-height // 32) * -(-width // 32)
    assert network.describe(frames).shape == (2, positions, 320)
    assert network.pooled(frames).shape == (2, 1280)


def test_a_file_that_is_not_a_network_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "n.onnx"
    path.write_bytes(b"no network")
    with pytest.raises(InputError, match=r"n\.onnx: is not an ONNX network"):
        OnnxNetwork(path)
