"""The shipped network: it agrees with that of its authors, without PyTorch."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.vision.network import SHIPPED, OnnxNetwork, identity, load, require_runtime

RAMP = np.linspace(0, 255, 224 * 224 * 3).reshape(1, 224, 224, 3).astype(np.uint8)


@pytest.fixture(scope="module")
def network() -> OnnxNetwork:
    found = load()
    assert isinstance(found, OnnxNetwork)
    return found


def test_the_hash_of_the_file_is_the_verified_one() -> None:
    digest = hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    assert digest in (SHIPPED.parent / "README.md").read_text("utf-8")
    assert identity("efficientnet-lite0", SHIPPED) == f"efficientnet-lite0 {digest}"


def test_it_agrees_with_its_authors(network: OnnxNetwork) -> None:
    """As computed by the package efficientnet-lite-pytorch with the same weights."""
    local = network.describe(RAMP)
    assert local.shape == (1, 49, 320)
    assert local[0, 24, :5].tolist() == pytest.approx(
        [-1.4320, 1.6487, 0.1513, -2.6857, 2.1557], abs=2e-4
    )
    assert float(local.mean()) == pytest.approx(0.003834, abs=2e-5)


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


class Session:
    """A stand-in for a session of ONNX Runtime on a machine with some providers."""

    def __init__(self, _: bytes, __: object, providers: list[str]) -> None:
        self.providers = [name for name in providers if name in self.usable]

    usable: tuple[str, ...] = ("CUDAExecutionProvider", "CPUExecutionProvider")

    def get_providers(self) -> list[str]:
        return self.providers


CPU_ONLY = ["CPUExecutionProvider"]
BOTH = ["CUDAExecutionProvider", *CPU_ONLY]


def test_a_runtime_for_cpus_names_the_one_for_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: CPU_ONLY)
    with pytest.raises(HowstepsError, match="pip install onnxruntime-gpu"):
        load(device="cuda")
    with pytest.raises(HowstepsError, match="pip install onnxruntime-gpu"):
        require_runtime("cuda")
    require_runtime("cpu")


def test_on_a_gpu_the_cuda_provider_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: BOTH)
    monkeypatch.setattr("onnxruntime.InferenceSession", Session)
    require_runtime("cuda")
    assert OnnxNetwork(SHIPPED, "cuda")._session.providers == BOTH
    assert OnnxNetwork(SHIPPED)._session.providers == CPU_ONLY


def test_a_runtime_that_falls_back_to_the_cpu_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: BOTH)
    monkeypatch.setattr("onnxruntime.InferenceSession", Session)
    monkeypatch.setattr(Session, "usable", tuple(CPU_ONLY))
    with pytest.raises(HowstepsError, match="finds no GPU"):
        OnnxNetwork(SHIPPED, "cuda")


def test_a_network_of_ones_own_is_an_onnx_file(tmp_path: Path) -> None:
    own = tmp_path / "own.onnx"
    own.write_bytes(SHIPPED.read_bytes())
    assert load(str(own)).pooled(RAMP).shape == (1, 1280)
    assert identity(str(own), own) != identity("efficientnet-lite0", SHIPPED)
    with pytest.raises(HowstepsError, match="does not turn frames into pooled"):
        load(str(own)).pooled(RAMP[0])
    with pytest.raises(HowstepsError, match="neither efficientnet-lite0 nor an ONNX file"):
        load("resnet9000")
