"""The looking up that happens outside spaCy finds what spaCy finds."""

import numpy as np
import pytest
import spacy
from spacy.ml.models.tok2vec import MultiHashEmbed

from tests.training.trees import DO_NOT, LOWER_IT
from training.corpus import to_doc
from training.encoder import Features, load_encoder, weights_of
from training.score import flat
from training.vectors import set_vectors

ROWS = [50, 20, 30, 10]


@pytest.fixture
def nlp():
    nlp = spacy.blank("en")
    set_vectors(nlp, ["car", "not"], np.eye(2, 4, dtype=np.float32))
    return nlp


def test_rows_are_those_that_spacy_adds_up(nlp):
    doc = to_doc(nlp, [LOWER_IT, DO_NOT])
    embed = MultiHashEmbed(8, ["NORM", "PREFIX", "SUFFIX", "SHAPE"], ROWS, True)
    embed.initialize([doc])
    tables = [layer for layer in embed.walk() if layer.name == "hashembed"]
    rows = Features(nlp, ROWS)(flat([LOWER_IT, DO_NOT]))
    for index, table in enumerate(tables):
        keys = doc.to_array(["NORM", "PREFIX", "SUFFIX", "SHAPE"])[:, index].astype(np.uint64)
        ours = table.get_param("E")[rows[:, 4 * index : 4 * index + 4]].sum(1)
        np.testing.assert_allclose(ours, table.predict(keys), atol=1e-6)
    assert rows[:, -1].tolist() == [0, 0, 1, 0, 0, 2, 0, 0, 0]


def test_weights_go_where_they_belong_and_nowhere_else(nlp, tmp_path):
    nlp.add_pipe("tok2vec")
    nlp.initialize()
    places = weights_of(nlp.get_pipe("tok2vec").model)
    path = tmp_path / "encoder.npz"
    weights = {
        f"{i:03d}": np.full(layer.get_param(n).shape, i) for i, (layer, n) in enumerate(places)
    }
    np.savez(path, **weights)
    load_encoder(nlp, path)
    assert [float(layer.get_param(n).flat[0]) for layer, n in places] == list(range(len(places)))
    np.savez(path, **{**weights, "000": np.zeros((2, 2))})
    with pytest.raises(ValueError, match="another encoder"):
        load_encoder(nlp, path)
