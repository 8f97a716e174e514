"""The tables of WordNet as flat arrays, and the file they are kept in.

The file is an uncompressed ``.npz``: an archive of plain arrays with a checksum for each. It is not
compressed because compressors differ between machines, and the same database has to give the same
bytes everywhere.
"""

import struct
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from howsteps.errors import InputError

PartOfSpeech = Literal["noun", "verb", "adj", "adv"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)

FORMAT = 1
"""Goes up when the meaning of a table changes, so that an old file is refused, not misread."""

# All the ways in which NumPy and zipfile complain about damaged bytes.
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
    synsets are numbered through, nouns first, in the order of :data:`PARTS_OF_SPEECH`; the rows of
    a table of lists follow each other, and row i is ``values[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    lemma_starts, lemmas
        The lemma of every entry as UTF-8 text, sorted within a part of speech.
    entry_starts
        First entry of every part of speech, and the number of entries.
    hash_slots
        Where to look for an entry by its lemma, see :class:`~.lexicon.Lexicon`.
    sense_starts, senses
        The synsets of every entry, first sense first.
    tag_counts
        How often each sense was tagged in the corpora of WordNet's makers.
    hypernym_starts, hypernyms
        The hypernyms (of classes and of instances) of every synset.
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


def _array(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
