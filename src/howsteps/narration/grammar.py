"""Look-ups on a dependency parse: predicates on tokens, semantic classes of nouns, coreference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import log
from typing import TYPE_CHECKING

from howsteps.narration.wordnet import WordNet

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

OBJECT = frozenset({"obj", "dobj"})
PASSIVE_AUXILIARY = frozenset({"aux:pass", "auxpass"})
PASSIVE_SUBJECT = frozenset({"nsubj:pass", "nsubjpass"})
SUBJECT = frozenset({"nsubj", "csubj", "expl"})
RELATIVE_CLAUSE = frozenset({"acl:relcl", "relcl"})
PARTICLE = frozenset({"compound:prt", "prt"})
CLAUSE_OPENER = frozenset({"mark", "prep"})
COMPLEMENT = frozenset({"xcomp", "ccomp"})
OF_PHRASE = frozenset({"nmod", "prep", "nmod:unmarked"})
NOUN_PHRASE = frozenset(
    {"det", "amod", "compound", "nummod", "nmod:poss", "poss", "det:predet", "nn"}
)

# Tags that imperatives at the start of a sentence ("lift the car") are often given.
_MISTAGGED_VERBS = frozenset({"NOUN", "PROPN", "ADJ", "X"})
# "Gonna" and "wanna", and the tokens they are split into.
_NO_OBJECT = frozenset({"gon", "gonna", "wan", "wanna", "na"})
# Adverbs that act as particles.
_PARTICLE_ADVERBS = frozenset("apart away back down in off on out over together up".split())
_NEGATIONS = frozenset({"not", "n't", "nt", "never"})
_NEGATIVE_OPENERS = frozenset({"without", "instead"})
# Verbs whose negation applies to their complement: "you don't need to remove the hubcap" is no more
# a removal than "don't remove the hubcap".
_SEMI_MODALS = frozenset("able get go gon have let like need try wan want".split())
# "Avoid touching the disc", "stop turning the wheel".
_DETERRENTS = frozenset("avoid quit refuse stop".split())


def children(token: Token, labels: Iterable[str]) -> Iterator[Token]:
    """Return the dependents of a token that have one of the labels."""
    return (child for child in token.children if child.dep_ in labels)


def is_verb(token: Token) -> bool:
    """Whether a token is a verb: by its tag, or because it has an object."""
    if token.lower_ in _NO_OBJECT:
        return False
    return token.pos_ == "VERB" or (
        token.pos_ in _MISTAGGED_VERBS
        and any(child.i > token.i for child in children(token, OBJECT))
    )


def is_noun(token: Token) -> bool:
    """Whether a token is a noun; a capitalised "Jack" is tagged as a proper noun."""
    return token.pos_ == "NOUN" or (token.pos_ == "PROPN" and token.text.isalpha())


def conjuncts(token: Token) -> Iterator[Token]:
    """Yield the tokens that are coordinated with a token and follow it: "the nuts *and wheels*"."""
    for child in token.children:
        if child.dep_ == "conj":
            yield child
            yield from conjuncts(child)


def particle(verb: Token) -> Token | None:
    """Return the particle of a phrasal verb: "take *off*", "put the wheel *back*"."""
    particles = [
        child
        for child in verb.children
        if child.dep_ in PARTICLE
        or (child.dep_ == "advmod" and child.lower_ in _PARTICLE_ADVERBS and child.i > verb.i)
    ]
    # "Put the wheel back on": the last one is the resulting position.
    return particles[-1] if particles else None


def particle_text(token: Token) -> str:
    """Return a particle as text; "upside down" is one particle."""
    before = token.doc[token.i - 1].lower_ if token.i else ""
    return "upside down" if (before, token.lower_) == ("upside", "down") else token.lower_


def is_negated(verb: Token) -> bool:
    """Whether a verb is negated, or advised against: "don't", "avoid", "without"."""
    if any(child.lower_ in _NEGATIONS for child in verb.children):
        return True
    if any(child.lower_ in _NEGATIVE_OPENERS for child in children(verb, CLAUSE_OPENER)):
        return True
    if verb.dep_ == "pcomp" and verb.head.lower_ in _NEGATIVE_OPENERS:
        return True
    governor = _governor(verb)
    if governor is not None:
        inherits = governor.lemma_ in _SEMI_MODALS
        return governor.lemma_ in _DETERRENTS or (inherits and is_negated(governor))
    # "Don't touch or remove the valve" negates both verbs; "and" starts a new statement.
    if verb.dep_ == "conj" and any(child.lower_ in {"or", "nor"} for child in verb.children):
        return is_negated(verb.head)
    return False


def noun_phrase(noun: Token) -> list[Token]:
    """Return a noun and its premodifiers, in order: "the rusty lug nuts"."""
    modifiers = [token for token in noun.lefts if token.dep_ in NOUN_PHRASE]
    before = [token for word in modifiers for token in word.subtree if token.i < noun.i]
    return sorted({*before, noun}, key=lambda token: token.i)


def _governor(verb: Token) -> Token | None:
    """The token that a verb is the complement of."""
    return verb.head if verb.dep_ in COMPLEMENT and verb.head != verb else None


_SENSES = 3
# Hypernyms of each class.
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
def _hypernyms(names: tuple[str, ...]) -> frozenset[int]:
    wordnet = WordNet.load()
    return frozenset(
        synset for name in names for synset in wordnet.synset_ids(name, "noun").tolist()
    )


@cache
def _is_under(noun: str, names: tuple[str, ...]) -> bool:
    wordnet = WordNet.load()
    return any(
        not _hypernyms(names).isdisjoint(wordnet.ancestors(synset))
        for synset in wordnet.synset_ids(noun, "noun", _SENSES).tolist()
    )


def is_blade(noun: str) -> bool:
    """Whether a noun is something to cut with."""
    return _is_under(noun, ("cutlery", "edge tool"))


def is_substance(noun: str) -> bool:
    """Whether a noun can be an ingredient of a mixture: sugar, water, an onion."""
    return _is_under(noun, _SUBSTANCES)


_SINGULAR = frozenset({"it", "this", "that"})
_PLURAL = frozenset({"them", "these", "those", "'em", "em"})

# Maximum distance in words; farther back the antecedent is as likely wrong as right.
_REACH = 40
_DECAY = 10  # words over which the score drops by one
_NOT_OBJECT = 2.0  # penalty of a noun that was not the object of a verb

# Frequent nouns that "it" hardly ever refers to: times, manners, places, parts of the body, talk.
# (WordNet's classes do not help: its first *bolt* is of lightning, its first *batter* a player.)
_EXCLUDED = frozenset(
    """
    afternoon breakfast day dinner hour life lunch minute moment month morning night second time
    today week while year
    bit case fun half idea job kind lot method motion pattern point problem process question reason
    size sort step stuff thing torque turn type way weight work
    back bottom end front ground inside left middle outside place rear right road room side spot top
    arm eye finger foot hand head mind thumb
    access air attention care excess habit heat look party peace play pressure sense taste
    anything channel comment everybody everything friend guy link name nothing one people person
    somebody something subscriber video viewer
    """.split()
)


def is_pronoun(token: Token) -> bool:
    """Whether a token is a pronoun that can refer to an object."""
    return token.pos_ in {"PRON", "DET"} and token.lower_ in _SINGULAR | _PLURAL


class Antecedents:
    """The nouns of a narration that pronouns may refer to, collected in order."""

    def __init__(self) -> None:
        self._doc: Doc | None = None
        self._offset = 0  # words in the earlier passages
        self._objects: list[tuple[int, Token]] = []
        self._counts: Counter[str] = Counter()

    def next_passage(self, doc: Doc) -> None:
        """Continue with the next passage of the same narration."""
        self._offset += len(self._doc) if self._doc is not None else 0
        self._doc = doc
        self._counts.update(token.lemma_ for token in doc if is_noun(token))

    def add(self, noun: Token, spoken: Token) -> None:
        """Add the object of a verb, and the token in its position."""
        self._objects.append((self._offset + spoken.i, noun))

    def resolve(self, pronoun: Token, verb: Token) -> Token | None:
        """Return the antecedent of a pronoun that is the object of ``verb``; None if none fits."""
        is_plural = pronoun.lower_ in _PLURAL
        scored = [
            (log(1 + self._counts[noun.lemma_]) - distance / _DECAY - penalty, -distance, noun)
            for distance, penalty, noun in self._candidates(pronoun, verb)
            if self._agrees(noun, is_plural)
        ]
        return max(scored, key=lambda candidate: candidate[:2])[2] if scored else None

    def _candidates(self, pronoun: Token, verb: Token) -> Iterator[tuple[int, float, Token]]:
        """Yield recent tokens: distance in words, penalty, token."""
        position = self._offset + pronoun.i
        for object_position, noun in reversed(self._objects):
            if object_position < position - _REACH:
                break
            if object_position < position:
                yield position - object_position, 0.0, noun
        for noun in pronoun.doc[max(0, pronoun.i - _REACH) : min(pronoun.i, verb.i)]:
            if noun.dep_ not in {"compound", "nn"}:
                yield pronoun.i - noun.i, _NOT_OBJECT, noun

    @staticmethod
    def _agrees(noun: Token, is_plural: bool) -> bool:
        return (
            is_noun(noun)
            and (noun.tag_ in {"NNS", "NNPS"}) == is_plural
            and noun.lemma_ not in _EXCLUDED
        )
