"""A sequence whose items are computed on access and never kept.

With thousands of videos, one T_n×K array per video would take hundreds of megabytes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

Value = TypeVar("Value")


class LazySequence(Sequence[Value]):
    """A sequence whose item n is ``compute(n)``, computed anew on every access."""

    def __init__(self, compute: Callable[[int], Value], length: int) -> None:
        self._compute = compute
        self._length = length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value]: ...
    def __getitem__(self, index: int | slice) -> Value | list[Value]:
        """Return one value, or a list of values for a slice."""
        if isinstance(index, slice):
            return [self._compute(n) for n in range(*index.indices(self._length))]
        return self._compute(range(self._length)[index])

    def __iter__(self) -> Iterator[Value]:
        return map(self._compute, range(self._length))
