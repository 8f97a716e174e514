"""Our reader of .mat files agrees with SciPy's on valid files, and survives damaged ones."""

import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from scipy.io import loadmat, savemat
from scipy.sparse import csc_matrix

from howsteps.errors import InputError
from howsteps.io import mat_file

GOLDEN = Path(__file__).parents[1] / "golden" / "data" / "VISION_small"
NUMBERS = st.sampled_from("f4 f8 i1 i2 i4 i8 u1 u2 u4 u8".split()).map(np.dtype)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.mat"


def test_golden_files_against_scipy():
    file = GOLDEN / "features" / "full_dataset.mat"
    ours, theirs = mat_file.read_mat(file, "X", "hw3"), loadmat(file)
    for mine, other in zip(ours["X"].ravel(), theirs["X"].ravel(), strict=True):
        np.testing.assert_array_equal(mine, other)
    names = [clip.item() for clip in theirs["hw3"]["clipid"].ravel()]
    assert list(ours["hw3"]["clipid"].ravel()) == names


@given(
    array=st_numpy.arrays(NUMBERS, st_numpy.array_shapes(min_dims=2, max_dims=3)),
    compressed=st.booleans(),
)
def test_numbers_of_all_kinds(array, compressed):
    with tempfile.NamedTemporaryFile(suffix=".mat") as file:
        savemat(file.name, {"other": np.zeros(3), "x": array}, do_compression=compressed)
        found = mat_file.read_mat(Path(file.name), "x")["x"]
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)


def test_text_logical_and_sparse(path):
    sparse = csc_matrix(np.array([[0, 2.5, 0], [1, 0, 0]]))
    savemat(path, {"name": "Räder", "on": np.array([[True, False]]), "few": sparse})
    found = mat_file.read_mat(path, "name", "on", "few")
    assert found["name"] == "Räder"
    assert found["on"].tolist() == [[True, False]]
    np.testing.assert_array_equal(found["few"], sparse.toarray())


def test_an_empty_sparse_matrix_whose_columns_lie_outside(path):
    savemat(path, {"few": csc_matrix((2, 3))})
    assert mat_file.read_mat(path, "few")["few"].tolist() == [[0.0] * 3] * 2
    empty = struct.pack("<6I", 5, 16, 0, 0, 0, 0)
    content = path.read_bytes()
    assert content.count(empty) == 1
    for starts in ((0, 2**24, 0, 0), (0, 0, 2**31, 0), (1, 0, 0, 0), (0, 0, 0, 1)):
        path.write_bytes(content.replace(empty, struct.pack("<6I", 5, 16, *starts)))
        with pytest.raises(InputError, match=r"columns out of order|it ends early"):
            mat_file.read_mat(path, "few")


def test_a_missing_variable(path):
    savemat(path, {"y": 1})
    with pytest.raises(InputError, match="has no variable x"):
        mat_file.read_mat(path, "x")


def test_the_7_3_format_is_refused(path):
    path.write_bytes(b"MATLAB 7.3 MAT-file" + b" " * 200)
    with pytest.raises(InputError, match=r"7\.3 format"):
        mat_file.read_mat(path, "x")


@pytest.mark.parametrize("kind", ["cut", "text", "empty"])
def test_truncated_files(path, kind):
    savemat(path, {"x": np.arange(50.0)})
    good = path.read_bytes()
    path.write_bytes({"cut": good[:-60], "text": b"hello" * 50, "empty": b""}[kind])
    with pytest.raises(InputError, match=r"a\.mat: is not a complete \.mat file"):
        mat_file.read_mat(path, "x")


def matrix(*parts: bytes, kind: int = 6, shape: tuple[int, ...] = (1, 1)) -> bytes:
    sizes = np.array(shape, "<i4").tobytes()
    heading = struct.pack("<IIIIII", 6, 8, kind, 0, 5, len(sizes))
    heading += sizes + bytes(-len(sizes) % 8)
    content = heading + struct.pack("<HHcxxx", 1, 1, b"x") + b"".join(parts)
    return struct.pack("<II", 14, len(content)) + content


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        (matrix(struct.pack("<II", 9, 0), shape=(2**30, 2**30)), "far more than its size"),
        (matrix(struct.pack("<II", 9, 0), shape=(1,) * 33), "impossible size"),
        (matrix(struct.pack("<II", 9, 0), shape=(-1, 1)), "impossible size"),
        (matrix(struct.pack("<IId", 9, 8, 1), shape=(2, 1)), "1 numbers for 2 entries"),
        (matrix(b"\0" * 64, kind=1, shape=(2**20, 1)), "ends early"),
        (matrix(struct.pack("<II", 9, 2**31)), "ends early"),
        (matrix(b"\0" * 8, kind=17), "unknown kind"),
        (matrix(struct.pack("<II", 9, 4) + bytes(8)), "multiple of element size"),
        (
            matrix(
                struct.pack("<IIixxxx", 5, 4, 7),  # a row that is not there
                struct.pack("<IIii", 5, 8, 0, 1),
                struct.pack("<IId", 9, 8, 1.0),
                kind=5,
                shape=(2, 1),
            ),
            "invalid entry in coordinates",
        ),
    ],
)
def test_invalid_sizes(path, variable, reason):
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\0\1IM" + variable)
    with pytest.raises(InputError, match=reason):
        mat_file.read_mat(path, "x")


def test_a_small_file_cannot_hold_very_much(path):
    zeros = struct.pack("<II", 2, 2**22) + bytes(2**22)  # bytes, of numbers of eight bytes each
    large = matrix(zeros, shape=(2**22, 1))
    sparse = matrix(
        struct.pack("<II", 5, 0),
        struct.pack("<II", 5, 2**14) + bytes(2**14),
        struct.pack("<II", 9, 0),
        kind=5,
        shape=(2**14, 2**12 - 1),
    )
    for variable in (large, matrix(*[large] * 4, kind=1, shape=(4, 1)), sparse):
        packed = zlib.compress(variable)
        start = b"MATLAB 5.0".ljust(124) + b"\0\1IM" + struct.pack("<II", 15, len(packed))
        path.write_bytes(start + packed)
        with pytest.raises(InputError, match="far more than its size"):
            mat_file.read_mat(path, "x")


def test_deeply_nested_cells(path):
    cell = matrix(struct.pack("<IId", 9, 8, 1))
    for _ in range(40):
        cell = matrix(cell, kind=1)
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\0\1IM" + cell)
    with pytest.raises(InputError, match="nested too deeply"):
        mat_file.read_mat(path, "x")


def test_other_variables_are_not_decompressed(path, monkeypatch):
    monkeypatch.setattr(mat_file, "_MAX_BYTES", 10**6)
    packed = zlib.compress(matrix(struct.pack("<II", 9, 10**7) + bytes(10**7)))
    variable = struct.pack("<II", 15, len(packed)) + packed
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\0\1IM" + variable)
    with pytest.raises(InputError, match="has no variable y"):
        mat_file.read_mat(path, "y")
    with pytest.raises(InputError, match="far more than its size"):
        mat_file.read_mat(path, "x")
