"""Rule-based coreference resolution of "it", "them" and the like.

Among the recent nouns that agree in number and are not excluded (a minute, a way, a video, a
person), the antecedent is the one with the highest score:

    log(1 + occurrences in the narration) − distance in words / 10 − (2 if it was not an object)

So "flip it" refers to the toast of the whole video and not to the flame of the last sentence.
"""

from collections import Counter
from collections.abc import Iterator
from math import log

from spacy.tokens import Doc, Token

from howsteps.narration import grammar

_SINGULAR = frozenset({"it", "this", "that"})
_PLURAL = frozenset({"them", "these", "those", "'em", "em"})

# Maximum distance in words; farther back the antecedent is as likely wrong as right.
_REACH = 40
_DECAY = 10  # words over which the score drops by one
_NOT_OBJECT = 2.0  # penalty of a noun that was not the object of a verb

# Frequent nouns that "it" hardly ever refers to: times, manners, places, parts of the body, talk.
# (WordNet's classes do not help: its first *bolt* is of lightning, its first *batter* a player.)
_EXCLUDED = frozenset(
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
    """Whether a token is a pronoun that can refer to an object."""
    return token.pos_ in {"PRON", "DET"} and token.lower_ in _SINGULAR | _PLURAL


class Antecedents:
    """The nouns of a narration that pronouns may refer to, collected in order."""

    def __init__(self) -> None:
        self._doc: Doc | None = None
        self._offset = 0  # words in the earlier passages
        self._objects: list[tuple[int, Token]] = []
        self._counts: Counter[str] = Counter()

    def next_passage(self, doc: Doc) -> None:
        """Continue with the next passage of the same narration."""
        self._offset += len(self._doc) if self._doc is not None else 0
        self._doc = doc
        self._counts.update(token.lemma_ for token in doc if grammar.is_noun(token))

    def add(self, noun: Token, spoken: Token) -> None:
        """Add the object of a verb, and the token in its position."""
        self._objects.append((self._offset + spoken.i, noun))

    def resolve(self, pronoun: Token, verb: Token) -> Token | None:
        """Return the antecedent of a pronoun that is the object of ``verb``; None if none fits."""
        is_plural = pronoun.lower_ in _PLURAL
        scored = [
            (log(1 + self._counts[noun.lemma_]) - distance / _DECAY - penalty, -distance, noun)
            for distance, penalty, noun in self._candidates(pronoun, verb)
            if self._agrees(noun, is_plural)
        ]
        return max(scored, key=lambda candidate: candidate[:2])[2] if scored else None

    def _candidates(self, pronoun: Token, verb: Token) -> Iterator[tuple[int, float, Token]]:
        """Yield recent tokens: distance in words, penalty, token."""
        position = self._offset + pronoun.i
        for object_position, noun in reversed(self._objects):
            if object_position < position - _REACH:
                break
            if object_position < position:
                yield position - object_position, 0.0, noun
        for noun in pronoun.doc[max(0, pronoun.i - _REACH) : min(pronoun.i, verb.i)]:
            if noun.dep_ not in {"compound", "nn"}:
                yield pronoun.i - noun.i, _NOT_OBJECT, noun

    @staticmethod
    def _agrees(noun: Token, is_plural: bool) -> bool:
        return (
            grammar.is_noun(noun)
            and (noun.tag_ in {"NNS", "NNPS"}) == is_plural
            and noun.lemma_ not in _EXCLUDED
        )
