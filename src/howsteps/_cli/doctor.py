"""``howsteps doctor``: what is installed, what is missing, and how to install it."""

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rich.markup import escape
from rich.table import Table

import howsteps
from howsteps._cli import screen
from howsteps.extras import EXTRAS, GPU

_PACKAGES = {
    "cv2": "opencv-python-headless",
    "faster_whisper": "faster-whisper",
    "sklearn": "scikit-learn",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One check; ``remedy`` is a command to run, or empty."""

    what: str
    found: str
    remedy: str = ""
    good: bool = True


def doctor() -> None:
    """Show what is installed, what is missing, and how to install it.

    The exit code is 0 if howsteps can turn captions into steps, even if optional parts are missing.
    """
    table = Table(box=None, pad_edge=False, show_header=False)
    for finding in findings():
        mark = "[green]✓[/]" if finding.good else "[yellow]–[/]"
        table.add_row(mark, escape(finding.what), escape(finding.found), escape(finding.remedy))
    screen.out.print(table)


def findings() -> Iterator[Finding]:
    """Run all checks."""
    from howsteps.engine.executor import available_memory, cores  # noqa: PLC0415

    yield Finding("howsteps", f"{howsteps.__version__}, Python {platform.python_version()}")
    memory = available_memory()
    room = "" if memory is None else f", {memory / 2**30:.1f} GB of memory free"
    yield Finding("machine", f"{screen.plural(cores(), 'core')}{room}, {sys.platform}")
    yield Finding("captions to steps", "ready")
    for extra in EXTRAS:
        if missing := extra.missing:
            names = ", ".join(_PACKAGES.get(module, module) for module in missing)
            yield Finding(extra.purpose, f"needs {names}", extra.command, good=False)
        else:
            yield Finding(extra.purpose, ", ".join(map(_versioned, extra.modules)))
    yield _gpu()
    yield _ffmpeg()


def _versioned(module: str) -> str:
    package = _PACKAGES.get(module, module)
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # another build of the package, under another name
        return package


def _gpu() -> Finding:
    if "torch" in GPU.missing:
        return Finding("GPU", "not checked: PyTorch is not installed", good=False)
    import torch  # noqa: PLC0415 - an extra, and slow to load

    if torch.cuda.is_available():
        return Finding("GPU", f"{torch.cuda.get_device_name()}: use --device cuda")
    return Finding("GPU", "none that PyTorch can use; everything runs on the CPU", good=False)


def _ffmpeg() -> Finding:
    found = shutil.which("ffmpeg")
    where = f"{found or 'not found'} (not needed: PyAV brings its own)"
    return Finding("ffmpeg", where, good=found is not None)
