"""Semantic classes of nouns, by WordNet: implements and substances.

Only the first three senses count: with rare ones nearly every noun would be a tool.
"""

from functools import cache

from howsteps.wordnet import WordNet

_SENSES = 3
# Hypernyms of each class.
_IMPLEMENTS = (
    "hand tool",
    "implement",
    "fabric",
    "cutlery",
    "body part",
    "sponge",
    "adhesive tape",
)
_SUBSTANCES = (
    "foodstuff",
    "solid food",
    "nutriment",
    "beverage",
    "liquid",
    "lipid",
    "plant material",
)


@cache
def _wordnet() -> WordNet:
    return WordNet.load()


@cache
def _hypernyms(names: tuple[str, ...]) -> frozenset[int]:
    wordnet = _wordnet()
    return frozenset(
        synset for name in names for synset in wordnet.synset_ids(name, "noun").tolist()
    )


@cache
def _is_under(noun: str, names: tuple[str, ...]) -> bool:
    wordnet = _wordnet()
    return any(
        not _hypernyms(names).isdisjoint(wordnet.ancestors(synset))
        for synset in wordnet.synset_ids(noun, "noun", _SENSES).tolist()
    )


def is_implement(noun: str) -> bool:
    """Whether a noun is something to work with: a wrench, a towel, a finger."""
    return _is_under(noun, _IMPLEMENTS)


def is_substance(noun: str) -> bool:
    """Whether a noun can be an ingredient of a mixture: sugar, water, an onion."""
    return _is_under(noun, _SUBSTANCES)
