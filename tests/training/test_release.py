import numpy as np
import pytest
import spacy
from spacy.training import Example

from tests.training.trees import DO_NOT, LOWER_IT
from training.corpus import to_doc, untagged
from training.release import bare, fill_card
from training.score import score
from training.vectors import set_vectors


@pytest.fixture
def trained():
    nlp = spacy.blank("en")
    set_vectors(nlp, ["car"], np.ones((1, 4), dtype=np.float32))
    nlp.add_pipe("tagger")
    nlp.add_pipe("parser")
    docs = [to_doc(nlp, [LOWER_IT, DO_NOT])]
    nlp.initialize(lambda: [Example(untagged(doc), doc) for doc in docs])
    nlp("the secret of zanzibar")
    return nlp


@pytest.mark.slow
def test_a_released_pipeline_reads_as_before(trained, tmp_path):
    bare(trained).to_disk(tmp_path)
    text = "do n't drop the car"
    before, after = (
        [(t.tag_, t.dep_, t.head.i, t.has_vector) for t in nlp(text)]
        for nlp in (trained, spacy.load(tmp_path))
    )
    assert before == after


def test_no_word_of_the_training_text_travels_along(trained):
    assert "zanzibar" in trained.vocab.strings
    assert "zanzibar" not in bare(trained).vocab.strings


def test_scores_are_written_between_the_marks_and_nowhere_else(tmp_path):
    card = tmp_path / "card.md"
    card.write_text("before\n<!-- scores -->\nold\n<!-- end of scores -->\nafter\n")
    marks = score([[LOWER_IT]], [[LOWER_IT]])
    fill_card(card, (marks, marks))
    fill_card(card, (marks, marks))
    lines = card.read_text().splitlines()
    assert lines[:2] == ["before", "<!-- scores -->"]
    assert lines[-2:] == ["<!-- end of scores -->", "after"]
    assert "old" not in lines
    assert sum(line.startswith("| spoken") for line in lines) == 1
