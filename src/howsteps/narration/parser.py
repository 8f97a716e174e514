"""The parser: word streams to parsed text, with sentence ends restored.

The pipeline that ships with howsteps is trained on lower-case, unpunctuated speech
(``docs/research/parser.md``). Any other spaCy pipeline can be used by its name or folder.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import spacy
from spacy.lang.char_classes import HYPHENS
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Doc

from howsteps.errors import HowstepsError
from howsteps.narration import lemmas
from howsteps.task import Word

SHIPPED = Path(__file__).with_name("model")

# Nobody pauses this long inside a sentence, so the parser need not guess across it.
PAUSE_SECONDS = 3.0
# spaCy reads a whole text at once; this keeps its memory flat for a narration of hours.
LONGEST_PASSAGE = 1500
_BATCH = 8


# A stretch of narration and its parse.
Passage: TypeAlias = tuple[Sequence[Word], Doc]


class ParserError(HowstepsError):
    """The parser that was asked for cannot be used."""


@cache
def load(name: str | None = None) -> Language:
    """Load the shipped pipeline, or another one by name or folder."""
    try:
        nlp = spacy.load(name or SHIPPED)
    except (OSError, ValueError) as error:
        raise ParserError(
            f"no spaCy pipeline {name!r}: give the name of an installed one or its folder "
            f"(leave it out to use the one that ships with howsteps)"
        ) from error
    if "parser" not in nlp.pipe_names:
        raise ParserError(f"the spaCy pipeline {name!r} has no dependency parser")
    # Names of people and places are of no use here, and reading them costs time.
    nlp.select_pipes(disable=[pipe for pipe in nlp.pipe_names if pipe in {"ner", "lemmatizer"}])
    nlp.add_pipe(lemmas.NAME)
    keep_hyphens(nlp)
    return nlp


def keep_hyphens(nlp: Language) -> None:
    """Read "half-and-half" and "go-to" as one word each; in pieces they look like verbs."""
    if isinstance(nlp.tokenizer, Tokenizer):
        infixes = [str(rule) for rule in nlp.Defaults.infixes or () if HYPHENS not in str(rule)]
        nlp.tokenizer.infix_finditer = spacy.util.compile_infix_regex(infixes).finditer


def passages(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Cut a narration at long pauses, and wherever a passage grows too long."""
    start = 0
    for place in range(1, len(words) + 1):
        if (
            place == len(words)
            or place - start >= LONGEST_PASSAGE
            or words[place].start - words[place - 1].end >= PAUSE_SECONDS
        ):
            yield words[start:place]
            start = place


def parse(nlp: Language, narrations: Iterable[Sequence[Word]]) -> Iterator[list[Passage]]:
    """Parse many narrations; each comes back as its passages with their parses."""

    def texts() -> Iterator[tuple[str, tuple[int, Sequence[Word]]]]:
        for number, words in enumerate(narrations):
            for passage in passages(words) if words else [words]:
                yield text_of(passage), (number, passage)

    parsed: list[Passage] = []
    current = -1
    for doc, (number, passage) in nlp.pipe(texts(), as_tuples=True, batch_size=_BATCH):
        if number > current >= 0:
            yield parsed
        if number > current:
            parsed, current = [], number
        if passage:
            parsed.append((passage, doc))
    if current >= 0:
        yield parsed


def text_of(words: Sequence[Word]) -> str:
    """The words with spaces; captions that shout are lowered, which the parser reads better."""
    text = " ".join(word.text for word in words)
    return text.lower() if text.isupper() else text


def word_places(doc: Doc) -> list[int]:
    """For every token, the place of the spoken word it is part of ("don't" is two tokens)."""
    places, place = [], 0
    for token in doc:
        places.append(place)
        place += bool(token.whitespace_)
    return places
