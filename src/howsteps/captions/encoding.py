"""From the bytes of a file to its text: binary files, byte order marks and legacy encodings."""

import codecs

from howsteps.captions.cue import LONGEST_TEXT, Flaw, UnreadableError

# Bytes. A day of captions with word times is about 10 MB; a larger file is something else.
LARGEST_FILE = 32 * 2**20
# A day of captions, one every second, each with a number, times, two lines and a break.
MOST_LINES = 500_000

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


def decode(data: bytes) -> tuple[str, list[Flaw]]:
    r"""Turn the bytes of a text file into text with ``\n`` line ends and without NULs.

    Raises
    ------
    UnreadableError
        The file is empty or binary.
    """
    if not data.strip():
        raise UnreadableError("the file is empty")
    text, flaws = _decoded(data)
    if "\0" in text:
        flaws.append(Flaw("NUL bytes were dropped", _line_of(text, text.index("\0")), lost=False))
        text = text.replace("\0", "")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UnreadableError("the file is empty")
    return text, flaws


def split_lines(text: str) -> list[str]:
    """Split ``text`` into lines; raise ``UnreadableError`` if they are too many or too long."""
    # Counted first: a list of millions of lines takes ten times the memory of the file.
    if (count := text.count("\n")) > MOST_LINES:
        raise UnreadableError(f"{count:,} lines cannot be captions")
    found = text.split("\n")
    for number, line in enumerate(found, 1):
        if len(line) > LONGEST_TEXT:
            raise UnreadableError(f"a line of {len(line):,} characters cannot be captions", number)
    return found


def _decoded(data: bytes) -> tuple[str, list[Flaw]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _forgiving(data[len(mark) :], encoding)
    if unmarked := _unmarked_utf16(data[:_SAMPLE]):
        return _forgiving(data, unmarked)
    if _is_binary(data[:_SAMPLE]):
        raise UnreadableError("is a binary file, not captions")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        return _legacy(data)


def _forgiving(data: bytes, encoding: str) -> tuple[str, list[Flaw]]:
    """Decode, with U+FFFD for invalid bytes, and name the line of the first of them."""
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError as error:
        text = data.decode(encoding, "replace")
        line = _line_of(data[: error.start].decode(encoding, "replace"))
        return text, [
            Flaw(f"bytes that are not {encoding.upper()} were replaced", line, lost=False)
        ]


def _unmarked_utf16(sample: bytes) -> str | None:
    """UTF-16 of western text has a NUL in every second byte."""
    pairs = len(sample) // 2
    high, low = sample[0 : 2 * pairs : 2].count(0), sample[1 : 2 * pairs : 2].count(0)
    if pairs and max(high, low) > 0.7 * pairs and min(high, low) < 0.1 * pairs:
        return "utf-16-le" if low > high else "utf-16-be"
    return None


def _is_binary(sample: bytes) -> bool:
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls > _BINARY * len(sample) + 2


def _legacy(data: bytes) -> tuple[str, list[Flaw]]:
    """Bytes that are not UTF-8: UTF-8 with a few errors, Windows-1252, or what a detector says."""
    decoded = data.decode("utf-8", "replace")
    invalid = decoded.count("\ufffd")
    valid = len(decoded) - len(decoded.encode("ascii", "ignore")) - invalid
    if valid > invalid:
        return _forgiving(data, "utf-8")
    sample = data[:_SAMPLE]
    if sum(byte > 0x7F for byte in sample) < 0.2 * len(sample):
        return _forgiving(data, "cp1252")
    from charset_normalizer import from_bytes  # noqa: PLC0415 - rarely needed, slow to import

    # The detector's time grows with its input; the first bytes tell the encoding.
    guess = from_bytes(sample).best()
    return _forgiving(data, guess.encoding) if guess else (data.decode("latin-1"), [])


def _line_of(text: str, offset: int | None = None) -> int:
    return text.count("\n", 0, offset) + 1
