"""From words to parsed passages, with the pipeline that ships, and lemmas."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration import parser
from howsteps.narration.parser import lemma
from howsteps.narration.wordnet import WordNet
from howsteps.task import Word


def stream(text: str, *, seconds_a_word: float = 0.4) -> list[Word]:
    return [
        Word(word, index * seconds_a_word, (index + 1) * seconds_a_word)
        for index, word in enumerate(text.split())
    ]


@st.composite
def narrations(draw: st.DrawFn) -> list[Word]:
    texts = draw(st.lists(st.sampled_from(["don't", "take", "I'm", "gonna", "A.M.", "♥", "10,5"])))
    words, clock = [], 0.0
    for text in texts:
        clock += draw(st.floats(0, 6))
        words.append(Word(text, clock, clock + 0.3))
        clock += 0.3
    return words


@given(narrations())
def test_passages_contain_every_word_once_in_order(words: list[Word]) -> None:
    assert [word for passage in parser.passages(words) for word in passage] == words


@given(narrations())
def test_passages_end_at_long_pauses_and_nowhere_else(words: list[Word]) -> None:
    cuts = [list(passage) for passage in parser.passages(words)]
    for left, right in pairwise(cuts):
        assert right[0].start - left[-1].end >= parser.PAUSE_SECONDS
    for passage in cuts:
        for one, two in pairwise(passage):
            assert two.start - one.end < parser.PAUSE_SECONDS


def test_a_narration_without_pauses_is_split_at_the_maximum_length() -> None:
    words = stream("and " * (2 * parser.LONGEST_PASSAGE + 7))
    lengths = [len(passage) for passage in parser.passages(words)]
    assert lengths == [parser.LONGEST_PASSAGE, parser.LONGEST_PASSAGE, 7]


@given(narrations())
def test_tokens_are_mapped_to_spoken_words(words: list[Word]) -> None:
    nlp = parser.load_parser()
    doc = nlp.make_doc(parser.passage_text(words))
    indices = parser.word_indices(doc)
    rebuilt = ["".join(t.text for t in doc if indices[t.i] == i) for i in range(len(words))]
    assert " ".join(rebuilt) == parser.passage_text(words)


def test_narrations_are_parsed_in_order_and_may_be_empty() -> None:
    texts = ["take the wheel off", "", "put the wheel on", ""]
    parsed = list(parser.parse_narrations(parser.load_parser(), [stream(text) for text in texts]))
    assert [" ".join(doc.text for _, doc in passages) for passages in parsed] == texts


def test_all_capital_captions_are_parsed_in_lower_case() -> None:
    assert parser.passage_text(stream("TAKE THE WHEEL OFF")) == "take the wheel off"
    assert parser.passage_text(stream("Take the LED off")) == "Take the LED off"


def test_hyphenated_words_stay_whole() -> None:
    doc = parser.load_parser().make_doc("pour half-and-half over it,then don't stir")
    assert [token.text for token in doc][:4] == ["pour", "half-and-half", "over", "it"]


WORDNET = WordNet.load()


@pytest.mark.parametrize(
    ("word", "part", "tag", "expected"),
    [
        ("needs", "VERB", "VBZ", "need"),
        ("saw", "VERB", "VB", "saw"),
        ("saw", "VERB", "VBD", "see"),
        ("ground", "VERB", "VB", "ground"),
        ("ground", "VERB", "VBN", "grind"),
        ("tires", "NOUN", "NNS", "tire"),
        ("lugnuts", "NOUN", "NNS", "lugnut"),
        ("pliers", "NOUN", "NNS", "pliers"),
        ("'s", "AUX", "VBZ", "be"),
        ("'ve", "AUX", "VBP", "have"),
        ("the", "DET", "DT", "the"),
    ],
)
def test_lemma(word: str, part: str, tag: str, expected: str) -> None:
    assert lemma(WORDNET, word, part, tag) == expected


@pytest.mark.slow
def test_spacy_is_loaded_when_something_is_parsed() -> None:
    modules = "howsteps.pipeline.run, howsteps.narration.mentions"
    code = f"import sys, {modules}; print('spacy' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert done.stdout == "False\n"
