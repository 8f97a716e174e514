"""Values out of JSON, checked: each is of its kind, or the error says which is not."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import isfinite
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")

# What JSON may hold for a field of each kind: whole numbers are numbers too.
_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    float | None: (int, float, type(None)),
}


class Malformed(ValueError):
    """A value is missing or not of its kind; the message says which."""


def part(name: str, make: Callable[[], _T]) -> _T:
    """Make one part; an error in it is raised with its name."""
    try:
        return make()
    except KeyError as error:
        raise Malformed(f"{name}: has no {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"{name}: {error}") from error


def made(kind: Callable[..., _T], **values: object) -> _T:
    """A value of a dataclass, whose numbers and texts must be of their types."""
    wanted = _hints(kind)
    for name, value in values.items():
        if wanted.get(name) in _PLAIN and not (
            isinstance(value, _PLAIN[wanted[name]]) and _is_finite(value)
        ):
            raise Malformed(f"{name} is {value!r}")
    return kind(**values)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    return get_type_hints(kind)


def each(
    value: Mapping[str, Any], name: str, make: Callable[[Mapping[str, Any]], _T]
) -> tuple[_T, ...]:
    """Make a value of every entry of a list."""
    entries = value.get(name)
    if not isinstance(entries, list):
        raise Malformed(f"{name}: is not a list")
    return tuple(
        part(f"{name}[{place}]", partial(make, entry)) for place, entry in enumerate(entries)
    )


def number(value: object) -> float:
    """A finite number."""
    if not (isinstance(value, int | float) and _is_finite(value)):
        raise Malformed(f"{value!r} is not a number")
    return float(value)


def _is_finite(value: object) -> bool:
    """Whether a value, if it is a number, is finite."""
    try:
        return not isinstance(value, int | float) or isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Malformed(f"{value!r} is not a text")
    return value
