"""Is it English? A check that is reliable on a paragraph and lenient on a line."""

from collections.abc import Iterable, Sequence

from howsteps.captions.words import words_of
from howsteps.task import Caption, Word

NOT_ENGLISH = "the narration is not English; skipped"


def not_english(language: str) -> str:
    """Why a narration is skipped; ``language`` is the code in the name of its file, if any."""
    named = language and language.partition("-")[0] not in {"en", "eng"}
    return f"the narration is not English but '{language}'; skipped" if named else NOT_ENGLISH


# Words that are frequent in any English speech and rare in other languages: "in", "an", "so",
# "of", "was" or "me" would count much of Dutch, German or Spanish.
_COMMON_WORDS = """
about after again all and any are back because been before but can could did does doesn't don't
down for from get going got had has have he'll here his how i'll i'm i've if into isn't it
it'll it's its just know let's like little make more my need not now off okay one only or our
out over put right she should some than that that's the their them then there there's these they
they're this those up use very want we'll we're we've well were what what's when where which who
will with would you you'll you're you've your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# With a smaller share of common words it is not English; how-to videos have 0.14 to 0.5.
_SHARE = 0.1
# A prior of ten words, three of them common: a few words prove little.
_PRIOR, _PRIOR_COMMON = 10, 3
# So many captions are enough to recognise the language.
_ENOUGH = 200


def looks_english(words: Iterable[Word]) -> bool:
    """Whether ``words`` are English, by their share of common words; a few words always pass.

    The share is (c + 3) / (n + 10) for c common words among n.
    """
    common = total = 0
    for word in words:
        total += 1
        common += word.text.strip('.,!?;:…"“”()').replace("’", "'").lower() in _COMMON
    return (common + _PRIOR_COMMON) / (total + _PRIOR) >= _SHARE


def is_english(captions: Sequence[Caption]) -> bool:
    """Whether the captions are English, judging by the first of them."""
    return looks_english(words_of(captions[:_ENOUGH]))
