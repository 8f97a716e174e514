"""Dictionary forms, as a spaCy component: WordNet's for nouns, verbs, adjectives and adverbs.

Rule lemmatisers write "nee" for "need" and models guess; WordNet lists its words and exceptions.
"""

from functools import cache
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from howsteps.wordnet import PartOfSpeech, WordNet

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
    **dict.fromkeys(("'m", "m", "'re", "'s", "is", "am", "are", "was", "were"), "be"),
    **{"'ve": "have", "'ll": "will", "'d": "would", "ca": "can", "wo": "will", "gon": "go"},
}
_BASE_FORMS = frozenset({"VB", "VBP"})
_PLURALS = frozenset({"NNS", "NNPS"})


def lemma(wordnet: WordNet, word: str, part: str, tag: str) -> str:
    """The dictionary form of a lower-case word, given its coarse and fine part of speech.

    The fine one settles what spelling cannot: "saw the board" (VB) is not "we saw the board".
    """
    if part == "AUX" and word in _AUXILIARIES:
        return _AUXILIARIES[word]
    if part not in _PARTS:
        return word
    if tag in _BASE_FORMS and wordnet.knows(word, "verb"):
        return word
    known = wordnet.lemma(word, _PARTS[part])
    if tag in _PLURALS and known == word and not wordnet.knows(word, "noun"):
        return word.removesuffix("s")  # "lugnuts": a plural of what WordNet has never heard of
    return known


@Language.factory(NAME, assigns=["token.lemma"])
def make(nlp: Language, name: str) -> Any:
    """Build the component for a pipeline."""
    wordnet = WordNet.load()

    @cache
    def cached(word: str, part: str, tag: str) -> str:
        return lemma(wordnet, word, part, tag)

    def set_lemmas(doc: Doc) -> Doc:
        for token in doc:
            token.lemma_ = cached(token.lower_, token.pos_, token.tag_)
        return doc

    return set_lemmas
