"""Names are made safe and unique, and changes are reported."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.datasets.names import Names, portable, split_language


@pytest.mark.parametrize(
    ("stem", "parts"),
    [
        ("abc", ("abc", "")),
        ("abc.en", ("abc", "en")),
        ("abc.en-US", ("abc", "en-us")),
        ("abc.zh_Hans", ("abc", "zh-hans")),
        ("Change a tyre [x1].en-orig", ("Change a tyre [x1]", "en-orig")),
        ("part.one", ("part.one", "")),
        ("v1.2", ("v1.2", "")),
        (".en", (".en", "")),
    ],
)
def test_languages_in_file_names(stem: str, parts: tuple[str, str]) -> None:
    assert split_language(stem) == parts


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("../etc", "_etc"), ("a/b", "a_b"), ("a\nb", "a_b"), ("", "video"), (7, "7")],
)
def test_unsafe_names_are_changed(wanted: object, name: str) -> None:
    assert Names("video").give(wanted)[0] == name


def test_names_that_are_used_twice() -> None:
    names = Names("video")
    assert names.give("a") == ("a", None)
    assert names.give("a") == ("a-2", "the video name 'a' is used twice; called 'a-2'")
    assert names.give("A")[0] == "A-3"
    assert names.give(None) == ("video", "a video without a name is called 'video'")


@given(st.lists(st.text() | st.none() | st.integers(), max_size=8))
def test_any_names(wanted: list[object]) -> None:
    names = Names("video")
    given_out = [names.give(one)[0] for one in wanted]
    assert len({name.casefold() for name in given_out}) == len(wanted)
    for name in given_out:
        name.encode("utf-8")
        assert name
        assert not name.startswith(".")
        assert not set(name) & set("/\\\n\0")


def test_names_fit_a_file_system() -> None:
    name, changed = Names("video").give("轮" * 120)
    assert len(name.encode()) <= 160
    assert changed is not None


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a:b", "a_b"),
        ('what?"*<x>|', "what____x__"),
        ("CON", "_CON"),
        ("con.en", "_con.en"),
        ("lpt1", "_lpt1"),
        ("console", "console"),
        ("e\u0301te", "\u00e9te"),
        ("so on...", "so on_"),
        ("変える [a-b_c]", "変える [a-b_c]"),
    ],
)
def test_names_that_every_system_accepts(name: str, written: str) -> None:
    assert portable(name) == written
