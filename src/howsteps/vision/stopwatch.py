"""Where the time goes: seconds added up by what they were spent on."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeAlias, TypeVar

Spent: TypeAlias = defaultdict[str, float]
Item = TypeVar("Item")


@contextmanager
def timed(spent: Spent, what: str) -> Iterator[None]:
    """Add the seconds inside the block."""
    began = perf_counter()
    yield
    spent[what] += perf_counter() - began


def timed_each(items: Iterable[Item], spent: Spent, what: str) -> Iterator[Item]:
    """The same items; the seconds that each takes to come are added."""
    came = iter(items)
    while True:
        began = perf_counter()
        try:
            item = next(came)
        except StopIteration:
            return
        finally:
            spent[what] += perf_counter() - began
        yield item
