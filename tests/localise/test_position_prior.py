import numpy as np

from howsteps.localise.position_prior import position_prior


def mentions(*rows):
    return np.array(rows, np.float64).reshape(-1, 4)


def test_a_step_is_expected_where_the_others_name_it():
    early = [mentions((10.0, 12.0, 0, 1.0), (80.0, 82.0, 1, 1.0)) for _ in range(9)]
    last = position_prior([*early, mentions()], [100] * 10, 2, 1.0)[-1]
    assert last.shape == (100, 2)
    assert abs(int(last[:, 0].argmax()) - 11) <= 1
    assert abs(int(last[:, 1].argmax()) - 81) <= 1
    assert last[11, 0] > 0 > last[81, 0]


def test_the_mentions_of_the_video_itself_do_not_count():
    rows = [mentions((10.0, 12.0, 0, 1.0)), mentions((80.0, 82.0, 0, 1.0))]
    first, second = position_prior(rows, [100, 100], 1, 1.0)
    assert first[81, 0] > first[11, 0]
    assert second[11, 0] > second[81, 0]


def test_the_prior_is_uniform_for_a_step_that_nobody_names():
    for log_density in position_prior([mentions(), mentions((1.0, 2.0, 0, 0.0))], [30, 7], 2, 0.5):
        np.testing.assert_allclose(log_density, 0.0)


def test_repeated_mentions_in_one_video_count_once():
    often = mentions(*[(10.0, 12.0, 0, 1.0)] * 5)
    once = mentions((10.0, 12.0, 0, 1.0))
    a = position_prior([often, mentions()], [50, 50], 1, 1.0)[1]
    b = position_prior([once, mentions()], [50, 50], 1, 1.0)[1]
    np.testing.assert_allclose(a, b)
