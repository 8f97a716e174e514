"""Evaluation: protocols that score predictions against a truth, and statistics of data sets.

::

    script ───────► judged or by_time ─► script_score
    localisations ► paper_f1 · crosstask_recall · frame_f1 · kukleva · per_video
    truth ────────► statistics (order)

Every protocol is a pure function of predictions, in a form of :mod:`howsteps.evaluate.inputs`, and
truth that returns a :class:`Score`.
"""

from howsteps.evaluate.experiment import Comparison, Plan, compare
from howsteps.evaluate.frame_protocols import (
    frame_f1,
    kukleva,
    label_frames,
    per_video,
    predicted_frames,
    true_frames,
)
from howsteps.evaluate.inputs import Score, as_predictions, in_truth
from howsteps.evaluate.methods import METHODS, Sample
from howsteps.evaluate.point_protocols import (
    HitTable,
    Variant,
    crosstask_recall,
    hit_table,
    paper_f1,
)
from howsteps.evaluate.protocols import PROTOCOLS, Prediction
from howsteps.evaluate.script_protocols import by_time, judged, script_score
from howsteps.evaluate.statistics import Statistics, find_order, statistics

__all__ = [
    "METHODS",
    "PROTOCOLS",
    "Comparison",
    "HitTable",
    "Plan",
    "Prediction",
    "Sample",
    "Score",
    "Statistics",
    "Variant",
    "as_predictions",
    "by_time",
    "compare",
    "crosstask_recall",
    "find_order",
    "frame_f1",
    "hit_table",
    "in_truth",
    "judged",
    "kukleva",
    "label_frames",
    "paper_f1",
    "per_video",
    "predicted_frames",
    "script_score",
    "statistics",
    "true_frames",
]
