"""Dictionary forms, as a spaCy component: WordNet's for nouns, verbs, adjectives and adverbs.

Rule lemmatisers write "nee" for "need" and models guess; WordNet lists its words and exceptions.
"""

from functools import cache
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from howsteps.narration.wordnet import PartOfSpeech, WordNet

NAME = "howsteps_lemmas"

_PARTS: dict[str, PartOfSpeech] = {
    "NOUN": "noun",
    "PROPN": "noun",
    "VERB": "verb",
    "AUX": "verb",
    "ADJ": "adj",
    "ADV": "adv",
}
# Clitics and spellings that WordNet does not list.
_AUXILIARIES = {
    **dict.fromkeys(("'m", "m", "'re", "'s", "is", "am", "are", "was", "were", "be"), "be"),
    **{"'ve": "have", "'ll": "will", "'d": "would", "ca": "can", "wo": "will", "gon": "go"},
}


@Language.factory(NAME, assigns=["token.lemma"])
def make(nlp: Language, name: str) -> Any:
    """Build the component for a pipeline."""
    wordnet = WordNet.load()

    @cache
    def lemma(word: str, part: str) -> str:
        if part == "AUX" and word in _AUXILIARIES:
            return _AUXILIARIES[word]
        return wordnet.lemma(word, _PARTS[part]) if part in _PARTS else word

    def set_lemmas(doc: Doc) -> Doc:
        for token in doc:
            token.lemma_ = lemma(token.lower_, token.pos_)
        return doc

    return set_lemmas
