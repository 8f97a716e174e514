"""Words of rolling lines are kept once; lines that are spoken twice are kept twice."""

from howsteps.captions.cues import Piece
from howsteps.captions.words import Screen, first_shown


def screens(*shown: tuple[float, float, str]) -> list[Screen]:
    return [
        Screen(
            start,
            end,
            tuple(tuple(map(Piece, line.split())) for line in text.split("/")),
        )
        for start, end, text in shown
    ]


def new_words(*shown: tuple[float, float, str]) -> str:
    """The new words of each screen, with bars between screens."""
    return " | ".join(
        " ".join(word.text for line in screen.lines for word in line)
        for screen in first_shown(screens(*shown))
    )


def test_lines_that_roll_up() -> None:
    assert new_words((0, 2, "a b"), (2, 4, "a b/c d"), (4, 6, "c d/e f")) == "a b | c d | e f"


def test_flashes_carry_lines_over() -> None:
    assert (
        new_words((0, 2, "/a b"), (2, 2.01, "a b/"), (2.01, 4, "a b/c d"), (4, 4.01, "c d/"))
        == "a b |  | c d | "
    )


def test_a_line_repeated_while_lines_roll() -> None:
    assert new_words((0, 2, "no"), (2, 4, "no/no"), (4, 6, "no/no"), (6, 8, "no/yes")) == (
        "no | no | no | yes"
    )


def test_a_line_repeated_after_the_screen_was_cleared() -> None:
    rolled = [(0.0, 2.0, "a"), (2.0, 4.0, "a/no")]
    assert new_words(*rolled, (4, 6, "/no"), (6, 8, "no/b")) == "a | no | no | b"
    assert new_words(*rolled, (5, 6, "no"), (6, 8, "no/b")) == "a | no | no | b"


def test_a_line_that_stays() -> None:
    assert new_words((0, 2, "a"), (2, 4, "a/b"), (4, 6, "b"), (6, 8, "b/c")) == "a | b |  | c"


def test_lines_that_grow() -> None:
    shown = ["the", "the lug", "the lug nut", "the lug nut/is", "the lug nut/is off", "is off/so"]
    cues = [(i, i + 1, text) for i, text in enumerate(shown)]
    assert new_words(*cues) == "the | lug | nut | is | off | so"


def test_refrains_are_kept() -> None:
    assert new_words((0, 1, "turn"), (1, 2, "turn"), (2, 3, "turn"), (3, 4, "stop")) == (
        "turn | turn | turn | stop"
    )
    lines = ["no", "no no", "then go on", "and turn it", "all the way"]
    cues = [(i, i + 1, text) for i, text in enumerate(lines)]
    assert new_words(*cues) == " | ".join(lines)


def test_one_repetition_is_not_rolling() -> None:
    lines = ["take it off", "take it off/and wait", "put it on", "turn the key", "drive off"]
    cues = [(i, i + 1, text) for i, text in enumerate(lines)]
    assert (
        new_words(*cues)
        == "take it off | take it off and wait | put it on | turn the key | drive off"
    )


def test_duplicate_cues() -> None:
    assert new_words((0, 2, "a"), (0, 2, "a"), (0, 2, "b"), (3, 4, "a")) == "a | b | a"
