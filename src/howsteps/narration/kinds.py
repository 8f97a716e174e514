"""What kind of thing a noun names, by WordNet: something to work with, or something to add.

Only the first three senses count: rare ones make a tool of nearly everything.
"""

from functools import cache

from howsteps.wordnet import WordNet

_SENSES = 3
# Heads of what one takes in hand to do something with, and of what goes into a mixture.
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
def _heads(names: tuple[str, ...]) -> frozenset[int]:
    wordnet = _wordnet()
    return frozenset(
        synset for name in names for synset in wordnet.synset_ids(name, "noun").tolist()
    )


@cache
def _is_under(noun: str, names: tuple[str, ...]) -> bool:
    wordnet = _wordnet()
    return any(
        not _heads(names).isdisjoint(wordnet.ancestors(synset))
        for synset in wordnet.synset_ids(noun, "noun", _SENSES).tolist()
    )


def is_implement(noun: str) -> bool:
    """Whether one works with it: a wrench, a towel, a finger."""
    return _is_under(noun, _IMPLEMENTS)


def is_substance(noun: str) -> bool:
    """Whether it can go into a mixture: sugar, water, an onion."""
    return _is_under(noun, _SUBSTANCES)
