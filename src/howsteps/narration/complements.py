"""What stands around a verb besides its object: places, tools, and what tells its object apart."""

from collections.abc import Iterator
from typing import NamedTuple

from spacy.tokens import Token

from howsteps.narration import grammar

# Prepositions of where an act goes. "Of", "for", "about", "like" never say that.
_WHERE = frozenset(
    """above across against along alongside around at atop behind below beneath beside between
    beyond by down from in inside into near off on onto out outside over past through
    throughout to toward towards under underneath up upon within""".split()
)
_WITH = frozenset({"with", "using"})
# Not places: when, how long, how much, in which way, and the video itself.
_NOT_PLACES = frozenset(
    """afternoon beginning case chance channel comment couple course date day degree description
    detail end episode evening fact fahrenheit celsius future example favor hour instance june july
    least life likely lot luck manner minute mode moment month morning name night opinion order
    point process purpose question rate reason regard right second september season sort sure taste
    term time today tomorrow turn video week weekend while way year account advance experience
    general particular mind love trouble person people guy friend family god amazon youtube facebook
    instagram twitter website internet store one""".split()
)
# "On top of the rice": the rice is the place, "on top of" how the act goes there.
_SIDES = frozenset({"top", "inside", "outside", "front", "side", "sides", "surface"})
# Adverbs of where an act goes, where no noun says it.
_WAYS = frozenset(
    """across around aside backward backwards behind forward forwards halfway inside outside through
    under underneath""".split()
)
_DISTINGUISHING = frozenset({"amod", "compound", "nn", "nummod"})
_INDISTINCT = frozenset(
    """good great nice little big beautiful lovely whole entire same own such certain few many more
    much several sure awesome amazing perfect favorite favourite cool simple easy quick actual real
    regular bad different important right_here possible""".split()
)


class Complement(NamedTuple):
    """A preposition as it is said, and the word that follows it."""

    preposition: str
    word: Token


def complements(verb: Token, objects: list[Token]) -> Iterator[Complement]:
    """The prepositional complements of a verb, and of its objects where the parser hung them."""
    for head in (verb, *objects):
        for child in head.children:
            if child.i < verb.i and head is not verb:
                continue
            if child.dep_ in {"obl", "nmod"} or (head is verb and child.dep_ == "nmod"):
                case = [t.lower_ for t in grammar.children(child, {"case"}) if t.i < child.i]
                if case:
                    yield from _with_conjuncts(" ".join(case), child)
            elif child.dep_ == "prep":  # ClearNLP: the preposition stands between
                for inner in grammar.children(child, {"pobj"}):
                    yield from _with_conjuncts(child.lower_, inner)


def _with_conjuncts(preposition: str, word: Token) -> Iterator[Complement]:
    yield Complement(preposition, word)
    for other in grammar.conjuncts(word):
        if not any(grammar.children(other, {"case"})):
            yield Complement(preposition, other)


def is_place(complement: Complement) -> bool:
    """Whether a complement says where: "in the pan", "around it", "in half"."""
    first = complement.preposition.split()[0]
    word = complement.word
    return (
        first in _WHERE
        and word.lemma_ not in _NOT_PLACES
        and word.lower_ not in _NOT_PLACES
        and not word.like_num
    )


def is_tool(complement: Complement) -> bool:
    """Whether a complement says with what: "with the wrench"."""
    return complement.preposition in _WITH and grammar.is_noun(complement.word)


def inner_place(complement: Complement) -> Complement:
    """In "on top of the rice" the place is the rice."""
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


def used(verb: Token) -> Iterator[Token]:
    """What an act is done with, said as a clause: "loosen it *using a wrench*"."""
    for clause in grammar.children(verb, {"advcl", "xcomp", "prep"}):
        if clause.lower_ == "using":
            for thing in grammar.children(clause, {*grammar.OBJECT, "pobj"}):
                if grammar.is_noun(thing):
                    yield thing


def modifiers(noun: Token) -> tuple[str, ...]:
    """What tells a thing from another of its kind: "the *left* thumb", "the *dry* ingredients"."""
    return tuple(
        child.lower_
        for child in noun.lefts
        if child.dep_ in _DISTINGUISHING
        and child.lower_ not in _INDISTINCT
        and (child.dep_ != "nummod" or child.tag_ == "JJ")
        and child.text.isalpha()
    )


def particle(verb: Token) -> Token | None:
    """The particle of a verb, also one that says which way: "wrap it *around*"."""
    known = grammar.particle(verb)
    if known is not None:
        return known
    ways = [t for t in grammar.children(verb, {"advmod"}) if t.lower_ in _WAYS and t.i > verb.i]
    return ways[-1] if ways else None
