"""How well a pipeline reads: verb–object pairs, attachments, tags and sentence ends.

A pair counts when its verb and its noun stand at the right places and are joined by ``obj``; with
``lemmas`` their dictionary forms must be right too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

from spacy.language import Language
from spacy.tokens import Doc, Token

from training.corpus import clean_stream, spoken_stream, to_doc, untagged
from training.treebanks import Document, Tree

OBJECTS = frozenset({"obj", "dobj"})


@dataclass(frozen=True, slots=True)
class Score:
    """Percentages over a set of documents."""

    pair_precision: float
    pair_recall: float
    pair_f: float
    tags: float
    unlabelled: float
    labelled: float
    sentence_f: float

    def row(self) -> str:
        """The figures as cells of a Markdown table."""
        return " | ".join(f"{getattr(self, field.name):.1f}" for field in fields(self))


def f_score(right: int, found: int, there: int) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean, in percent."""
    precision = 100 * right / max(found, 1)
    recall = 100 * right / max(there, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)


def pairs(doc: Doc, lemma: Callable[[Token], str] | None = None) -> set[tuple[object, ...]]:
    """Verb–object pairs of a document, by place and, where asked for, by lemma."""
    found = set()
    for token in doc:
        verb = token.head
        if token.dep_ in OBJECTS and token.pos_ == "NOUN" and verb.pos_ == "VERB":
            key = (verb.i, token.i)
            found.add(key if lemma is None else (*key, lemma(verb), lemma(token)))
    return found


def score(
    nlp: Language,
    documents: Iterable[Document],
    stream: Callable[[Document], list[Tree]],
    lemma: Callable[[Token], str] | None = None,
) -> Score:
    """Parse whole documents, with the treebank's words and nothing else given."""
    gold = [to_doc(nlp, stream(document)) for document in documents]
    bare = [untagged(doc) for doc in gold]
    right = found = there = tags = heads = labels = words = 0
    ends = [0, 0, 0]
    for truth, guess in zip(gold, nlp.pipe(bare, batch_size=4), strict=True):
        truth_pairs = pairs(truth, None if lemma is None else lambda token: token.lemma_)
        guess_pairs = pairs(guess, lemma)
        right += len(truth_pairs & guess_pairs)
        found += len(guess_pairs)
        there += len(truth_pairs)
        for a, b in zip(truth, guess, strict=True):
            if a.pos_ == "PUNCT":
                continue
            words += 1
            tags += a.tag_ == b.tag_
            heads += a.head.i == b.head.i
            labels += a.head.i == b.head.i and a.dep_ == b.dep_
        a_starts = {sentence.start for sentence in truth.sents}
        b_starts = {sentence.start for sentence in guess.sents}
        for place, count in enumerate((a_starts & b_starts, b_starts, a_starts)):
            ends[place] += len(count) - 1  # the start of the text is given away
    return Score(
        *f_score(right, found, there),
        100 * tags / words,
        100 * heads / words,
        100 * labels / words,
        f_score(*ends)[2],
    )


def table(
    nlp: Language, documents: Iterable[Document], lemma: Callable[[Token], str] | None = None
) -> str:
    """Score written and spoken text, as a Markdown table."""
    documents = list(documents)
    header = "| text | pairs P | pairs R | pairs F | tags | UAS | LAS | sentence ends F |"
    rule = "|---|---|---|---|---|---|---|---|"
    rows = [
        f"| {name} | {score(nlp, documents, stream, lemma).row()} |"
        for name, stream in (("written", clean_stream), ("spoken", spoken_stream))
    ]
    return "\n".join([header, rule, *rows])
