"""Acts in a parsed narration: verbs with their objects, places and tools.

In order: complements of a verb, helper verbs ("go ahead and …"), and the acts made of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from howsteps.narration import grammar, relations
from howsteps.narration.grammar import Antecedents, is_pronoun

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

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
_MODIFIER_LABELS = frozenset({"amod", "compound", "nn", "nummod"})


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


def modifiers(noun: Token) -> tuple[str, ...]:
    """Return the words that specify a noun: "the *left* thumb", "the *dry* ingredients"."""
    return tuple(
        child.lower_
        for child in noun.lefts
        if child.dep_ in _MODIFIER_LABELS
        and (child.dep_ != "nummod" or child.tag_ == "JJ")
        and child.text.isalpha()
    )


# Aspectual and intentional verbs, helpers if a verb is their complement.
_CATENATIVE = frozenset(
    """able begin choose continue decide finish get go gon gonna have hope keep learn like love need
    plan prefer proceed remember start tend try use want wan wish""".split()
)
# "Go ahead and …", "come back and …".
_MOTION = frozenset({"come", "go", "proceed", "try"})
# Verbs that only bring the object or tool of the act that follows.
_FETCHING = frozenset("bring get grab have pick reach take use".split())
_LETTING = frozenset({"allow", "let"})
# "Let's cut it", "let me cut it": the narrator acts.
_FIRST_PERSON = frozenset({"'s", "s", "us", "me"})
_REACH = 14  # maximum distance in words from a fetching verb to its act


@dataclass(frozen=True, slots=True)
class HelperUse:
    """A helper verb, the act that it introduces, and its role.

    The helper ``brings`` an object or tool ("take a towel and"), ``lets`` the act happen ("let it
    rest"), or neither.
    """

    helper: Token
    act: Token
    brings: bool = False
    lets: bool = False


def helper_use(verb: Token) -> HelperUse | None:
    """Return which act a verb introduces, or None if the verb is an act itself."""
    lemma = verb.lemma_
    complement = _verb_complement(verb)
    if complement is not None and lemma in _LETTING:
        return HelperUse(verb, complement, lets=not _is_first_person(verb, complement))
    objects = _objects(verb)
    if complement is not None and lemma in _CATENATIVE and not objects:
        return HelperUse(verb, complement)
    act = None
    if lemma in _MOTION and not objects and not _has_prepositional_phrase(verb):
        act = _coordinated(verb)
    elif lemma in _FETCHING and objects and _is_bare(verb):
        act = _purpose(verb) or _coordinated(verb)
        if act is not None and (act.i - verb.i > _REACH or act.lemma_ in _FETCHING):
            act = None
    return None if act is None else HelperUse(verb, act, brings=bool(objects))


def _objects(verb: Token) -> list[Token]:
    return [token for token in grammar.children(verb, grammar.OBJECT) if token.i > verb.i]


def _verb_complement(verb: Token) -> Token | None:
    verbs = (
        child
        for child in grammar.children(verb, grammar.COMPLEMENT)
        if child.pos_ == "VERB" and child.i > verb.i
    )
    return next(verbs, None)


def _is_first_person(verb: Token, complement: Token) -> bool:
    """Whether "let" is an invitation: "let's", "let me"."""
    agents = [
        *grammar.children(verb, {*grammar.OBJECT, "iobj"}),
        *grammar.children(complement, {"nsubj"}),
    ]
    # "Let's" is one token in some models, and some writers spell it "lets".
    return verb.lower_ in {"let's", "lets"} or any(t.lower_ in _FIRST_PERSON for t in agents)


def _coordinated(verb: Token) -> Token | None:
    """The verb after "and", unless it has a subject of its own."""
    for child in grammar.children(verb, {"conj"}):
        if (
            child.pos_ == "VERB"
            and child.i > verb.i
            and not any(grammar.children(child, grammar.SUBJECT | grammar.PASSIVE_SUBJECT))
        ):
            return child
    return None


def _purpose(verb: Token) -> Token | None:
    """In "use a knife to cut it" the act is cutting."""
    for child in grammar.children(verb, {"xcomp", "advcl", "acl"}):
        if child.pos_ == "VERB" and child.i > verb.i and _is_infinitive(child):
            return child
    for noun in _objects(verb):
        for child in grammar.children(noun, {"acl", "relcl", "advcl"}):
            if child.pos_ == "VERB" and _is_infinitive(child):
                return child
    return None


def _is_infinitive(verb: Token) -> bool:
    return any(t.lower_ == "to" and t.i < verb.i for t in grammar.children(verb, {"mark", "aux"}))


def _is_bare(verb: Token) -> bool:
    """Whether a verb has neither particle nor place: "take the lid off" is an act itself."""
    return grammar.particle(verb) is None and not _has_prepositional_phrase(verb)


def _has_prepositional_phrase(verb: Token) -> bool:
    return any(child.i > verb.i for child in grammar.children(verb, {"obl", "prep"}))


# Verbs that are not acts without an object.
_NEED_OBJECT = frozenset(
    """agree appear ask be believe belong bet call care depend do enjoy exist feel get guess happen
    have hear hope imagine know let like listen look love make matter mean mind need notice say see
    seem show sound suppose talk taste tell tend thank think understand use want watch wish
    wonder gon wan ve figure remember forget recommend suggest prefer live become""".split()
)
# Verbs that are no act without an object, a place or a particle: "go around it twice" is one.
_NEED_PLACE = frozenset("come go start begin end continue try work keep stay".split())
_NOUN_MODIFIERS = frozenset({"amod", "acl", "compound"})

# Verb–object pairs by the index of their verb.
_PairsByVerb: TypeAlias = dict[int, list[relations.Pair]]


@dataclass(frozen=True, slots=True)
class Act:
    """One act, as tokens of a parse: a verb and its object, if any.

    ``spoken`` is the token in the position of the object: a pronoun if ``noun`` is its antecedent.
    ``lets``: the act is left to happen ("let it rest"). ``opening`` is the first token of the act,
    which may be a helper verb.
    """

    verb: Token
    noun: Token | None = None
    spoken: Token | None = None
    passive: bool = False
    lets: bool = False
    places: tuple[Complement, ...] = ()
    tools: tuple[Token, ...] = ()
    opening: Token | None = None

    @property
    def resolved(self) -> bool:
        """Whether the object was a pronoun, or was left out."""
        return self.noun is not None and (self.spoken is None or is_pronoun(self.spoken))

    @property
    def modifiers(self) -> tuple[str, ...]:
        """Modifiers that distinguish the object from others of its kind."""
        return () if self.noun is None else modifiers(self.noun)


def find_acts(doc: Doc, antecedents: Antecedents | None = None) -> list[Act]:
    """Return all acts of a parsed passage, in the order of their verbs.

    ``antecedents`` are those of the passages before this one, and are updated.
    """
    antecedents = Antecedents() if antecedents is None else antecedents
    pairs: _PairsByVerb = defaultdict(list)
    for pair in relations.find_relations(doc, antecedents):
        if pair.noun.lemma_ not in relations.EXTENTS:
            pairs[pair.verb.i].append(pair)
    verbs = [token for token in doc if grammar.is_verb(token)]
    helper_uses = {use.act.i: use for verb in verbs if (use := helper_use(verb)) is not None}
    helpers = {use.helper.i for use in helper_uses.values()}
    return [
        act
        for verb in verbs
        if verb.i not in helpers
        for act in _acts_of_verb(verb, pairs, helper_uses, antecedents)
    ]


def _acts_of_verb(
    verb: Token,
    pairs: _PairsByVerb,
    helper_uses: dict[int, HelperUse],
    antecedents: Antecedents,
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
        elif use.lets:
            lets = True
            opening = outermost
            verb_pairs = verb_pairs or _objects_of_let(verb, outermost, pairs, antecedents)
    spoken = [pair.spoken for pair in verb_pairs] or list(grammar.children(verb, grammar.OBJECT))
    phrases = list(complements(verb, spoken))
    places = tuple(_places(verb, phrases, antecedents))
    tools = [phrase.word for phrase in phrases if is_tool(phrase)]
    if brought and not verb_pairs:  # "take the paper and fold"
        verb_pairs = [relations.Pair(verb, pair.noun, pair.spoken) for pair in brought]
    elif brought:  # "take a towel and dry it"
        handled = {pair.noun.lemma_ for pair in verb_pairs}
        tools += [pair.noun for pair in brought if pair.noun.lemma_ not in handled]
    make_act = partial(Act, verb, places=places, tools=tuple(tools), lets=lets, opening=opening)
    if verb_pairs:
        return [make_act(noun=p.noun, spoken=p.spoken, passive=p.passive) for p in verb_pairs]
    if not _is_act_without_object(verb, places):
        return []
    objects = list(grammar.children(verb, grammar.OBJECT | grammar.PASSIVE_SUBJECT))
    return [make_act(spoken=objects[0] if objects else None, passive=_is_passive(verb))]


def _objects_of_let(
    verb: Token, let: Token, pairs: _PairsByVerb, antecedents: Antecedents
) -> list[relations.Pair]:
    """In "let the steak rest" the object of the act is the steak."""
    let_pairs = pairs.get(let.i, [])
    if let_pairs:
        return let_pairs
    for subject in grammar.children(verb, {"nsubj"}):
        noun: Token | None = subject
        if is_pronoun(subject):
            noun = antecedents.resolve(subject, verb)
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


def _places(
    verb: Token, phrases: list[Complement], antecedents: Antecedents
) -> Iterator[Complement]:
    """Yield the phrases of place, with pronouns resolved."""
    for complement in phrases:
        if is_place(complement):
            preposition, word = inner_place(complement)
            noun = antecedents.resolve(word, verb) if is_pronoun(word) else word
            if noun is not None and grammar.is_noun(noun):
                yield Complement(preposition, noun)
