"""Bytes are decoded, or refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.captions.cues import decode
from howsteps.errors import InputError

TEXT = "1\n00:00:01,000 --> 00:00:02,000\nsauté the jalapeño\n"


@pytest.mark.parametrize(
    "name",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "latin-1"],
)
def test_common_encodings(name: str) -> None:
    assert decode(TEXT.encode(name)) == (TEXT, [])


def test_windows_1252_punctuation() -> None:
    text = "He said “don’t stop” – and so we went on with the next wheel…"
    assert decode(text.encode("cp1252"))[0] == text


def test_other_encodings_are_detected() -> None:
    russian = "Снимите колесо и положите его под машину, затем поставьте запасное колесо. " * 5
    assert decode(russian.encode("cp1251"))[0] == russian


def test_utf8_with_an_invalid_byte_stays_utf8() -> None:
    data = "crème\nbrûlée\nd'été\n".encode() + b"caf\xe9\n"
    text, (remark,) = decode(data)
    assert text == "crème\nbrûlée\nd'été\ncaf\ufffd\n"
    assert remark.line == 4


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_are_normalised(end: str) -> None:
    assert decode(TEXT.replace("\n", end).encode())[0] == TEXT


def test_nul_bytes_are_dropped_and_reported() -> None:
    text, (remark,) = decode(b"first\nsec\0ond\n")
    assert text == "first\nsecond\n"
    assert (remark.reason, remark.line) == ("NUL bytes were dropped", 2)


@pytest.mark.parametrize("data", [b"", b" \n\n ", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff\xfe\n\x00"])
def test_empty_files(data: bytes) -> None:
    with pytest.raises(InputError, match="empty"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 1000,
        bytes(range(256)) * 10,
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06",
        b"\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x86\x81\x01B\xf7\x81\x01",
    ],
)
def test_binary_files(data: bytes) -> None:
    with pytest.raises(InputError, match="binary"):
        decode(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_decoded_or_refused(data: bytes) -> None:
    try:
        text, _ = decode(data)
    except InputError:
        return
    assert text.strip()
    assert "\0" not in text
    assert "\r" not in text
    text.encode("utf-8")
