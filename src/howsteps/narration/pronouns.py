"""What "it" and "them" stand for: the noun that is most in mind.

A rule, not a model. Of the nouns not far back that agree in number and can be handled (never a
minute, a way, a video, a person) a pronoun object takes the one with the greatest

    log(1 + times the narrator says it) − words since then / 10 − (2 if nothing was done to it),

so that "flip it" is the toast of the whole video and not the flame of the last sentence.
"""

from collections import Counter
from collections.abc import Iterator
from math import log

from spacy.tokens import Doc, Token

from howsteps.narration import grammar

SINGULAR = frozenset({"it", "this", "that"})
PLURAL = frozenset({"them", "these", "those", "'em", "em"})

# How far back a narrator's "it" reaches, in words. Farther back it is as likely wrong as right.
REACH = 40
FADING = 10  # words in which a noun loses as much as it gains by being said e times as often
UNTOUCHED = 2.0  # what a noun loses that nothing was done to

# Nouns that narrators say often and never mean by "it": times, manners, places, parts of the body,
# talk. (WordNet's classes do not tell them apart: its first *bolt* is of lightning, its first
# *batter* a player.)
_NOT_HANDLED = frozenset(
    """
    afternoon breakfast day dinner hour life lunch minute moment month morning night second time
    today week while year
    bit case fun half idea job kind lot method motion pattern point problem process question reason
    size sort step stuff thing torque turn type way weight work
    back bottom end front ground inside left middle outside place rear right road room side spot top
    arm eye finger foot hand head mind thumb
    access air attention care excess habit heat look party peace play pressure sense taste
    anything channel comment everybody everything friend guy link name nothing one people person
    somebody something subscriber video viewer
    """.split()
)


def is_pronoun(token: Token) -> bool:
    """Whether a word is a pronoun that can stand for a thing."""
    return token.pos_ in {"PRON", "DET"} and token.lower_ in SINGULAR | PLURAL


class Antecedents:
    """The nouns of a narration that pronouns may stand for; filled as it is read."""

    def __init__(self) -> None:
        self._doc: Doc | None = None
        self._offset = 0  # words in the passages before this one
        self._acted_on: list[tuple[int, Token]] = []
        self._said: Counter[str] = Counter()

    def turn_to(self, doc: Doc) -> None:
        """Go on to the next passage of the same narration."""
        self._offset += len(self._doc) if self._doc is not None else 0
        self._doc = doc
        self._said.update(token.lemma_ for token in doc if grammar.is_noun(token))

    def see(self, noun: Token, spoken: Token) -> None:
        """Remember that something was done to a noun, and where that was said."""
        self._acted_on.append((self._offset + spoken.i, noun))

    def of(self, pronoun: Token, verb: Token) -> Token | None:
        """The noun that a pronoun object stands for, or nothing when none fits."""
        plural = pronoun.lower_ in PLURAL
        fitting = [
            (log(1 + self._said[noun.lemma_]) - ago / FADING - loss, -ago, noun)
            for ago, loss, noun in self._in_reach(pronoun, verb)
            if self._fits(noun, plural)
        ]
        return max(fitting, key=lambda one: one[:2])[2] if fitting else None

    def _in_reach(self, pronoun: Token, verb: Token) -> Iterator[tuple[int, float, Token]]:
        """Nouns that came up lately: how many words ago, and what each loses from the start."""
        here = self._offset + pronoun.i
        for place, noun in reversed(self._acted_on):
            if place < here - REACH:
                break
            if place < here:
                yield here - place, 0.0, noun
        for noun in pronoun.doc[max(0, pronoun.i - REACH) : min(pronoun.i, verb.i)]:
            if noun.dep_ not in {"compound", "nn"}:
                yield pronoun.i - noun.i, UNTOUCHED, noun

    @staticmethod
    def _fits(noun: Token, plural: bool) -> bool:
        return (
            grammar.is_noun(noun)
            and (noun.tag_ in {"NNS", "NNPS"}) == plural
            and noun.lemma_ not in _NOT_HANDLED
        )
