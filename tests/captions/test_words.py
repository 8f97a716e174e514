"""Captions become words: cleaned, each once, with times in order."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions.cues import Piece
from howsteps.captions.words import Screen, first_shown, without_markup, words_of
from howsteps.task import Caption, Word

TIMES = st.floats(0, 100)


@st.composite
def captions(draw: st.DrawFn) -> Caption:
    start, end = draw(TIMES), draw(TIMES)
    lines = draw(st.lists(st.lists(st.sampled_from(["no", "go", "so"]), max_size=4), max_size=3))
    text = "\n".join(" ".join(line) for line in lines)
    words = tuple(Word(word, draw(TIMES), draw(TIMES)) for word in text.split())
    return Caption(start, max(start, end), text, words if draw(st.booleans()) else ())


def line(start: float, end: float, text: str, *words: tuple[str, float, float]) -> Caption:
    return Caption(start, end, text, tuple(Word(*word) for word in words))


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        (  # time is distributed by length
            [line(0, 12, "a bcd efghi")],
            [("a", 0, 2), ("bcd", 2, 6), ("efghi", 6, 12)],
        ),
        (  # a line ends where the next one starts
            [line(0, 9, "one two"), line(4, 12, "six ten")],
            [("one", 0, 2), ("two", 2, 4), ("six", 4, 8), ("ten", 8, 12)],
        ),
        (  # lines that start together share their time
            [line(0, 8, "one two"), line(0, 8, "six ten")],
            [("one", 0, 2), ("two", 2, 4), ("six", 4, 6), ("ten", 6, 8)],
        ),
        (  # words before the timed ones get the time before
            [line(0, 4, "one two\nsix", ("six", 2, 3))],
            [("one", 0, 1), ("two", 1, 2), ("six", 2, 3)],
        ),
        (  # words take precedence over a different line
            [line(0, 2, "one too", ("one", 0, 1), ("two", 1, 2))],
            [("one", 0, 1), ("two", 1, 2)],
        ),
        ([line(0, 12, "[Music] now")], [("now", 8, 12)]),  # sounds have their share of the time
        (
            [
                line(0, 2, " \n[Music]"),
                line(2, 2.01, "[Music]\n "),
                line(2.01, 4.41, "[Music]\n<i>jack &amp; lift</i>"),
                line(4.41, 4.42, "jack &amp; lift\n "),
            ],
            [("jack", 2.01, 3.01), ("&", 3.01, 3.41), ("lift", 3.41, 4.41)],
        ),
    ],
)
def test_words_and_their_times(lines: list[Caption], read: list) -> None:
    found = words_of(lines)
    assert [word.text for word in found] == [text for text, *_ in read]
    times = [time for word in found for time in (word.start, word.end)]
    assert times == pytest.approx([time for _, *span in read for time in span])


@given(st.lists(captions(), max_size=6))
def test_times_are_in_order(lines: list[Caption]) -> None:
    words = words_of(lines)
    assert all(0 <= word.start <= word.end for word in words)
    assert all(first.end <= second.start for first, second in pairwise(words))


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<i>lift</i> <b>it</b>", "lift it"),
        ('<font color="#fff">lift</font>', "lift"),
        ("<c.colorE5E5E5>lift</c>", "lift"),
        ("lift<00:00:01.000> it", "lift it"),
        (r"{\an8}{\i1}lift{\i0}", "lift"),
        (r"lift\Nit", "lift\nit"),
        ("salt &amp; pepper &#39;n&#x27; oil&nbsp;&lt;hot&gt;", "salt & pepper 'n' oil\xa0<hot>"),
        ("\u200bzero\u200b width\ufeff soft\u00adhyphen", "zero width softhyphen"),
        ("3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
        ("I <3 it", "I <3 it"),
        ("AT&T; {curly} &unknown;", "AT&T; {curly} &unknown;"),
    ],
)
def test_plain(text: str, seen: str) -> None:
    assert without_markup(text) == seen


def spoken(*texts: str) -> str:
    lines = [Caption(2.0 * i, 2.0 * i + 2, text) for i, text in enumerate(texts)]
    return " ".join(word.text for word in words_of(lines))


@pytest.mark.parametrize(
    "text",
    [
        "[Music]",
        "[ __ ]",
        "[chewing and savouring]",
        "(applause)",
        "(upbeat pop music)",
        "(speaks in French)",
        "(April laughs)",
        "*sighs*",
        "♪",
        "♪ la la la ♪",
        "🎵 la la 🎶",
        "-",
        "...",
        ">>",
    ],
)
def test_asides_are_removed(text: str) -> None:
    assert spoken(text) == ""
    assert spoken(f"now {text} lift").replace("...", "") == "now lift"


def test_an_aside_can_span_lines_and_captions() -> None:
    assert spoken("now (upbeat\nmusic) lift") == "now lift"
    assert spoken("now [upbeat", "music] lift") == "now lift"


@pytest.mark.parametrize(
    "text",
    [
        "add butter (optional) or (200 g) oil",
        "two * three",
        "it is 3 < 4 > 2",
        "mix 1 & 2 at 180 ° or 50 %",
        "Step 2: remove it",
        "STEP 2: remove it",
        "TIP: use a jack",
        "For the topping: nuts",
        "TOOLS:",
        "at 10:30 we stop",
        "a well-known three-quarter turn",
        "-5 degrees",
        "so: turn",
        "WARNING: IT IS HOT",
    ],
)
def test_spoken_text_is_kept(text: str) -> None:
    assert spoken(text) == text.replace(" * ", " ").replace(" < ", " ").replace(" > ", " ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">> hello", "hello"),
        ("&gt;&gt; hello", "hello"),
        (">>> hello >> hi", "hello hi"),
        (">> John: hello", "hello"),
        (">> JOHN SMITH: HELLO", "HELLO"),
        ("- hello\n- hi", "hello hi"),
        ("-Hello\n–Hi", "Hello Hi"),
        ("- Anna: hello", "hello"),
        ("JOHN: hello", "hello"),
        ("DR. JONES: hello", "hello"),
        ("Narrator: hello", "hello"),
        ("Speaker 2: hello", "hello"),
        ("[Music] NARRATOR: hello", "hello"),
        ("[John]: hello", "hello"),
        ("<v Mary>hello</v>", "hello"),
    ],
)
def test_speaker_labels(text: str, expected: str) -> None:
    assert spoken(text) == expected


def test_separate_punctuation_joins_the_word_before() -> None:
    assert spoken("stop , now !") == "stop, now!"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[Music]", "(", "[", "*", "♪", ">>", "- ", "A", "<", "&", "\n(\n"]
)
def test_linear_time(text: str) -> None:
    spoken(*[text] * 10_000)
    spoken(text * 20_000)


@given(st.text("ab [](){}*♪>-:AB\n", max_size=60))
def test_any_mixture_of_marks(text: str) -> None:
    letters = "".join(char for char in spoken(text) if char.isalpha())
    remaining = iter(char for char in text if char.isalpha())
    assert all(letter in remaining for letter in letters), "words may be dropped, never made up"


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


def each_second(*texts: str) -> list[tuple[float, float, str]]:
    return [(n, n + 1, text) for n, text in enumerate(texts)]


ROLLED = [(0, 2, "a"), (2, 4, "a/no")]
REFRAIN = ("no", "no no", "then go on", "and turn it", "all the way")
TWICE = ("take it off", "take it off/and wait", "put it on", "turn the key", "drive off")


@pytest.mark.parametrize(
    ("shown", "new"),
    [
        ([(0, 2, "a b"), (2, 4, "a b/c d"), (4, 6, "c d/e f")], "a b | c d | e f"),
        ([*ROLLED, (4, 6, "/no"), (6, 8, "no/b")], "a | no | no | b"),  # said again
        ([*ROLLED, (5, 6, "no"), (6, 8, "no/b")], "a | no | no | b"),  # after a pause
        ([(0, 2, "a"), (2, 4, "a/b"), (4, 6, "b"), (6, 8, "b/c")], "a | b |  | c"),
        ([(0, 2, "a"), (0, 2, "a"), (0, 2, "b"), (3, 4, "a")], "a | b | a"),
        (each_second("turn", "turn", "turn", "stop"), "turn | turn | turn | stop"),
        (each_second(*REFRAIN), " | ".join(REFRAIN)),
        (each_second(*TWICE), " | ".join(TWICE).replace("/", " ")),  # once is not rolling
    ],
)
def test_a_line_that_is_still_shown_is_not_said_again(shown: list, new: str) -> None:
    assert new_words(*shown) == new
