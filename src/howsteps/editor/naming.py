"""Check the names of an editor: they may only use words of the narrators of the step."""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from howsteps.task import Mention, Sentence
from howsteps.wordnet import WordNet
from howsteps.wordnet.storage import PartOfSpeech

# Always allowed.
_FUNCTION_WORDS = frozenset(
    "a an the and or but of to in on at by for from with without into onto over under up down out "
    "off through around about between before after until while as so that this these those it its "
    "them they their your you all both each every any some more most not no if then than back "
    "again together apart away is are be do does".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CONTENT_POS: tuple[PartOfSpeech, ...] = ("noun", "verb", "adj", "adv")


def unsaid_words(
    name: str, mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> list[str]:
    """The words of a name that no narrator of the step uses, in any form or as a synonym."""
    said = said_words(mentions, sentences)
    return [word for word in _words(name) if not _is_said(word, said)]


def said_words(
    mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> frozenset[str]:
    """The words of the phrases and sentences that mention a step."""
    words: set[str] = set()
    for mention in mentions:
        words.update(_words(mention.phrase))
        of_video = sentences.get(mention.video, ())
        if mention.sentence < len(of_video):
            words.update(_words(of_video[mention.sentence].text))
    return frozenset(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_said(word: str, said: frozenset[str]) -> bool:
    if word in said or word in _FUNCTION_WORDS or word.isdigit():
        return True
    return any(_same(word, other) for other in said)


@cache
def _same(one: str, two: str) -> bool:
    """Whether two words share a lemma or a synset."""
    return any(
        not _lemmas(one, part).isdisjoint(_lemmas(two, part))
        or not _synsets(one, part).isdisjoint(_synsets(two, part))
        for part in _CONTENT_POS
    )


@cache
def _lemmas(word: str, part: PartOfSpeech) -> frozenset[str]:
    return frozenset(_wordnet().lemmas(word, part))


@cache
def _synsets(word: str, part: PartOfSpeech) -> frozenset[int]:
    """The synsets of the first three senses; rarer ones give far-fetched synonyms."""
    return frozenset(
        synset
        for lemma in _lemmas(word, part)
        for synset in _wordnet().synset_ids(lemma, part, senses=3).tolist()
    )


@cache
def _wordnet() -> WordNet:
    return WordNet.load()
