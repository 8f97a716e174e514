"""Detect English narrations by their share of common words; short texts always pass."""

from collections.abc import Iterable, Sequence

from howsteps.captions.words import words_of
from howsteps.task import Caption, Word

NOT_ENGLISH = "the narration is not English; skipped"


def not_english(language: str) -> str:
    """Return why a narration is skipped; ``language`` is the code in its file name, if any."""
    named = language and language.partition("-")[0] not in {"en", "eng"}
    return f"the narration is not English but '{language}'; skipped" if named else NOT_ENGLISH


# Words that are frequent in English and rare in other languages. "In", "an", "so", "of", "was" and
# "me" are left out: they are also Dutch, German or Spanish.
_COMMON_WORDS = """
about after again all and any are back because been before but can could did does doesn't don't
down for from get going got had has have he'll here his how i'll i'm i've if into isn't it
it'll it's its just know let's like little make more my need not now off okay one only or our
out over put right she should some than that that's the their them then there there's these they
they're this those up use very want we'll we're we've well were what what's when where which who
will with would you you'll you're you've your
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# Minimum share of common words; how-to videos have 0.14 to 0.5.
_MIN_SHARE = 0.1
# Pseudo-counts: ten words, three of them common.
_PRIOR, _PRIOR_COMMON = 10, 3
_SAMPLE = 200  # captions that are checked


def looks_english(words: Iterable[Word]) -> bool:
    """Whether ``words`` are English, by their smoothed share of common words.

    The share is (c + 3) / (n + 10) for c common words among n.
    """
    common = total = 0
    for word in words:
        total += 1
        common += word.text.strip('.,!?;:…"“”()').replace("’", "'").lower() in _COMMON
    return (common + _PRIOR_COMMON) / (total + _PRIOR) >= _MIN_SHARE


def is_english(captions: Sequence[Caption]) -> bool:
    """Whether the captions are English, by the first 200 of them."""
    return looks_english(words_of(captions[:_SAMPLE]))
