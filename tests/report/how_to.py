"""Reads every figure and every quote of a how-to back from the captions."""

import re
from collections.abc import Sequence
from html import unescape

_SAID_IN = r"\*\*\d+\. (.*)\.\*\* Said in (\d+) of (\d+)"
_QUOTE = r"“(.*?)” – \[?(.*?), [\d:]+(?:\]\(\S*\))?"
# The lines that have figures of their own, besides those in quotes and links.
_WITH_FIGURES = (
    r"# .*|Drawn from what the narrators of \d+ videos? say.*|\d+\. (or: )?\*\*.*|!\[Step \d+\].*|"
    r"\* .* \(\d+ of \d+ videos?\)|\*\*.*\*\* (Said.* in \d+ of )?\d+ videos?:|See .*"
)


def check_how_to(text: str, captions: Sequence[tuple[str, str]]) -> None:
    """Check a how-to in Markdown against the title of each video, and what its narrator says."""
    text = re.sub(r"\\([\\`*_\[\]~#])", r"\1", unescape(text))
    said = [(" ".join(title.split()), _plain(words)) for title, words in captions]
    quotes = re.findall(_QUOTE, text)
    assert quotes
    for line in text.splitlines():
        if re.search(r"\d", re.sub(_QUOTE, "", line)):
            assert re.fullmatch(_WITH_FIGURES, line.strip()), f"not checked: {line}"
    for quote, title in quotes:
        assert any(_plain(quote.strip("… ")) in words for name, words in said if name == title)
    for thing, number in re.findall(r"^\* ([^“].*) \((\d+) of \d+ videos?\)$", text, re.MULTILINE):
        sayers = [words for _, words in said if f" {thing.rstrip('s')}" in words]
        assert 2 <= int(number) <= len(sayers), thing
    # Some say a step in other words than those of its name.
    for sentence, number, total in re.findall(_SAID_IN, text):
        assert 1 <= int(number) <= int(total) == len(said), sentence


def _plain(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9]+', text.lower()))}"
