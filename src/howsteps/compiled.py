"""Loops compiled by Numba, with the type of the Python function they come from."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile ``function`` on first use and keep the machine code beside its file.

    Products and sums may be fused, nothing more: infinity keeps its meaning, because the dynamic
    programme uses it as the state "cannot be reached", and sums keep their order from run to run.
    """
    try:
        return cast(Function, numba.njit(cache=True, fastmath={"contract"})(function))
    except RuntimeError:  # nowhere to keep it: neither the package nor a home can be written
        return cast(Function, numba.njit(fastmath={"contract"})(function))
