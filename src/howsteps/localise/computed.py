"""Values a video that are computed whenever one is looked at.

What is cheap to compute need not be kept: with thousands of videos, one array of T_n×K a video is
hundreds of megabytes.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

Value = TypeVar("Value")


class Computed(Sequence[Value]):
    """A sequence whose item n is ``of(n)``, every time it is asked for."""

    def __init__(self, of: Callable[[int], Value], count: int) -> None:
        self._of = of
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Value: ...
    @overload
    def __getitem__(self, number: slice) -> list[Value]: ...
    def __getitem__(self, number: int | slice) -> Value | list[Value]:
        """One value, or a list of some."""
        if isinstance(number, slice):
            return [self._of(n) for n in range(*number.indices(self._count))]
        return self._of(range(self._count)[number])

    def __iter__(self) -> Iterator[Value]:
        return map(self._of, range(self._count))
