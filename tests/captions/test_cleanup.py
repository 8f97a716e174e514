"""Markup, sounds and speaker labels are removed; what only looks like them is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions.words import without_markup, words_of
from howsteps.task import Caption


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


def test_an_aside_inside_a_word_splits_it() -> None:
    assert spoken("now[Music]lift") == "now lift"


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
