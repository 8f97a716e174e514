"""Score a parser: verb–object pairs, attachments, tags and sentence ends.

A pair counts if its verb and its noun are at the right positions and joined by ``obj``; with
``lemma`` their lemmas must be right too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace

from training.passages import Passage, clean_stream, spoken_stream
from training.treebanks import Document, Token

Lemma = Callable[[Token], str]


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


def flat(trees: Passage) -> list[Token]:
    """Tokens of all trees, heads as places in the whole text."""
    tokens: list[Token] = []
    for tree in trees:
        offset = len(tokens)
        tokens += [replace(token, head=offset + token.head) for token in tree]
    return tokens


def pairs(tokens: list[Token], lemma: Lemma | None = None) -> set[tuple[object, ...]]:
    """Verb–object pairs of a text, by place and, where asked for, by lemma."""
    found = set()
    for place, token in enumerate(tokens):
        verb = tokens[token.head]
        if token.deprel == "obj" and token.upos == "NOUN" and verb.upos == "VERB":
            key = (token.head, place)
            found.add(key if lemma is None else (*key, lemma(verb), lemma(token)))
    return found


def sentence_starts(trees: Passage) -> set[int]:
    """Positions where a sentence starts, without the first, which is trivial."""
    places, start = set(), 0
    for tree in trees[:-1]:
        start += len(tree)
        places.add(start)
    return places


def score(
    truths: Iterable[Passage], guesses: Iterable[Passage], lemma: Lemma | None = None
) -> Score:
    """Compare texts with their parses; punctuation counts for pairs and ends only."""
    right = found = there = tags = heads = labels = words = 0
    ends = [0, 0, 0]
    for truth, guess in zip(truths, guesses, strict=True):
        true_tokens, guessed_tokens = flat(truth), flat(guess)
        true_pairs = pairs(true_tokens, None if lemma is None else lambda token: token.lemma)
        guessed_pairs = pairs(guessed_tokens, lemma)
        right += len(true_pairs & guessed_pairs)
        found += len(guessed_pairs)
        there += len(true_pairs)
        for a, b in zip(true_tokens, guessed_tokens, strict=True):
            if a.upos == "PUNCT":
                continue
            words += 1
            tags += a.xpos == b.xpos
            heads += a.head == b.head
            labels += a.head == b.head and a.deprel == b.deprel
        a_starts, b_starts = sentence_starts(truth), sentence_starts(guess)
        for place, starts in enumerate((a_starts & b_starts, b_starts, a_starts)):
            ends[place] += len(starts)
    return Score(
        *f_score(right, found, there),
        100 * tags / max(words, 1),
        100 * heads / max(words, 1),
        100 * labels / max(words, 1),
        f_score(*ends)[2],
    )


def judge(
    documents: Iterable[Document],
    parse: Callable[[list[Passage]], list[Passage]],
    lemma: Lemma | None = None,
) -> tuple[Score, Score]:
    """Score a parser on documents made speech-like, and on the same as written."""
    documents = list(documents)
    speech, written = (
        score(texts, parse(texts), lemma)
        for texts in (
            [stream(document) for document in documents] for stream in (spoken_stream, clean_stream)
        )
    )
    return speech, written


def summary(speech: Score, written: Score) -> tuple[float, str]:
    """One score to select by (mostly pairs in speech), and the figures it combines."""
    mark = 0.5 * speech.pair_f + 0.25 * written.pair_f + 0.25 * speech.sentence_f
    return mark, (
        f"{mark:5.2f}  speech {speech.pair_f:5.1f}  written {written.pair_f:5.1f}  "
        f"ends {speech.sentence_f:5.1f}  LAS {speech.labelled:5.1f}  tags {speech.tags:5.1f}"
    )


def table(speech: Score, written: Score) -> str:
    """Both scores as a Markdown table."""
    header = "| text | pairs P | pairs R | pairs F | tags | UAS | LAS | sentence ends F |"
    rule = "|---|---|---|---|---|---|---|---|"
    rows = [f"| {name} | {s.row()} |" for name, s in (("written", written), ("spoken", speech))]
    return "\n".join([header, rule, *rows])
