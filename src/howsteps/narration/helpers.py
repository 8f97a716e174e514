"""Helper verbs, which introduce an act: "*go ahead and* loosen", "*take* a towel *and* dry it".

They are not acts of their own, but some have the object or the tool of the act that they introduce.
"""

from dataclasses import dataclass

from spacy.tokens import Token

from howsteps.narration import grammar

# Aspectual and intentional verbs, helpers if a verb is their complement.
_CATENATIVE = frozenset(
    """able begin choose continue decide finish get go gon gonna have hope keep learn like love need
    plan prefer proceed remember start tend try use want wan wish""".split()
)
# "Go ahead and …", "come back and …".
_MOTION = frozenset({"come", "go", "proceed", "try"})
# Verbs that only bring the object or tool of the act that follows.
_FETCHING = frozenset("bring get grab have pick reach take use".split())
_SURE = frozenset({"sure", "certain"})
_LETTING = frozenset({"allow", "let"})
_HAVING = frozenset({"get", "have", "keep"})
# "Let's cut it", "let me cut it": the narrator acts.
_FIRST_PERSON = frozenset({"'s", "s", "us", "me"})
_REACH = 14  # maximum distance in words from a fetching verb to its act


@dataclass(frozen=True, slots=True)
class HelperUse:
    """A helper verb, the act that it introduces, and its role.

    The helper ``brings`` an object or tool ("take a towel and"), ``lets`` the act happen ("let it
    rest"), has it ``done`` ("get it coated"), or none of these.
    """

    helper: Token
    act: Token
    brings: bool = False
    lets: bool = False
    done: bool = False


def helper_use(verb: Token) -> HelperUse | None:
    """Return which act a verb introduces, or None if the verb is an act itself."""
    lemma = verb.lemma_
    complement = _verb_complement(verb)
    if lemma == "make":
        return _make_sure(verb)
    if complement is not None and lemma in _LETTING:
        return HelperUse(verb, complement, lets=not _is_first_person(verb, complement))
    if complement is not None and lemma in _HAVING and complement.tag_ == "VBN":
        return HelperUse(verb, complement, done=True)
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


def _make_sure(verb: Token) -> HelperUse | None:
    """In "make sure (that) you wash it" the act is washing."""
    for sure in grammar.children(verb, {*grammar.COMPLEMENT, "acomp", "oprd", "obj", "dobj"}):
        if sure.lower_ in _SURE:
            act = _verb_complement(sure) or _verb_complement(verb)
            return None if act is None else HelperUse(verb, act)
    return None


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
