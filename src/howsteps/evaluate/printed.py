"""What the paper prints, to stand beside what is measured here."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PrintedStatistics:
    """One column of the paper's table of data-set statistics, as shares."""

    order_error: float
    missing: float
    repetition: float


# By the names that the release gives the tasks.
STATISTICS = {
    "changing_tire": PrintedStatistics(0.007, 0.16, 0.04),
    "cpr": PrintedStatistics(0.11, 0.32, 0.50),
    "repot": PrintedStatistics(0.06, 0.30, 0.07),
    "coffee": PrintedStatistics(0.03, 0.28, 0.11),
    "jump_car": PrintedStatistics(0.08, 0.27, 0.004),
}
# Most steps K: precision and recall of the script, task by task.
_SCRIPT = {
    7: ((0.85, 0.54), (0.5, 0.43), (1, 0.86), (0.8, 0.4), (0.83, 0.42)),
    10: ((0.9, 0.9), (0.4, 0.57), (1, 0.86), (0.67, 0.6), (0.83, 0.42)),
    12: ((0.83, 0.9), (0.4, 0.57), (1, 0.86), (0.67, 0.6), (0.72, 0.67)),
    15: ((0.71, 0.9), (0.33, 0.57), (0.54, 1), (0.54, 0.7), (0.69, 0.67)),
}
SCRIPT = {k: dict(zip(STATISTICS, scores, strict=True)) for k, scores in _SCRIPT.items()}
# Objective of the alignment, Tr(UᵀBU)/S: partial-order alignment, and Frank-Wolfe.
_ALIGNMENT = ((11.30, -5.18), (-3.82, -4.51), (1.65, -3.55), (-2.99, -3.86), (4.55, -4.67))
ALIGNMENT = dict(zip(STATISTICS, _ALIGNMENT, strict=True))
AVERAGE = PrintedStatistics(0.06, 0.27, 0.14)
