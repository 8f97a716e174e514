"""Compilation of the inner loops."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Compile a function on arrays with Numba, keep its type, and keep the machine code on disk."""
    return cast(F, njit(cache=True)(function))
