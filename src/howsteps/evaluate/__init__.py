"""Measuring: protocols that compare what was found with what people saw, and data statistics.

::

    script ───────► options (judgement or cooccurrence) ─► script_score
    localisations ► place ─► paper_f1 · crosstask_recall
    frame labels ─► kukleva · per_video · frame_f1
    truth ────────► statistics (order)

Every protocol is a pure function that returns a :class:`Score`. ``docs/guide/protocols.md`` shows
them side by side.
"""

from howsteps.evaluate.cooccurrence import by_time, events_of
from howsteps.evaluate.crosstask_recall import crosstask_recall
from howsteps.evaluate.frame_f1 import frame_f1
from howsteps.evaluate.frames import label_frames, true_frames
from howsteps.evaluate.judgement import judged
from howsteps.evaluate.kukleva import kukleva
from howsteps.evaluate.order import Order, find_order
from howsteps.evaluate.paper_f1 import (
    HitTable,
    Variant,
    hit_table,
    interval_hit_table,
    paper_f1,
    paper_f1_with_bar,
)
from howsteps.evaluate.per_video import per_video
from howsteps.evaluate.score import Score
from howsteps.evaluate.script import script_score
from howsteps.evaluate.statistics import Statistics, narration_leads, statistics

__all__ = [
    "HitTable",
    "Order",
    "Score",
    "Statistics",
    "Variant",
    "by_time",
    "crosstask_recall",
    "events_of",
    "find_order",
    "frame_f1",
    "hit_table",
    "interval_hit_table",
    "judged",
    "kukleva",
    "label_frames",
    "narration_leads",
    "paper_f1",
    "paper_f1_with_bar",
    "per_video",
    "script_score",
    "statistics",
    "true_frames",
]
