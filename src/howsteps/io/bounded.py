"""Files that are read whole, but never larger than their kind can be."""

import os
from pathlib import Path

from howsteps.errors import InputError


def read_bytes(path: Path, largest: int, kind: str) -> bytes:
    """The bytes of a file.

    Raises
    ------
    InputError
        The file cannot be opened, is not a plain file, is too large to be of its ``kind``, or
        changes while it is read.
    """
    try:
        # A pipe or a device could keep a reader waiting forever.
        if not path.is_file():
            raise InputError(path, "is not a file" if path.exists() else "no such file")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > largest:
                limit = f"{size / 2**20:.0f} MB; the limit is {largest // 2**20} MB"
                raise InputError(path, f"is too large to be {kind} ({limit})")
            data = file.read(size + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(path, f"cannot be read: {reason}") from error
    if len(data) != size:
        raise InputError(path, "changes while it is read; let what writes it finish")
    return data
