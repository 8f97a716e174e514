"""Acts with their objects, places and tools, one construction at a time."""

import pytest

from howsteps.narration import parser
from howsteps.narration.mentions import act_mentions
from howsteps.task import Mention, Place, Video, Word


def mentions_in(text: str) -> list[Mention]:
    """The mentions in a text with a word every half second."""
    words = [Word(word, n / 2, n / 2 + 0.5) for n, word in enumerate(text.split())]
    [passages] = parser.parse_narrations(parser.load_parser(), [words])
    return act_mentions(Video("v"), passages).mentions


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        # Objects: each of a list is an act of its own, pronouns are resolved, durations are none.
        ("remove the nuts and the wheel", ["remove nut", "remove wheel"]),
        ("wash the potatoes then peel them", ["wash potato", "peel potato"]),
        ("mix everything together", ["mix"]),
        ("cook ten minutes", ["cook"]),
        ("i think so", []),
        # A helper verb is not an act.
        ("go ahead and loosen the nuts", ["loosen nut"]),
        ("you want to loosen the nuts", ["loosen nut"]),
        ("make sure you loosen the nuts", ["loosen nut"]),
        ("start loosening the nuts", ["loosen nut"]),
        ("let's loosen the nuts", ["loosen nut"]),
        ("take off the lid and stir the soup", ["take lid", "stir soup"]),
    ],
)
def test_acts(text: str, acts: list[str]) -> None:
    assert [f"{m.verb} {m.noun}".strip() for m in mentions_in(text)] == acts


@pytest.mark.parametrize(
    ("text", "verb", "noun", "places"),
    [
        ("then go around the thumb three times", "go", "", [("around", "thumb")]),
        ("put the bread in the pan", "put", "bread", [("in", "pan")]),
        ("in a large bowl you mix the flour", "mix", "flour", [("in", "bowl")]),
        ("put the cheese on top of the rice", "put", "cheese", [("on top of", "rice")]),
        ("flip the steak in ten minutes", "flip", "steak", []),
        ("take the paper and fold it in half", "fold", "paper", [("in", "half")]),
    ],
)
def test_places(text: str, verb: str, noun: str, places: list[tuple[str, str]]) -> None:
    act = [mention for mention in mentions_in(text) if mention.verb == verb][-1]
    assert (act.noun, act.places) == (noun, tuple(Place(*place) for place in places))


@pytest.mark.parametrize(
    ("text", "act", "tools", "modifiers"),
    [
        ("use a knife to cut the apple", "cut apple", ("knife",), ()),
        ("wash the plate then take a towel and dry the plate", "dry plate", ("towel",), ()),
        ("loosen the lug nuts with the wrench", "loosen nut", ("wrench",), ("lug",)),
        ("wash the left thumb", "wash thumb", (), ("left",)),
    ],
)
def test_tools_and_modifiers(
    text: str, act: str, tools: tuple[str, ...], modifiers: tuple[str, ...]
) -> None:
    found = [m for m in mentions_in(text) if m.verb == act.split(maxsplit=1)[0]][-1]
    assert (f"{found.verb} {found.noun}", found.tools, found.modifiers) == (act, tools, modifiers)


def test_the_object_of_let_is_the_object_of_the_act() -> None:
    [rest] = mentions_in("let the steak rest for five minutes")
    assert (rest.verb, rest.noun, rest.phrase) == ("rest", "steak", "let the steak rest")
    [put] = mentions_in("put the bread in the pan")
    assert put.phrase == "put the bread in the pan"
