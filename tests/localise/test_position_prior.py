import numpy as np

from howsteps.localise.position_prior import position_prior


def spoken(*rows):
    return np.array(rows, np.float64).reshape(-1, 4)


def test_a_step_is_expected_where_the_others_name_it():
    early = [spoken((10.0, 12.0, 0, 1.0), (80.0, 82.0, 1, 1.0)) for _ in range(9)]
    last = position_prior([*early, spoken()], [100] * 10, 2, 1.0)[-1]
    assert last.shape == (100, 2)
    assert abs(int(last[:, 0].argmax()) - 11) <= 1
    assert abs(int(last[:, 1].argmax()) - 81) <= 1
    assert last[11, 0] > 0 > last[81, 0]


def test_the_own_mentions_of_a_video_do_not_count():
    rows = [spoken((10.0, 12.0, 0, 1.0)), spoken((80.0, 82.0, 0, 1.0))]
    first, second = position_prior(rows, [100, 100], 1, 1.0)
    assert first[81, 0] > first[11, 0]
    assert second[11, 0] > second[81, 0]


def test_nothing_is_expected_where_nobody_names_the_step():
    for where in position_prior([spoken(), spoken((1.0, 2.0, 0, 0.0))], [30, 7], 2, 0.5):
        np.testing.assert_allclose(where, 0.0)


def test_who_repeats_a_step_counts_once():
    often = spoken(*[(10.0, 12.0, 0, 1.0)] * 5)
    once = spoken((10.0, 12.0, 0, 1.0))
    a = position_prior([often, spoken()], [50, 50], 1, 1.0)[1]
    b = position_prior([once, spoken()], [50, 50], 1, 1.0)[1]
    np.testing.assert_allclose(a, b)
