"""Look words up in WordNet: senses, synonyms, hypernyms, antonyms and lemmas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from howsteps.wordnet.morphology import forms, is_well_spelt, normalise
from howsteps.wordnet.storage import PARTS_OF_SPEECH, Lexicon, PartOfSpeech, Tables

_SHIPPED = Path(__file__).with_name("wordnet.npz")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WordNet:
    """The senses of English words.

    Case is ignored, and a space can be written for WordNet's underscore ("take off" is
    ``take_off``). All methods but :meth:`lemma` and :meth:`lemmas` take lemmas. An unknown word has
    no synsets and no antonyms; that is not an error.

    A synset is a number: its position in WordNet's data files, nouns first. ``senses=k`` restricts
    a query to the first k senses of each word, which are the most frequent ones.

    >>> wordnet = WordNet.load()
    >>> wordnet.shared_synset("tire", "tyre", "noun")
    True
    >>> wordnet.lemma("took off", "verb")
    'take_off'
    """

    tables: Tables
    lexicon: Lexicon
    exceptions: Mapping[PartOfSpeech, Mapping[str, Sequence[str]]]

    @classmethod
    def load(cls, path: Path = _SHIPPED) -> Self:
        """Load the file that ships with howsteps, or another built by ``training/wordnet.py``."""
        tables = Tables.read(path)
        lines = tables.exceptions.tobytes().decode().splitlines()
        irregular = [line.split(" ") for line in lines]
        exceptions = {
            pos: {form: lemmas for form_pos, form, *lemmas in irregular if form_pos == pos}
            for pos in PARTS_OF_SPEECH
        }
        return cls(tables, Lexicon.of(tables), exceptions)

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

    def antonyms(self, lemma: str, pos: PartOfSpeech, senses: int | None = None) -> tuple[str, ...]:
        """Return the antonyms of a lemma, those of its first sense first, each once."""
        tables = self.tables
        first, end = np.searchsorted(
            tables.antonym_senses, self._sense_range(lemma, pos, senses)
        ).tolist()
        entries = dict.fromkeys(tables.antonyms[first:end].tolist())
        return tuple(self.lexicon.lemma(entry) for entry in entries)

    def lemmas(self, word: str, pos: PartOfSpeech) -> tuple[str, ...]:
        """Return the lemmas that a word may be a form of: all that WordNet's morphy allows.

        The word itself comes first if it is a lemma. A phrase that is not found is inflected in its
        head: the first part of a verb ("took off"), the last part otherwise ("fire engines").
        """
        word = normalise(word)
        # An unknown part of speech raises an error at the first look-up.
        candidates = forms(word, pos, self.exceptions.get(pos, {}))
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
        return self.lexicon.find(normalise(lemma), pos)

    def _sense_range(self, lemma: str, pos: PartOfSpeech, senses: int | None) -> tuple[int, int]:
        """Return the range of the senses of a lemma in the tables."""
        if senses is not None and senses < 1:
            raise ValueError(f"senses must be at least 1, not {senses}")
        entry = self._entry(lemma, pos)
        if entry is None:
            return 0, 0
        first, end = self.tables.sense_starts[entry : entry + 2].tolist()
        return first, end if senses is None else min(end, first + senses)
