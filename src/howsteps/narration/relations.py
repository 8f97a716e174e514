"""Verb–object pairs in a parsed narration.

METHOD: every verb with a direct object that is a noun. Narrators also say the same thing in other
ways, and each of those is an option: passives ("the nuts are removed"), relative clauses ("the nuts
you removed"), pronouns ("take *it* off") and measures ("a cup of *flour*").
"""

from collections.abc import Iterator
from dataclasses import dataclass

from spacy.tokens import Doc, Token

from howsteps.narration import grammar
from howsteps.narration.pronouns import Antecedents, is_pronoun


@dataclass(frozen=True, slots=True)
class Reading:
    """Which ways of naming an object count as one."""

    passives: bool = True
    relatives: bool = True
    pronouns: bool = True
    measures: bool = True


MODES = {
    "default": Reading(),
    "paper": Reading(passives=False, relatives=False, pronouns=False, measures=False),
    "authors": Reading(passives=False, relatives=False, pronouns=False, measures=False),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A verb, the noun it acts on, and the word that stands for the noun where it is spoken."""

    verb: Token
    noun: Token
    spoken: Token
    passive: bool = False

    @property
    def resolved(self) -> bool:
        """Whether the object was a pronoun."""
        return is_pronoun(self.spoken)


# Heads that only say how much: in "a cup of flour" the flour is what is added.
_MEASURES = frozenset(
    """all amount bag batch bit bottle bowl box bunch can couple cup dash few gallon glass gram half
    handful inch jar kind layer lot majority most ounce package pair part piece pinch pint plenty
    pound quart rest set sheet slice some sort splash stick tablespoon teaspoon ton type
    variety one two three four five six each both any none much many""".split()
)
# "Go ahead and remove the nuts": going is not done to the nuts.
_NEVER_SHARE = frozenset(
    """be begin come continue finish go happen hurry let look proceed relax rest run sit sleep stand
    start stay stop try turn wait walk work""".split()
)


def find(doc: Doc, reading: Reading = MODES["default"]) -> list[Pair]:
    """All verb–object pairs of a parsed text, in the order of their verbs."""
    antecedents = Antecedents(doc)
    pairs = []
    for verb in doc:
        if verb.pos_ != "VERB":
            continue
        for spoken, passive in _objects(verb, reading):
            noun: Token | None = _measured(spoken) if reading.measures else spoken
            if is_pronoun(spoken) and noun is spoken:
                noun = antecedents.of(spoken, verb) if reading.pronouns else None
            if noun is not None and grammar.is_noun(noun):
                pairs.append(Pair(verb, noun, spoken, passive))
                antecedents.see(noun, spoken.i)
    return pairs


def _objects(verb: Token, reading: Reading) -> Iterator[tuple[Token, bool]]:
    """What a verb acts on: words, and whether the clause is passive."""
    found = [obj for child in _direct_objects(verb, reading) for obj in (child, *_listed(child))]
    yield from ((obj, False) for obj in found)
    if found or not reading.passives:
        return
    for subject in _passive_subjects(verb):
        yield subject, True
        yield from ((other, True) for other in _listed(subject))


def _listed(noun: Token) -> Iterator[Token]:
    return (other for other in grammar.conjuncts(noun) if grammar.is_noun(other))


def _direct_objects(verb: Token, reading: Reading) -> list[Token]:
    own = [obj for obj in grammar.children(verb, grammar.OBJECT) if not _is_relativiser(obj)]
    if own:
        return own
    if verb.dep_ in grammar.RELATIVE_CLAUSE:
        return [verb.head] if reading.relatives and _object_is_outside(verb) else []
    return _shared_objects(verb)


def _is_relativiser(token: Token) -> bool:
    clause = token.head
    return (
        clause.dep_ in grammar.RELATIVE_CLAUSE
        and token.i < clause.i
        and token.lower_ in {"that", "which", "who", "whom", "what"}
    )


def _object_is_outside(verb: Token) -> bool:
    """In "the nuts (that) you removed" the object of the relative clause is the noun above it."""
    if any(_is_relativiser(obj) for obj in grammar.children(verb, grammar.OBJECT)):
        return True
    subjects = list(grammar.children(verb, grammar.SUBJECT))
    filled = {"xcomp", "ccomp", "obl", "prep", "advmod", "cop", *grammar.PASSIVE_SUBJECT}
    occupied = any(child.dep_ in filled and child.i > verb.i for child in verb.children)
    return (
        bool(subjects)
        and not any(_is_relativiser(subject) for subject in subjects)
        and not any(grammar.children(verb, grammar.PASSIVE_SUBJECT))
        and not occupied
    )


def _shared_objects(verb: Token) -> list[Token]:
    """The object that coordinated verbs share: "jack up and secure *the car*"."""
    if verb.lower_ in _NEVER_SHARE or any(
        child.dep_ in {"obl", "xcomp", "ccomp", "prep", "nsubj:pass"} for child in verb.children
    ):
        return []
    if verb.dep_ == "conj" and verb.head.pos_ == "VERB":
        # The treebanks hang a shared object on the first verb, after the second.
        return [o for o in grammar.children(verb.head, grammar.OBJECT) if o.i > verb.i]
    for other in grammar.conjuncts(verb):
        between = verb.doc[verb.i + 1 : other.i]
        bare = all(t.dep_ in {"cc", "punct", "advmod", *grammar.PARTICLE} for t in between)
        objects = [obj for obj in grammar.children(other, grammar.OBJECT) if obj.i > other.i]
        if other.pos_ == "VERB" and objects and bare and len(between) <= 3:
            return objects
    return []


def _passive_subjects(verb: Token) -> list[Token]:
    own = list(grammar.children(verb, grammar.PASSIVE_SUBJECT))
    if own or verb.dep_ != "conj" or verb.tag_ != "VBN":
        return own
    # "The nuts are removed and cleaned".
    if any(grammar.children(verb, grammar.SUBJECT)):
        return []
    return list(grammar.children(verb.head, grammar.PASSIVE_SUBJECT))


def _measured(noun: Token) -> Token:
    """What a measure measures: "one of the *nuts*", "a cup of *flour*"."""
    if noun.lower_.rstrip("s") not in _MEASURES and noun.lower_ not in _MEASURES:
        return noun
    for child in noun.children:
        if child.dep_ in grammar.OF_PHRASE and child.i > noun.i:
            if child.lower_ == "of":  # ClearNLP: the preposition stands between
                inner = next(iter(grammar.children(child, {"pobj"})), None)
                return noun if inner is None else inner
            if any(t.lower_ == "of" for t in grammar.children(child, {"case"})):
                return child
    return noun
