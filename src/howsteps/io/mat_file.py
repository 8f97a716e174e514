"""Read MATLAB's .mat files (format 5, as written by ``save`` and ``save -v7``) safely.

SciPy's reader crashes the process on some damaged files. This one supports what data sets contain
(numbers, text, cells, structs, sparse matrices), checks every length before it is used, and
decompresses only the requested variables.

A file is a header of 128 bytes followed by elements: a tag (type, length), the data, and padding to
a multiple of eight bytes. Data of up to four bytes may be stored inside the tag.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from howsteps.errors import InputError
from howsteps.io.arrays import MAX_COMPRESSION
from howsteps.io.files import read_bounded

MatValue: TypeAlias = NDArray[Any] | str | dict[str, NDArray[np.object_]]
"""Numbers; an object array for a cell; text; an object array for each field of a struct."""

_HDF5 = b"MATLAB 7.3"  # magic bytes of the unsupported format
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _CHAR, _SPARSE = 1, 2, 4, 5
_LOGICAL, _COMPLEX = 0x200, 0x800
# The data type in which numbers are stored, and the array type they have in MATLAB.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_STORED |= {12: "i8", 13: "u8"}
_ARRAY_TYPES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4"}
_ARRAY_TYPES |= {14: "i8", 15: "u8"}
_TEXT = {1: "latin-1", 2: "latin-1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le", 18: "utf-32-le"}
_LARGEST = 2**32  # bytes of a file
_MAX_BYTES, _MIN_BYTES = 2**33, 2**24  # that any file may hold, and that none may not
_MAX_DEPTH, _MAX_DIMENSIONS = 10, 32  # of nested cells, and of a matrix
_TOO_LARGE = "it holds far more than its size"
_NAME_BYTES = 4096  # at the start of a variable; they contain its name


@np.errstate(invalid="ignore", over="ignore")  # NaN as an index is refused, not warned of
def read_mat(path: Path, *names: str) -> dict[str, MatValue]:
    """Read the variables ``names``.

    Raises ``InputError`` if the file is truncated, damaged or of another format, or lacks one of
    the variables.
    """
    data = read_bounded(path, _LARGEST, "a .mat file")
    if data.startswith(_HDF5):
        raise InputError(path, "is in MATLAB's 7.3 format; load it there and save it with -v7")
    if data[_HEADER - 2 : _HEADER] != b"IM":  # "MI" has not been written for twenty years
        raise InputError(path, "is not a complete .mat file (its header is missing)")
    room = _Room(min(_MAX_BYTES, max(_MIN_BYTES, MAX_COMPRESSION * len(data))))
    try:
        found = dict(_variables(_Elements(memoryview(data)[_HEADER:], room), names))
    except (ValueError, zlib.error) as error:
        raise InputError(path, f"is not a complete .mat file ({error})") from error
    if missing := [name for name in names if name not in found]:
        raise InputError(path, f"has no variable {missing[0]}; it may be truncated")
    return found


def _variables(top: "_Elements", names: tuple[str, ...]) -> Iterator[tuple[str, MatValue]]:
    while len(top):
        kind, content = top.next(padded=False)
        if kind == _COMPRESSED:
            # Other variables are decompressed only as far as their name.
            start = zlib.decompressobj().decompress(content, _NAME_BYTES)
            _, head = _Elements(memoryview(start), top.room).next(whole=False)
            if _Matrix.of(head, top.room).name not in names:
                continue
            stream = zlib.decompressobj()
            data = stream.decompress(content, top.room.left)
            if stream.unconsumed_tail:
                raise ValueError(_TOO_LARGE)
            kind, content = _Elements(memoryview(data), top.room).next()
        if kind != _MATRIX:
            raise ValueError("an element is not a variable")
        matrix = _Matrix.of(content, top.room)
        if matrix.name in names:
            yield matrix.name, matrix.value()


class _Room:
    """How many more bytes of arrays a file may hold: a small one can claim any number."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, numbers: int) -> None:
        self.left -= 8 * numbers
        if self.left <= 0:
            raise ValueError(_TOO_LARGE)


class _Elements:
    """Consecutive elements in a buffer."""

    def __init__(self, data: memoryview, room: _Room) -> None:
        self._data, self.room = data, room

    def __len__(self) -> int:
        return len(self._data)

    def next(self, *, padded: bool = True, whole: bool = True) -> tuple[int, memoryview]:
        """Return the type and the data of the next element; if not ``whole``, it may be cut."""
        if len(self._data) < 8:
            raise ValueError("it ends early")
        kind, length = struct.unpack_from("<II", self._data)
        first = 8
        if kind >= 2**16:  # the data is inside the tag
            kind, length, first = kind % 2**16, kind // 2**16, 4
            if length > 4:
                raise ValueError("an element is longer than its tag allows")
        if whole and first + length > len(self._data):
            raise ValueError("it ends early")
        content = self._data[first : first + length]
        padding = -length % 8 if padded else 0
        self._data = self._data[8 if first == 4 else first + length + padding :]
        return kind, content

    def numbers(self) -> NDArray[Any]:
        """Return the numbers of the next element, in their stored type."""
        kind, content = self.next()
        if kind not in _STORED:
            raise ValueError("numbers of an unknown kind")
        return np.frombuffer(content, f"<{_STORED[kind]}")

    def text(self) -> str:
        """Return the text of the next element."""
        kind, content = self.next()
        if kind not in _TEXT:
            raise ValueError("text of an unknown kind")
        return str(content, _TEXT[kind])


@dataclass(frozen=True, slots=True)
class _Matrix:
    """One variable, or one entry of a cell or struct; its value is read on request."""

    parts: _Elements
    kind: int = 6
    flags: int = 0
    shape: tuple[int, ...] = (0, 0)
    name: str = ""

    @classmethod
    def of(cls, content: memoryview, room: _Room) -> "_Matrix":
        parts = _Elements(content, room)
        if not len(parts):
            return cls(parts)  # an empty cell entry
        flags = parts.numbers()
        if len(flags) != 2:
            raise ValueError("a matrix without flags")
        sizes = parts.numbers()
        if not 2 <= len(sizes) <= _MAX_DIMENSIONS or sizes.min() < 0:
            raise ValueError("a matrix of an impossible size")
        shape = tuple(int(n) for n in sizes)
        return cls(parts, int(flags[0]) & 0xFF, int(flags[0]), shape, parts.text())

    def value(self, depth: int = 0) -> MatValue:
        """Read the value; ``depth`` is the number of cells around it."""
        if not len(self.parts):
            return np.empty(self.shape if not prod(self.shape) else (0, 0))
        if depth > _MAX_DEPTH:
            raise ValueError("cells are nested too deeply")
        if self.kind == _CELL:
            return self._entries(depth, 1)[0]
        if self.kind == _STRUCT:
            names = self._field_names()
            return dict(zip(names, self._entries(depth, len(names)), strict=True))
        if self.kind == _CHAR:
            return self.parts.text().rstrip(" \0")
        if self.kind not in {_SPARSE, *_ARRAY_TYPES} or self.flags & _COMPLEX:
            raise ValueError("a value of an unknown kind")
        self.parts.room.take(prod(self.shape))
        numbers = self._sparse() if self.kind == _SPARSE else self._dense()
        return numbers.astype(bool) if self.flags & _LOGICAL else numbers

    def _dense(self) -> NDArray[Any]:
        numbers = self.parts.numbers()
        if len(numbers) != prod(self.shape):
            raise ValueError(f"{len(numbers)} numbers for {prod(self.shape)} entries")
        return numbers.reshape(self.shape, order="F").astype(_ARRAY_TYPES[self.kind])

    def _sparse(self) -> NDArray[Any]:
        rows, starts = (self.parts.numbers().astype(np.int64) for _ in range(2))
        numbers, matrix = self.parts.numbers(), np.zeros((self.shape[0], prod(self.shape[1:])))
        counts = np.diff(starts)
        is_column_each = len(starts) == matrix.shape[1] + 1 and starts[0] == 0
        if not is_column_each or (starts < 0).any() or (counts < 0).any():
            raise ValueError("a sparse matrix with columns out of order")
        stored = int(starts[-1])
        if stored > min(len(rows), len(numbers)):
            raise ValueError("it ends early")
        places = rows[:stored], np.repeat(np.arange(len(counts)), counts)
        matrix.reshape(-1)[np.ravel_multi_index(places, matrix.shape)] = numbers[:stored]
        return matrix

    def _entries(self, depth: int, fields: int) -> list[NDArray[np.object_]]:
        """Return one array for each field; the fields of an entry are stored together."""
        count = prod(self.shape)
        self.parts.room.take(count * fields)
        if count * fields * 8 > len(self.parts):
            raise ValueError("it ends early")
        arrays = [np.empty(count, object) for _ in range(fields)]
        for entry in range(count):
            for array in arrays:
                kind, content = self.parts.next()
                if kind != _MATRIX:
                    raise ValueError("an element is not a matrix")
                array[entry] = _Matrix.of(content, self.parts.room).value(depth + 1)
        return [array.reshape(self.shape, order="F") for array in arrays]

    def _field_names(self) -> list[str]:
        width, names = self.parts.numbers(), self.parts.text()
        if len(width) != 1 or width[0] < 1:
            raise ValueError("a struct without names")
        size = int(width[0])
        fields = [names[i : i + size].partition("\0")[0] for i in range(0, len(names), size)]
        if len(set(fields)) < len(fields) or not fields:
            raise ValueError("a struct with the same name twice, or with none")
        return fields
