import numpy as np

from howsteps.narration import parser
from howsteps.narration.vectors import unit_rows, vectors_of


def test_words_have_the_directions_that_the_parser_gives_them():
    nut, unknown = vectors_of(["nut", "zxqy"])
    own = parser.load().vocab["nut"].vector
    np.testing.assert_allclose(nut, own / np.linalg.norm(own), rtol=1e-5)
    assert not unknown.any()


def test_no_word_is_no_row():
    assert vectors_of([]).shape == (0, parser.load().vocab.vectors_length)


def test_rows_get_length_one_and_zeros_stay():
    np.testing.assert_allclose(unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])
