"""Cache entries are read back; damaged ones count as missing."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import howsteps
from howsteps.errors import InputError
from howsteps.io.cache import Cache
from howsteps.io.files import key_of, sha256_of_file, write_atomically
from howsteps.pipeline import cache
from tests.test_architecture import imported


@dataclass(frozen=True)
class Options:
    size: int = 3


@dataclass(frozen=True)
class Others:
    size: int = 3


def test_a_key_changes_with_version_value_and_kind_of_options():
    keys = [
        key_of(1, options=Options()),
        key_of(2, options=Options()),
        key_of(1, options=Options(size=4)),
        key_of(1, options=Others()),
        key_of(1, options=None),
    ]
    assert len(set(keys)) == len(keys)
    assert key_of(1, a=1, b="x") == key_of(1, b="x", a=1)
    with pytest.raises(TypeError):
        key_of(1, part=np.arange(3))  # or its key would depend on how it is printed


def test_json_is_read_back(tmp_path):
    cache = Cache(tmp_path)
    cache.put("heard", "k", {"words": ["é", 1.5, None]})
    assert cache.get("heard", "k", Any) == {"words": ["é", 1.5, None]}
    assert cache.get("heard", "other", Any) is None
    assert cache.get("script", "k", Any) is None


def test_arrays_are_read_back_and_reproducible(tmp_path):
    arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "names": np.array(["a", "bc"])}
    first = Cache(tmp_path / "1").put_arrays("features", "k", arrays)
    second = Cache(tmp_path / "2").put_arrays("features", "k", arrays)
    assert first.read_bytes() == second.read_bytes()
    kept = Cache(tmp_path / "1").arrays("features", "k")
    assert kept is not None
    assert kept["x"].dtype == np.float32
    assert np.array_equal(kept["x"], arrays["x"])
    assert kept["names"].tolist() == ["a", "bc"]


@pytest.mark.parametrize("harm", ["flip", "cut", "empty", "no checksum", "short"])
def test_a_damaged_entry_counts_as_missing(tmp_path, harm):
    cache = Cache(tmp_path)
    path = cache.put_arrays("features", "k", {"x": np.arange(100)})
    content = bytearray(path.read_bytes())
    if harm == "flip":
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    elif harm == "cut":
        path.write_bytes(content[:-7])
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "no checksum":
        path.write_bytes(content[:-66])
    else:
        path.write_bytes(b"\xff\xfe")
    assert cache.arrays("features", "k") is None
    cache.put_arrays("features", "k", {"x": np.arange(100)})
    kept = cache.arrays("features", "k")
    assert kept is not None
    assert np.array_equal(kept["x"], np.arange(100))


def test_concurrent_writers_of_one_file_do_not_interfere(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    # As on two machines that share a folder, where processes may have the same number.
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(
            "os.fsync", lambda _: (meanwhile.undo(), write_atomically(path, b"other"))
        )
        write_atomically(path, b"own")
    assert [found.name for found in tmp_path.iterdir()] == ["file.txt"]
    assert path.read_bytes() == b"own"


def test_a_digest_depends_on_the_content_only(tmp_path):
    (tmp_path / "a").write_bytes(b"same")
    (tmp_path / "b").write_bytes(b"same")
    assert sha256_of_file(tmp_path / "a") == sha256_of_file(tmp_path / "b")
    with pytest.raises(InputError, match="no such file"):
        sha256_of_file(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a file"):
        sha256_of_file(tmp_path / "pipe")


PACKAGE = Path(howsteps.__file__).parent
# What they do cannot change a result: they read, check, or fail.
HARMLESS = {"errors", "io", "store"}


def modules(names: tuple[str, ...]) -> list[Path]:
    return [path for name in names for path in [PACKAGE / name, *(PACKAGE / name).rglob("*.py")]]


@pytest.mark.parametrize("stage", cache.SOURCES)
def test_imports_of_a_stage_are_part_of_its_key(stage: str) -> None:
    own = {name.partition("/")[0].removesuffix(".py") for name in cache.SOURCES[stage]}
    for path in modules(cache.SOURCES[stage]):
        if path.is_file():
            assert set(imported(path)) <= own | HARMLESS, path


def test_a_change_to_the_localiser_keeps_cached_narrations_and_scripts() -> None:
    for stage in ("narration", "script"):
        assert "localise" not in cache.SOURCES[stage]
    assert "script" not in cache.SOURCES["narration"]
