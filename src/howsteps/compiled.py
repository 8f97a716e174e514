"""Compile functions with Numba, keeping their static types."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from howsteps.errors import HowstepsError

try:
    import numba
except ValueError as error:  # an environment variable such as NUMBA_NUM_THREADS=0
    raise HowstepsError(f"Numba cannot be loaded: {error}") from error

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile ``function`` on first use, and cache the machine code next to its file.

    Of fast-math, only fused multiply-add is allowed: dynamic programming uses infinity for
    "unreachable", and sums must have the same order in every run.
    """
    try:
        return cast(Function, numba.njit(cache=True, fastmath={"contract"})(function))
    except RuntimeError:  # no cache: neither the package nor the home folder is writable
        return cast(Function, numba.njit(fastmath={"contract"})(function))
