"""Formats are detected from the content; any file is read or refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions import parse_captions, read_captions
from howsteps.errors import InputError
from tests.captions.texts import parse, spans
from tests.captions.writers import (
    LINE_FORMATS,
    WORD_FORMATS,
    Narration,
    TimedWord,
    narrations,
)

NARRATION = [
    [TimedWord("take", 1000, 1400), TimedWord("off", 1400, 1700)],
    [TimedWord("the", 1700, 1900), TimedWord("wheel", 1900, 2500)],
]
WRITERS = {**LINE_FORMATS, **{f"{name} with words": pair for name, pair in WORD_FORMATS.items()}}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("suffix", [".srt", ".txt", ".json", ""])
def test_the_file_name_is_ignored(tmp_path: Path, name: str, suffix: str) -> None:
    expected, write = WRITERS[name]
    path = tmp_path / f"captions{suffix}"
    path.write_text("\ufeff" + write(NARRATION), "utf-8")
    reading = read_captions(path)
    assert reading.format == expected
    assert [line.text.split() for line in reading.captions] == [["take", "off"], ["the", "wheel"]]


def test_one_endless_cue() -> None:
    endless = "word " * 100_000
    for text in (f'[[0, 1, "{endless}"]]', f'<tt><p begin="1s">{endless}</p></tt>'):
        with pytest.raises(InputError, match=r"contains no captions: .*is too long to be"):
            parse(text)
    assert spans(f'[[0, 1, "{endless}"], [1, 2, "lift it"]]') == [(1.0, 2.0, "lift it")]


@pytest.mark.parametrize("text", ["just some prose", "{not json", "a,b,c\n1,2,3\n", "WEBVTT\n"])
def test_files_without_captions(text: str) -> None:
    with pytest.raises(InputError, match=r"^here\.txt"):
        parse(text)


@pytest.mark.slow
def test_two_thousand_cues() -> None:
    narration = [[TimedWord("word", i * 1000, i * 1000 + 900)] for i in range(2_000)]
    for _, write in WRITERS.values():
        assert len(parse(write(narration)).captions) == 2_000


@pytest.mark.slow
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_anything_is_read_or_refused(data: bytes) -> None:
    try:
        parse_captions(data, "here")
    except InputError as error:
        refused = str(error)
        assert refused.startswith("here")


@given(
    narration=narrations(),
    name=st.sampled_from(sorted(WRITERS)),
    start=st.integers(0, 2000),
    length=st.integers(0, 30),
    noise=st.binary(max_size=10) | st.sampled_from([b"\n\n", b"-->", b"<", b'"', b"\0", b"{}"]),
)
def test_a_damaged_file_is_read_or_refused(
    narration: Narration, name: str, start: int, length: int, noise: bytes
) -> None:
    data = WRITERS[name][1](narration).encode()
    damaged = data[:start] + noise + data[start + length :]
    try:
        reading = parse_captions(damaged, "here")
    except InputError:
        return
    assert all(0 <= line.start <= line.end for line in reading.captions)
