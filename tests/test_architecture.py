"""The order of the packages: each imports only from those before it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import howsteps

PACKAGE = Path(howsteps.__file__).parent
ORDER = (
    *("io", "captions", "datasets", "narration", "script", "reader"),
    *("vision", "localise", "evaluate", "paper", "report", "pipeline"),
    *("demo", "api", "serve", "_cli", "__main__"),
)
# Values, errors and small tools that anything may import; of the packages they import io alone.
FREE = ("task", "errors", "compiled", "store")


def modules() -> Iterator[tuple[str, Path]]:
    """Every module with its package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE).parts[0].removesuffix(".py"), path


def imported(path: Path) -> Iterator[str]:
    """The packages of howsteps that a module imports, at its top or inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (n.name.split(".")[1] for n in names if n.name.startswith("howsteps."))
            case ast.ImportFrom(module="howsteps", names=names):
                yield from (n.name for n in names if n.name != "__version__")
            case ast.ImportFrom(module=str(module)) if module.startswith("howsteps."):
                yield module.split(".")[1]
            case ast.ImportFrom(level=level) if level:
                raise AssertionError(f"{path}: a relative import")


def test_every_package_has_its_place() -> None:
    assert {own for own, _ in modules()} == {*ORDER, *FREE, "__init__"}


def test_packages_import_only_from_earlier_ones() -> None:
    wrong = []
    for own, path in modules():
        left = {*FREE, *ORDER[: ORDER.index(own) + 1]} if own in ORDER else {*FREE, "io"}
        if own != "__init__":
            name = path.relative_to(PACKAGE)
            wrong += [f"{name} imports {other}" for other in imported(path) if other not in left]
    assert wrong == []


def test_only_a_video_measures_its_length() -> None:
    """Elsewhere, a length without a duration is ``Video.length``, and never the last caption."""
    measured = re.compile(r"\bv(ideo)?\.duration or |(captions|sentences)\[-1\]\.end")
    found = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for _, path in modules()
        for line in path.read_text("utf-8").splitlines()
        if measured.search(line)
    ]
    assert found == []
