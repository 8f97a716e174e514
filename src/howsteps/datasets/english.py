"""Narrations that are not English are set aside: nothing after this could read them."""

from collections.abc import Sequence

from howsteps.captions.language import looks_english
from howsteps.captions.words import words_of
from howsteps.task import Caption

NOT_ENGLISH = "the narration is not English; set aside"

# So many captions are enough to tell the language.
_ENOUGH = 200


def is_english(captions: Sequence[Caption]) -> bool:
    """Whether the captions are English, as far as their first lines tell."""
    return looks_english(words_of(captions[:_ENOUGH]))
