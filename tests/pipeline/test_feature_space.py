"""The feature space of a model: written, read back and validated."""

import json
from pathlib import Path

import pytest

from howsteps.errors import InputError
from howsteps.pipeline import feature_space
from howsteps.pipeline.feature_space import CODEBOOKS, FILE, FeatureSpace


@pytest.mark.parametrize("quick", [False, True])
def test_pooled_frames_need_no_codebooks(tmp_path: Path, quick: bool) -> None:
    space = FeatureSpace(quick=quick)
    feature_space.save(space, tmp_path)
    assert not (tmp_path / CODEBOOKS).exists()
    assert feature_space.load(tmp_path) == space


def test_a_model_of_other_features_is_refused(tmp_path: Path) -> None:
    feature_space.save(FeatureSpace(), tmp_path)
    content = json.loads((tmp_path / FILE).read_text("utf-8"))
    content["origins"]["pooled"] = "of another network"
    (tmp_path / FILE).write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError, match="does not compute"):
        feature_space.load(tmp_path)
