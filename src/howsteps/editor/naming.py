"""Names that an editor may give: made of words that narrators of the step use."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from howsteps.task import Mention, Sentence
from howsteps.wordnet import WordNet
from howsteps.wordnet.storage import PartOfSpeech

# Words that hold a line together and say nothing by themselves.
_FUNCTION_WORDS = frozenset(
    "a an the and or but of to in on at by for from with without into onto over under up down out "
    "off through around about between before after until while as so that this these those it its "
    "them they their your you all both each every any some more most not no if then than back "
    "again together apart away is are be do does".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CONTENT: tuple[PartOfSpeech, ...] = ("noun", "verb", "adj", "adv")


def unsaid_words(
    name: str, mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> list[str]:
    """The words of a name that no narrator of the step uses, in any form or as a synonym."""
    said = said_words(mentions, sentences)
    return [word for word in _words(name) if not _is_said(word, said)]


def said_words(
    mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> frozenset[str]:
    """What narrators say where they mention a step."""
    said: set[str] = set()
    for mention in mentions:
        said.update(_words(mention.phrase))
        own = sentences.get(mention.video, ())
        if mention.sentence < len(own):
            said.update(_words(own[mention.sentence].text))
    return frozenset(said)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_said(word: str, said: frozenset[str]) -> bool:
    if word in said or word in _FUNCTION_WORDS or word.isdigit():
        return True
    return any(_same(word, other) for other in said)


@cache
def _same(one: str, two: str) -> bool:
    """Whether two words are forms of one lemma, or of synonyms."""
    return any(
        not _lemmas(one, part).isdisjoint(_lemmas(two, part))
        or not _synsets(one, part).isdisjoint(_synsets(two, part))
        for part in _CONTENT
    )


@cache
def _lemmas(word: str, part: PartOfSpeech) -> frozenset[str]:
    return frozenset(_wordnet().lemmas(word, part))


@cache
def _synsets(word: str, part: PartOfSpeech) -> frozenset[int]:
    """The first senses: rare ones make synonyms that nobody means."""
    return frozenset(
        synset
        for lemma in _lemmas(word, part)
        for synset in _wordnet().synset_ids(lemma, part, senses=3).tolist()
    )


@cache
def _wordnet() -> WordNet:
    return WordNet.load()
