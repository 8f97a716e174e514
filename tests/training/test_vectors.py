import json
from collections import Counter

import numpy as np
import spacy

from training.vectors import choose, read_vectors, set_vectors


def test_words_that_are_used_often_come_before_frequent_ones():
    words = ["the", "of", "and", "whisk", "lug"]
    used = Counter({"lug": 5, "whisk": 2, "glorp": 9})
    assert choose(words, used, 3) == [0, 1, 4]


def test_reading_drops_what_the_package_puts_after_the_vector(tmp_path):
    path = tmp_path / "embeddings.json"
    rows = {"a": [*range(100), 7, 8], "b": [*range(100, 200), 1, 2]}
    path.write_text(json.dumps({"words": ["b", "a"], "vectors": rows}))
    words, table = read_vectors(path)
    assert words == ["b", "a"]
    assert table.shape == (2, 100)
    assert table[1].tolist() == [float(x) for x in range(100)]


def test_vectors_are_found_by_norm():
    nlp = spacy.blank("en")
    set_vectors(nlp, ["car"], np.ones((1, 3), dtype=np.float32))
    assert nlp("Car")[0].vector.tolist() == [1, 1, 1]
