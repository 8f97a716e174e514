"""Parses written by hand, so that the rules are tested apart from any parser's mistakes."""

import spacy
from spacy.tokens import Doc

from howsteps.narration.wordnet import WordNet

_LEMMA_PARTS = {"NOUN": "noun", "VERB": "verb"}
_VOCAB = spacy.blank("en").vocab


def tree(lines: str) -> Doc:
    """Build a parsed text from lines ``word POS TAG head dep``; heads count from 1, 0 is a root."""
    rows = [line.split() for line in lines.strip().splitlines()]
    wordnet = WordNet.load()
    heads = [index if row[3] == "0" else int(row[3]) - 1 for index, row in enumerate(rows)]
    return Doc(
        _VOCAB,
        words=[row[0] for row in rows],
        pos=[row[1] for row in rows],
        tags=[row[2] for row in rows],
        heads=heads,
        deps=["ROOT" if row[3] == "0" else row[4] for row in rows],
        lemmas=[
            wordnet.lemma(row[0], _LEMMA_PARTS[row[1]]) if row[1] in _LEMMA_PARTS else row[0]
            for row in rows
        ],
    )
