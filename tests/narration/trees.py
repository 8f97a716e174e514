"""Parses written by hand, so that the rules are tested apart from any parser's mistakes."""

import spacy
from spacy.tokens import Doc

from howsteps.narration.wordnet import WordNet

_LEMMA_PARTS = {"NOUN": "noun", "VERB": "verb"}
_PARTS = {
    **{"CC": "CCONJ", "CD": "NUM", "DT": "DET", "IN": "ADP", "JJ": "ADJ", "MD": "AUX", "RB": "ADV"},
    **{"PRP": "PRON", "PRP$": "PRON", "RP": "ADP", "TO": "PART", "WDT": "PRON", ".": "PUNCT"},
}
_VOCAB = spacy.blank("en").vocab


def tree(text: str) -> Doc:
    """Build a parse from ``word TAG head dep; …``; heads count from 1, 0 is a root."""
    rows = [word.split() for word in text.split("; ")]
    words, tags, deps = ([row[column] for row in rows] for column in (0, 1, -1))
    parts = [
        "AUX" if dep.startswith("aux") else _PARTS.get(tag) or ("NOUN" if tag < "V" else "VERB")
        for tag, dep in zip(tags, deps, strict=True)
    ]
    wordnet = WordNet.load()
    return Doc(
        _VOCAB,
        words=words,
        pos=parts,
        tags=tags,
        heads=[n if row[2] == "0" else int(row[2]) - 1 for n, row in enumerate(rows)],
        deps=["ROOT" if row[2] == "0" else row[3] for row in rows],
        lemmas=[
            wordnet.lemma(word, _LEMMA_PARTS[part]) if part in _LEMMA_PARTS else word
            for word, part in zip(words, parts, strict=True)
        ],
    )
