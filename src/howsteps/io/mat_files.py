"""Read the MATLAB files of the paper's release with SciPy, which crashes on some damaged ones.

Therefore this runs in a worker process: :mod:`howsteps.datasets.authors` says what the files hold.
"""

from math import ceil, inf
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.sparse import issparse

from howsteps.errors import InputError
from howsteps.io.files import open_regular
from howsteps.io.worker_process import limit_memory, serve


def convert(job: dict[str, Any]) -> dict[str, object]:
    """Write the arrays of the release of the paper to another file (:mod:`.datasets.authors`)."""
    limit_memory(job["memory"])
    path = Path(job["media"])
    rates, counts = [], []
    try:
        names, arrays = _arrays(path)
        for n, name in enumerate(names):
            path = Path(job["infos"]) / f"{name}.mat"
            info = _variables(path, "fps", "nimgs")
            fps, frames = float(info["fps"].item()), float(info["nimgs"].item())
            if not (0 < fps < inf and 0 < frames < inf):
                raise ValueError(f"{frames:g} frames at {fps:g} a second are no video")
            intervals, labelled = ceil(frames / job["frames_per_interval"]), len(arrays[f"Y{n}"])
            if intervals != labelled:
                raise ValueError(f"{frames:g} frames are {intervals} intervals, Y has {labelled}")
            rates.append(fps)
            counts.append(frames)
    except InputError as error:
        return {"path": str(path), "fault": error.problem.reason}
    except NotImplementedError:
        reason = "is in MATLAB's 7.3 format; load it there and save it with -v7"
        return {"path": str(path), "fault": reason}
    except MemoryError:
        raise
    except Exception as error:  # SciPy raises many types
        return {"path": str(path), "fault": f"is not a .mat file as released ({error})"}
    np.savez(job["target"], **arrays)
    return {"names": names, "rates": rates, "frames": counts}


def _arrays(path: Path) -> tuple[list[str], dict[str, Any]]:
    """Return the names of the videos, and the matrices of video n as ``Y<n>`` and ``X<n>``."""
    content = _variables(path, "hw3", "X", "Y")
    names = [str(name.item()) for name in content["hw3"]["clipid"].ravel()]
    if len({name.strip() for name in names if Path(name).name == name}) < len(names):
        raise ValueError("hw3.clipid names a video twice, or no video")
    arrays: dict[str, Any] = {}
    for variable in ("X", "Y"):
        for n, matrix in enumerate(content[variable].ravel()):
            dense = matrix.toarray() if issparse(matrix) else matrix
            arrays[f"{variable}{n}"] = np.atleast_2d(dense).astype(np.float64)
    for n, name in enumerate(names):
        x, y = arrays[f"X{n}"], arrays[f"Y{n}"]
        if not np.isin(y, (0, 1)).all() or not np.abs(x).max() <= np.finfo(np.float32).max:
            raise ValueError(f"video {name}: Y is not of 0 and 1, or X is not finite")
        if x.shape != (len(y), arrays["X0"].shape[1]):
            raise ValueError(f"video {name}: X is of shape {x.shape}, Y has {len(y)} rows")
    return names, arrays


def _variables(path: Path, *names: str) -> dict[str, Any]:
    with open_regular(path) as file:
        content: dict[str, Any] = loadmat(file, variable_names=names)
    if missing := [name for name in names if name not in content]:
        raise ValueError(f"has no variable {missing[0]}")
    return content


if __name__ == "__main__":
    serve(convert)
