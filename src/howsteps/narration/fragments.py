"""Verbless acts: "then a cup of flour", "and some salt".

Narrators who add one ingredient after another stop saying "add". A noun phrase outside any clause
is something added if it states an amount, or else if an act of adding precedes it closely.
"""

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from howsteps.narration import grammar
from howsteps.narration.relations import EXTENTS, MEASURES, measured

ADDING = frozenset("add drizzle drop mix pour put shake sprinkle throw toss".split())
DEFAULT_VERB = "add"
REACH = 40  # maximum distance in words from the act of adding
# Units of amounts; "a couple of" and "a pair of" count objects.
_AMOUNTS = frozenset(
    """bit clove cup dab dash dollop drizzle drop glug gram handful kilo kilogram knob liter litre
    mil milliliter ounce pinch pint pound quart scoop smidge smidgen splash spoon spoonful
    sprinkle squeeze squirt stick tablespoon teaspoon tad touch""".split()
)
_FRAGMENT_LABELS = frozenset({"ROOT", "root", "parataxis", "list", "conj", "appos", "dep"})
# A noun with one of these dependents is the predicate of a clause.
_CLAUSE_LABELS = frozenset(
    {"cop", "nsubj", "aux", "mark", "expl", "csubj", "case", "acl:relcl", "relcl"}
)
_QUANTIFIERS = frozenset({"some", "little"})
_NOT_ADDED = frozenset(
    """advice bit day fun guy hour idea inch kind lot minute one people person question second
    sort stuff thing time tip trick way week year music applause laughter thanks""".split()
)


def find_fragments(doc: Doc) -> Iterator[tuple[Token, Token, bool]]:
    """Yield noun phrases outside any clause: (noun, head of the phrase, whether it is an amount).

    In "a cup of flour" the noun is "flour" and the head is "cup".
    """
    fragment_heads: set[int] = set()
    yielded: set[int] = set()
    for token in doc:
        if token.dep_ not in _FRAGMENT_LABELS and not _is_misheard_add(token):
            continue
        if not grammar.is_noun(token) or not _is_fragment(token, fragment_heads):
            continue
        fragment_heads.add(token.i)
        is_amount = _is_amount(token)
        if not (is_amount or _has_quantifier(token) or token.head.i in yielded):
            continue
        inner = measured(token)
        for noun in (inner, *grammar.conjuncts(inner)):
            if noun.i not in yielded and _can_be_added(noun):
                yielded |= {noun.i, token.i}
                yield noun, noun if noun.dep_ == "conj" else token, is_amount


def _is_misheard_add(token: Token) -> bool:
    """Whether "add" was transcribed as "at": "*at* some peas", "*at* a cup of flour"."""
    return (
        token.dep_ in {"obl", "nmod"}
        and any(case.lower_ == "at" for case in grammar.children(token, {"case"}))
        and (_is_amount(token) or any(t.lower_ == "some" for t in token.lefts))
    )


def _is_fragment(token: Token, fragment_heads: set[int]) -> bool:
    if _is_misheard_add(token):
        return True
    if token.dep_ in {"conj", "appos"} and token.head.i not in fragment_heads:
        return False
    if token.dep_ in {"parataxis", "list", "dep"} and not _is_amount(token):
        return False
    return not any(child.dep_ in _CLAUSE_LABELS for child in token.children)


def _can_be_added(noun: Token) -> bool:
    return (
        grammar.is_noun(noun)
        and noun.lemma_ not in _NOT_ADDED
        and noun.lemma_ not in EXTENTS
        and noun.lower_.removesuffix("s") not in MEASURES
    )


def _is_amount(token: Token) -> bool:
    """Whether a noun phrase states an amount: "a cup of flour", "two tablespoons sugar"."""
    if token.lemma_ in _AMOUNTS and measured(token) != token:
        return True
    return any(
        child.lemma_ in _AMOUNTS
        and child.dep_ in {"compound", "nmod", "nmod:unmarked", "nummod", "amod"}
        for child in token.lefts
    )


def _has_quantifier(token: Token) -> bool:
    return any(child.lower_ in _QUANTIFIERS for child in token.lefts)
