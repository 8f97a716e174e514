from dataclasses import replace

import pytest

from tests.training.trees import DO_NOT, LOWER_IT, tree
from training.score import flat, pairs, score

TEXT = [LOWER_IT, DO_NOT, LOWER_IT]


def test_the_truth_scores_full_marks():
    marks = score([TEXT], [TEXT], lemma=lambda token: token.lemma)
    assert marks.pair_f == marks.labelled == marks.tags == marks.sentence_f == pytest.approx(100)


def test_pairs_are_verbs_with_nouns_by_place():
    assert pairs(flat(TEXT)) == {(0, 2), (9, 11)}


def test_a_wrong_lemma_costs_the_pair_where_lemmas_are_asked_for():
    assert score([TEXT], [TEXT]).pair_f == pytest.approx(100)
    assert score([TEXT], [TEXT], lemma=lambda token: "nee").pair_f == 0


def test_counting_by_hand():
    truth = [tree("lift/VERB/root/0", "cars/NOUN/obj/1"), tree("eat/VERB/root/0", "it/PRON/obj/1")]
    joined = [
        tree("lift/VERB/root/0", "cars/NOUN/nsubj/1", "eat/VERB/conj/1", "it/PRON/obj/3"),
    ]
    marks = score([truth], [joined])
    assert marks.pair_f == 0
    assert marks.unlabelled == 75  # "eat" should be a root
    assert marks.labelled == 50  # and "cars" is no subject
    assert marks.tags == 100
    assert marks.sentence_f == 0


def test_punctuation_is_not_counted_among_the_words():
    guess = [(*LOWER_IT[:3], replace(LOWER_IT[3], head=2))]
    assert score([[LOWER_IT]], [guess]).labelled == 100
