"""The lower bounds of the dependencies, as constraints for pip (`make lowest`)."""

import re
import tomllib
from pathlib import Path

DEVELOPMENT = ("dev", "audit", "docs")  # tools: any version will do


def lower_bounds(pyproject: str) -> list[str]:
    """`name==x` for every `name>=x` that a user of howsteps installs, extras included."""
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"]]
    lines += [line for extra in extras if extra not in DEVELOPMENT for line in extras[extra]]
    found = (re.match(r"([\w.-]+)>=([\w.]+)", line) for line in lines)
    lowest: dict[str, str] = {}
    for match in filter(None, found):
        name, version = match.groups()
        lowest[name] = max(lowest.get(name, version), version, key=_numbers)
    return [f"{name}=={version}" for name, version in sorted(lowest.items())]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


if __name__ == "__main__":
    print("\n".join(lower_bounds(Path("pyproject.toml").read_text(encoding="utf-8"))))
