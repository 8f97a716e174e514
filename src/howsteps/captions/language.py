"""Is it English? A check that is sure on a paragraph and lenient on a line."""

from collections.abc import Iterable

from howsteps.task import Word

# Words that any English speech is full of and that other languages hardly use: "in", "an", "so",
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
# Below this share of common words nobody speaks English; it is 0.14 to 0.5 in how-to videos.
_SHARE = 0.1
# As if ten words had been heard before, three of them common: few words prove little.
_HEARD, _HEARD_COMMON = 10, 3


def looks_english(words: Iterable[Word]) -> bool:
    """Whether ``words`` are English, by their share of common words; a few words always pass.

    The share is (c + 3) / (n + 10) for c common words among n.
    """
    common = total = 0
    for word in words:
        total += 1
        common += word.text.strip('.,!?;:…"“”()').replace("’", "'").lower() in _COMMON
    return (common + _HEARD_COMMON) / (total + _HEARD) >= _SHARE
