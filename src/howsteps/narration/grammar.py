"""Small questions about words in a dependency parse.

The shipped parser uses the labels of Universal Dependencies, other spaCy models those of ClearNLP.
Both are listed here, and nowhere else.
"""

from collections.abc import Iterable, Iterator

from spacy.tokens import Token

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

# Opening imperatives ("lift the car", "finish the nuts") are often tagged as something else.
_MISTAKEN_FOR_VERBS = frozenset({"NOUN", "PROPN", "ADJ", "X"})
# The halves of "gonna" and "wanna".
_NO_OBJECT = frozenset({"gon", "gonna", "wan", "wanna", "na"})
# Adverbs that change what a verb does to its object as particles do.
_PARTICLE_ADVERBS = frozenset("apart away back down in off on out over together up".split())
_NEGATIONS = frozenset({"not", "n't", "nt", "never"})
_NEGATIVE_OPENERS = frozenset({"without", "instead"})
_MODALS = {
    **{word: word for word in ("can", "could", "may", "might", "must", "shall", "should")},
    "ca": "can",
    "will": "will",
    "'ll": "will",
    "wo": "will",
    "would": "would",
    "'d": "would",
}
# Verbs that pass their negation and modality on to the verb they introduce: "you don't need to
# remove the hubcap" is no more a removal than "don't remove the hubcap".
_SEMI_MODALS = {
    "need": "need to",
    "want": "want to",
    "have": "have to",
    "get": "get to",
    "go": "going to",
    "wan": "want to",
    "gon": "going to",
    "try": "try to",
    "able": "able to",
    "like": "like to",
    "let": "let",
}
# "Avoid touching the disc", "stop turning the wheel", "I wouldn't recommend removing it".
_DETERRENTS = frozenset("avoid quit refuse stop".split())
_RECOMMENDATIONS = frozenset("advise attempt dare recommend start suggest".split())
_NOBODY = frozenset({"nobody", "neither", "none"})


def children(token: Token, labels: Iterable[str]) -> Iterator[Token]:
    """Dependents of a word by label."""
    return (child for child in token.children if child.dep_ in labels)


def is_verb(token: Token) -> bool:
    """Whether a word is a verb, or is used as one: it has an object, whatever its tag."""
    if token.lower_ in _NO_OBJECT:
        return False
    return token.pos_ == "VERB" or (
        token.pos_ in _MISTAKEN_FOR_VERBS
        and any(child.i > token.i for child in children(token, OBJECT))
    )


def is_noun(token: Token) -> bool:
    """Whether a word is a noun; the parser calls a capitalised "Jack" a name."""
    return token.pos_ == "NOUN" or (token.pos_ == "PROPN" and token.text.isalpha())


def conjuncts(token: Token) -> Iterator[Token]:
    """The words coordinated with a word and after it: "the nuts *and the wheel*"."""
    for child in token.children:
        if child.dep_ == "conj":
            yield child
            yield from conjuncts(child)


def particle(verb: Token) -> Token | None:
    """The particle of a phrasal verb: "take *off*", "put the wheel *back*"."""
    found = [
        child
        for child in verb.children
        if child.dep_ in PARTICLE
        or (child.dep_ == "advmod" and child.lower_ in _PARTICLE_ADVERBS and child.i > verb.i)
    ]
    # "Put the wheel back on": the last one says where the object ends up.
    return found[-1] if found else None


def particle_text(token: Token) -> str:
    """A particle as it is said; "upside down" is one."""
    before = token.doc[token.i - 1].lower_ if token.i else ""
    return "upside down" if (before, token.lower_) == ("upside", "down") else token.lower_


def introducer(verb: Token) -> Token | None:
    """The semi-modal that a verb is the complement of: "you *need* to remove …"."""
    above = _above(verb)
    return above if above is not None and _semi_modal(above) else None


def is_negated(verb: Token) -> bool:
    """Whether the narrator says that this is not, or should not be, done."""
    if any(child.lower_ in _NEGATIONS | _NOBODY for child in verb.children):
        return True
    if any(child.lower_ in _NEGATIVE_OPENERS for child in children(verb, CLAUSE_OPENER)):
        return True
    if verb.dep_ == "pcomp" and verb.head.lower_ in _NEGATIVE_OPENERS:
        return True
    above = _above(verb)
    if above is not None:
        passed_on = _semi_modal(above) or above.lemma_ in _RECOMMENDATIONS
        return above.lemma_ in _DETERRENTS or (bool(passed_on) and is_negated(above))
    # "Don't touch or remove the valve": one negation for both. "And" starts a new statement.
    if verb.dep_ == "conj" and any(child.lower_ in {"or", "nor"} for child in verb.children):
        return is_negated(verb.head)
    return False


def modal(verb: Token) -> str:
    """The modal of a verb in its plain form: "should", "need to", "can", or nothing."""
    for child in verb.children:
        if child.dep_.startswith("aux") and child.lower_ in _MODALS:
            return _MODALS[child.lower_]
    above = introducer(verb)
    if above is not None:
        return modal(above) or _semi_modal(above)
    return ""


def noun_phrase(noun: Token) -> list[Token]:
    """The noun with its modifiers before it: "the rusty lug nuts"."""
    words = [token for token in noun.lefts if token.dep_ in NOUN_PHRASE]
    inner = [part for word in words for part in word.subtree if part.i < noun.i]
    return sorted({*inner, noun}, key=lambda token: token.i)


def _semi_modal(verb: Token) -> str:
    # "You've got to": the form tells it from "you get to".
    return "have to" if verb.lower_ == "got" else _SEMI_MODALS.get(verb.lemma_, "")


def _above(verb: Token) -> Token | None:
    """The word that a verb is the complement of."""
    return verb.head if verb.dep_ in COMPLEMENT and verb.head != verb else None
