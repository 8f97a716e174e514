"""Networks in PyTorch: outputs, files of weights, and error messages."""

import hashlib
import sys
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from howsteps.errors import HowstepsError, InputError
from howsteps.vision import weights
from howsteps.vision.networks import EfficientNetLite0, Vgg16
from howsteps.vision.options import AppearanceOptions
from howsteps.vision.torch_network import TorchNetwork, load, prepare

RAMP = np.linspace(0, 255, 224 * 224 * 3).reshape(1, 224, 224, 3).astype(np.uint8)


@pytest.fixture(scope="module")
def lite0() -> TorchNetwork:
    return load()


def test_lite0_agrees_with_its_authors(lite0: TorchNetwork) -> None:
    """As computed by the package efficientnet-lite-pytorch with the same weights."""
    maps = lite0.maps(torch.from_numpy(RAMP))
    assert maps.shape == (1, 320, 7, 7)
    assert maps[0, :5, 3, 3].tolist() == pytest.approx(
        [-1.4320, 1.6487, 0.1513, -2.6857, 2.1557], abs=2e-4
    )
    assert float(maps.mean()) == pytest.approx(0.003834, abs=2e-5)
    assert float(maps.std()) == pytest.approx(1.70122, abs=1e-4)


@pytest.mark.parametrize(("height", "width"), [(224, 384), (160, 288), (97, 131)])
def test_maps_have_the_shape_of_the_frame(lite0: TorchNetwork, height: int, width: int) -> None:
    frames = np.zeros((2, height, width, 3), np.uint8)
    positions = -(-height // 32) * -(-width // 32)
    assert lite0.describe(frames).shape == (2, positions, 320)


def test_a_frame_has_the_same_descriptors_alone_and_in_a_batch(lite0: TorchNetwork) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, 64, 96, 3), dtype=np.uint8)
    together = lite0.describe(frames)
    alone = np.concatenate([lite0.describe(frames[n : n + 1]) for n in range(3)])
    assert together == pytest.approx(alone, abs=1e-4)


def test_folding_batch_normalisation_does_not_change_the_output() -> None:
    torch.manual_seed(0)
    plain, folded = EfficientNetLite0(), EfficientNetLite0()
    for layer in plain.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_mean.uniform_(-0.1, 0.1)
            layer.running_var.uniform_(0.5, 2)
    folded.load_checkpoint(plain.state_dict())
    assert not any(isinstance(layer, nn.BatchNorm2d) for layer in folded.modules())
    picture = torch.rand(1, 3, 64, 64)
    with torch.inference_mode():
        assert torch.allclose(plain.eval()(picture), folded(picture), atol=1e-4)


def checkpoint(path: Path, **extra: torch.Tensor) -> Path:
    """Write a checkpoint like that of torchvision, with small random weights."""
    torch.manual_seed(1)
    numbers = dict(Vgg16().state_dict())
    numbers["classifier.0.weight"] = torch.zeros(2, 2)
    torch.save({**numbers, **extra}, path)
    return path


@pytest.fixture(scope="module")
def vgg16_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint(tmp_path_factory.mktemp("weights") / "vgg16.pth")


def test_vgg16_is_conv5_3_of_the_public_checkpoint(vgg16_file: Path) -> None:
    network = load(AppearanceOptions("vgg16", str(vgg16_file)))
    names = set(network.module.state_dict())
    numbers = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)  # of torchvision's layers
    assert names == {f"features.{n}.{part}" for n in numbers for part in ("weight", "bias")}
    frames = np.random.default_rng(0).integers(0, 256, (1, 48, 80, 3), dtype=np.uint8)
    maps = network.maps(torch.from_numpy(frames))
    assert maps.shape == (1, 512, 3, 5)
    layers = torch.load(vgg16_file, weights_only=True)
    wanted = (torch.from_numpy(frames).permute(0, 3, 1, 2) / 255).float()
    wanted = (wanted - torch.tensor([0.485, 0.456, 0.406])[:, None, None]) / torch.tensor(
        [0.229, 0.224, 0.225]
    )[:, None, None]
    for n in range(29):
        if n in numbers:
            weight, bias = layers[f"features.{n}.weight"], layers[f"features.{n}.bias"]
            wanted = torch.relu(torch.conv2d(wanted, weight, bias, padding=1))
        elif n in {4, 9, 16, 23}:
            wanted = torch.max_pool2d(wanted, 2)
    assert torch.allclose(maps, wanted, rtol=1e-3, atol=1e-5)


def test_half_precision_gives_the_same_maps(vgg16_file: Path) -> None:
    module = Vgg16()
    module.load_checkpoint(torch.load(vgg16_file, weights_only=True))
    frames = torch.from_numpy(RAMP[:, :64, :64])
    exact = prepare(module, "cpu", torch.float32).maps(frames)
    half = prepare(module, "cpu", torch.bfloat16).maps(frames).float()
    assert torch.allclose(exact, half, rtol=0.1, atol=0.02 * float(exact.max()))


class Weights(BaseHTTPRequestHandler):
    content = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(
    vgg16_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[type[Weights]]:
    class Vgg16Weights(Weights):
        content = vgg16_file.read_bytes()

    http = HTTPServer(("127.0.0.1", 0), Vgg16Weights)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    monkeypatch.setattr(weights, "home", lambda: tmp_path)
    monkeypatch.setattr(
        weights, "VGG16_ADDRESS", f"http://127.0.0.1:{http.server_port}/vgg16-397923af.pth"
    )
    digest = hashlib.sha256(Vgg16Weights.content).hexdigest()
    monkeypatch.setattr(weights, "VGG16_DIGEST", digest[:8])
    yield Vgg16Weights
    http.shutdown()
    http.server_close()


def test_weights_are_downloaded_once_and_verified(server: type[Weights], tmp_path: Path) -> None:
    first = weights.identity("vgg16")
    assert (tmp_path / "vgg16-397923af.pth").read_bytes() == server.content
    server.content = b"something else"
    assert weights.identity("vgg16") == first


def test_weights_with_another_hash_are_refused(server: type[Weights], tmp_path: Path) -> None:
    server.content = b"something else"
    with pytest.raises(InputError, match="SHA-256 begins"):
        weights.weights_file("vgg16")
    assert not (tmp_path / "vgg16-397923af.pth").exists()


def test_without_internet_the_error_names_the_file_to_provide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "home", lambda: tmp_path)
    monkeypatch.setattr(weights, "VGG16_ADDRESS", "http://127.0.0.1:9/vgg16-397923af.pth")
    with pytest.raises(HowstepsError, match=r"Without a network, put vgg16-397923af\.pth"):
        weights.weights_file("vgg16")


def test_the_identity_of_weights_depends_on_their_content(vgg16_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.pth"
    copy.write_bytes(vgg16_file.read_bytes())
    assert weights.identity("vgg16", copy) == weights.identity("vgg16", vgg16_file)
    other = checkpoint(tmp_path / "other.pth", more=torch.zeros(1))
    assert weights.identity("vgg16", other) != weights.identity("vgg16", vgg16_file)


def test_a_file_of_other_weights_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"no weights"):
        path = tmp_path / "w.pth"
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"w\.pth: does not hold the weights of vgg16"):
            load(AppearanceOptions("vgg16", str(path)))
    torch.save({"features.0.weight": torch.zeros(3)}, path)
    with pytest.raises(InputError, match="does not hold the weights"):
        load(AppearanceOptions("vgg16", str(path)))


def test_no_code_is_run_from_a_file_of_weights(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "evil",))  # type: ignore[return-value]

    torch.save({"features.0.weight": Evil()}, tmp_path / "w.pth")
    with pytest.raises(InputError, match="does not hold the weights"):
        load(AppearanceOptions("vgg16", str(tmp_path / "w.pth")))
    assert not (tmp_path / "evil").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_any_torchscript_file_is_a_network(tmp_path: Path) -> None:
    path = tmp_path / "own.pt"
    torch.jit.trace(nn.Conv2d(3, 8, 4, stride=4), torch.zeros(1, 3, 32, 32)).save(str(path))
    assert load(AppearanceOptions(str(path))).describe(RAMP[:, :32, :48]).shape == (1, 96, 8)
    path.write_bytes(b"no network")
    with pytest.raises(InputError, match="not a TorchScript file"):
        load(AppearanceOptions(str(path)))


class Tokens(nn.Module):
    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return frames.flatten(2).transpose(1, 2)[:, :10]


class Vector(nn.Module):
    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        return frames.mean(dim=(2, 3))


@pytest.mark.parametrize(("module", "positions"), [(Tokens(), 10), (Vector(), 1)])
def test_tokens_and_vectors_are_descriptors_too(module: nn.Module, positions: int) -> None:
    network = prepare(module, "cpu", torch.float32)
    assert network.describe(RAMP[:, :16, :16]).shape == (1, positions, 3)


def test_unknown_networks_and_devices() -> None:
    with pytest.raises(HowstepsError, match="neither a network"):
        load(AppearanceOptions("resnet9000"))
    with pytest.raises(InputError, match="no such file"):
        load(AppearanceOptions("vgg16", "nowhere.pth"))
    if not torch.cuda.is_available():
        with pytest.raises(HowstepsError, match="finds no GPU"):
            load(device="cuda")


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
    monkeypatch.setattr(weights, "find_spec", lambda name: object())
    network = load(AppearanceOptions("timm:convnext_tiny"))
    assert arguments["name"] == "convnext_tiny"
    assert arguments["pretrained"] is True
    assert float(network.scale[0]) == pytest.approx(1 / (0.25 * 255))
    assert network.describe(RAMP[:, :32, :32]).shape == (1, 16, 5)
    with pytest.raises(HowstepsError, match="timm:unknown cannot be loaded: no such model"):
        load(AppearanceOptions("timm:unknown"))


def test_a_missing_timm_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "find_spec", lambda name: None)
    with pytest.raises(HowstepsError, match="pip install timm"):
        load(AppearanceOptions("timm:resnet18"))
