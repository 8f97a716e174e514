"""Timings: seconds added up by name."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias, TypeVar

Timings: TypeAlias = defaultdict[str, float]
Item = TypeVar("Item")


@contextmanager
def timed(timings: Timings, name: str) -> Iterator[None]:
    """Add the seconds spent inside the block."""
    began = perf_counter()
    yield
    timings[name] += perf_counter() - began


def timed_each(items: Iterable[Item], timings: Timings, name: str) -> Iterator[Item]:
    """Yield the same items; add the seconds that it takes to produce them."""
    iterator = iter(items)
    while True:
        began = perf_counter()
        try:
            item = next(iterator)
        except StopIteration:
            return
        finally:
            timings[name] += perf_counter() - began
        yield item
