"""Resolve "it" and "them": find the noun that a pronoun stands for.

A rule, not a model. Of the recent nouns that agree in number and can be handled (never a minute, a
way, a video, a person), the one with the greatest score is taken:

    log(1 + times the narrator says it) − words since then / 10 − (2 if nothing was done to it),

So "flip it" is the toast of the whole video and not the flame of the last sentence.
"""

from collections import Counter
from collections.abc import Iterator
from math import log

from spacy.tokens import Doc, Token

from howsteps.narration import grammar

_SINGULAR = frozenset({"it", "this", "that"})
_PLURAL = frozenset({"them", "these", "those", "'em", "em"})

# How far back "it" may refer, in words. Farther back it is as likely wrong as right.
_REACH = 40
_DECAY = 10  # words after which the score has dropped by one
_UNTOUCHED = 2.0  # penalty of a noun that nothing was done to

# Frequent nouns that "it" never stands for: times, manners, places, parts of the body, talk.
# (WordNet's classes do not help: its first *bolt* is of lightning, its first *batter* a player.)
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
    return token.pos_ in {"PRON", "DET"} and token.lower_ in _SINGULAR | _PLURAL


class Antecedents:
    """The nouns of a narration that pronouns may stand for, collected in order."""

    def __init__(self) -> None:
        self._doc: Doc | None = None
        self._offset = 0  # words in the passages before this one
        self._acted_on: list[tuple[int, Token]] = []
        self._counts: Counter[str] = Counter()

    def next_passage(self, doc: Doc) -> None:
        """Continue with the next passage of the same narration."""
        self._offset += len(self._doc) if self._doc is not None else 0
        self._doc = doc
        self._counts.update(token.lemma_ for token in doc if grammar.is_noun(token))

    def add(self, noun: Token, spoken: Token) -> None:
        """Add a noun that something was done to, and the word at which it was said."""
        self._acted_on.append((self._offset + spoken.i, noun))

    def resolve(self, pronoun: Token, verb: Token) -> Token | None:
        """The noun that a pronoun object stands for; None if none fits."""
        plural = pronoun.lower_ in _PLURAL
        fitting = [
            (log(1 + self._counts[noun.lemma_]) - ago / _DECAY - loss, -ago, noun)
            for ago, loss, noun in self._candidates(pronoun, verb)
            if self._fits(noun, plural)
        ]
        return max(fitting, key=lambda one: one[:2])[2] if fitting else None

    def _candidates(self, pronoun: Token, verb: Token) -> Iterator[tuple[int, float, Token]]:
        """Recent nouns: the distance in words, the penalty, and the noun."""
        here = self._offset + pronoun.i
        for place, noun in reversed(self._acted_on):
            if place < here - _REACH:
                break
            if place < here:
                yield here - place, 0.0, noun
        for noun in pronoun.doc[max(0, pronoun.i - _REACH) : min(pronoun.i, verb.i)]:
            if noun.dep_ not in {"compound", "nn"}:
                yield pronoun.i - noun.i, _UNTOUCHED, noun

    @staticmethod
    def _fits(noun: Token, plural: bool) -> bool:
        return (
            grammar.is_noun(noun)
            and (noun.tag_ in {"NNS", "NNPS"}) == plural
            and noun.lemma_ not in _NOT_HANDLED
        )
