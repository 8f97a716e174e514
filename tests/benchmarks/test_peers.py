"""The comparison with peers: decoding in order, and a table on a synthetic recording."""

import sys
from itertools import combinations

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.recordings import SETTINGS


def test_labels_in_order_are_the_cheapest():
    cost = np.random.default_rng(0).random((7, 3))
    found = peers.contiguous(cost)
    choices = [
        np.repeat(range(3), np.diff([0, *borders, 7])) for borders in combinations(range(1, 7), 2)
    ]
    totals = [cost[range(7), labels].sum() for labels in choices]
    np.testing.assert_array_equal(found, choices[int(np.argmin(totals))])


def test_a_place_is_the_middle_of_the_longest_run():
    places = peers.longest_runs("a", np.array([1, 0, 0, 0, 1, 1]), 2.0)
    assert [(p.step, p.time) for p in places] == [(0, 5.0), (1, 10.0)]


@pytest.mark.slow
def test_every_method_has_a_row(monkeypatch, capsys):
    monkeypatch.setattr(peers, "SETTINGS", {"plain": SETTINGS["plain"]})
    monkeypatch.setattr(peers, "SEEDS", 1)
    monkeypatch.setattr(sys, "argv", ["peers", "--recordings"])
    monkeypatch.setitem(sys.modules, "twfinch", None)
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    peers.main()
    rows = capsys.readouterr().out.splitlines()[3:]
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert names == [name for name, _ in peers.methods()]
    for row in rows:
        cells = row.strip("| ").split(" | ")[1:-1]
        assert all(0 < float(cell) <= 1 for cell in cells if cell != "–")


def test_tw_finch_clusters_are_numbered_by_time(monkeypatch):
    class Module:
        @staticmethod
        def FINCH(x, req_clust, verbose, tw_finch):  # noqa: N802 - its name
            return None, None, np.array([1, 1, 0, 0, 2, 2])

    monkeypatch.setitem(sys.modules, "twfinch", Module)
    [labels] = peers.tw_finch([np.zeros((6, 2))], 3)
    np.testing.assert_array_equal(labels, [0, 0, 1, 1, 2, 2])
