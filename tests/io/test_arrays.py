"""Untrusted arrays: files of NumPy are read; everything else is refused safely."""

import io
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from howsteps.errors import InputError
from howsteps.io.arrays import read_arrays, read_matrix


def test_a_matrix(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    np.testing.assert_array_equal(read_matrix(tmp_path / "a.npy"), np.eye(3))
    np.savez(tmp_path / "b.npz", x=np.eye(3), names=np.array(["a"]))
    assert read_arrays(tmp_path / "b.npz").keys() == {"x", "names"}


class Trap:
    """Does something when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def test_pickles_are_refused(tmp_path):
    np.save(tmp_path / "a.npy", np.array([Trap()], object), allow_pickle=True)
    with pytest.raises(InputError, match="is not a complete"):
        read_matrix(tmp_path / "a.npy")
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="is not a complete"):
        read_matrix(tmp_path / "b.npy")


@pytest.mark.parametrize("claimed", [b"(9, 9, 9, 9, 9)", b"(-3, -1)       ", b"(3,)           "])
def test_a_header_that_contradicts_the_size(tmp_path, claimed):
    buffer = io.BytesIO()
    np.save(buffer, np.ones((1, 1, 1, 1, 3)))
    content = buffer.getvalue().replace(b"(1, 1, 1, 1, 3)", claimed)
    if claimed.startswith(b"(3"):
        content = content[:-8]
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(InputError, match="is not a complete"):
        read_matrix(tmp_path / "a.npy")


def test_a_zip_bomb(tmp_path):
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(10**7))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"bomb\.npz: is not a complete \.npz file \(it is compr"):
        read_arrays(tmp_path / "bomb.npz")
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()


def test_files_of_other_kinds(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("note.txt", "hello")
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04")
    for name in ("a.npz", "b.npz", "none.npz"):
        with pytest.raises(InputError, match=name):
            read_arrays(tmp_path / name)
