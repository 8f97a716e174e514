"""Build dataclasses from JSON with type checks; errors name the invalid field."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from math import isfinite
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")

# The Python types that JSON may have for each annotated type.
_JSON_TYPES: dict[Any, tuple[type, ...]] = {
    str: (str,),
    bool: (bool,),
    int: (int,),
    float: (int, float),
    float | None: (int, float, type(None)),
}


class Malformed(ValueError):
    """A value is missing or of the wrong type; the message says which."""


def part(name: str, make: Callable[[], _T]) -> _T:
    """Return ``make()``; errors in it are raised as ``Malformed``, prefixed with ``name``."""
    try:
        return make()
    except KeyError as error:
        raise Malformed(f"{name}: has no {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise Malformed(f"{name}: {error}") from error


def build(kind: Callable[..., _T], **values: object) -> _T:
    """Build a dataclass; its strings, booleans and numbers must have the annotated types."""
    hints = _hints(kind)
    for name, value in values.items():
        if hints.get(name) in _JSON_TYPES and not (
            isinstance(value, _JSON_TYPES[hints[name]]) and _is_finite(value)
        ):
            raise Malformed(f"{name} is {value!r}")
    return kind(**values)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the type hints of a dataclass, by field."""
    return get_type_hints(kind)


def each(
    value: Mapping[str, Any], name: str, make: Callable[[Mapping[str, Any]], _T]
) -> tuple[_T, ...]:
    """Return ``make(entry)`` for every entry of the list ``value[name]``."""
    entries = value.get(name)
    if not isinstance(entries, list):
        raise Malformed(f"{name}: is not a list")
    return tuple(
        part(f"{name}[{index}]", partial(make, entry)) for index, entry in enumerate(entries)
    )


def number(value: object) -> float:
    """Return a finite number as a float."""
    if not (isinstance(value, int | float) and _is_finite(value)):
        raise Malformed(f"{value!r} is not a number")
    return float(value)


def _is_finite(value: object) -> bool:
    """Whether a value, if it is a number, is finite."""
    try:
        return not isinstance(value, int | float) or isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def text(value: object) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise Malformed(f"{value!r} is not a string")
    return value
