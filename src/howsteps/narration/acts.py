"""Find acts in a dependency parse: a verb with its object, places and tools.

An act is a verb with its particle, its object if it has one, places ("in the pan"), tools ("with a
wrench") and modifiers of the object ("the *left* thumb"). Objects are found by
:mod:`howsteps.narration.relations`; verbs without an object are acts too. Helper verbs ("go ahead
and", "take a towel and") are merged into the act that they introduce.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from spacy.tokens import Doc, Token

from howsteps.narration import grammar, relations
from howsteps.narration.complements import (
    Complement,
    complements,
    inner_place,
    is_place,
    is_tool,
    modifiers,
    using_objects,
)
from howsteps.narration.fragments import ADDING, DEFAULT_VERB, REACH, find_fragments
from howsteps.narration.helpers import HelperUse, helper_use
from howsteps.narration.kinds import is_implement, is_substance
from howsteps.narration.pronouns import Antecedents, is_pronoun

_OPTIONS = relations.RELATION_MODES["default"]
# Verbs that are not acts without an object.
_NEED_OBJECT = frozenset(
    """agree appear ask be believe belong bet call care depend do enjoy exist feel get guess happen
    have hear hope imagine know let like listen look love make matter mean mind need notice say see
    seem show sound suppose talk taste tell tend thank think understand use want watch wish
    wonder gon wan ve figure remember forget recommend suggest prefer live become""".split()
)
# Verbs that are no act without an object, a place or a particle: "go around it twice" is one.
_NEED_PLACE = frozenset("come go start begin end continue try work keep stay".split())
# Verbs that take a time as their object: "set the minutes".
_TAKE_TIME = frozenset({"set", "waste"})
# Verbs whose object may follow "in": "whisk in the oil", "throw in the ham".
_MIXING = frozenset(
    """add beat blend dump fold mix pour put sprinkle squeeze stir throw toss whisk""".split()
)
# Nouns that are the act itself after "give": "give it a *stir*".
_DEVERBAL_NOUNS = frozenset(
    """bash bath blast blend brush buff check clean cleaning coat coating cut drink dip dry dusting
    flip fold mix pat polish press prune pull push rest rinse roll rub scrape scrub
    scrubbing shake sand soak spin spray sprinkle squeeze squirt stir swirl tap taste trim
    tug turn twist wash wipe whirl whisk whiz wiggle""".split()
)
_NOUN_MODIFIERS = frozenset({"amod", "acl", "compound"})
# Distance in words within which "in there" refers to the last place.
_DEICTIC_REACH = 120
_DEICTIC = frozenset({"there", "here"})

# Verb–object pairs by the index of their verb.
_PairsByVerb: TypeAlias = dict[int, list[relations.Pair]]


@dataclass(frozen=True, slots=True)
class Act:
    """One act, as tokens of a parse.

    Attributes
    ----------
    verb, noun
        The verb and its object, if any.
    spoken
        The token in the position of the object: a pronoun if ``noun`` is its antecedent.
    lets
        Whether the act is left to happen: "let it rest".
    places, tools
        Its phrases of place, and its instruments.
    opening
        The first token of the act, which may be a helper verb.
    implied_lemma
        The lemma of the act if it is not that of ``verb``: "give it a *stir*" is stirring, and
        "then a cup of flour" is adding.
    """

    verb: Token
    noun: Token | None = None
    spoken: Token | None = None
    passive: bool = False
    lets: bool = False
    places: tuple[Complement, ...] = ()
    tools: tuple[Token, ...] = ()
    opening: Token | None = None
    implied_lemma: str = ""

    @property
    def lemma(self) -> str:
        """The lemma of the act."""
        return self.implied_lemma or self.verb.lemma_

    @property
    def resolved(self) -> bool:
        """Whether the object was a pronoun, or was left out."""
        return self.noun is not None and (self.spoken is None or is_pronoun(self.spoken))

    @property
    def modifiers(self) -> tuple[str, ...]:
        """Modifiers that distinguish the object from others of its kind."""
        return () if self.noun is None else modifiers(self.noun)


@dataclass(slots=True)
class Discourse:
    """What was mentioned so far: antecedents for "it", and the last place for "in there".

    ``words`` counts the words of the earlier passages; ``place_index`` is the position of
    ``place`` on that count.
    """

    antecedents: Antecedents = field(default_factory=Antecedents)
    words: int = 0
    place: Token | None = None
    place_index: int = 0


def find_acts(doc: Doc, discourse: Discourse | None = None) -> list[Act]:
    """Return all acts of a parsed passage, in the order of their verbs.

    ``discourse`` is the state after the passages before this one, and is updated.
    """
    discourse = Discourse() if discourse is None else discourse
    pairs: _PairsByVerb = defaultdict(list)
    for pair in relations.find_relations(doc, _OPTIONS, discourse.antecedents):
        if pair.noun.lemma_ not in relations.EXTENTS or pair.verb.lemma_ in _TAKE_TIME:
            pairs[pair.verb.i].append(pair)
    verbs = [token for token in doc if grammar.is_verb(token)]
    helper_uses = {use.act.i: use for verb in verbs if (use := helper_use(verb)) is not None}
    helpers = {use.helper.i for use in helper_uses.values()}
    acts: list[Act] = []
    for verb in verbs:
        if verb.i not in helpers:
            acts += _acts_of_verb(verb, pairs, helper_uses, discourse)
    acts = _with_fragments(doc, acts, discourse)
    discourse.words += len(doc)
    return acts


def _with_fragments(doc: Doc, acts: list[Act], discourse: Discourse) -> list[Act]:
    """Merge the acts without a verb ("then a cup of flour") into ``acts``."""
    adding = [(act.verb.i, act.lemma) for act in acts if act.lemma in ADDING]
    verbless: list[Act] = []
    for noun, head, is_amount in find_fragments(doc):
        recent = [lemma for index, lemma in adding if head.i - REACH <= index < head.i]
        if recent or is_amount:
            lemma = recent[-1] if recent else DEFAULT_VERB
            places = tuple(_places(head, list(complements(head, [noun])), discourse))
            verbless.append(Act(head, noun, noun, places=places, implied_lemma=lemma))
            adding.append((head.i, lemma))
    if not verbless:
        return acts
    return sorted([*acts, *verbless], key=lambda act: act.verb.i)


def _acts_of_verb(
    verb: Token,
    pairs: _PairsByVerb,
    helper_uses: dict[int, HelperUse],
    discourse: Discourse,
) -> list[Act]:
    """Return one act for each object of a verb, or one without an object, or none."""
    verb_pairs = pairs.get(verb.i, [])
    opening, lets = verb, False
    brought: list[relations.Pair] = []
    outermost = verb
    while (use := helper_uses.get(outermost.i)) is not None:
        outermost = use.helper
        if use.brings:
            brought += pairs.get(outermost.i, [])
            opening = outermost
        elif use.lets or use.done:
            lets = use.lets
            opening = outermost
            verb_pairs = verb_pairs or _objects_of_let(verb, outermost, pairs, discourse)
    spoken = [pair.spoken for pair in verb_pairs] or list(grammar.children(verb, grammar.OBJECT))
    phrases = list(complements(verb, spoken))
    places = tuple(_places(verb, phrases, discourse))
    tools = [phrase.word for phrase in phrases if is_tool(phrase)] + list(using_objects(verb))
    if not verb_pairs and not brought:
        verb_pairs, places = _objects_after_in(verb, places)
    if brought:
        verb_pairs, instruments = _assign_brought(verb, verb_pairs, brought)
        tools += instruments
    implied_lemma = ""
    if verb.lemma_ == "give" and verb_pairs:
        implied_lemma, verb_pairs = _give_construction(verb, verb_pairs, discourse)
    make_act = partial(
        Act,
        verb,
        places=places,
        tools=tuple(tools),
        lets=lets,
        opening=opening,
        implied_lemma=implied_lemma,
    )
    if verb_pairs:
        return [make_act(noun=p.noun, spoken=p.spoken, passive=p.passive) for p in verb_pairs]
    if not implied_lemma and not _is_act_without_object(verb, places):
        return []
    objects = list(grammar.children(verb, grammar.OBJECT | grammar.PASSIVE_SUBJECT))
    if objects and objects[0].lower_ == "everything":
        return [make_act(noun=objects[0], spoken=objects[0], passive=_is_passive(verb))]
    return [make_act(spoken=objects[0] if objects else None, passive=_is_passive(verb))]


def _assign_brought(
    verb: Token, verb_pairs: list[relations.Pair], brought: list[relations.Pair]
) -> tuple[list[relations.Pair], list[Token]]:
    """Decide whether what a helper brings is the object of the act or its tool.

    "Take the paper and fold *it*" folds the paper, "take a towel and dry *it*" does not dry the
    towel. Returns the pairs of the act, and its tools.
    """
    nouns = [pair.noun for pair in brought]
    if verb_pairs and verb_pairs[0].resolved and not any(is_implement(n.lemma_) for n in nouns):
        return [relations.Pair(verb, noun, verb_pairs[0].spoken) for noun in nouns], []
    if verb_pairs:
        same = any(noun.lemma_ == verb_pairs[0].noun.lemma_ for noun in nouns)
        return verb_pairs, [] if same else nouns
    objects = list(grammar.children(verb, grammar.OBJECT))
    if not objects or any(map(is_pronoun, objects)):
        return [relations.Pair(verb, pair.noun, pair.spoken) for pair in brought], []
    return [], nouns


def _objects_after_in(
    verb: Token, places: tuple[Complement, ...]
) -> tuple[list[relations.Pair], tuple[Complement, ...]]:
    """Take substances after "in" as objects: "whisk in the oil", unlike "put in the pan".

    Parsers do not distinguish the two. Returns the pairs, and the remaining places.
    """
    if verb.lemma_ not in _MIXING or not places or any(grammar.children(verb, grammar.OBJECT)):
        return [], places
    first = places[0]
    follows_verb = verb.doc[min(verb.i + 1, len(verb.doc) - 1)].lower_ == "in"
    if (
        first.preposition == "in"
        and follows_verb
        and first.word.doc == verb.doc
        and is_substance(first.word.lemma_)
    ):
        added = [
            place
            for place in places
            if place.preposition == "in" and is_substance(place.word.lemma_)
        ]
        remaining = tuple(place for place in places if place not in added)
        return [relations.Pair(verb, place.word, place.word) for place in added], remaining
    return [], places


def _give_construction(
    verb: Token, verb_pairs: list[relations.Pair], discourse: Discourse
) -> tuple[str, list[relations.Pair]]:
    """In "give it a good stir" the act is stirring, and its object is "it".

    Returns the lemma of the act, or "" if this is ordinary giving, and its pairs.
    """
    noun_of_act = verb_pairs[-1].spoken
    if noun_of_act.lower_ not in _DEVERBAL_NOUNS:
        return "", verb_pairs
    for recipient in grammar.children(verb, {"iobj", "dative", *grammar.OBJECT}):
        if recipient.i >= noun_of_act.i:
            continue
        noun: Token | None = recipient
        if is_pronoun(recipient):
            noun = discourse.antecedents.resolve(recipient, verb)
        if noun is not None and grammar.is_noun(noun):
            return noun_of_act.lower_, [relations.Pair(verb, noun, recipient)]
    return noun_of_act.lower_, []


def _objects_of_let(
    verb: Token, let: Token, pairs: _PairsByVerb, discourse: Discourse
) -> list[relations.Pair]:
    """In "let the steak rest" the object of the act is the steak."""
    let_pairs = pairs.get(let.i, [])
    if let_pairs:
        return let_pairs
    for subject in grammar.children(verb, {"nsubj"}):
        noun: Token | None = subject
        if is_pronoun(subject):
            noun = discourse.antecedents.resolve(subject, verb)
        if noun is not None and grammar.is_noun(noun):
            return [relations.Pair(verb, noun, subject)]
    return []


def _is_passive(verb: Token) -> bool:
    return any(grammar.children(verb, grammar.PASSIVE_SUBJECT | grammar.PASSIVE_AUXILIARY))


def _is_act_without_object(verb: Token, places: tuple[Complement, ...]) -> bool:
    if verb.pos_ != "VERB" or verb.dep_ in _NOUN_MODIFIERS or verb.lemma_ in _NEED_OBJECT:
        return False
    if verb.lower_ in {"using", "let's", "lets"} or not verb.text.isalpha():
        return False
    has_direction = bool(places) or grammar.particle(verb) is not None
    return has_direction or verb.lemma_ not in _NEED_PLACE


def _places(verb: Token, phrases: list[Complement], discourse: Discourse) -> list[Complement]:
    """Return the phrases of place, with pronouns and "there" resolved; update the last place."""
    found = []
    for complement in phrases:
        if not is_place(complement):
            continue
        place = inner_place(complement)
        word: Token | None = place.word
        if is_pronoun(place.word):
            word = discourse.antecedents.resolve(place.word, verb)
        elif place.word.lower_ in _DEICTIC:
            word = discourse.place
            if discourse.words + verb.i - discourse.place_index > _DEICTIC_REACH:
                word = None
        if word is None or not grammar.is_noun(word):
            continue
        found.append(Complement(place.preposition, word))
        if place.preposition.split()[0] in {"in", "into", "on", "onto", "inside"}:
            discourse.place, discourse.place_index = word, discourse.words + verb.i
    return found
