"""Values of JSON are checked for type, range and finiteness before a dataclass is built."""

from dataclasses import dataclass

import pytest

from howsteps.io.checked import Malformed, build, integer, number, probability, seconds, text


@dataclass(frozen=True)
class Entry:
    label: str = ""
    count: int = 0
    optional: bool = False
    score: float = 0.0
    limit: float | None = None
    rest: tuple[object, ...] = ()


def test_numbers_become_floats() -> None:
    entry = build(Entry, label="a", count=2, optional=True, score=3, limit=4, rest=(object,))
    assert entry == Entry("a", 2, True, 3.0, 4.0, (object,))
    assert isinstance(entry.score, float)
    assert isinstance(entry.limit, float)
    assert build(Entry, limit=None).limit is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", 3),
        ("label", "half \ud800"),
        ("count", 1.0),
        ("count", True),
        ("count", 2**63),
        ("optional", 1),
        ("score", None),
        ("score", True),
        ("score", float("nan")),
        ("score", 10**400),
        ("limit", "1"),
    ],
)
def test_the_invalid_field_is_named(field: str, value: object) -> None:
    with pytest.raises(Malformed, match=f"^{field} is "):
        build(Entry, **{field: value})


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (number, 1e300, "1"),
        (seconds, 21_600, 1e7),
        (seconds, 0.0, -0.5),
        (seconds, 1e6, float("inf")),
        (probability, 1, 1.01),
        (probability, 0.0, -1e-9),
        (integer, -5, 1e3),
        (text, "émoi", b"a"),
    ],
)
def test_values_out_of_range_are_refused(check, good, bad) -> None:
    assert check(good) == good
    with pytest.raises(Malformed, match="is not"):
        check(bad)
