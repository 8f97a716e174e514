"""Similarity of verbs and of nouns, in [0, 1]: WordNet, verb classes and word vectors.

WordNet:

* The same word: 1. Words that share one of their first two senses: 0.6.
* A verb with a particle is a verb of its own: "take off" and "take out" have 0, "take off" and a
  bare "take" 0.5, "take off" and "remove" what WordNet says.

Verb classes: verbs that do the same kind of thing in a task, and classes that are opposites. Whisk,
beat and stir are one class; putting and removing are opposites, whatever a dictionary or an
embedding says. ``verb_classes.json`` was written by hand: nearly a thousand verbs of work in the
kitchen, the garden, the workshop and the house; particle verbs have an underscore ("take_off").

Sounds: words that speech recognition takes for one another, *flower* and *flour*, *pastor* and
*pasta*, *clamps* and *clams*, by rules of English spelling.

Word vectors: static embeddings from potion-base-8M (Minish Lab, MIT), reduced to 64 dimensions of
one byte each; ``training/word_vectors.py`` makes the table.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from howsteps.narration.wordnet import PartOfSpeech, WordNet, word_matches
from howsteps.script.acts import background_share

SENSES = 2
SYNONYM = 0.6
BARE = 0.5  # factor where one of two equal verbs has a particle and the other none
COMMON_SHARE = 0.15  # of how-to videos, from which on a verb has no specificity
_TABLE = Path(__file__).with_name("verb_classes.json")
_VECTORS = Path(__file__).with_name("word_vectors.npz")
# With one of these particles, a verb that is not listed has the classes of the bare verb.
_NEUTRAL_PARTICLES = frozenset(["", "up", "down", "around", "over", "in", "on", "together"])


def noun_similarity(nouns: Sequence[str], wordnet: WordNet) -> NDArray[np.float32]:
    """Similarity of all pairs of nouns: 1 for the same noun, 0.6 for synonyms."""
    return _synonyms(nouns, "noun", wordnet)


def verb_similarity(verbs: Sequence[tuple[str, str]], wordnet: WordNet) -> NDArray[np.float32]:
    """Similarity of all pairs of verbs, each given as (verb, particle or "")."""
    bare = [verb for verb, _ in verbs]
    with_particle = [f"{verb}_{particle}" if particle else verb for verb, particle in verbs]
    particle = np.array([particle for _, particle in verbs])
    has = particle != ""
    one_has = has[:, None] != has[None, :]
    differ = has[:, None] & has[None, :] & (particle[:, None] != particle[None, :])
    # "jack up" may not be in WordNet; then its verb decides.
    by_verb = _synonyms(bare, "verb", wordnet) * np.where(one_has, BARE, 1.0)
    by_verb[differ] = 0.0
    similarity = np.maximum(by_verb, _synonyms(with_particle, "verb", wordnet))
    return np.asarray(similarity, dtype=np.float32)


def _synonyms(words: Sequence[str], pos: PartOfSpeech, wordnet: WordNet) -> NDArray[np.float32]:
    array = np.array(words)
    same = array[:, None] == array[None, :]
    synonyms = SYNONYM * word_matches(words, pos, wordnet, SENSES)
    return np.where(same, 1.0, synonyms).astype(np.float32)


def specificity(verb: str) -> float:
    """How specific a verb is: 1 if no other task uses it ("whisk"), 0 if many videos do."""
    return max(0.0, 1.0 - background_share(verb) / COMMON_SHARE)


def classes_of(verb: str, particle: str) -> frozenset[str]:
    """The classes of a verb with its particle; none for a verb that is not listed."""
    known = _class_table().by_verb
    full = f"{verb}_{particle}" if particle else verb
    if full in known:
        return known[full]
    return known.get(verb, frozenset()) if particle in _NEUTRAL_PARTICLES else frozenset()


def is_helper(verb: str, particle: str) -> bool:
    """Whether a verb only prepares the actual act: "*take* a towel", "*pick up* the egg"."""
    return particle in {"", "up"} and verb in _class_table().helpers


def shared_class(verbs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Overlap coefficient of the classes of all pairs of verbs: |A ∩ B| / min(|A|, |B|)."""
    classes = [classes_of(*verb) for verb in verbs]
    return np.array(
        [[len(a & b) / max(1, min(len(a), len(b))) for b in classes] for a in classes]
    ).reshape(len(verbs), len(verbs))


def are_opposite(one: tuple[str, str], two: tuple[str, str]) -> bool:
    """Whether one verb undoes the other, by their classes or by their particles (on, off)."""
    table = _class_table()
    if frozenset((one[1], two[1])) in table.opposite_particles:
        return True
    a, b = classes_of(*one), classes_of(*two)
    return not a & b and any(frozenset((x, y)) in table.opposites for x in a for y in b)


class _Classes(NamedTuple):
    by_verb: dict[str, frozenset[str]]
    opposites: frozenset[frozenset[str]]
    opposite_particles: frozenset[frozenset[str]]
    helpers: frozenset[str]


@cache
def _class_table() -> _Classes:
    raw = json.loads(_TABLE.read_text("utf-8"))
    by_verb: dict[str, set[str]] = {}
    for name, verbs in raw["classes"].items():
        for verb in verbs.split():
            by_verb.setdefault(verb, set()).add(name)
    return _Classes(
        {verb: frozenset(names) for verb, names in by_verb.items()},
        frozenset(frozenset(pair) for pair in raw["opposites"]),
        frozenset(frozenset(pair) for pair in raw["opposite_particles"]),
        frozenset(raw["helpers"].split()),
    )


def vectors_of(words: Sequence[str]) -> NDArray[np.float64]:
    """One unit row for every word; zeros for an unknown word."""
    rows = np.array([_vector(word) for word in words], dtype=np.float64)
    return rows.reshape(len(words), _word_table()[1].shape[1])


@cache
def _vector(word: str) -> NDArray[np.float64]:
    index, vectors = _word_table()
    total = np.sum([vectors[index[piece]] for piece in pieces(word)], axis=0, dtype=np.float64)
    row = np.zeros(vectors.shape[1]) + total
    norm = np.linalg.norm(row)
    return np.asarray(row / norm if norm else row)


def pieces(word: str) -> list[str]:
    """Split a word greedily into the longest known pieces (WordPiece); empty if impossible."""
    index, _ = _word_table()
    found: list[str] = []
    rest = word
    while rest:
        prefix = "##" if found else ""
        end = next((e for e in range(len(rest), 0, -1) if prefix + rest[:e] in index), 0)
        if not end:
            return []
        found.append(prefix + rest[:end])
        rest = rest[end:]
    return found


@cache
def _word_table() -> tuple[dict[str, int], NDArray[np.int8]]:
    with np.load(_VECTORS, allow_pickle=False) as table:
        words = table["words"].tobytes().decode("ascii").split("\n")
        return {word: i for i, word in enumerate(words)}, table["vectors"]


# Spellings of sounds, from the beginning of a word to its end; a capital is a sound of its own.
_SPELLINGS = [
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"^[kg]n", "n"), (r"^wr", "r"), (r"^wh(?=o)", "h"), (r"^wh", "w"), (r"mb$", "m"),
        (r"ph", "f"), (r"eigh", "ay"), (r"igh", "I"), (r"ough", "O"), (r"augh", "au"),
        (r"t?ch", "C"), (r"sh", "S"), (r"th", "T"), (r"ck", "k"), (r"dge", "j"),
        (r"c(?=[eiy])", "s"), (r"[cq]", "k"), (r"x", "ks"), (r"([bdfgklmnprstvz])\1", r"\1"),
        (r"(ower|our)$", "W"), (r"(ou|oa|oo|o)r(?=[^aeiouy]|e$)", "Q"), (r"a[uw]", "Q"),
        (r"(?<=...)([oea]r|re)$", "a"), (r"Q(.)e$", r"Q\1"),
    )
]  # fmt: skip
_LONG_VOWEL = re.compile(r"^([^aeiou]*(?:.*[^aeiou])?)([aeiouy])([^aeiouy])e$")
_VOWELS = {"ea": "EeA", "ow": "OW", "ou": "WU", "oo": "U", "ee": "E", "ie": "EI", "ei": "AE",
           "ai": "A", "ay": "A", "oa": "O", "oe": "O", "ue": "U", "ew": "U"}  # fmt: skip
_PARTS = re.compile("|".join([*_VOWELS, "."]))
_MOST_SOUNDS = 81  # of a word; no real one has more
_IN_CLUSTER = re.compile(r"(?<=[^aeiouyAEIOUQW])[^aeiouyAEIOUQW]")


def sound_alike(one: str, two: str) -> bool:
    """Whether two words sound the same, or but for one consonant beside another."""
    a, b = _sounds(one), _sounds(two)
    return not a.isdisjoint(b) or not _thinned(a).isdisjoint(b) or not _thinned(b).isdisjoint(a)


@cache
def _sounds(word: str) -> frozenset[str]:
    """The ways in which a word may be said."""
    for pattern, sound in _SPELLINGS:
        word = pattern.sub(sound, word)
    if found := _LONG_VOWEL.match(word):
        word = found[1] + found[2].upper() + found[3]
    parts = (_VOWELS.get(part, part) for part in _PARTS.findall(word))
    return frozenset("".join(sounds) for sounds in islice(product(*parts), _MOST_SOUNDS))


def _thinned(words: frozenset[str]) -> set[str]:
    """Words without one consonant that follows another."""
    return {
        word[: found.start()] + word[found.end() :]
        for word in words
        for found in _IN_CLUSTER.finditer(word)
    }
