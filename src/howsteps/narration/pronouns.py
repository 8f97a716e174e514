"""What "it" and "them" stand for: the last noun that fits.

A rule, not a model: a pronoun object takes the most recent noun that agrees in number, objects
before other nouns, and never one that cannot be handled (a minute, a way, a video, a person).
"""

from spacy.tokens import Doc, Token

from howsteps.narration import grammar

SINGULAR = frozenset({"it", "this", "that"})
PLURAL = frozenset({"them", "these", "those", "'em", "em"})

# How far back a narrator's "it" reaches, in words. Farther back it is as likely wrong as right.
REACH = 40

_NOT_HANDLED = frozenset(
    """time way thing video minute second hour day week month year side bit lot kind sort type step
    part guy people person somebody everybody one ones something anything everything nothing stuff
    question reason point case idea problem job work process method name channel lot today morning
    """.split()
)


def is_pronoun(token: Token) -> bool:
    """Whether a word is a pronoun that can stand for a thing."""
    return token.pos_ in {"PRON", "DET"} and token.lower_ in SINGULAR | PLURAL


class Antecedents:
    """The nouns of a text that pronouns may stand for; filled as the text is read."""

    def __init__(self, doc: Doc) -> None:
        self._doc = doc
        self._acted_on: list[tuple[int, Token]] = []

    def see(self, noun: Token, place: int) -> None:
        """Remember that something was done to a noun, and where that was said."""
        self._acted_on.append((place, noun))

    def of(self, pronoun: Token, verb: Token) -> Token | None:
        """The noun that a pronoun object stands for, or nothing when none fits."""
        plural = pronoun.lower_ in PLURAL
        first = max(0, pronoun.i - REACH)
        for place, noun in reversed(self._acted_on):
            if first <= place < pronoun.i and self._fits(noun, plural):
                return noun
        limit = min(pronoun.i, verb.i)
        for place in range(limit - 1, first - 1, -1):
            noun = self._doc[place]
            if self._fits(noun, plural) and noun.dep_ not in {"compound", "nn"}:
                return noun
        return None

    @staticmethod
    def _fits(noun: Token, plural: bool) -> bool:
        return (
            grammar.is_noun(noun)
            and (noun.tag_ in {"NNS", "NNPS"}) == plural
            and noun.lower_.rstrip("s") not in _NOT_HANDLED
            and noun.lower_ not in _NOT_HANDLED
        )
