"""What every protocol returns."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1; what is 0 of 0 is 0.

    ``low`` and ``high`` are the ends of the error bar of F1, and ``frames`` the share of frames
    that are right (MoF), in protocols that have them. ``matching`` gives the true step of each
    discovered step where one matching holds for the task, and ``note`` says how it was found.
    """

    precision: float
    recall: float
    f1: float
    low: float | None = None
    high: float | None = None
    frames: float | None = None
    matching: tuple[int | None, ...] = ()
    note: str = ""


def ratio(part: float, whole: float) -> float:
    """Part of a whole; 0 of nothing is 0."""
    return float(part / whole) if whole else 0.0


def harmonic(precision: float, recall: float) -> float:
    """F1 = 2PR/(P+R)."""
    return ratio(2 * precision * recall, precision + recall)


def counted(correct: float, predicted: float, existing: float) -> tuple[float, float, float]:
    """Precision, recall and F1 from counts."""
    precision, recall = ratio(correct, predicted), ratio(correct, existing)
    return precision, recall, harmonic(precision, recall)
