"""Acts in a parsed narration: what is done, to what, where, and with what.

An act is a verb with its particle, its object if it has one, its places ("in the pan"), its tools
("with a wrench") and what tells its object from another ("the *left* thumb"). Objects are those of
:mod:`howsteps.narration.relations`; verbs without an object are acts too. Verbs that lead up to
another ("go ahead and", "take a towel and") are folded into it.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from spacy.tokens import Doc, Token

from howsteps.narration import grammar, relations
from howsteps.narration.complements import (
    Complement,
    complements,
    inner_place,
    is_place,
    is_tool,
    modifiers,
    used,
)
from howsteps.narration.fragments import ADDING, DEFAULT_VERB, REACH, fragments
from howsteps.narration.helpers import Help, help_of
from howsteps.narration.kinds import is_implement, is_substance
from howsteps.narration.pronouns import Antecedents, is_pronoun

_READING = relations.RELATION_MODES["default"]
# Without an object these say nothing that is done.
_EMPTY_ALONE = frozenset(
    """agree appear ask be believe belong bet call care depend do enjoy exist feel get guess happen
    have hear hope imagine know let like listen look love make matter mean mind need notice say see
    seem show sound suppose talk taste tell tend thank think understand use want watch wish
    wonder gon wan ve figure remember forget recommend suggest prefer live become""".split()
)
# Moving is an act where it goes somewhere: "go around it twice".
_EMPTY_UNLESS_PLACED = frozenset("come go start begin end continue try work keep stay".split())
# Time can be an object of these: "take your time", "set the minutes".
_OF_TIME = frozenset({"set", "waste"})
# What is mixed in: "whisk in the oil", "throw in the ham".
_MIXING = frozenset(
    """add beat blend dump fold mix pour put sprinkle squeeze stir throw toss whisk""".split()
)
# What can be given to a thing by doing it.
_GIFTS = frozenset(
    """bash bath blast blend brush buff check clean cleaning coat coating cut drink dip dry dusting
    flip fold mix pat polish press prune pull push rest rinse roll rub scrape scrub
    scrubbing shake sand soak spin spray sprinkle squeeze squirt stir swirl tap taste trim
    tug turn twist wash wipe whirl whisk whiz wiggle""".split()
)
_PART_OF_NOUN = frozenset({"amod", "acl", "compound"})
# How long "in there" means the same place, in words.
_HERE_REACH = 120
_HERE = frozenset({"there", "here"})


@dataclass(frozen=True, slots=True)
class Act:
    """One act: the words of a parse that say it.

    ``spoken`` is the word that stands for the object, a pronoun where the object was resolved.
    ``opening`` is the first word of it, which may be a helper. ``said`` is the verb's lemma where
    it is not that of ``verb``: "give it a *stir*" is stirring, and "then a cup of flour" adding.
    """

    verb: Token
    noun: Token | None = None
    spoken: Token | None = None
    passive: bool = False
    lets: bool = False
    places: tuple[Complement, ...] = ()
    tools: tuple[Token, ...] = ()
    opening: Token | None = None
    said: str = ""

    @property
    def lemma(self) -> str:
        """The verb that is meant, as a lemma."""
        return self.said or self.verb.lemma_

    @property
    def resolved(self) -> bool:
        """Whether the object was a pronoun, or was left out."""
        return self.noun is not None and (self.spoken is None or is_pronoun(self.spoken))

    @property
    def modifiers(self) -> tuple[str, ...]:
        """What tells its object from another."""
        return () if self.noun is None else modifiers(self.noun)


@dataclass(slots=True)
class Memory:
    """What the narrator has named before: things for "it", a place for "in there"."""

    antecedents: Antecedents = field(default_factory=Antecedents)
    words: int = 0
    place: Token | None = None
    placed_at: int = 0

    def turn_to(self, doc: Doc) -> None:
        """Go on: ``doc`` has been read."""
        self.words += len(doc)


def find(doc: Doc, memory: Memory | None = None) -> list[Act]:
    """All acts of a parsed passage, in the order of their verbs."""
    memory = Memory() if memory is None else memory
    pairs: dict[int, list[relations.Pair]] = defaultdict(list)
    for pair in relations.find_relations(doc, _READING, memory.antecedents):
        if pair.noun.lemma_ not in relations.EXTENTS or pair.verb.lemma_ in _OF_TIME:
            pairs[pair.verb.i].append(pair)
    verbs = [token for token in doc if grammar.is_verb(token)]
    helps = {help.act.i: help for verb in verbs if (help := help_of(verb)) is not None}
    helpers = {help.helper.i for help in helps.values()}
    found: list[Act] = []
    for verb in verbs:
        if verb.i not in helpers:
            found += _acts_of(verb, pairs, helps, memory)
    found = _with_fragments(doc, found, memory)
    memory.turn_to(doc)
    return found


def _with_fragments(doc: Doc, found: list[Act], memory: Memory) -> list[Act]:
    """Put the acts that are said without a verb between the others."""
    adding = [(a.verb.i, a.lemma) for a in found if a.lemma in ADDING]
    alone: list[Act] = []
    for thing, token, amount in fragments(doc):
        near = [(at, lemma) for at, lemma in adding if token.i - REACH <= at < token.i]
        if near or amount:
            said = near[-1][1] if near else DEFAULT_VERB
            places = tuple(_places(token, list(complements(token, [thing])), memory))
            alone.append(Act(token, thing, thing, places=places, said=said))
            adding.append((token.i, said))
    if not alone:
        return found
    return sorted([*found, *alone], key=lambda act: act.verb.i)


def _acts_of(
    verb: Token,
    pairs: dict[int, list[relations.Pair]],
    helps: dict[int, Help],
    memory: Memory,
) -> list[Act]:
    own = pairs.get(verb.i, [])
    opening, lets = verb, False
    brought: list[relations.Pair] = []
    below = verb
    while (help := helps.get(below.i)) is not None:
        below = help.helper
        if help.brings:
            brought += pairs.get(below.i, [])
            opening = below
        elif help.lets or help.done:
            lets = help.lets
            opening = below
            own = own or _let(verb, below, pairs, memory)
    spoken = [pair.spoken for pair in own] or list(grammar.children(verb, grammar.OBJECT))
    around = list(complements(verb, spoken))
    places = tuple(_places(verb, around, memory))
    tools = [c.word for c in around if is_tool(c)] + list(used(verb))
    if not own and not brought:
        own, places = _added_in(verb, places)
    if brought:
        own, instruments = _with_brought(verb, own, brought)
        tools += instruments
    said = ""
    if verb.lemma_ == "give" and own:
        said, own = _given(verb, own, memory)
    rest = partial(
        Act, verb, places=places, tools=tuple(tools), lets=lets, opening=opening, said=said
    )
    if own:
        return [rest(noun=p.noun, spoken=p.spoken, passive=p.passive) for p in own]
    if not said and not _is_act_alone(verb, places):
        return []
    objects = list(grammar.children(verb, grammar.OBJECT | grammar.PASSIVE_SUBJECT))
    if objects and objects[0].lower_ == "everything":
        return [rest(noun=objects[0], spoken=objects[0], passive=_is_passive(verb))]
    return [rest(spoken=objects[0] if objects else None, passive=_is_passive(verb))]


def _with_brought(
    verb: Token, own: list[relations.Pair], brought: list[relations.Pair]
) -> tuple[list[relations.Pair], list[Token]]:
    """What an act is done to and with, where a helper brings something.

    "Take the paper and fold *it*" is about the paper, "take a towel and dry *it*" is not.
    """
    things = [pair.noun for pair in brought]
    if own and own[0].resolved and not any(is_implement(thing.lemma_) for thing in things):
        return [relations.Pair(verb, thing, own[0].spoken) for thing in things], []
    if own:
        same = any(thing.lemma_ == own[0].noun.lemma_ for thing in things)
        return own, [] if same else things
    if any(is_pronoun(token) for token in grammar.children(verb, grammar.OBJECT)) or not any(
        grammar.children(verb, grammar.OBJECT)
    ):
        return [relations.Pair(verb, pair.noun, pair.spoken) for pair in brought], []
    return [], things


def _added_in(
    verb: Token, places: tuple[Complement, ...]
) -> tuple[list[relations.Pair], tuple[Complement, ...]]:
    """In "whisk in the oil" the oil is no place; parsers cannot tell it from "put in the pan"."""
    if (
        verb.lemma_ in _MIXING
        and len(places) >= 1
        and not any(grammar.children(verb, grammar.OBJECT))
    ):
        first = places[0]
        close = (
            first.preposition == "in"
            and verb.doc[min(verb.i + 1, len(verb.doc) - 1)].lower_ == "in"
        )
        if close and first.word.doc == verb.doc and is_substance(first.word.lemma_):
            listed = [
                place
                for place in places
                if place.preposition == "in" and is_substance(place.word.lemma_)
            ]
            rest = tuple(place for place in places if place not in listed)
            return [relations.Pair(verb, place.word, place.word) for place in listed], rest
    return [], places


def _given(
    verb: Token, own: list[relations.Pair], memory: Memory
) -> tuple[str, list[relations.Pair]]:
    """In "give it a good stir" the act is stirring, and "it" is stirred."""
    gift = own[-1].spoken
    if gift.lower_ not in _GIFTS:
        return "", own
    for receiver in grammar.children(verb, {"iobj", "dative", *grammar.OBJECT}):
        if receiver.i >= gift.i:
            continue
        noun = memory.antecedents.resolve(receiver, verb) if is_pronoun(receiver) else receiver
        if noun is not None and grammar.is_noun(noun):
            return gift.lower_, [relations.Pair(verb, noun, receiver)]
    return gift.lower_, []


def _let(
    verb: Token, letting: Token, pairs: dict[int, list[relations.Pair]], memory: Memory
) -> list[relations.Pair]:
    """In "let the steak rest" the steak is what the resting is about."""
    own = pairs.get(letting.i, [])
    if own:
        return own
    for subject in grammar.children(verb, {"nsubj"}):
        noun: Token | None = subject
        if is_pronoun(subject):
            noun = memory.antecedents.resolve(subject, verb)
        if noun is not None and grammar.is_noun(noun):
            return [relations.Pair(verb, noun, subject)]
    return []


def _is_passive(verb: Token) -> bool:
    return any(grammar.children(verb, grammar.PASSIVE_SUBJECT | grammar.PASSIVE_AUXILIARY))


def _is_act_alone(verb: Token, places: tuple[Complement, ...]) -> bool:
    if verb.pos_ != "VERB" or verb.dep_ in _PART_OF_NOUN or verb.lemma_ in _EMPTY_ALONE:
        return False
    if verb.lower_ in {"using", "let's", "lets"} or not verb.text.isalpha():
        return False
    return (
        bool(places)
        or grammar.particle(verb) is not None
        or (verb.lemma_ not in _EMPTY_UNLESS_PLACED)
    )


def _places(verb: Token, around: list[Complement], memory: Memory) -> list[Complement]:
    found = []
    for complement in around:
        if not is_place(complement):
            continue
        place = inner_place(complement)
        word: Token | None = place.word
        if is_pronoun(place.word):
            word = memory.antecedents.resolve(place.word, verb)
        elif place.word.lower_ in _HERE:
            word = memory.place
            if word is None or memory.words + verb.i - memory.placed_at > _HERE_REACH:
                word = None
        if word is None or not grammar.is_noun(word):
            continue
        found.append(Complement(place.preposition, word))
        if place.preposition.split()[0] in {"in", "into", "on", "onto", "inside"}:
            memory.place, memory.placed_at = word, memory.words + verb.i
    return found
