"""Decode text files: byte order marks, legacy encodings, and detection of binary files."""

import codecs

from howsteps.captions.cue import LONGEST_TEXT, MOST_PARTS, Issue, UnreadableError

# Bytes. A day of captions with word times is about 10 MB; a larger file is something else.
LARGEST_FILE = 32 * 2**20

# UTF-32 before UTF-16: the mark of UTF-32-LE begins with that of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 2**16
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"
# Share of control characters above which a file is not text.
_BINARY = 0.02


def decode(data: bytes) -> tuple[str, list[Issue]]:
    r"""Decode the bytes of a text file; line ends become ``\n`` and NULs are dropped.

    Raises
    ------
    UnreadableError
        The file is empty or binary.
    """
    if not data.strip():
        raise UnreadableError("the file is empty")
    text, issues = _decode(data)
    if "\0" in text:
        issues.append(Issue("NUL bytes were dropped", _line_of(text, text.index("\0")), lost=False))
        text = text.replace("\0", "")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UnreadableError("the file is empty")
    return text, issues


def split_lines(text: str) -> list[str]:
    """Split ``text`` into lines; raise ``UnreadableError`` if they are too many or too long."""
    # Counted first: a list of millions of lines takes ten times the memory of the file.
    if (count := text.count("\n")) > MOST_PARTS:
        raise UnreadableError(f"{count:,} lines cannot be captions")
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_TEXT:
            raise UnreadableError(f"a line of {len(line):,} characters cannot be captions", number)
    return lines


def _decode(data: bytes) -> tuple[str, list[Issue]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode_replacing(data[len(mark) :], encoding)
    if utf_16 := _utf16_without_mark(data[:_SAMPLE]):
        return _decode_replacing(data, utf_16)
    if _is_binary(data[:_SAMPLE]):
        raise UnreadableError("is a binary file, not captions")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        return _decode_legacy(data)


def _decode_replacing(data: bytes, encoding: str) -> tuple[str, list[Issue]]:
    """Decode with U+FFFD for invalid bytes, and report the line of the first of them."""
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        line = _line_of(data[: error.start].decode(encoding, "replace"))
        return text, [
            Issue(f"bytes that are not {encoding.upper()} were replaced", line, lost=False)
        ]


def _utf16_without_mark(sample: bytes) -> str | None:
    """Detect UTF-16 without a byte order mark: in Western text every second byte is NUL."""
    pairs = len(sample) // 2
    high, low = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if pairs and max(high, low) > 0.7 * pairs and min(high, low) < 0.1 * pairs:
        return "utf-16-le" if low > high else "utf-16-be"
    return None


def _is_binary(sample: bytes) -> bool:
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > _BINARY * len(sample) + 2


def _decode_legacy(data: bytes) -> tuple[str, list[Issue]]:
    """Decode invalid UTF-8: as UTF-8 with a few errors, Windows-1252, or a detected encoding."""
    decoded = data.decode("utf-8", "replace")
    invalid = decoded.count("\ufffd")
    valid = len(decoded) - len(decoded.encode("ascii", "ignore")) - invalid
    if valid > invalid:
        return _decode_replacing(data, "utf-8")
    sample = data[:_SAMPLE]
    if sum(byte > 0x7F for byte in sample) < 0.2 * len(sample):
        return _decode_replacing(data, "cp1252")
    from charset_normalizer import from_bytes  # noqa: PLC0415 - rarely needed, slow to import

    # A sample is enough, and detection takes time in proportion to its input.
    guess = from_bytes(sample).best()
    return _decode_replacing(data, guess.encoding) if guess else (data.decode("latin-1"), [])


def _line_of(text: str, offset: int | None = None) -> int:
    return text.count("\n", 0, offset) + 1
