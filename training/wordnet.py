"""Compact WordNet's database files into the tables that howsteps ships.

One command, with WordNet 3.0 from Debian's package ``wordnet-base``::

    apt-get install wordnet-base
    python -m training.wordnet /usr/share/wordnet

It reads ``data.*``, ``index.*``, ``*.exc`` and ``cntlist.rev`` (their formats are described in the
manual pages wndb(5), morphy(7) and cntlist(5)) and writes ``wordnet.npz`` and, from the head of
``data.noun``, the licence beside it. The same files give the same bytes.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from howsteps.errors import HowstepsError, InputError
from howsteps.narration.wordnet import PARTS_OF_SPEECH, PartOfSpeech, Tables

SHIPPED = Path(__file__).parents[1] / "src/howsteps/narration"

_HYPERNYM = ("@", "@i")
_SIMILAR = "&"
_SATELLITE = "s"  # an adjective that is defined by the one at the head of its cluster
_POS: dict[str, PartOfSpeech] = {
    "n": "noun",
    "v": "verb",
    "a": "adj",
    _SATELLITE: "adj",
    "r": "adv",
}
_DIGIT = {"n": 1, "v": 2, "a": 3, "r": 4, _SATELLITE: 5}

SynsetKey = tuple[PartOfSpeech, int]
"""How the files name a synset: its part of speech and its offset in the data file."""
Entry = tuple[PartOfSpeech, str]
"""A lemma or an irregular form in one part of speech."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A link from a synset, or from one of its words, to another."""

    symbol: str
    target: SynsetKey
    source_word: int
    target_word: int


@dataclass(frozen=True, slots=True)
class Synset:
    """One line of a data file."""

    key: SynsetKey
    kind: str
    file: int
    words: tuple[str, ...]
    word_ids: tuple[int, ...]
    pointers: tuple[Pointer, ...]


@dataclass(frozen=True, slots=True)
class Database:
    """The contents of the files, by part of speech in the order of the tables."""

    synsets: list[Synset]
    entries: dict[Entry, list[SynsetKey]]
    tag_counts: dict[str, int]
    exceptions: dict[Entry, list[str]]


def parsed(path: Path, parse: Callable[[str], T]) -> Iterator[T]:
    """Parse every line of a database file after its licence; an error names the line."""
    try:
        text = path.read_text(encoding="ascii")
    except OSError as error:
        raise InputError(path, "a file of the WordNet database is missing") from error
    except UnicodeDecodeError as error:
        raise InputError(path, "is not a WordNet database file (not ASCII)") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("  "):
            try:
                yield parse(line)
            except (IndexError, KeyError, ValueError) as error:
                raise InputError(path, f"is not in WordNet's format ({error})", number) from error


def parse_synset(line: str) -> Synset:
    """Read a line of a data file."""
    fields = line.partition(" | ")[0].split()
    end_of_words = 4 + 2 * int(fields[3], 16)
    # Adjectives may carry their position in the sentence: "galore(ip)".
    words = tuple(word.partition("(")[0].lower() for word in fields[4:end_of_words:2])
    pointers = []
    first = end_of_words + 1
    for at in range(first, first + 4 * int(fields[end_of_words]), 4):
        symbol, offset, target_pos, words_joined = fields[at : at + 4]
        source, target = int(words_joined[:2], 16), int(words_joined[2:], 16)
        pointers.append(Pointer(symbol, (_POS[target_pos], int(offset)), source, target))
    return Synset(
        key=(_POS[fields[2]], int(fields[0])),
        kind=fields[2],
        file=int(fields[1]),
        words=words,
        word_ids=tuple(int(number, 16) for number in fields[5:end_of_words:2]),
        pointers=tuple(pointers),
    )


def parse_entry(line: str) -> tuple[Entry, list[SynsetKey]]:
    """Read a line of an index file: a lemma and its synsets in the order of its senses."""
    fields = line.split()
    pos, count = _POS[fields[1]], int(fields[2])
    return (pos, fields[0]), [(pos, int(offset)) for offset in fields[len(fields) - count :]]


def parse_count(line: str) -> tuple[str, int]:
    """Read a line of the tag counts: the key of a sense, and how often it was tagged."""
    key, _, count = line.split()
    return key, int(count)


def parse_exception(line: str) -> tuple[str, list[str]]:
    """Read a line of an exception list: an irregular form and its lemmas."""
    form, *lemmas = line.split()
    if not lemmas:
        raise ValueError(f"no lemma for {form}")
    return form, lemmas


def read(folder: Path) -> Database:
    """Read a folder of WordNet's database files."""
    database = Database([], {}, dict(parsed(folder / "cntlist.rev", parse_count)), {})
    for pos in PARTS_OF_SPEECH:
        database.synsets.extend(parsed(folder / f"data.{pos}", parse_synset))
        database.entries.update(sorted(parsed(folder / f"index.{pos}", parse_entry)))
        for form, lemmas in parsed(folder / f"{pos}.exc", parse_exception):
            # A few forms stand on two lines, each with lemmas of its own.
            known = database.exceptions.setdefault((pos, form), [])
            known += [lemma for lemma in lemmas if lemma not in known]
    return database


def compact(database: Database) -> Tables:
    """Convert the database to tables, with synsets and entries numbered consecutively."""
    synsets, entries = database.synsets, database.entries
    synset_number = {synset.key: number for number, synset in enumerate(synsets)}
    entry_number = {entry: number for number, entry in enumerate(entries)}
    senses = [[synset_number[key] for key in keys] for keys in entries.values()]
    sense_starts = starts(senses)

    heads = {synset.key: synset for synset in synsets if synset.kind != _SATELLITE}
    tag_counts = np.zeros(sense_starts[-1], dtype=np.uint16)
    hypernyms: list[list[int]] = []
    for number, synset in enumerate(synsets):
        sense_of_word = []
        for word in synset.words:
            entry = entry_number[synset.key[0], word]
            sense_of_word.append(int(sense_starts[entry]) + senses[entry].index(number))
        for sense, key in zip(sense_of_word, sense_keys(synset, heads), strict=True):
            tag_counts[sense] += database.tag_counts.get(key, 0)
        hypernyms.append(
            [synset_number[link.target] for link in synset.pointers if link.symbol in _HYPERNYM]
        )

    return Tables(
        lemma_starts=starts(lemma for _, lemma in entries),
        lemmas=text("".join(lemma for _, lemma in entries)),
        entry_starts=bounds(pos for pos, _ in entries),
        sense_starts=sense_starts,
        senses=flat(senses),
        tag_counts=tag_counts,
        hypernym_starts=starts(hypernyms),
        hypernyms=flat(hypernyms),
        exceptions=text(
            "".join(
                f"{pos} {form} {' '.join(lemmas)}\n"
                for (pos, form), lemmas in database.exceptions.items()
            )
        ),
    )


def sense_keys(synset: Synset, heads: Mapping[SynsetKey, Synset]) -> Iterator[str]:
    """Yield the key of every word of a synset, by which the tag counts name it; see senseidx(5)."""
    cluster = ":"
    if synset.kind == _SATELLITE:
        head, *_ = [heads[link.target] for link in synset.pointers if link.symbol == _SIMILAR]
        cluster = f"{head.words[0]}:{head.word_ids[0]:02d}"
    for word, number in zip(synset.words, synset.word_ids, strict=True):
        yield f"{word}%{_DIGIT[synset.kind]}:{synset.file:02d}:{number:02d}:{cluster}"


def build(folder: Path) -> Tables:
    """Make the tables from a folder of WordNet's database files."""
    database = read(folder)
    try:
        return compact(database)
    except (IndexError, KeyError, ValueError) as error:
        raise InputError(folder, f"a link of the database leads nowhere ({error})") from error


def bounds(parts: Iterable[PartOfSpeech]) -> npt.NDArray[np.int32]:
    """Return where each part of speech starts in a list that is sorted by it, and its length."""
    sizes = Counter(parts)
    return np.array(
        list(accumulate((sizes[pos] for pos in PARTS_OF_SPEECH), initial=0)), dtype=np.int32
    )


def starts(rows: Iterable[Sized]) -> npt.NDArray[np.int32]:
    """Return where each row starts when the rows are concatenated, and where the last ends."""
    return np.array(list(accumulate(map(len, rows), initial=0)), dtype=np.int32)


def text(string: str) -> npt.NDArray[np.uint8]:
    """Return a text as an array of its bytes."""
    return np.frombuffer(string.encode(), dtype=np.uint8)


def flat(rows: Iterable[list[int]]) -> npt.NDArray[np.int32]:
    """Concatenate rows."""
    return np.array([value for row in rows for value in row], dtype=np.int32)


def licence(folder: Path) -> str:
    """Return WordNet's licence, which opens each of its data files in numbered lines."""
    path = folder / "data.noun"
    head = [line for line in path.read_text(encoding="ascii").splitlines() if line[:2] == "  "]
    if not head:
        raise InputError(path, "opens without the licence, which has to go with the tables")
    # After two spaces and the number, a single space parts the number from the text.
    lines = [line.strip().partition(" ")[2].rstrip() for line in head]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Build the tables and write them with their licence."""
    parser = argparse.ArgumentParser(description="Compact WordNet for howsteps.")
    parser.add_argument("database", type=Path, help="folder with data.noun, index.noun, noun.exc …")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        tables, terms = build(options.database), licence(options.database)
    except HowstepsError as error:
        print(error, file=sys.stderr)
        return 1
    tables.write(options.out / "wordnet.npz")
    (options.out / "LICENSE").write_text(terms, encoding="ascii")
    print(
        f"{tables.entry_starts[-1]:,} lemmas, {tables.senses.size:,} senses,"
        f" {tables.hypernym_starts.size - 1:,} synsets:"
        f" {(options.out / 'wordnet.npz').stat().st_size / 1e6:.1f} MB"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
