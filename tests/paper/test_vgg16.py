"""VGG-16: outputs, files of weights, and error messages."""

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch

from howsteps.datasets.fetch import fetch_file
from howsteps.errors import HowstepsError, InputError
from howsteps.paper import visual_words
from howsteps.paper.vgg16 import Vgg16, load
from howsteps.paper.visual_words import load_network
from howsteps.vision.network import identity

RAMP = np.linspace(0, 255, 224 * 224 * 3).reshape(1, 224, 224, 3).astype(np.uint8)


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
    network = load(vgg16_file)
    names = set(network.state_dict())
    numbers = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)  # of torchvision's layers
    assert names == {f"features.{n}.{part}" for n in numbers for part in ("weight", "bias")}
    frames = np.random.default_rng(0).integers(0, 256, (1, 48, 80, 3), dtype=np.uint8)
    maps = network(torch.from_numpy(frames))
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
    frames = torch.from_numpy(RAMP[:, :64, :64])
    exact = load(vgg16_file)(frames)
    half = load(vgg16_file).to(torch.bfloat16)(frames).float()
    assert torch.allclose(exact, half, rtol=0.1, atol=0.02 * float(exact.max()))


def test_a_gpu_that_is_not_there(vgg16_file: Path) -> None:
    if not torch.cuda.is_available():
        with pytest.raises(HowstepsError, match="finds no GPU"):
            load(vgg16_file, "cuda")


def test_the_public_checkpoint_is_downloaded_and_verified(
    vgg16_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def fetched(address: str, path: Path, begins: str) -> None:
        asked.append((address, begins))
        path.write_bytes(vgg16_file.read_bytes())

    monkeypatch.setattr("howsteps.datasets.fetch.fetch_file", fetched)
    monkeypatch.setattr(visual_words, "WEIGHTS", tmp_path)
    frames = RAMP[:, :64, :64]
    assert load_network("vgg16").describe(frames).shape == (1, 16, 512)
    assert asked == [(visual_words.VGG16_ADDRESS, "397923af")]
    assert visual_words.VGG16_ADDRESS.endswith("/vgg16-397923af.pth")
    assert (tmp_path / "vgg16-397923af.pth").exists()
    assert load_network("efficientnet-lite0").describe(frames).shape == (1, 4, 320)


@pytest.mark.parametrize(("begins", "refused"), [("397923af", True), ("", False)])
def test_weights_with_another_hash_are_refused(tmp_path: Path, begins: str, refused: bool) -> None:
    path = tmp_path / "w.pth"
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="SHA-256 begins") if refused else nullcontext():
        fetch_file("http://127.0.0.1:9/w.pth", path, begins)
    assert path.exists() is not refused


def test_the_identity_of_weights_depends_on_their_content(vgg16_file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.pth"
    copy.write_bytes(vgg16_file.read_bytes())
    assert identity("vgg16", copy) == identity("vgg16", vgg16_file)
    other = checkpoint(tmp_path / "other.pth", more=torch.zeros(1))
    assert identity("vgg16", other) != identity("vgg16", vgg16_file)


def test_a_file_of_other_weights_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"no weights"):
        path = tmp_path / "w.pth"
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"w\.pth: does not hold the weights of vgg16"):
            load(path)
    torch.save({"features.0.weight": torch.zeros(3)}, path)
    with pytest.raises(InputError, match="does not hold the weights"):
        load(path)


def test_no_code_is_run_from_a_file_of_weights(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path.touch, (tmp_path / "evil",))  # type: ignore[return-value]

    torch.save({"features.0.weight": Evil()}, tmp_path / "w.pth")
    with pytest.raises(InputError, match="does not hold the weights"):
        load(tmp_path / "w.pth")
    assert not (tmp_path / "evil").exists()
