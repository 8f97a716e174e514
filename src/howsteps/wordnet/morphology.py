"""Lemmatisation: WordNet's *morphy*, and a spelling rule to choose among its candidates.

Morphy looks a form up in a list of exceptions ("took" is "take"). From other forms it removes
suffixes by a few rules ("wheels" is "wheel"). Candidates that are not in WordNet are dropped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from howsteps.wordnet.storage import PartOfSpeech

ENDINGS: Mapping[PartOfSpeech, Sequence[tuple[str, str]]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("ves", "f"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (
        ("s", ""),
        ("ies", "y"),
        ("es", "e"),
        ("es", ""),
        ("ed", "e"),
        ("ed", ""),
        ("ing", "e"),
        ("ing", ""),
    ),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
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
