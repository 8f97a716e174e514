"""JSON written in parts: the same value, one line per entry down to a depth, little memory."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.io.text import json_parts

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
)


@given(VALUES, st.integers(0, 4))
def test_parts_are_the_same_json(value: object, depth: int) -> None:
    assert json.loads("".join(json_parts(value, depth))) == value


def test_a_line_for_each_entry_down_to_a_depth() -> None:
    value = {"a": [{"b": [1, 2]}, {}], "c": [], "d": {}}
    text = '{\n "a": [\n  {"b": [1, 2]},\n  {}\n ],\n "c": [],\n "d": {}\n}'
    assert "".join(json_parts(value, 2)) == text
    assert "".join(json_parts(value, 9)) == json.dumps(value, indent=1)


def test_an_iterator_is_written_as_a_list_entry_by_entry() -> None:
    alive: set[int] = set()

    def entries() -> Iterator[list[int]]:
        for n in range(50):
            alive.add(n)
            yield [n]
            alive.discard(n)

    parts = []
    for part in json_parts({"all": entries()}, 2):
        parts.append(part)
        assert len(alive) <= 1
    assert json.loads("".join(parts)) == {"all": [[n] for n in range(50)]}


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        "".join(json_parts([float("nan")], 1))
