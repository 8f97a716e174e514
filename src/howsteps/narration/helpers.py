"""Verbs that only lead up to the act: "*go ahead and* loosen", "*take* a towel *and* dry it".

Narrators wrap what they do in other verbs. Those are not acts of their own, but some bring along
what the act is done with, or what it is done to.
"""

from dataclasses import dataclass

from spacy.tokens import Token

from howsteps.narration import grammar

# Verbs that say how the act begins, goes on or is meant, where an act follows them.
_LEADS = frozenset(
    """able begin choose continue decide finish get go gon gonna have hope keep learn like love need
    plan prefer proceed remember start tend try use want wan wish""".split()
)
# "Go ahead and …", "come back and …": moving is not the act.
_GOING = frozenset({"come", "go", "proceed", "try"})
# Verbs that only bring something to the act that follows.
_FETCHING = frozenset("bring get grab have pick reach take use".split())
_SURE = frozenset({"sure", "certain"})
_LETTING = frozenset({"allow", "let"})
_HAVING = frozenset({"get", "have", "keep"})
# "Let's cut it", "let me cut it": nothing is left to itself.
_OURSELVES = frozenset({"'s", "s", "us", "me"})
# Words between a fetching verb and the act that it serves.
_REACH = 14


@dataclass(frozen=True, slots=True)
class Help:
    """What a helper verb does for its act.

    It ``brings`` a thing ("take a towel and"), ``lets`` it happen ("let it rest"), has it ``done``
    ("get it coated"), or none of these.
    """

    helper: Token
    act: Token
    brings: bool = False
    lets: bool = False
    done: bool = False


def help_of(verb: Token) -> Help | None:
    """The act that a verb leads up to, or nothing when it is an act itself."""
    lemma = verb.lemma_
    below = _complement(verb)
    if lemma == "make":
        return _made_sure(verb)
    if below is not None and lemma in _LETTING:
        return Help(verb, below, lets=not _lets_us(verb, below))
    if below is not None and lemma in _HAVING and below.tag_ == "VBN":
        return Help(verb, below, done=True)
    things = _things(verb)
    if below is not None and lemma in _LEADS and not things:
        return Help(verb, below)
    act = None
    if lemma in _GOING and not things and not _goes_somewhere(verb):
        act = _coordinated(verb)
    elif lemma in _FETCHING and things and _is_bare(verb):
        act = _purpose(verb) or _coordinated(verb)
        if act is not None and (act.i - verb.i > _REACH or act.lemma_ in _FETCHING):
            act = None
    return None if act is None else Help(verb, act, brings=bool(things))


def _things(verb: Token) -> list[Token]:
    return [token for token in grammar.children(verb, grammar.OBJECT) if token.i > verb.i]


def _complement(verb: Token) -> Token | None:
    found = (
        child
        for child in grammar.children(verb, grammar.COMPLEMENT)
        if child.pos_ == "VERB" and child.i > verb.i
    )
    return next(found, None)


def _lets_us(verb: Token, below: Token) -> bool:
    who = [*grammar.children(verb, {*grammar.OBJECT, "iobj"}), *grammar.children(below, {"nsubj"})]
    # "Let's" is one word to some parsers, and "lets" to some writers.
    return verb.lower_ in {"let's", "lets"} or any(token.lower_ in _OURSELVES for token in who)


def _made_sure(verb: Token) -> Help | None:
    """In "make sure (that) you wash it" the act is washing."""
    for sure in grammar.children(verb, {*grammar.COMPLEMENT, "acomp", "oprd", "obj", "dobj"}):
        if sure.lower_ in _SURE:
            below = _complement(sure) or _complement(verb)
            return None if below is None else Help(verb, below)
    return None


def _coordinated(verb: Token) -> Token | None:
    """The verb that follows after "and"; not where a new clause with a subject begins."""
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
    for thing in _things(verb):
        for child in grammar.children(thing, {"acl", "relcl", "advcl"}):
            if child.pos_ == "VERB" and _is_infinitive(child):
                return child
    return None


def _is_infinitive(verb: Token) -> bool:
    return any(t.lower_ == "to" and t.i < verb.i for t in grammar.children(verb, {"mark", "aux"}))


def _is_bare(verb: Token) -> bool:
    """Whether fetching is all it does: "take the lid off" and "get it out of the box" do more."""
    return grammar.particle(verb) is None and not _goes_somewhere(verb)


def _goes_somewhere(verb: Token) -> bool:
    return any(child.i > verb.i for child in grammar.children(verb, {"obl", "prep"}))
