"""Where a lemma stands in the tables: a hash table that is read as it lies in the file.

A dictionary of 155,000 Python strings would take longer to make than all the rest takes to load.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self
from zlib import crc32

import numpy as np
import numpy.typing as npt

from howsteps.wordnet.storage import PARTS_OF_SPEECH, PartOfSpeech, Tables

_FREE = -1


def hash_slots(entries: Sequence[tuple[PartOfSpeech, str]]) -> npt.NDArray[np.int32]:
    """Return a hash table: the number of each entry, at or after the slot that its hash names.

    The table is a power of two in size and at most two thirds full, so that few slots are tried.
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
    return crc32(lemma, PARTS_OF_SPEECH.index(pos))


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All entries, by number and by lemma and part of speech."""

    text: bytes
    lemma_starts: npt.NDArray[np.int32]
    hash_slots: npt.NDArray[np.int32]
    ranges: dict[PartOfSpeech, range]

    @classmethod
    def of(cls, tables: Tables) -> Self:
        """Make the lexicon of these tables."""
        starts = tables.entry_starts.tolist()
        ranges = dict(zip(PARTS_OF_SPEECH, map(range, starts, starts[1:]), strict=True))
        return cls(tables.lemmas.tobytes(), tables.lemma_starts, tables.hash_slots, ranges)

    def find(self, lemma: str, pos: PartOfSpeech) -> int | None:
        """Return the number of an entry, or None where there is none."""
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
