"""WordNet as a compact file in the package: senses, hypernyms, lemmas and matches.

Its tables are flat arrays, so that they load in a blink.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from howsteps.task import Relation

PartOfSpeech = Literal["noun", "verb", "adj", "adv"]
PARTS_OF_SPEECH: tuple[PartOfSpeech, ...] = get_args(PartOfSpeech)


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
    sense_starts, senses
        The synsets of every entry, first sense first.
    tag_counts
        How often each sense was tagged in WordNet's corpora.
    hypernym_starts, hypernyms
        The direct hypernyms (of classes and of instances) of every synset.
    exceptions
        UTF-8 text, one irregular form per line: part of speech, form, its lemmas.
    """

    lemma_starts: npt.NDArray[np.int32]
    lemmas: npt.NDArray[np.uint8]
    entry_starts: npt.NDArray[np.int32]
    sense_starts: npt.NDArray[np.int32]
    senses: npt.NDArray[np.int32]
    tag_counts: npt.NDArray[np.uint16]
    hypernym_starts: npt.NDArray[np.int32]
    hypernyms: npt.NDArray[np.int32]
    exceptions: npt.NDArray[np.uint8]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the tables, which cannot be changed."""
        with np.load(path, allow_pickle=False) as archive:
            arrays: dict[str, Any] = {field.name: archive[field.name] for field in fields(cls)}
        for array in arrays.values():
            array.flags.writeable = False
        return cls(**arrays)

    def write(self, path: Path) -> None:
        """Write the tables; the same tables give the same bytes."""
        arrays: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez(path, format=np.int32(1), **arrays)


_RULES: Mapping[PartOfSpeech, str] = {
    "noun": "s- ses-s ves-f xes-x zes-z ches-ch shes-sh men-man ies-y",
    "verb": "s- ies-y es-e es- ed-e ed- ing-e ing-",
    "adj": "er- est- er-e est-e",
    "adv": "",
}
ENDINGS: Mapping[PartOfSpeech, Sequence[tuple[str, str]]] = {
    pos: [(rule.partition("-")[0], rule.partition("-")[2]) for rule in rules.split()]
    for pos, rules in _RULES.items()
}
"""Detachment rules: an ending, and its replacement in the lemma."""

_TAKES_ES = re.compile(r"(?:[sxzo]|ch|sh)$")
_DOUBLES = re.compile(r"(?:^|[^aeiou])[aeiou][bcdfghjklmnpqrstvz]$")


def normalise(word: str) -> str:
    """Write a word as WordNet does: lower case, with underscores between its parts."""
    return "_".join(word.lower().split())


def forms(word: str, pos: PartOfSpeech, exceptions: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the possible base forms of a word, known or not, the word itself first."""
    yield word
    if word in exceptions:
        yield from exceptions[word]
        return
    for ending, replacement in ENDINGS[pos]:
        if word.endswith(ending):
            yield word.removesuffix(ending) + replacement


def is_well_spelt(word: str, lemma: str) -> bool:
    """Whether this is the regular English spelling of a form of this lemma.

    Morphy makes both "tape" and "tap" of "taped". A final consonant after a single vowel is
    doubled ("tapped", which is in the list of exceptions), so "taped" comes from "tape". Likewise
    "-es" follows only s, x, z, ch, sh and o, so "planes" comes from "plane" and not from "plan".
    In words of more than one syllable stress decides ("visited"), so False is not certain there.
    """
    if word == lemma + "es":
        return _TAKES_ES.search(lemma) is not None
    if word in (lemma + "ed", lemma + "ing"):
        return _DOUBLES.search(lemma) is None
    return True


_SHIPPED = Path(__file__).with_name("wordnet.npz")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WordNet:
    """The senses of English words.

    Case is ignored, and a space can be written for WordNet's underscore ("take off" is
    ``take_off``). All methods but :meth:`lemma` and :meth:`lemmas` take lemmas. An unknown word has
    no synsets; that is not an error.

    A synset is a number: its position in WordNet's data files, nouns first. ``senses=k`` restricts
    a query to the first k senses of each word, which are the most frequent ones.

    >>> wordnet = WordNet.load()
    >>> wordnet.shared_synset("tire", "tyre", "noun")
    True
    >>> wordnet.lemma("took off", "verb")
    'take_off'
    """

    tables: Tables
    text: bytes  # all lemmas
    entries: Mapping[PartOfSpeech, range]
    exceptions: Mapping[PartOfSpeech, Mapping[str, Sequence[str]]]

    @staticmethod
    @cache
    def load(path: Path = _SHIPPED) -> "WordNet":
        """Load the file that ships with howsteps, or another built by ``training/wordnet.py``."""
        tables = Tables.read(path)
        lines = tables.exceptions.tobytes().decode().splitlines()
        irregular = [line.split(" ") for line in lines]
        exceptions = {
            pos: {form: lemmas for form_pos, form, *lemmas in irregular if form_pos == pos}
            for pos in PARTS_OF_SPEECH
        }
        starts = tables.entry_starts.tolist()
        entries = dict(zip(PARTS_OF_SPEECH, map(range, starts, starts[1:]), strict=True))
        return WordNet(tables, tables.lemmas.tobytes(), entries, exceptions)

    def words(self, pos: PartOfSpeech) -> Iterator[str]:
        """Yield all lemmas of a part of speech in alphabetical order."""
        return map(self._lemma, self.entries[pos])

    def knows(self, lemma: str, pos: PartOfSpeech) -> bool:
        """Whether WordNet has this lemma in this part of speech."""
        return self._entry(lemma, pos) is not None

    def synset_ids(
        self, lemma: str, pos: PartOfSpeech, senses: int | None = None
    ) -> npt.NDArray[np.int32]:
        """Return the synsets of a lemma, first sense first."""
        first, end = self._sense_range(lemma, pos, senses)
        return self.tables.senses[first:end]

    def tag_counts(self, lemma: str, pos: PartOfSpeech) -> npt.NDArray[np.uint16]:
        """Return how often each sense of a lemma was tagged in WordNet's corpora."""
        first, end = self._sense_range(lemma, pos, None)
        return self.tables.tag_counts[first:end]

    def shared_synset(self, a: str, b: str, pos: PartOfSpeech, senses: int | None = None) -> bool:
        """Whether two lemmas have a synset in common."""
        ids = set(self.synset_ids(a, pos, senses).tolist())
        return not ids.isdisjoint(self.synset_ids(b, pos, senses).tolist())

    def ancestors(self, synset: int) -> dict[int, int]:
        """Return the hypernyms of a synset, direct and indirect, with the number of links to each.

        The synset itself is at 0 links.
        """
        starts, hypernyms = self.tables.hypernym_starts, self.tables.hypernyms
        links = {synset: 0}
        level = [synset]
        while level:
            next_level = []
            for hyponym in level:
                for hypernym in hypernyms[starts[hyponym] : starts[hyponym + 1]].tolist():
                    # WordNet contains a cycle of verbs, so a synset may be visited again.
                    if hypernym not in links:
                        links[hypernym] = links[hyponym] + 1
                        next_level.append(hypernym)
            level = next_level
        return links

    def lemmas(self, word: str, pos: PartOfSpeech) -> tuple[str, ...]:
        """Return the lemmas that a word may be a form of: all that WordNet's morphy allows.

        The word itself comes first if it is a lemma. A phrase that is not found is inflected in its
        head: the first part of a verb ("took off"), the last part otherwise ("fire engines").
        """
        word = normalise(word)
        candidates = forms(word, pos, self.exceptions[pos])
        found = dict.fromkeys(form for form in candidates if self.knows(form, pos))
        if not found and "_" in word:
            if pos == "verb":
                head, _, rest = word.partition("_")
                phrases = [f"{lemma}_{rest}" for lemma in self.lemmas(head, pos)]
            else:
                rest, _, head = word.rpartition("_")
                phrases = [f"{rest}_{lemma}" for lemma in self.lemmas(head, pos)]
            found = dict.fromkeys(phrase for phrase in phrases if self.knows(phrase, pos))
        return tuple(found)

    def lemma(self, word: str, pos: PartOfSpeech) -> str:
        """Return the lemma of a word, or the word in lower case if WordNet does not know it.

        If :meth:`lemmas` allows several, those with another regular spelling are dropped ("taped"
        is not from "tap"), and the one that was tagged most often is taken: "found" is "find",
        "left" is "leave", "ground" is "grind". Of two that were tagged equally often, the one with
        more senses wins ("jacks" is "jack"), then the word itself ("pliers").

        The part-of-speech tag is not used. A caller who knows that a word is a base form ("saw the
        board") should keep it if :meth:`knows` is true.
        """
        candidates = self.lemmas(word, pos)
        if not candidates:
            return normalise(word)
        if len(candidates) > 1:
            spelt = [lemma for lemma in candidates if is_well_spelt(normalise(word), lemma)]
            candidates = tuple(spelt) or candidates
        return max(candidates, key=lambda lemma: self._frequency(lemma, pos))

    def _frequency(self, lemma: str, pos: PartOfSpeech) -> tuple[int, int]:
        counts = self.tag_counts(lemma, pos)
        return int(counts.sum()), len(counts)

    def _entry(self, lemma: str, pos: PartOfSpeech) -> int | None:
        """Return the number of an entry, or None if there is none."""
        wanted = normalise(lemma).encode(errors="surrogatepass")
        entries = self.entries[pos]
        place = bisect_left(entries, wanted, key=self._bytes)
        found = place < len(entries) and self._bytes(entries[place]) == wanted
        return entries[place] if found else None

    def _lemma(self, entry: int) -> str:
        return self._bytes(entry).decode()

    def _bytes(self, entry: int) -> bytes:
        starts = self.tables.lemma_starts
        return self.text[starts.item(entry) : starts.item(entry + 1)]

    def _sense_range(self, lemma: str, pos: PartOfSpeech, senses: int | None) -> tuple[int, int]:
        """Return the range of the senses of a lemma in the tables."""
        entry = self._entry(lemma, pos)
        if entry is None:
            return 0, 0
        first, end = self.tables.sense_starts[entry : entry + 2].tolist()
        return first, end if senses is None else min(end, first + senses)


def match_matrix(
    relations: Sequence[Relation], wordnet: WordNet, senses: int | None = None
) -> npt.NDArray[np.bool_]:
    """Return the D×D matrix of matches: the −1 entries of the cost C_o.

    Two relations match when their verbs match and their nouns match. Two words match when they are
    the same string or share a synset in the right part of speech, among the first ``senses`` of
    each: rare senses give spurious matches (*bread* and *sugar* are both slang for money).
    """
    verbs = word_matches([relation.verb for relation in relations], "verb", wordnet, senses)
    nouns = word_matches([relation.noun for relation in relations], "noun", wordnet, senses)
    return verbs & nouns


def word_matches(
    words: Sequence[str], pos: PartOfSpeech, wordnet: WordNet, senses: int | None
) -> npt.NDArray[np.bool_]:
    """Return which of the words match each other.

    With M the incidence of distinct words and synsets, two words share (M Mᵀ)_ij synsets.
    """
    vocabulary = sorted(set(words))
    synsets = [wordnet.synset_ids(word, pos, senses) for word in vocabulary]
    rows = np.repeat(np.arange(len(vocabulary)), [len(ids) for ids in synsets])
    _, columns, word_counts = np.unique(
        np.concatenate([np.empty(0, np.int32), *synsets]), return_inverse=True, return_counts=True
    )
    shared = word_counts[columns] > 1  # most synsets belong to only one word
    incidence = np.zeros((len(vocabulary), len(word_counts)), dtype=np.float32)
    incidence[rows[shared], columns[shared]] = 1
    incidence = incidence[:, word_counts > 1]
    matches = (incidence @ incidence.T > 0) | np.eye(len(vocabulary), dtype=np.bool_)
    row_of = {word: row for row, word in enumerate(vocabulary)}
    index = np.array([row_of[word] for word in words], dtype=np.intp)
    return np.asarray(matches[np.ix_(index, index)])
