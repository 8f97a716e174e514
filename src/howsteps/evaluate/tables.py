"""The tables of the paper: what is measured, beside what is printed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from howsteps.evaluate import printed
from howsteps.evaluate.experiment import Summary
from howsteps.evaluate.statistics import Statistics

NONE = "–"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table with a name for its file, a title, and a note on how to read it."""

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def markdown(self) -> str:
        """The table as Markdown, under its title."""
        lines = [self.headings, tuple("---" for _ in self.headings), *self.rows]
        table = "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)
        return "\n\n".join(filter(None, (f"## {self.title}", table, self.note)))


def statistics_table(rows: Sequence[Statistics]) -> PaperTable:
    """Order error, missing and repeated steps in per cent; the paper's in brackets."""

    def cell(row: Statistics, what: str) -> str:
        ours = f"{100 * getattr(row, what):.1f}"
        if row.task not in printed.STATISTICS:
            return ours
        return f"{ours} ({100 * getattr(printed.STATISTICS[row.task], what):g})"

    return PaperTable(
        "statistics",
        "Statistics of the data",
        ("task", "videos", "steps", "order error %", "missing %", "repeated %"),
        tuple(
            (
                row.task,
                str(row.videos),
                str(row.steps),
                *(cell(row, what) for what in ("order_error", "missing", "repetition")),
            )
            for row in rows
        ),
        "In brackets: as printed in the paper.",
    )


def script_table(rows: Sequence[Summary], steps: Sequence[int]) -> PaperTable:
    """Precision and recall of scripts for several K, the printed ones first."""
    lines: list[tuple[str, ...]] = [
        (task, "printed", "judged by eye", *(_pair(printed.SCRIPT[k][task]) for k in steps))
        for task in printed.STATISTICS
        if all(k in printed.SCRIPT for k in steps)
    ]
    mappings = {"script": "by time", "script-judged": "judged"}
    found = {
        (row.task, row.method, mappings[row.protocol], row.steps): (row.precision, row.recall)
        for row in rows
        if row.protocol in mappings
    }
    for key in dict.fromkeys(key[:3] for key in found):
        cells = (_pair(found[*key, k]) if (*key, k) in found else NONE for k in steps)
        lines.append((*key, *cells))
    return PaperTable(
        "script",
        "Scripts: precision/recall of the steps in order",
        ("task", "method", "which step is which", *(f"K ≤ {k}" for k in steps)),
        tuple(lines),
        "*judged*: by a file of relations that people accept. *by time*: by occurring together, "
        "beyond chance. *frequent* and *text-free* are controls.",
    )


def alignment_table(found: Mapping[str, Mapping[str, float]]) -> PaperTable:
    """Objectives Tr(UᵀBU)/S of several aligners; lower is better."""
    columns = ("POA", "progressive", "Frank-Wolfe", "search", "bound")
    lines: list[tuple[str, ...]] = [
        (task, "printed", f"{poa:.2f}", NONE, f"{frank_wolfe:.2f}", NONE, NONE)
        for task, (poa, frank_wolfe) in printed.ALIGNMENT.items()
    ]
    lines += [
        (task, "here", *(f"{values[column]:.2f}" for column in columns))
        for task, values in found.items()
    ]
    return PaperTable(
        "alignment",
        "Alignment: objective per mention, lower is better",
        ("task", "", *columns),
        tuple(lines),
        "The authors' problem: 45 relations, last mentions. *bound*: nothing can be lower.",
    )


def localisation_table(rows: Sequence[Summary], steps: Sequence[int]) -> PaperTable:
    """F1 of every method with its error bar, for several K."""
    placed = {(row.task, row.method, row.steps): row for row in rows if row.protocol == "paper-f1"}
    return PaperTable(
        "localisation",
        "Localisation: F1 (from–to)",
        ("task", "method", *(f"K ≤ {k}" for k in steps)),
        tuple(
            (*key, *(_with_bar(placed.get((*key, k))) for k in steps))
            for key in dict.fromkeys(key[:2] for key in placed)
        ),
        "In brackets: the worst and the best solution visited after the chosen one, or fold. "
        "The paper shows these as bars without numbers.",
    )


def _with_bar(row: Summary | None) -> str:
    if row is None:
        return NONE
    bar = "" if row.low is None or row.high is None else f" ({row.low:.2f}–{row.high:.2f})"
    return f"{row.f1:.3f}{bar}"


def _pair(scores: Iterable[float]) -> str:
    return "/".join(f"{score:.2f}" for score in scores)


def _cell(text: str) -> str:
    """Text from outside, with nothing that would end a cell or start a tag."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
