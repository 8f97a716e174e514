"""Features that were made elsewhere, brought to the grid of intervals.

A folder holds one file for each video, named after it, in one of the ways in which such features
are shared::

    <video>.npy           T×d or d×T                       (action segmentation, CrossTask)
    <video>.npz           one matrix, or one named features, feature, arr_0, x or X
    <video>.mat           the same, version 5 or 7.3        (YouCook2, the authors' release)
    <video>.h5, .hdf5     the same
    <video>.txt, .csv     a row of numbers for each moment

or one ``features.h5`` or ``features.npz`` for all videos, with a matrix under the name of each.
Rows have a rate of their own; an interval is the mean of the rows in it, and where rows are farther
apart than intervals, the one that is on at its middle.
"""

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import HowstepsError, InputError, MissingExtra, Problem
from howsteps.io import mat_file
from howsteps.io.arrays import read_matrix
from howsteps.io.files import open_regular
from howsteps.io.text import read_lines
from howsteps.vision.histograms import interval_count

SUFFIXES = (".npy", ".npz", ".mat", ".h5", ".hdf5", ".txt", ".csv")
# Sizes that feature vectors have: where a video's length is not known they tell d×T from T×d.
_SIZES = frozenset({64, 128, 256, 400, 512, 768, 1000, 1024, 1280, 2048, 3000, 3200, 4096})
_NAMES = ("features", "feature", "feats", "feat", "X", "x", "arr_0", "data")
_MAT_7_3 = b"MATLAB 7.3"
LARGEST = 8 * 2**30  # bytes that the arrays of one file may take
_ALL = ("features.h5", "features.hdf5", "features.npz")  # one file for all videos

Matrix = NDArray[np.float32]


def read_folder(
    folder: Path,
    videos: Iterable[str],
    *,
    rate: float,
    durations: Mapping[str, float] | None = None,
    seconds: float = 1 / 3,
) -> tuple[dict[str, Matrix], list[Problem]]:
    """Read the features of videos and bring them to the grid.

    Parameters
    ----------
    folder
        Where the files are.
    videos
        Ids; a file's name without its suffix is the id of its video.
    rate
        Rows a second.
    durations
        Seconds of each video where known: they tell d×T from T×d, and how many intervals there are.
    seconds
        Length of an interval.

    Returns
    -------
    features
        By video id, T×d float32. A video without usable features is not there.
    problems
        Why not, one for each.
    """
    if rate <= 0:
        raise ValueError(f"rows come at a rate above 0 a second, not {rate}")
    if not folder.is_dir():
        raise InputError(folder, "no such folder of features")
    found: dict[str, Matrix] = {}
    problems: list[Problem] = []
    shared = next((folder / name for name in _ALL if (folder / name).is_file()), None)
    together = _matrices(shared) if shared else {}
    for video in videos:
        path = next((p for s in SUFFIXES if (p := folder / f"{video}{s}").is_file()), shared)
        try:
            if path is None or (path == shared and video not in together):
                raise InputError(path or folder / video, f"no features of {video}")
            matrix = together[video] if path == shared else _only(_matrices(path), path)
            length = (durations or {}).get(video)
            rows = _upright(matrix, path, length * rate if length else None)
            intervals = interval_count(length or len(rows) / rate, seconds)
            found[video] = resampled(rows, rate, seconds, intervals)
        except InputError as error:
            problems.append(error.problem)
    widths = {rows.shape[1] for rows in found.values()}
    if len(widths) > 1:
        listed = ", ".join(map(str, sorted(widths)))
        raise InputError(folder, f"videos have features of different sizes ({listed})")
    return found, problems


def resampled(rows: Matrix, rate: float, seconds: float, intervals: int) -> Matrix:
    """Bring rows at ``rate`` a second to intervals of ``seconds``.

    Row i stands for the time [i, i+1)/rate. An interval is the mean of the rows whose middle is in
    it; one that has none takes the row that is on at its own middle. Beyond the last row, the last
    one is held.
    """
    places = ((np.arange(len(rows)) + 0.5) / rate / seconds).astype(np.int64)
    counts = np.bincount(places, minlength=intervals)[:intervals]
    starts = np.searchsorted(places, np.arange(intervals))
    middles = ((np.arange(intervals) + 0.5) * seconds * rate).astype(np.int64)
    result = rows[np.minimum(middles, len(rows) - 1)].astype(np.float32)
    full = np.flatnonzero(counts)
    if len(full):
        used = rows[: int(np.searchsorted(places, intervals))]
        sums = np.add.reduceat(used.astype(np.float64), starts[full], axis=0)
        result[full] = sums / counts[full, None]
    return result


def _matrices(path: Path) -> dict[str, NDArray[Any]]:
    """Every array of numbers in a file, by name."""
    try:
        match path.suffix.lower():
            case ".npy":
                arrays = {"": read_matrix(path)}
            case ".npz":
                arrays = _from_npz(path)
            case ".mat":
                arrays = _from_mat(path)
            case ".h5" | ".hdf5":
                arrays = _from_hdf5(path)
            case _:
                arrays = {"": _from_text(path)}
    except HowstepsError:
        raise
    except Exception as error:  # each library has its own words for a broken file
        raise InputError(path, f"cannot be read as features ({error})") from error
    return {name: a for name, a in arrays.items() if a.dtype.kind in "fiu" and a.ndim >= 1}


def _from_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Arrays that may be compressed, as shared features often are, but not to a bomb."""
    with zipfile.ZipFile(path) as archive:
        _check_size(sum(member.file_size for member in archive.infolist()), path)
    with np.load(path, allow_pickle=False) as opened:
        return dict(opened)


def _from_mat(path: Path) -> dict[str, NDArray[Any]]:
    with open_regular(path) as file:
        heading = file.read(len(_MAT_7_3))
    if heading == _MAT_7_3:  # HDF5, with rows and columns exchanged
        return {name: array.T for name, array in _from_hdf5(path).items()}
    return {name: a for name, a in mat_file.read_mat(path).items() if isinstance(a, np.ndarray)}


def _from_hdf5(path: Path) -> dict[str, NDArray[Any]]:
    try:
        import h5py  # noqa: PLC0415 - only for this format
    except ImportError as error:
        raise MissingExtra("paper", f"reading {path.name}") from error
    found: dict[str, Any] = {}
    with h5py.File(path, "r") as opened:
        opened.visititems(found.__setitem__)
        matrices = {name: item for name, item in found.items() if isinstance(item, h5py.Dataset)}
        _check_size(sum(matrix.nbytes for matrix in matrices.values()), path)
        return {name: matrix[()] for name, matrix in matrices.items()}


def _check_size(size: int, path: Path) -> None:
    if size > LARGEST:
        raise InputError(path, f"holds more than {LARGEST // 2**30} GiB")


def _from_text(path: Path) -> NDArray[Any]:
    rows = [line.replace(",", " ").split() for _, line in read_lines(path)]
    return np.array([[float(number) for number in row] for row in rows], np.float32)


def _only(arrays: dict[str, NDArray[Any]], path: Path) -> NDArray[Any]:
    """The matrix that is meant where a file has several."""
    squeezed = {name: np.squeeze(array) for name, array in arrays.items() if array.size > 1}
    matrices = {name: array for name, array in squeezed.items() if array.ndim == 2}
    named = [matrices[name] for name in _NAMES if name in matrices]
    if named:
        return named[0]
    if len(matrices) == 1:
        return next(iter(matrices.values()))
    what = "several matrices" if matrices else "no matrix of numbers"
    raise InputError(path, f"holds {what} ({', '.join(arrays) or 'nothing'})")


def _upright(matrix: NDArray[Any], path: Path, rows: float | None) -> Matrix:
    """T×d, whichever way it was stored; ``rows`` is how many there should be about."""
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(path, f"is not a matrix but has the shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError(path, "has numbers that are not finite")
    if rows is not None:
        down, across = (abs(size - rows) / rows for size in matrix.shape)
        if min(down, across) > 0.25:
            shape = "×".join(map(str, matrix.shape))
            raise InputError(path, f"is {shape}, but at this rate {rows:.0f} rows were expected")
        turned = across < down
    else:
        turned = matrix.shape[0] in _SIZES and matrix.shape[1] not in _SIZES
    return np.ascontiguousarray(matrix.T if turned else matrix, dtype=np.float32)
