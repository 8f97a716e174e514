"""Features that were computed elsewhere, resampled to the grid of intervals.

A folder holds one file for each video, named after it, in one of the usual formats::

    <video>.npy           T×d or d×T                       (action segmentation, CrossTask)
    <video>.npz           one matrix, or one named features, feature, arr_0, x or X
    <video>.mat           the same, version 5 or 7.3        (YouCook2, the authors' release)
    <video>.h5, .hdf5     the same
    <video>.txt, .csv     one row of numbers per line

or one ``features.h5`` or ``features.npz`` for all videos, with a matrix under the name of each.
An interval is the mean of the rows in it; if rows are farther apart than intervals, it is the row
at its middle.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.datasets.annotations import resample
from howsteps.errors import HowstepsError, InputError, MissingExtra, Problem
from howsteps.io import mat_file
from howsteps.io.arrays import MAX_COMPRESSION, read_arrays, read_matrix
from howsteps.io.files import open_regular
from howsteps.io.text import read_lines
from howsteps.vision.features import SECONDS, interval_count

SUFFIXES = (".npy", ".npz", ".mat", ".h5", ".hdf5", ".txt", ".csv")
# Usual sizes of feature vectors: they distinguish d×T from T×d if the duration is unknown.
_SIZES = frozenset({64, 128, 256, 400, 512, 768, 1000, 1024, 1280, 2048, 3000, 3200, 4096})
_NAMES = ("features", "feature", "feats", "feat", "X", "x", "arr_0", "data")
_MAT_7_3 = b"MATLAB 7.3"
LARGEST = 8 * 2**30  # bytes of the arrays of one file
_NUMBERS = "fiu"  # kinds of dtype
_SHARED = ("features.h5", "features.hdf5", "features.npz")  # one file for all videos

Matrix = NDArray[np.float32]


def read_folder(
    folder: Path,
    videos: Iterable[str],
    *,
    rate: float,
    durations: Mapping[str, float] | None = None,
) -> tuple[dict[str, Matrix], list[Problem]]:
    """Read the features of videos, and resample them to the grid of intervals.

    Parameters
    ----------
    videos
        Ids of the videos: names of files without their suffix.
    rate
        Rows per second.
    durations
        Seconds of each video, if known: they distinguish d×T from T×d, and give the number of
        intervals.

    Returns
    -------
    T×d float32 by video id, and a problem for each video without usable features.
    """
    if rate <= 0:
        raise ValueError(f"rows come at a rate above 0 a second, not {rate}")
    if not folder.is_dir():
        raise InputError(folder, "no such folder of features")
    features: dict[str, Matrix] = {}
    problems: list[Problem] = []
    shared = next((folder / name for name in _SHARED if (folder / name).is_file()), None)
    shared_matrices = _read_arrays(shared) if shared else {}
    for video in videos:
        path = next((p for s in SUFFIXES if (p := folder / f"{video}{s}").is_file()), shared)
        try:
            if path is None or (path == shared and video not in shared_matrices):
                raise InputError(path or folder / video, f"no features of {video}")
            if path == shared:
                matrix = shared_matrices[video]
            else:
                matrix = _choose_matrix(_read_arrays(path), path)
            duration = (durations or {}).get(video)
            rows = _oriented(matrix, path, duration * rate if duration else None)
            intervals = interval_count(duration or len(rows) / rate)
            features[video] = resample(rows, rate, SECONDS, intervals)
        except InputError as error:
            problems.append(error.problem)
    widths = {rows.shape[1] for rows in features.values()}
    if len(widths) > 1:
        listed = ", ".join(map(str, sorted(widths)))
        raise InputError(folder, f"videos have features of different sizes ({listed})")
    return features, problems


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the numeric arrays of a file by name."""
    try:
        match path.suffix.lower():
            case ".npy":
                arrays = {"": read_matrix(path)}
            case ".npz":
                arrays = read_arrays(path, compressed=True)
            case ".mat":
                arrays = _from_mat(path)
            case ".h5" | ".hdf5":
                arrays = _from_hdf5(path)
            case _:
                arrays = {"": _from_text(path)}
    except HowstepsError:
        raise
    except Exception as error:  # each library raises its own types
        raise InputError(path, f"cannot be read as features ({error})") from error
    return {name: a for name, a in arrays.items() if a.dtype.kind in _NUMBERS and a.ndim >= 1}


def _from_mat(path: Path) -> dict[str, NDArray[Any]]:
    with open_regular(path) as file:
        header = file.read(len(_MAT_7_3))
    if header == _MAT_7_3:  # HDF5, transposed
        return {name: array.T for name, array in _from_hdf5(path).items()}
    return {name: a for name, a in mat_file.read_mat(path).items() if isinstance(a, np.ndarray)}


def _from_hdf5(path: Path) -> dict[str, NDArray[Any]]:
    try:
        import h5py  # noqa: PLC0415 - only for this format
    except ImportError as error:
        raise MissingExtra("paper", f"reading {path.name}") from error
    items: dict[str, Any] = {}
    with h5py.File(path, "r") as opened:
        opened.visititems(items.__setitem__)
        datasets = {
            name: item
            for name, item in items.items()
            if isinstance(item, h5py.Dataset) and item.dtype.kind in _NUMBERS
        }
        for name, dataset in datasets.items():
            # Such a dataset can name any file of this machine.
            if dataset.is_virtual or dataset.external:
                raise InputError(path, f"takes {name} from another file; copy its values into it")
        size = sum(dataset.nbytes for dataset in datasets.values())
        if size > LARGEST:
            raise InputError(path, f"holds more than {LARGEST // 2**30} GiB")
        # A shape takes no space until values are written.
        if size > MAX_COMPRESSION * sum(d.id.get_storage_size() for d in datasets.values()):
            raise InputError(path, "declares far more values than it stores")
        return {name: dataset[()] for name, dataset in datasets.items()}


def _from_text(path: Path) -> NDArray[Any]:
    rows = [line.replace(",", " ").split() for _, line in read_lines(path)]
    return np.array([[float(number) for number in row] for row in rows])


def _choose_matrix(arrays: dict[str, NDArray[Any]], path: Path) -> NDArray[Any]:
    """Return the matrix of features of a file: by its usual names, or the only one."""
    squeezed = {name: np.squeeze(array) for name, array in arrays.items() if array.size > 1}
    matrices = {name: array for name, array in squeezed.items() if array.ndim == 2}
    named = [matrices[name] for name in _NAMES if name in matrices]
    if named:
        return named[0]
    if len(matrices) == 1:
        return next(iter(matrices.values()))
    content = "several matrices" if matrices else "no matrix of numbers"
    raise InputError(path, f"holds {content} ({', '.join(arrays) or 'nothing'})")


def _oriented(matrix: NDArray[Any], path: Path, rows: float | None) -> Matrix:
    """Return a matrix as T×d, transposed if necessary; ``rows`` is the expected T, if known."""
    if matrix.ndim != 2 or not matrix.size:
        raise InputError(path, f"is not a matrix but has the shape {matrix.shape}")
    with np.errstate(over="ignore"):  # checked next
        matrix = matrix.astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise InputError(path, "has values that are not finite, or too large for 32 bits")
    if rows is not None:
        down, across = (abs(size - rows) / rows for size in matrix.shape)
        if min(down, across) > 0.25:
            shape = "×".join(map(str, matrix.shape))
            raise InputError(path, f"is {shape}, but at this rate {rows:.0f} rows were expected")
        transposed = across < down
    else:
        transposed = matrix.shape[0] in _SIZES and matrix.shape[1] not in _SIZES
    return np.ascontiguousarray(matrix.T if transposed else matrix)
