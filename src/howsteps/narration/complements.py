"""Complements of a verb besides its object: places and tools; and modifiers of the object."""

from collections.abc import Iterator
from typing import NamedTuple

from spacy.tokens import Token

from howsteps.narration import grammar

# Prepositions of place; "of", "for", "about" and "like" are none.
_PLACE_PREPOSITIONS = frozenset(
    """above across against along alongside around at atop behind below beneath beside between
    beyond by down from in inside into near off on onto out outside over past through
    throughout to toward towards under underneath up upon within""".split()
)
_TOOL_PREPOSITIONS = frozenset({"with", "using"})
# Nouns of time, amount and manner, and the video itself.
_NOT_PLACES = frozenset(
    """afternoon beginning case chance channel comment couple course date day degree description
    detail end episode evening fact fahrenheit celsius future example favor hour instance june july
    least life likely lot luck manner minute mode moment month morning name night opinion order
    point process purpose question rate reason regard right second september season sort sure taste
    term time today tomorrow turn video week weekend while way year account advance experience
    general particular mind love trouble person people guy friend family god amazon youtube facebook
    instagram twitter website internet store one""".split()
)
# Nouns of complex prepositions: in "on top of the rice" the place is the rice.
_SIDES = frozenset({"top", "inside", "outside", "front", "side", "sides", "surface"})
_DIRECTION_ADVERBS = frozenset(
    """across around aside backward backwards behind forward forwards halfway inside outside through
    under underneath""".split()
)
_MODIFIER_LABELS = frozenset({"amod", "compound", "nn", "nummod"})
_UNINFORMATIVE = frozenset(
    """good great nice little big beautiful lovely whole entire same own such certain few many more
    much several sure awesome amazing perfect favorite favourite cool simple easy quick actual real
    regular bad different important right_here possible""".split()
)


class Complement(NamedTuple):
    """A preposition as spoken, and the head of the phrase that follows it."""

    preposition: str
    word: Token


def complements(verb: Token, objects: list[Token]) -> Iterator[Complement]:
    """Yield the prepositional phrases of a verb, including those attached to its objects."""
    for head in (verb, *objects):
        for child in head.children:
            if child.i < verb.i and head is not verb:
                continue
            if child.dep_ in {"obl", "nmod"} or (head is verb and child.dep_ == "nmod"):
                case = [t.lower_ for t in grammar.children(child, {"case"}) if t.i < child.i]
                if case:
                    yield from _with_conjuncts(" ".join(case), child)
            elif child.dep_ == "prep":  # ClearNLP: the preposition is the head of the phrase
                for inner in grammar.children(child, {"pobj"}):
                    yield from _with_conjuncts(child.lower_, inner)


def _with_conjuncts(preposition: str, word: Token) -> Iterator[Complement]:
    yield Complement(preposition, word)
    for other in grammar.conjuncts(word):
        if not any(grammar.children(other, {"case"})):
            yield Complement(preposition, other)


def is_place(complement: Complement) -> bool:
    """Whether a complement is a place or direction: "in the pan", "around it", "in half"."""
    first = complement.preposition.split()[0]
    word = complement.word
    return (
        first in _PLACE_PREPOSITIONS
        and word.lemma_ not in _NOT_PLACES
        and word.lower_ not in _NOT_PLACES
        and not word.like_num
    )


def is_tool(complement: Complement) -> bool:
    """Whether a complement is an instrument: "with the wrench"."""
    return complement.preposition in _TOOL_PREPOSITIONS and grammar.is_noun(complement.word)


def inner_place(complement: Complement) -> Complement:
    """Join complex prepositions: "on top" with "of the rice" becomes "on top of", "rice"."""
    word = complement.word
    if word.lower_ in _SIDES and not any(grammar.children(word, {"amod"})):
        for child in grammar.children(word, grammar.OF_PHRASE):
            inner = child
            if child.dep_ == "prep":
                inner = next(iter(grammar.children(child, {"pobj"})), child)
            elif not any(t.lower_ == "of" for t in grammar.children(child, {"case"})):
                continue
            if inner.i > word.i and (grammar.is_noun(inner) or inner.pos_ == "PRON"):
                return Complement(f"{complement.preposition} {word.lower_} of", inner)
    return complement


def using_objects(verb: Token) -> Iterator[Token]:
    """Yield instruments in a clause with "using": "loosen it *using a wrench*"."""
    for clause in grammar.children(verb, {"advcl", "xcomp", "prep"}):
        if clause.lower_ == "using":
            for noun in grammar.children(clause, {*grammar.OBJECT, "pobj"}):
                if grammar.is_noun(noun):
                    yield noun


def modifiers(noun: Token) -> tuple[str, ...]:
    """Return the words that specify a noun: "the *left* thumb", "the *dry* ingredients"."""
    return tuple(
        child.lower_
        for child in noun.lefts
        if child.dep_ in _MODIFIER_LABELS
        and child.lower_ not in _UNINFORMATIVE
        and (child.dep_ != "nummod" or child.tag_ == "JJ")
        and child.text.isalpha()
    )


def particle(verb: Token) -> Token | None:
    """Return the particle of a verb, or else its last adverb of direction: "wrap it *around*"."""
    known = grammar.particle(verb)
    if known is not None:
        return known
    directions = [
        token
        for token in grammar.children(verb, {"advmod"})
        if token.lower_ in _DIRECTION_ADVERBS and token.i > verb.i
    ]
    return directions[-1] if directions else None
