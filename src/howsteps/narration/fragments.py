"""Acts without a verb: "then a cup of flour", "and some salt".

Narrators who add one thing after another stop saying that they add it. An amount that stands alone
is something added; any other thing that stands alone is so only soon after an act of adding.
"""

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from howsteps.narration import grammar
from howsteps.narration.relations import EXTENTS, MEASURES, measured

ADDING = frozenset("add drizzle drop mix pour put shake sprinkle throw toss".split())
DEFAULT_VERB = "add"
# Words in which a thing that stands alone still belongs to the last act of adding.
REACH = 40
# Measures of what is added; "a couple of" and "a pair of" count things.
_AMOUNTS = frozenset(
    """bit clove cup dab dash dollop drizzle drop glug gram handful kilo kilogram knob liter litre
    mil milliliter ounce pinch pint pound quart scoop smidge smidgen splash spoon spoonful
    sprinkle squeeze squirt stick tablespoon teaspoon tad touch""".split()
)
_ALONE = frozenset({"ROOT", "root", "parataxis", "list", "conj", "appos", "dep"})
# With one of these a noun is a statement, not a thing that stands alone.
_CLAUSE = frozenset({"cop", "nsubj", "aux", "mark", "expl", "csubj", "case", "acl:relcl", "relcl"})
_SOME = frozenset({"some", "little"})
_NOT_ADDED = frozenset(
    """advice bit day fun guy hour idea inch kind lot minute one people person question second
    sort stuff thing time tip trick way week year music applause laughter thanks""".split()
)


def fragments(doc: Doc) -> Iterator[tuple[Token, Token, bool]]:
    """Things that stand alone: the thing, the word it hangs on, and whether an amount is said."""
    alone: set[int] = set()
    told: set[int] = set()
    for token in doc:
        if token.dep_ not in _ALONE and not _misheard(token):
            continue
        if not grammar.is_noun(token) or not _stands_alone(token, alone):
            continue
        alone.add(token.i)
        amount = _is_amount(token)
        if not (amount or _is_some(token) or token.head.i in told):
            continue
        inner = measured(token)
        for thing in (inner, *grammar.conjuncts(inner)):
            if thing.i not in told and _is_added(thing):
                told |= {thing.i, token.i}
                yield thing, thing if thing.dep_ == "conj" else token, amount


def _misheard(token: Token) -> bool:
    """Whether "add" was heard as "at": "*at* some peas", "*at* a cup of flour"."""
    return (
        token.dep_ in {"obl", "nmod"}
        and any(case.lower_ == "at" for case in grammar.children(token, {"case"}))
        and (_is_amount(token) or any(t.lower_ == "some" for t in token.lefts))
    )


def _stands_alone(token: Token, alone: set[int]) -> bool:
    if _misheard(token):
        return True
    if token.dep_ in {"conj", "appos"} and token.head.i not in alone:
        return False
    if token.dep_ in {"parataxis", "list", "dep"} and not _is_amount(token):
        return False
    return not any(child.dep_ in _CLAUSE for child in token.children)


def _is_added(thing: Token) -> bool:
    return (
        grammar.is_noun(thing)
        and thing.lemma_ not in _NOT_ADDED
        and thing.lemma_ not in EXTENTS
        and thing.lower_.removesuffix("s") not in MEASURES
    )


def _is_amount(token: Token) -> bool:
    """Whether a noun phrase says how much: "a cup of flour", "two tablespoons sugar"."""
    if token.lemma_ in _AMOUNTS and measured(token) != token:
        return True
    return any(
        child.lemma_ in _AMOUNTS
        and child.dep_ in {"compound", "nmod", "nmod:unmarked", "nummod", "amod"}
        for child in token.lefts
    )


def _is_some(token: Token) -> bool:
    return any(child.lower_ in _SOME for child in token.lefts)
