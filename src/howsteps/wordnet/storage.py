"""WordNet's tables as flat arrays, their file format, and look-up of lemmas.

The file is an uncompressed ``.npz``: an archive of arrays with a checksum for each. It is not
compressed because compressors differ between machines, and the same database must give the same
bytes everywhere.
"""

import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from howsteps.errors import InputError

PartOfSpeech = Literal["noun", "verb", "adj", "adv"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)

FORMAT = 1
"""File format version; files of another version are refused."""

_FREE = -1  # an empty slot of the hash table

# Exceptions of NumPy and zipfile for damaged files.
_DAMAGE = (
    EOFError,
    KeyError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class Tables:
    """WordNet as arrays.

    An *entry* is a lemma in one part of speech, a *sense* is one synset of an entry. Entries and
    synsets are numbered consecutively, nouns first, in the order of :data:`PARTS_OF_SPEECH`. The
    rows of a table of lists are concatenated, and row i is ``values[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    lemma_starts, lemmas
        The lemma of every entry as UTF-8 text, sorted within a part of speech.
    entry_starts
        First entry of every part of speech, and the number of entries.
    hash_slots
        A hash table to find an entry by its lemma, see :class:`Lexicon`.
    sense_starts, senses
        The synsets of every entry, first sense first.
    tag_counts
        How often each sense was tagged in WordNet's corpora.
    hypernym_starts, hypernyms
        The direct hypernyms (of classes and of instances) of every synset.
    antonym_senses, antonyms
        Pairs of a sense and the entry that is its antonym, sorted by sense.
    exceptions
        UTF-8 text, one irregular form per line: part of speech, form, its lemmas.
    """

    lemma_starts: npt.NDArray[np.int32]
    lemmas: npt.NDArray[np.uint8]
    entry_starts: npt.NDArray[np.int32]
    hash_slots: npt.NDArray[np.int32]
    sense_starts: npt.NDArray[np.int32]
    senses: npt.NDArray[np.int32]
    tag_counts: npt.NDArray[np.uint16]
    hypernym_starts: npt.NDArray[np.int32]
    hypernyms: npt.NDArray[np.int32]
    antonym_senses: npt.NDArray[np.int32]
    antonyms: npt.NDArray[np.int32]
    exceptions: npt.NDArray[np.uint8]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the tables, or raise an :class:`InputError` that names the file."""
        try:
            with zipfile.ZipFile(path) as archive:
                if _array(archive, "format") != FORMAT:
                    raise ValueError(f"not a WordNet file of format {FORMAT}")
                tables = cls(**{field.name: _array(archive, field.name) for field in fields(cls)})
        except FileNotFoundError as error:
            raise InputError(path, "the WordNet file is missing; install howsteps again") from error
        except _DAMAGE as error:
            reason = f"the WordNet file is damaged; install howsteps again ({error})"
            raise InputError(path, reason) from error
        for field in fields(cls):
            getattr(tables, field.name).flags.writeable = False
        return tables

    def write(self, path: Path) -> None:
        """Write the tables; the same tables give the same bytes."""
        arrays: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez(path, format=np.int32(FORMAT), **arrays)


def hash_slots(entries: Sequence[tuple[PartOfSpeech, str]]) -> npt.NDArray[np.int32]:
    """Return a hash table with open addressing, whose slots have the number of an entry or −1.

    The size is a power of two, and at most two thirds of the slots are used.
    """
    size = 1 << (3 * len(entries) // 2).bit_length()
    slots = np.full(size, _FREE, dtype=np.int32)
    for number, (pos, lemma) in enumerate(entries):
        slot = _hash(lemma.encode(), pos) % size
        while slots[slot] != _FREE:
            slot = (slot + 1) % size
        slots[slot] = number
    return slots


def _hash(lemma: bytes, pos: PartOfSpeech) -> int:
    return zlib.crc32(lemma, PARTS_OF_SPEECH.index(pos))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Find entries by number, or by lemma and part of speech.

    The hash table is used as stored: building a dictionary of 155,000 strings would take longer
    than loading everything else.
    """

    text: bytes
    lemma_starts: npt.NDArray[np.int32]
    hash_slots: npt.NDArray[np.int32]
    ranges: dict[PartOfSpeech, range]

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """Return the lexicon of the tables."""
        starts = tables.entry_starts.tolist()
        ranges = dict(zip(PARTS_OF_SPEECH, map(range, starts, starts[1:]), strict=True))
        return cls(tables.lemmas.tobytes(), tables.lemma_starts, tables.hash_slots, ranges)

    def find(self, lemma: str, pos: PartOfSpeech) -> int | None:
        """Return the number of an entry, or None if there is none."""
        if pos not in self.ranges:
            raise ValueError(f"part of speech must be one of {PARTS_OF_SPEECH}, not {pos!r}")
        wanted = lemma.encode(errors="surrogatepass")
        size = len(self.hash_slots)
        slot = _hash(wanted, pos) % size
        while (entry := self.hash_slots.item(slot)) != _FREE:
            if entry in self.ranges[pos] and self._bytes(entry) == wanted:
                return entry
            slot = (slot + 1) % size
        return None

    def lemma(self, entry: int) -> str:
        """Return the lemma of an entry."""
        return self._bytes(entry).decode()

    def lemmas(self, pos: PartOfSpeech) -> Iterator[str]:
        """Yield all lemmas of a part of speech in alphabetical order."""
        return map(self.lemma, self.ranges[pos])

    def _bytes(self, entry: int) -> bytes:
        return self.text[self.lemma_starts.item(entry) : self.lemma_starts.item(entry + 1)]


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
