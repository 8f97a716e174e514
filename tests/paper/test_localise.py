from dataclasses import replace

import numpy as np
import pytest

from howsteps.errors import HowstepsError
from howsteps.paper.clustering import cluster
from howsteps.paper.localise import localise
from tests.localise.test_method import SECONDS, narrated_task, share_found

MODES = ["paper", "authors"]


@pytest.fixture
def narrated():
    return narrated_task()


@pytest.mark.parametrize("mode", MODES)
def test_steps_are_found_where_they_are_done(narrated, mode):
    task, script, features, truth = narrated
    placement = localise(task, script, features, seconds=SECONDS, mode=mode)
    assert [(at.video, at.step) for at in placement.localisations] == [
        (video.id, k) for video in task.videos for k in range(3)
    ]
    assert share_found(placement, truth) > 0.9
    for at in placement.localisations:
        assert at.start < at.time < at.end
        assert at.level is None  # the method has no confidence


@pytest.mark.parametrize("mode", MODES)
def test_steps_are_absent_in_a_video_without_features(narrated, mode):
    task, script, features, _ = narrated
    del features["v1"]
    placement = localise(task, script, features, seconds=SECONDS, mode=mode)
    unseen = [at.video == "v1" for at in placement.localisations]
    assert [at.time is None for at in placement.localisations] == unseen
    assert placement.roundings
    for rounding in placement.roundings:
        assert rounding.shape == (8, 3)
        assert (rounding[1] == -1).all()
        assert (np.diff(np.delete(rounding, 1, axis=0), axis=1) > 0).all()


def test_the_authors_regularisation_depends_on_the_requested_steps(narrated, monkeypatch):
    task, script, features, _ = narrated
    given = []

    def recorded(*arguments, **options):
        given.append(options["regularisation"])
        return cluster(*arguments, iterations=1, **options)

    monkeypatch.setattr("howsteps.paper.localise.cluster", recorded)
    for mode, requested in (("authors", None), ("authors", 30), ("paper", 30)):
        localise(task, script, features, mode=mode, requested_steps=requested)
    assert given == [1 / 90, 1 / 900, None]


def test_a_task_that_cannot_be_localised_is_refused(narrated):
    task, script, features, _ = narrated
    silent = replace(task, videos=tuple(replace(video, sentences=()) for video in task.videos))
    with pytest.raises(HowstepsError, match="neither features nor captions"):
        localise(silent, script)
    with pytest.raises(HowstepsError, match="choose one of paper, authors"):
        localise(task, script, features, mode="default")
