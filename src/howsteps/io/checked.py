"""Build dataclasses from JSON with type checks; errors name the invalid field."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from math import isfinite
from typing import Any, TypeVar, get_type_hints

_T = TypeVar("_T")

LATEST = 1e6  # seconds; times beyond eleven days are errors


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
        if (check := _CHECKS.get(hints.get(name))) is not None:
            try:
                values[name] = check(value)
            except Malformed:
                raise Malformed(f"{name} is {value!r}") from None
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


def field(entry: Mapping[str, Any], name: str, check: Callable[[object], _T]) -> _T:
    """Return ``check(entry[name])``; errors name the field."""
    return part(name, lambda: check(entry[name]))


def number(value: object) -> float:
    """Return a finite number as a float."""
    # bool is a subclass of int; an integer may be too large for a float.
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            if isfinite(converted := float(value)):
                return converted
    raise Malformed(f"{value!r} is not a number")


def seconds(value: object) -> float:
    """Return a time or duration of a video, in seconds."""
    if not 0.0 <= (time := number(value)) <= LATEST:
        raise Malformed(f"{value!r} is not a time in a video")
    return time


def probability(value: object) -> float:
    """Return a number from 0 to 1."""
    if not 0.0 <= (share := number(value)) <= 1.0:
        raise Malformed(f"{value!r} is not a probability")
    return share


def integer(value: object) -> int:
    """Return an integer of at most 64 bits, which arrays can hold."""
    if isinstance(value, bool) or not isinstance(value, int) or value.bit_length() > 63:
        raise Malformed(f"{value!r} is not an integer")
    return value


def text(value: object) -> str:
    """Return a string that can be written as UTF-8: one without lone surrogates."""
    if not isinstance(value, str):
        raise Malformed(f"{value!r} is not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Malformed(f"{value!r} contains a lone surrogate (half a character)") from None
    return value


def optional(check: Callable[[object], _T]) -> Callable[[object], _T | None]:
    """Return a check that also allows None."""
    return lambda value: None if value is None else check(value)


def boolean(value: object) -> bool:
    """Return True or False."""
    if not isinstance(value, bool):
        raise Malformed(f"{value!r} is neither true nor false")
    return value


# By annotated type; fields of other types are left to the caller.
_CHECKS: dict[Any, Callable[[object], Any]] = {
    str: text,
    bool: boolean,
    int: integer,
    float: number,
    float | None: optional(number),
}
