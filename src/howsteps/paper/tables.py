"""The tables of the paper: measured values beside the printed ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from howsteps.datasets.annotations import GivenMatches
from howsteps.evaluate.experiment import Summary
from howsteps.evaluate.statistics import Statistics
from howsteps.paper.aligners import partial_order_alignment, progressive_alignment
from howsteps.paper.alignment import AUTHORS, align
from howsteps.paper.script import OPTIONS, aligned_indices, narrations, wordnet_match
from howsteps.task import Task

NO_VALUE = "–"


class PrintedStatistics(NamedTuple):
    """One column of the paper's table of data-set statistics, as shares."""

    order_error: float
    missing: float
    repetition: float


# By the names of the tasks in the release.
PRINTED_STATISTICS = {
    "changing_tire": PrintedStatistics(0.007, 0.16, 0.04),
    "cpr": PrintedStatistics(0.11, 0.32, 0.50),
    "repot": PrintedStatistics(0.06, 0.30, 0.07),
    "coffee": PrintedStatistics(0.03, 0.28, 0.11),
    "jump_car": PrintedStatistics(0.08, 0.27, 0.004),
}
# By the maximum number of steps K: precision and recall of the script for each task.
_SCRIPT = {
    7: ((0.85, 0.54), (0.5, 0.43), (1, 0.86), (0.8, 0.4), (0.83, 0.42)),
    10: ((0.9, 0.9), (0.4, 0.57), (1, 0.86), (0.67, 0.6), (0.83, 0.42)),
    12: ((0.83, 0.9), (0.4, 0.57), (1, 0.86), (0.67, 0.6), (0.72, 0.67)),
    15: ((0.71, 0.9), (0.33, 0.57), (0.54, 1), (0.54, 0.7), (0.69, 0.67)),
}
PRINTED_SCRIPT = {
    k: dict(zip(PRINTED_STATISTICS, scores, strict=True)) for k, scores in _SCRIPT.items()
}
# Objective of the alignment, Tr(UᵀBU)/S: partial-order alignment, and Frank-Wolfe.
_ALIGNMENT = ((11.30, -5.18), (-3.82, -4.51), (1.65, -3.55), (-2.99, -3.86), (4.55, -4.67))
PRINTED_ALIGNMENT = dict(zip(PRINTED_STATISTICS, _ALIGNMENT, strict=True))


def compare_aligners(
    task: Task, *, matches: GivenMatches | None = None, seconds: float = 2.0
) -> dict[str, float]:
    """Return Tr(UᵀBU)/S of partial-order and progressive alignment, Frank-Wolfe and our search.

    The problem is that of the authors' program: the most frequent relations, and the last mention
    of each in a narration.
    """
    _, relations, rows = narrations(task)
    indices = aligned_indices(rows, OPTIONS["authors"])
    sequences = [[row[i] for i in kept] for row, kept in zip(rows, indices, strict=True)]
    match = (matches or wordnet_match)(relations)
    search = align(sequences, match, seconds=seconds)
    frank_wolfe = align(sequences, match, solver=AUTHORS)
    return {
        "POA": partial_order_alignment(sequences, match).objective_per_token,
        "progressive": progressive_alignment(sequences, match).objective_per_token,
        "Frank-Wolfe": frank_wolfe.objective_per_token,
        "search": search.objective_per_token,
        "bound": search.bound / search.tokens if search.tokens else 0.0,
    }


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table with a name for its file, a title, and an explanatory note.

    The first ``names`` columns are names, the others numbers.
    """

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    names: int = 2

    def markdown(self) -> str:
        """Return the table as Markdown, with title and note."""
        lines = [self.headings, tuple("---" for _ in self.headings), *self.rows]
        table = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        return "\n\n".join(filter(None, (f"## {self.title}", table, self.note)))


def statistics_table(rows: Sequence[Statistics]) -> TextTable:
    """Return the table of order error, missing and repeated steps; printed values in brackets."""

    def cell(row: Statistics, field: str) -> str:
        measured = f"{100 * getattr(row, field):.1f}"
        if row.task not in PRINTED_STATISTICS:
            return measured
        return f"{measured} ({100 * getattr(PRINTED_STATISTICS[row.task], field):g})"

    shares = PrintedStatistics._fields
    return TextTable(
        "statistics",
        "Statistics of the data",
        ("task", "videos", "steps", "order error %", "missing %", "repeated %"),
        tuple(
            (row.task, str(row.videos), str(row.steps), *(cell(row, field) for field in shares))
            for row in rows
        ),
        "In brackets: as printed in the paper.",
        names=1,
    )


def script_table(rows: Sequence[Summary], steps: Sequence[int]) -> TextTable:
    """Return the table of precision and recall of scripts for several K, printed ones first."""
    lines: list[tuple[str, ...]] = [
        (task, "printed", "judged by eye", *(_pair(PRINTED_SCRIPT[k][task]) for k in steps))
        for task in PRINTED_STATISTICS
        if all(k in PRINTED_SCRIPT for k in steps)
    ]
    mappings = {"script": "by time", "script-judged": "judged"}
    measured = {
        (row.task, row.method, mappings[row.protocol], row.steps): (row.precision, row.recall)
        for row in rows
        if row.protocol in mappings
    }
    for key in dict.fromkeys(key[:3] for key in measured):
        cells = (_pair(measured[*key, k]) if (*key, k) in measured else NO_VALUE for k in steps)
        lines.append((*key, *cells))
    return TextTable(
        "script",
        "Scripts: precision/recall of the steps in order",
        ("task", "method", "which step is which", *(f"K ≤ {k}" for k in steps)),
        tuple(lines),
        "*judged*: by a file of relations that people accept. *by time*: by occurring together, "
        "beyond chance. *frequent* and *text-free* are baselines.",
        names=3,
    )


def alignment_table(objectives: Mapping[str, Mapping[str, float]]) -> TextTable:
    """Return the table of Tr(UᵀBU)/S by task and aligner (:func:`compare_aligners`)."""
    columns = ("POA", "progressive", "Frank-Wolfe", "search", "bound")
    lines: list[tuple[str, ...]] = [
        (task, "printed", f"{poa:.2f}", NO_VALUE, f"{frank_wolfe:.2f}", NO_VALUE, NO_VALUE)
        for task, (poa, frank_wolfe) in PRINTED_ALIGNMENT.items()
    ]
    lines += [
        (task, "here", *(f"{values[column]:.2f}" for column in columns))
        for task, values in objectives.items()
    ]
    return TextTable(
        "alignment",
        "Alignment: objective per mention, lower is better",
        ("task", "", *columns),
        tuple(lines),
        "The authors' problem: 45 relations, last mentions. *bound*: nothing can be lower.",
    )


def localisation_table(rows: Sequence[Summary], steps: Sequence[int]) -> TextTable:
    """Return the table of F1 of every method with its error bar, for several K."""
    summaries = {
        (row.task, row.method, row.steps): row for row in rows if row.protocol == "paper-f1"
    }
    return TextTable(
        "localisation",
        "Localisation: F1 (from–to)",
        ("task", "method", *(f"K ≤ {k}" for k in steps)),
        tuple(
            (*key, *(_with_bar(summaries.get((*key, k))) for k in steps))
            for key in dict.fromkeys(key[:2] for key in summaries)
        ),
        "In brackets: the worst and the best solution that was visited; with several seeds, a 95 % "
        "interval. The paper shows the former as bars without numbers.",
    )


def _with_bar(row: Summary | None) -> str:
    if row is None:
        return NO_VALUE
    bar = "" if row.low is None or row.high is None else f" ({row.low:.2f}–{row.high:.2f})"
    return f"{row.f1:.3f}{bar}"


def _pair(scores: Iterable[float]) -> str:
    return "/".join(f"{score:.2f}" for score in scores)


def _cell(text: str) -> str:
    """Return text that is escaped for a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
