import pytest
import spacy

from howsteps.narration.parser import SHIPPED
from tests.training.trees import DO_NOT, LOWER_IT
from training.corpus import parse
from training.ends import READINESS, make_ready, tune
from training.passages import spoken_stream
from training.treebanks import Document


@pytest.fixture
def nlp():
    return spacy.load(SHIPPED)


def bias(nlp):
    return nlp.get_pipe("parser").model.get_ref("upper").get_param("b")


def sentences(nlp):
    stream = spoken_stream(Document("d", "answers", (LOWER_IT, DO_NOT) * 4))
    return len(parse(nlp, [stream])[0])


def test_a_readier_parser_ends_more_sentences(nlp):
    make_ready(nlp, -100)
    few = sentences(nlp)
    make_ready(nlp, 200)
    assert sentences(nlp) > few


def test_one_decision_alone_is_made_readier(nlp):
    before = bias(nlp).copy()
    make_ready(nlp, 1.5)
    assert sorted(bias(nlp) - before)[-2:] == pytest.approx([0, 1.5], abs=1e-5)


def test_tuning_leaves_the_best_one_behind(nlp):
    start, wanted = bias(nlp).copy(), READINESS[2]
    found = tune(nlp, lambda nlp: -abs((bias(nlp) - start).sum() - wanted))
    assert found == wanted
    assert (bias(nlp) - start).sum() == pytest.approx(wanted, abs=1e-4)
