"""Package metadata: one version, and the licences of everything that ships."""

import tomllib
from pathlib import Path

import howsteps

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_version_is_defined_once():
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert f"\n## {howsteps.__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_licence_file_is_shipped():
    given = {path for pattern in PROJECT["license-files"] for path in ROOT.glob(pattern)}
    assert given == {ROOT / "LICENSE", *(ROOT / "src").rglob("LICENSE*")}


def test_every_dependency_is_explained():
    page = (ROOT / "docs" / "reference" / "dependencies.md").read_text("utf-8").lower()
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    names = {line.split(">")[0].split("[")[0].strip() for lines in lists for line in lines}
    assert [name for name in sorted(names - {"howsteps"}) if name not in page] == []
