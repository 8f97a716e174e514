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
AVERAGE = PrintedStatistics(0.06, 0.27, 0.14)
