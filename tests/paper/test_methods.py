import numpy as np
import pytest

from howsteps.errors import HowstepsError
from howsteps.localise.order import place_aligned
from howsteps.paper.methods import (
    align_transcript,
    bag_of_relations,
    correct_places,
    supervised,
)


def test_a_bag_of_relations_is_hellinger_normalised():
    mentions = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]], bool)
    bag = bag_of_relations(mentions, np.array([2, 2, 0]), 3)
    np.testing.assert_allclose(bag**2, [[1 / 3, 0, 2 / 3], [0, 0, 1], [0, 0, 0]], rtol=1e-6)


def test_supervised_predictions_are_for_held_out_videos(task):
    videos, truth = task
    windows = [
        np.arange(len(x))[:, None] == places for x, places in zip(videos, truth, strict=True)
    ]
    windows[0][:, 1] = False  # a step that is not in the video
    places = supervised(videos, windows)
    assert correct_places(places, windows) > 0.7 * places.size
    with pytest.raises(HowstepsError, match="too few"):
        supervised(videos[:3], windows[:3])


OTHERS = 30  # background relations
STEPS = np.pad(np.array([[5.0, 0, 0, 0], [0, 4, 1, 0], [0, 0, 0, 6]]), ((0, 0), (0, OTHERS)))
COUNTS = np.concatenate([STEPS.sum(axis=0)[:4], np.full(OTHERS, 3.0)])


def test_the_alignment_follows_the_steps_and_skips_background():
    relations = np.array([0, 1, 2, 0, 3])
    np.testing.assert_array_equal(align_transcript(relations, STEPS, COUNTS), [0, 1, 1, -1, 2])


def test_the_alignment_never_goes_back():
    aligned = align_transcript(np.array([3, 0, 1, 3]), STEPS, COUNTS)
    spoken = aligned[aligned >= 0]
    assert (np.diff(spoken) >= 0).all()


def test_steps_without_mentions_are_spread_evenly():
    silent = align_transcript(np.array([], int), STEPS, COUNTS)
    assert len(silent) == 0
    places = place_aligned([silent], [np.array([], int)], [31], 3)
    np.testing.assert_array_equal(places, [[5, 15, 25]])


def test_steps_are_placed_at_their_first_mention():
    aligned = [np.array([0, 0, 2]), np.array([1, -1])]
    spoken = [np.array([4, 6, 20]), np.array([7, 9])]
    places = place_aligned(aligned, spoken, [30, 30], 3)
    np.testing.assert_array_equal(places[0], [4, 12, 20])
    assert places[1, 1] == 7
    assert (np.diff(places, axis=1) > 0).all()
    with pytest.raises(HowstepsError, match="video 0"):
        place_aligned([np.array([0])], [np.array([0])], [2], 3)
