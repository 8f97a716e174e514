"""Names of steps that are plain enough to be read without a parser: "put the tools in the trunk".

A verb, what it is done to, and where or with what. Anything else ("and", "it", "until", a comma, a
word that WordNet does not know as what it would be here) is left to the parser, which takes seconds
to load.
"""

import re

from howsteps.task import Mention, Place
from howsteps.wordnet import WordNet

_WORDS = re.compile(r"[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*)*")
_PARTICLES = frozenset("up down off on out in away back over together apart aside".split())
_PREPOSITIONS = frozenset(
    "in into on onto at from around over under underneath below between across off along".split()
)
_DETERMINERS = frozenset("the a an your my our this that these those each every all both".split())
# Words that open something that is no plain name.
_OTHERS = frozenset(
    "and or but then than until till so that if when while as before after not no it its them they "
    "him her one ones who which what how why where again once twice by for of about "
    "without through to is are be being been was do does done let make sure have has get got go "
    "keep".split()
)


def plain_act(label: str) -> Mention | None:
    """The act that a plain label names; None where it is not plain."""
    text = label.strip().lower().rstrip(".!")
    words = text.split()
    if len(words) < 2 or not _WORDS.fullmatch(text) or _OTHERS & set(words):
        return None
    wordnet = WordNet.load()
    verb, rest = words[0], words[1:]
    if not wordnet.knows(verb, "verb") or wordnet.lemma(verb, "verb") != verb:
        return None
    particle = ""
    if rest[0] in _PARTICLES:
        particle, rest = rest[0], rest[1:]
        # "Put on the brake" is a verb of its own; "stand on the chair" is not.
        if rest and particle in _PREPOSITIONS and not wordnet.knows(f"{verb}_{particle}", "verb"):
            return None
    elif rest[-1] in _PARTICLES:
        particle, rest = rest[-1], rest[:-1]
    parts = _parts(rest)
    nouns = [(opening, _noun(own, wordnet)) for opening, own in parts]
    if any(noun is None for _, noun in nouns) or (not particle and not nouns):
        return None
    thing = next((str(noun) for opening, noun in nouns if not opening), "")
    around = [(opening, str(noun)) for opening, noun in nouns if opening]
    return Mention(
        video="",
        verb=verb,
        noun=thing,
        phrase=text,
        start=0.0,
        end=0.0,
        particle=particle,
        places=tuple(Place(opening, noun) for opening, noun in around if opening != "with"),
        tools=tuple(noun for opening, noun in around if opening == "with"),
    )


def _parts(words: list[str]) -> list[tuple[str, list[str]]]:
    """The object, and what follows each preposition."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for word in words:
        if word in _PREPOSITIONS or word == "with":
            parts.append((word, []))
        else:
            parts[-1][1].append(word)
    return parts if parts[0][1] else parts[1:]


def _noun(words: list[str], wordnet: WordNet) -> str | None:
    """The noun of a noun phrase as a lemma; None if these words are not plainly one."""
    own = words[1:] if words and words[0] in _DETERMINERS else words
    if not own or any(word in _DETERMINERS | _PARTICLES for word in own):
        return None
    if any(wordnet.knows(word, "adv") for word in own):  # "water the plants *well*"
        return None
    *before, last = own
    noun = wordnet.lemma(last, "noun")
    known = all(
        wordnet.knows(word, "adj") or wordnet.knows(wordnet.lemma(word, "noun"), "noun")
        for word in before
    )
    return noun if known and wordnet.knows(noun, "noun") else None
