import json

import numpy as np
import pytest

from howsteps.errors import InputError
from howsteps.localise import LocaliseError, Model, ModelOptions
from howsteps.localise.model import SavedModel
from howsteps.paper.clustering import ClusteringModel, cluster


@pytest.fixture
def model(task):
    videos, _ = task
    result = cluster(videos, steps=3)
    return ClusteringModel.learnt(
        result, ["jack up", "loosen", "lower"], ModelOptions(regularisation=0.1)
    )


def new_video(seed=100):
    rng = np.random.default_rng(seed)
    x = 0.3 * rng.random((25, 8)).astype(np.float32)
    for step, place in enumerate((4, 11, 20)):
        x[place, step] += 2.0
    return x


def test_steps_are_found_in_a_new_video(model):
    located = model.localise([new_video()])
    np.testing.assert_array_equal(located.intervals, [[4, 11, 20]])
    assert (located.confidence > 0.9).all()


def test_a_saved_model_is_loaded_unchanged(model, tmp_path):
    model.save(tmp_path / "jack")
    again = ClusteringModel.load(tmp_path / "jack")
    assert again.steps == model.steps
    assert again.options == model.options
    np.testing.assert_array_equal(again.weights.matrix, model.weights.matrix)
    np.testing.assert_array_equal(again.null_scores, model.null_scores)
    assert json.loads((tmp_path / "jack" / "model.json").read_text())["version"] == 3


def test_a_model_of_the_paper_is_not_one_of_the_default_method(model, tmp_path):
    model.save(tmp_path)
    assert SavedModel.load(tmp_path).options == model.options
    with pytest.raises(InputError, match=r"options\.mode: 'paper', not 'default'"):
        Model.load(tmp_path)


@pytest.mark.parametrize("text", ["", "{}", '{"version": 9}', "[1]"])
def test_a_file_that_is_not_a_model_is_named(tmp_path, text):
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(InputError, match=r"model\.json"):
        SavedModel.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"steps": ["one"]}, "do not fit"),
        ({"steps": "abc"}, "steps: expected array"),
        ({"steps": ["a", "b", "\ud800"]}, "not valid JSON"),
        ({"version": [[]]}, "version"),
        ({"options": 3}, "options: expected object"),
        *(
            ({"options": {"mode": "paper", **option}}, r"options\.|not valid JSON")
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
        SavedModel.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"bias": np.zeros(7)},
        {"weights": np.full((8, 3), np.nan)},
        {"weights": np.full((8, 3), 1e39)},
        {"weights": np.zeros((8, 3), np.float16)},
        {"null_scores": np.array(["high"])},
        {"null_scores": np.zeros((2, 2))},
    ],
)
def test_arrays_that_cannot_be_a_model_are_refused(model, tmp_path, changes):
    model.save(tmp_path)
    with np.load(tmp_path / "model.npz") as arrays:
        np.savez(tmp_path / "model.npz", **{**arrays, **changes})
    with pytest.raises(InputError, match="model"):
        SavedModel.load(tmp_path)


def test_what_does_not_fit_a_model_is_refused(model, task):
    with pytest.raises(LocaliseError, match="8"):
        model.localise([np.ones((10, 5), np.float32)])
    with pytest.raises(LocaliseError, match="2 labels"):
        ClusteringModel.learnt(cluster(task[0], steps=3), ["a", "b"])
