"""Features computed elsewhere, in all supported formats."""

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

from howsteps.datasets.annotations import resample
from howsteps.errors import InputError
from howsteps.vision.precomputed import read_folder

MATRIX = np.arange(60, dtype=np.float32).reshape(15, 4)


def npy(path: Path) -> None:
    np.save(path.with_suffix(".npy"), MATRIX)


def npy_transposed(path: Path) -> None:
    np.save(path.with_suffix(".npy"), np.asfortranarray(MATRIX.T).astype(np.float64))


def npy_one_more_axis(path: Path) -> None:
    np.save(path.with_suffix(".npy"), MATRIX[None])


def npz_named(path: Path) -> None:
    np.savez(path.with_suffix(".npz"), features=MATRIX, labels=np.zeros((15, 2)))


def npz_compressed(path: Path) -> None:
    np.savez_compressed(path.with_suffix(".npz"), MATRIX)


def mat(path: Path) -> None:
    savemat(path.with_suffix(".mat"), {"feats_of_video": MATRIX, "fps": 15.0})


def mat_7_3(path: Path) -> None:
    with h5py.File(path.with_suffix(".mat"), "w", userblock_size=512) as file:
        file["features"] = MATRIX.T
    with path.with_suffix(".mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def h5(path: Path) -> None:
    with h5py.File(path.with_suffix(".h5"), "w") as file:
        file["deep/features"] = MATRIX


def csv(path: Path) -> None:
    rows = [",".join(f"{number:g}" for number in row) for row in MATRIX]
    path.with_suffix(".csv").write_text("\n".join(rows) + "\n")


def txt(path: Path) -> None:
    np.savetxt(path.with_suffix(".txt"), MATRIX)


def all_in_one(path: Path) -> None:
    with h5py.File(path.parent / "features.h5", "w") as file:
        file[path.name] = MATRIX
        file["another"] = np.zeros((3, 4))


FORMS: list[Callable[[Path], None]] = [
    npy,
    npy_transposed,
    npy_one_more_axis,
    npz_named,
    npz_compressed,
    mat,
    mat_7_3,
    h5,
    csv,
    txt,
    all_in_one,
]


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_dataset("features", (2**20, 2**20), np.float32)  # sparse: no space on disk
    _, [problem] = read_folder(tmp_path, ["v"], rate=1.0)
    assert problem.reason == "holds more than 8 GiB"


def test_values_of_another_file_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(100)))
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["features"] = MATRIX
    with h5py.File(tmp_path / "external.h5", "w") as file:
        file.create_dataset("features", (10, 10), "u1", external=[(str(secret), 0, 100)])
    layout = h5py.VirtualLayout(MATRIX.shape, "f4")
    layout[:] = h5py.VirtualSource(tmp_path / "other.h5", "features", MATRIX.shape)
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        file.create_virtual_dataset("features", layout)
    found, problems = read_folder(tmp_path, ["external", "virtual"], rate=1.0)
    assert not found
    assert all("features from another file" in problem.reason for problem in problems)


def test_a_shape_without_values_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_dataset("features", (15, 4), np.float32)
    found, [problem] = read_folder(tmp_path, ["v"], rate=1.0)
    assert not found
    assert problem.reason == "declares far more values than it stores"


def test_an_archive_that_inflates_is_refused(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "v.npz", features=np.zeros((10**4, 100)))
    found, [problem] = read_folder(tmp_path, ["v"], rate=1.0)
    assert not found
    assert "far more than its size" in problem.reason


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_values_too_large_for_float32_are_refused(tmp_path: Path, suffix: str) -> None:
    rows = np.full((15, 4), 1e308)
    np.save(tmp_path / "v.npy", rows) if suffix == ".npy" else np.savetxt(tmp_path / "v.csv", rows)
    found, [problem] = read_folder(tmp_path, ["v"], rate=1.0)
    assert not found
    assert "too large for 32 bits" in problem.reason


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_every_format_gives_the_same_rows(tmp_path: Path, form: Callable[[Path], None]) -> None:
    form(tmp_path / "film")
    found, problems = read_folder(tmp_path, ["film"], rate=3.0, durations={"film": 5.0})
    assert problems == []
    assert found["film"].dtype == np.float32
    assert np.array_equal(found["film"], MATRIX)


def test_usual_sizes_distinguish_rows_from_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "film.npy", np.zeros((2048, 90), np.float32))
    found, _ = read_folder(tmp_path, ["film"], rate=30.0)
    assert found["film"].shape == (9, 2048)


@given(
    rows=st.integers(1, 60),
    rate=st.sampled_from([0.5, 1.0, 3.0, 4.7, 15.0, 29.97]),
    intervals=st.integers(1, 40),
)
def test_resampling_agrees_with_averaging_by_hand(rows: int, rate: float, intervals: int) -> None:
    values = np.random.default_rng(rows).normal(size=(rows, 2)).astype(np.float32)
    found = resample(values, rate, 1 / 3, intervals)
    for t in range(intervals):
        inside = [i for i in range(rows) if int((i + 0.5) / rate / (1 / 3)) == t]
        held = values[min(int((t + 0.5) * (1 / 3) * rate), rows - 1)]
        wanted = values[inside].astype(float).mean(axis=0) if inside else held
        assert found[t] == pytest.approx(wanted, abs=1e-5)


def test_one_bad_file_does_not_affect_the_others(tmp_path: Path) -> None:
    np.save(tmp_path / "good.npy", MATRIX)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "good.npy").read_bytes()[:100])
    np.save(tmp_path / "nan.npy", np.full((15, 4), np.nan))
    np.save(tmp_path / "line.npy", np.zeros(15))
    np.save(tmp_path / "short.npy", np.zeros((7, 4)))
    (tmp_path / "words.txt").write_text("one two three")
    np.savez(tmp_path / "two.npz", a=MATRIX, b=MATRIX)
    np.save(tmp_path / "objects.npy", np.array([{}, {}]), allow_pickle=True)
    names = ["good", "cut", "nan", "line", "short", "words", "two", "objects", "none"]
    found, problems = read_folder(tmp_path, names, rate=3.0, durations=dict.fromkeys(names, 5.0))
    assert list(found) == ["good"]
    assert [problem.path.stem for problem in problems] == names[1:]
    assert all("\n" not in str(problem) for problem in problems)


def test_features_of_different_sizes_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    np.save(tmp_path / "b.npy", MATRIX[:, :3])
    with pytest.raises(InputError, match="different sizes"):
        read_folder(tmp_path, ["a", "b"], rate=3.0)


def test_no_folder_and_no_rate(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_folder(tmp_path / "none", [], rate=1.0)
    with pytest.raises(ValueError, match="above 0"):
        read_folder(tmp_path, [], rate=0.0)
