"""Predictions and truth as masks over intervals, as the authors' program has them."""

import numpy as np

from howsteps.evaluate import HitTable


def interval_hit_table(predicted, truth):
    """Compare T_n×K_pred masks with at most one 1 per column with T_n×K masks, per video."""
    pairs = [
        (np.asarray(z, dtype=bool), np.asarray(y, dtype=bool))
        for z, y in zip(predicted, truth, strict=True)
    ]
    durations = np.array([y.sum(axis=0) for _, y in pairs])
    return HitTable(
        hits=np.array([z.T @ y for z, y in pairs]),
        made=np.array([z.any(axis=0) for z, _ in pairs]),
        present=durations > 0,
        long=durations > 1,
    )
