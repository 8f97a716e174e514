"""Parse narrations with spaCy: sentence boundaries, dependencies, and lemmas from WordNet.

The pipeline that ships with howsteps is trained on lower-case, unpunctuated speech
(``docs/research/parser.md``). Any other spaCy pipeline can be used by its name or folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from howsteps.errors import HowstepsError
from howsteps.narration.wordnet import PartOfSpeech, WordNet
from howsteps.task import Word

# spaCy takes a second to load: it is imported when something is parsed.
if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

SHIPPED = Path(__file__).with_name("model")

# A pause of this length always ends a sentence.
PAUSE_SECONDS = 3.0
# Words of a passage. spaCy parses a whole text at once; this bounds its memory.
LONGEST_PASSAGE = 1500
_BATCH = 8

_LEMMATISER = "howsteps_lemmas"
_PARTS: dict[str, PartOfSpeech] = {
    "NOUN": "noun",
    "PROPN": "noun",
    "VERB": "verb",
    "AUX": "verb",
    "ADJ": "adj",
    "ADV": "adv",
}
# Clitics and spellings that WordNet does not list.
_AUXILIARIES = {
    **dict.fromkeys(("'m", "m", "'re", "'s", "is", "am", "are", "was", "were"), "be"),
    **{"'ve": "have", "'ll": "will", "'d": "would", "ca": "can", "wo": "will", "gon": "go"},
}
_BASE_FORMS = frozenset({"VB", "VBP"})
_PLURALS = frozenset({"NNS", "NNPS"})

# Consecutive words of a narration, and their parse.
Passage: TypeAlias = "tuple[Sequence[Word], Doc]"


@cache
def load_parser(name: str | None = None) -> Language:
    """Load the shipped pipeline, or another one by name or folder."""
    import spacy  # noqa: PLC0415 - slow
    from spacy.language import Language  # noqa: PLC0415

    try:
        nlp = spacy.load(name or SHIPPED)
    except Exception as error:  # a package that is no pipeline fails in its own way
        raise HowstepsError(
            f"no spaCy pipeline {name!r}: give the name of an installed one or its folder "
            f"(by default the one that ships with howsteps is used)"
        ) from error
    if "parser" not in nlp.pipe_names:
        raise HowstepsError(f"the spaCy pipeline {name!r} has no dependency parser")
    # Named entities are not used, and take time.
    nlp.select_pipes(disable=[pipe for pipe in nlp.pipe_names if pipe in {"ner", "lemmatizer"}])
    Language.component(_LEMMATISER, assigns=["token.lemma"], func=lemmatiser())
    nlp.add_pipe(_LEMMATISER)
    keep_hyphens(nlp)
    return nlp


def keep_hyphens(nlp: Language) -> None:
    """Keep "half-and-half" and "go-to" as one token each; their parts look like verbs."""
    from spacy.lang.char_classes import HYPHENS  # noqa: PLC0415 - slow, as above
    from spacy.tokenizer import Tokenizer  # noqa: PLC0415
    from spacy.util import compile_infix_regex  # noqa: PLC0415

    if isinstance(nlp.tokenizer, Tokenizer):
        infixes = [str(rule) for rule in nlp.Defaults.infixes or () if HYPHENS not in str(rule)]
        nlp.tokenizer.infix_finditer = compile_infix_regex(infixes).finditer


def passages(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Split a narration at long pauses, and where a passage gets too long."""
    start = 0
    for end in range(1, len(words) + 1):
        if (
            end == len(words)
            or end - start >= LONGEST_PASSAGE
            or words[end].start - words[end - 1].end >= PAUSE_SECONDS
        ):
            yield words[start:end]
            start = end


def parse_narrations(
    nlp: Language, narrations: Iterable[Sequence[Word]]
) -> Iterator[list[Passage]]:
    """Parse narrations in batches; yield for each the list of its parsed passages."""

    def texts() -> Iterator[tuple[str, tuple[int, Sequence[Word]]]]:
        for index, words in enumerate(narrations):
            for passage in passages(words) if words else [words]:
                yield passage_text(passage), (index, passage)

    parsed: list[Passage] = []
    current = -1
    for doc, (index, passage) in nlp.pipe(texts(), as_tuples=True, batch_size=_BATCH):
        if index > current >= 0:
            yield parsed
        if index > current:
            parsed, current = [], index
        if passage:
            parsed.append((passage, doc))
    if current >= 0:
        yield parsed


def passage_text(words: Sequence[Word]) -> str:
    """Join words with spaces; all-capital text is lower-cased, which the parser handles better."""
    text = " ".join(word.text for word in words)
    return text.lower() if text.isupper() else text


def word_indices(doc: Doc) -> list[int]:
    """Return, for every token, the index of the spoken word it is part of.

    "Don't" is one word and two tokens.
    """
    indices, index = [], 0
    for token in doc:
        indices.append(index)
        index += bool(token.whitespace_)
    return indices


def sentence_starts(doc: Doc, word_indices: Sequence[int]) -> list[int]:
    """Return the indices of the words that start a sentence.

    A parser may put a sentence end inside a word ("tire" | "."); the word then ends the sentence.
    """
    starts = {0}
    for span in doc.sents:
        inside = span.start > 0 and word_indices[span.start] == word_indices[span.start - 1]
        starts.add(word_indices[span.start] + inside)
    return sorted(starts - {word_indices[-1] + 1})


def lemma(wordnet: WordNet, word: str, part: str, tag: str) -> str:
    """Return the lemma of a lower-case word, given its coarse (part) and fine (tag) part of speech.

    The tag resolves ambiguous spellings: "saw the board" (VB) is not "we saw the board" (VBD).
    """
    if part == "AUX" and word in _AUXILIARIES:
        return _AUXILIARIES[word]
    if part not in _PARTS:
        return word
    if tag in _BASE_FORMS and wordnet.knows(word, "verb"):
        return word
    known = wordnet.lemma(word, _PARTS[part])
    if tag in _PLURALS and known == word and not wordnet.knows(word, "noun"):
        return word.removesuffix("s")  # "lugnuts": a plural that WordNet does not know
    return known


@cache
def lemmatiser() -> Callable[[Doc], Doc]:
    """Return a spaCy component that sets lemmas from WordNet.

    Rule-based lemmatisers reduce "need" to "nee" and statistical ones guess; WordNet has a list of
    words and exceptions.
    """
    wordnet = WordNet.load()

    @cache
    def cached(word: str, part: str, tag: str) -> str:
        return lemma(wordnet, word, part, tag)

    def set_lemmas(doc: Doc) -> Doc:
        for token in doc:
            token.lemma_ = cached(token.lower_, token.pos_, token.tag_)
        return doc

    return set_lemmas
