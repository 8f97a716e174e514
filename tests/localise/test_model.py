"""A model is loaded as it was saved; files that are no model are refused."""

import json

import numpy as np
import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.localise import Model
from howsteps.localise.ridge import Weights
from howsteps.store import ModelOptions


@pytest.fixture
def model() -> Model:
    weights = Weights(np.random.default_rng(0).random((8, 3)), np.zeros(3))
    options = ModelOptions(regularisation=0.1, learnt_from="words")
    return Model(("jack up", "loosen", "lower"), weights, options)


def test_a_saved_model_is_loaded_unchanged(model, tmp_path):
    model.save(tmp_path / "jack")
    again = Model.load(tmp_path / "jack")
    assert (again.steps, again.options) == (model.steps, model.options)
    np.testing.assert_array_equal(again.weights.matrix, model.weights.matrix)
    assert json.loads((tmp_path / "jack" / "model.json").read_text())["version"] == 4


@pytest.mark.parametrize("text", ["", "{}", '{"version": 9}', "[1]"])
def test_a_file_that_is_not_a_model_is_named(tmp_path, text):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(InputError, match=r"model\.json"):
        Model.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"steps": ["one"]}, "do not fit"),
        ({"steps": "abc"}, "steps: expected array"),
        ({"steps": ["a", "b", "\ud800"]}, "not valid JSON"),
        ({"version": [[]]}, "version"),
        ({"options": 3}, "options: expected object"),
        *(
            ({"options": option}, r"options\.|not valid JSON")
            for option in (
                *({"seconds_per_interval": value} for value in ("x", -1, 0, 1e300, float("nan"))),
                *({"regularisation": -1.0}, {"mode": "magic"}, {"learnt_from": None}),
            )
        ),
    ],
    ids=str,
)
def test_an_invalid_edit_of_a_model_is_refused(model, tmp_path, changes, reason):
    model.save(tmp_path)
    text = json.loads((tmp_path / "model.json").read_text())
    if isinstance(changes.get("options"), dict):
        changes = {"options": {**text["options"], **changes["options"]}}
    (tmp_path / "model.json").write_text(json.dumps({**text, **changes}))
    with pytest.raises(InputError, match=reason) as caught:
        Model.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": np.zeros(7)},
        {"weights": np.full((8, 3), np.nan)},
        {"weights": np.full((8, 3), 1e39)},
        {"weights": np.zeros((8, 3), np.float16)},
    ],
)
def test_arrays_that_cannot_be_a_model_are_refused(model, tmp_path, changes):
    model.save(tmp_path)
    with np.load(tmp_path / "model.npz") as arrays:
        np.savez(tmp_path / "model.npz", **{**arrays, **changes})
    with pytest.raises(InputError, match="model"):
        Model.load(tmp_path)


def test_what_does_not_fit_a_model_is_refused(model):
    with pytest.raises(HowstepsError, match="8"):
        model.localise([np.ones((10, 5), np.float32)])
