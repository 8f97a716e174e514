"""An alignment as columns of text."""

from howsteps.script import columns

SLOTS = ((0, 1, 3), (1, 2), ())
WORDS = (("fill tub", "catch cat", "dry cat"), ("catch cat", "rinse cat"), ())


def test_words_that_share_a_slot_stand_under_one_another() -> None:
    assert columns(SLOTS, WORDS).splitlines() == [
        "1         2          1          1",
        "fill tub  catch cat  ·          dry cat",
        "·         catch cat  rinse cat  ·",
        "·         ·          ·          ·",
    ]


def test_rare_slots_and_long_words_are_cut() -> None:
    assert columns(SLOTS, WORDS, least=2, width=5).splitlines() == ["2", "catch", "catch", "·"]
