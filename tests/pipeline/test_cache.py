"""Cache entries are read back; damaged ones count as missing."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.io.files import key_of, sha256_of_file, write_atomically
from howsteps.pipeline.cache import Cache


@dataclass(frozen=True)
class Options:
    size: int = 3


@dataclass(frozen=True)
class Others:
    size: int = 3


def test_a_key_does_not_depend_on_the_order_of_its_parts():
    assert key_of(1, a=1, b="x") == key_of(1, b="x", a=1)


def test_a_key_changes_with_version_value_and_kind_of_options():
    keys = [
        key_of(1, options=Options()),
        key_of(2, options=Options()),
        key_of(1, options=Options(size=4)),
        key_of(1, options=Others()),
        key_of(1, options=None),
    ]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("part", [Path("x"), {1, 2}, float("nan"), np.arange(3), Options])
def test_values_that_cannot_be_hashed_exactly_are_refused(part):
    with pytest.raises((TypeError, ValueError)):
        key_of(1, part=part)


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


def test_an_object_array_is_refused(tmp_path):
    with pytest.raises(ValueError, match="Object arrays"):
        Cache(tmp_path).put_arrays("features", "k", {"x": np.array([{}], dtype=object)})


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


def test_an_atomic_write_leaves_no_temporary_file(tmp_path):
    write_atomically(tmp_path / "deep" / "file.txt", b"one")
    write_atomically(tmp_path / "deep" / "file.txt", b"two")
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["file.txt"]
    assert (tmp_path / "deep" / "file.txt").read_bytes() == b"two"


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


def test_an_unwritable_folder_is_reported(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(HowstepsError, match=r"cannot write .*below"):
        write_atomically(tmp_path / "file" / "below", b"x")


def test_a_digest_depends_on_the_content_only(tmp_path):
    (tmp_path / "a").write_bytes(b"same")
    (tmp_path / "b").write_bytes(b"same")
    assert sha256_of_file(tmp_path / "a") == sha256_of_file(tmp_path / "b")
    with pytest.raises(InputError, match="no such file"):
        sha256_of_file(tmp_path / "none")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is not a file"):
        sha256_of_file(tmp_path / "pipe")
