"""Accuracy and calibration of localisation: ``python -m benchmarks.certainty RESULTS TRUTH…``.

RESULTS is a folder of work folders, one per task (``howsteps run CAPTIONS --out RESULTS/TASK``).
TRUTH are folders of ``spoken_TASK.json`` (spans in which a step is spoken of as being done, with
rules for the relations that name it), or of task files with annotated steps, ``TASK.json``. Steps
are localised again by the current code, and discovered steps are matched to true ones as
``paper-f1`` does. Printed are

* places: F1 of the steps that are placed, mean IoU of the correct ones, beside an even spread;
* calibration: |confidence − share correct| in five bins, over matched steps;
* absent: share of the absent pairs of video and step that are predicted absent; kept: share of the
  present pairs that are placed;
* the same with the true steps given, where rules are known: what errors of the script cost.

The shipped models were fitted on such tasks (:mod:`training.certainty`, which prints the figures
with each task left out), so figures for the same tasks are in sample. A calibration error above
``STALE`` means that the models no longer fit the code and have to be fitted again.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from howsteps.evaluate.point_protocols import hit_table
from howsteps.localise import TaskLocalisation, localise
from howsteps.store import read_result
from howsteps.task import Annotation, Localisation, Rule, Script, Step, Task, Truth

SLACK = 1.0  # seconds of tolerance around spoken spans
BINS = 5
# Fresh models have 0.093 and 0.154: no probability is calibrated for both kinds of truth.
STALE = {"spoken": 0.12, "seen": 0.18}

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
ScriptSource = Literal["found", "written", "true"]


@dataclass(frozen=True)
class Case:
    """A task with a script and its truth.

    Attributes
    ----------
    kind
        Kind of truth: ``spoken`` spans, or steps ``seen`` in the video.
    rules
        For each true step, the rules of the relations that name it; empty where unknown.
    script_source
        ``found``: discovered. ``written``: the names of the true steps, matched with the
        narrations. ``true``: the true steps with all their mentions.
    """

    name: str
    kind: str
    task: Task
    script: Script
    truth: Truth
    rules: tuple[tuple[Rule, ...], ...] = ()
    script_source: ScriptSource = "found"

    def with_true_steps(self) -> "Case":
        """Return the case with the true steps in place of the discovered ones."""
        steps = [
            Step(
                name,
                tuple(
                    m
                    for video in self.task.videos
                    for m in video.mentions
                    if any(rule.allows(m.relation) for rule in rules)
                ),
            )
            for name, rules in zip(self.truth.steps, self.rules, strict=True)
        ]
        return replace(self, script=Script(tuple(steps)), script_source="true")


@dataclass(frozen=True)
class Outcomes:
    """Localisations of every step in every video with truth, compared with it.

    Attributes
    ----------
    cues
        V×K×S: cues of the certainty models.
    confidence
        V×K.
    present, correct, placed
        V×K: the step is truly in the video; its place is correct; it has a place. A step without a
        matching true step is neither present nor correct.
    matched
        V×K: the step matches a true step (the same in all videos).
    true_pairs
        Number of true pairs of video and step.
    ious
        IoU of every correct place with the truth.
    presence
        V×K: probability of presence by a model that is evaluated.
    """

    cues: Floats
    confidence: Floats
    present: Mask
    correct: Mask
    placed: Mask
    matched: Mask
    true_pairs: int
    ious: Floats
    script_source: ScriptSource = "found"
    presence: Floats | None = None

    def f1(self, placed: Mask | None = None) -> float:
        """Return F1 of the places, or of those that are in ``placed``."""
        predicted = self.placed if placed is None else placed
        hits = float((self.correct & predicted).sum())
        return 2 * hits / max(float(predicted.sum()) + self.true_pairs, 1.0)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("truth", type=Path, nargs="+")
    arguments = parser.parse_args()
    cases = list(read_cases(arguments.results, arguments.truth))
    for true_steps in (False, True):
        print(f"\n{'true steps given' if true_steps else 'script found'}\n")
        print("| task | steps | F1 | even | absent | kept | IoU |\n|---|---|---|---|---|---|---|")
        outcomes_by_kind: dict[str, list[Outcomes]] = {}
        for found_case in cases:
            if true_steps and not found_case.rules:
                continue
            case = found_case.with_true_steps() if true_steps else found_case
            result = localise(case.task, case.script)
            outcomes = judge(case, result, result.localisations)
            outcomes_by_kind.setdefault(case.kind, []).append(outcomes)
            print(table_row(case, outcomes), flush=True)
        for kind, group in outcomes_by_kind.items():
            print(f"\n{kind}: {summary(group)}")
            error, bins = calibration(*confidence_and_correctness(group))
            print("confidence → correct: " + "; ".join(bins))
            if error > STALE[kind] and not true_steps:
                print(f"STALE: calibration error {error:.3f}. Fit again: training.certainty")


def table_row(case: Case, outcomes: Outcomes) -> str:
    """Return one row of the table."""
    even = judge(case, None, spread_evenly(case)).f1()
    absent, kept = absence_rates(outcomes, outcomes.placed)
    return (
        f"| {case.name} | {len(case.script.steps)} | {outcomes.f1():.3f} | {even:.3f} | "
        f"{absent:.2f} | {kept:.2f} | {np.mean(outcomes.ious):.2f} |"
    )


def summary(group: Sequence[Outcomes]) -> str:
    """Return the means over tasks as text."""
    error, _ = calibration(*confidence_and_correctness(group))
    rates = np.array([absence_rates(outcomes, outcomes.placed) for outcomes in group])
    ious = np.concatenate([outcomes.ious for outcomes in group])
    return (
        f"F1 {np.mean([outcomes.f1() for outcomes in group]):.3f}, calibration error {error:.3f}, "
        f"absent {np.nanmean(rates[:, 0]):.2f}, kept {np.nanmean(rates[:, 1]):.2f}, "
        f"IoU {ious.mean():.2f}"
    )


def read_cases(results: Path, truth: Sequence[Path]) -> Iterator[Case]:
    """Yield the tasks that have both a result and a truth."""
    for folder in sorted(results.iterdir()):
        files = [
            path
            for truth_folder in truth
            for path in (
                truth_folder / f"spoken_{folder.name}.json",
                truth_folder / f"{folder.name}.json",
            )
            if path.is_file()
        ]
        if files and (folder / "result.json").is_file():
            result = read_result(folder)
            raw = json.loads(files[0].read_text("utf-8"))
            yield _case(folder.name, result.task, result.script, raw)


def _case(name: str, task: Task, script: Script, raw: dict[str, object]) -> Case:
    known = {video.id for video in task.videos}
    if "spans" in raw:
        kind, slack, spans = "spoken", SLACK, raw["spans"]
        names = tuple(step["name"] for step in raw["steps"])
        rules = tuple(
            tuple(Rule(frozenset(r["verbs"]), frozenset(r["nouns"])) for r in step["rules"])
            for step in raw["steps"]
        )
    else:
        kind, slack = "seen", 0.0
        spans = {video: entry["steps"] for video, entry in raw["videos"].items()}
        names, rules = tuple(raw["step_names"]), ()
    annotations = tuple(
        Annotation(video, step - 1, start - slack, end + slack)
        for video, rows in spans.items()
        if video in known
        for step, start, end in rows
    )
    durations = dict.fromkeys(video for video in spans if video in known)
    return Case(name, kind, task, script, Truth(name, names, annotations, durations), rules)


def judge(
    case: Case, result: TaskLocalisation | None, localisations: Sequence[Localisation]
) -> Outcomes:
    """Compare localisations with the truth; ``result`` has their cues."""
    with_truth = [at for at in localisations if at.video in case.truth.durations]
    steps = len(case.script.steps)
    table = hit_table(with_truth, case.truth, steps)
    is_found = case.script_source == "found"
    matching = (table.score("made").matching if is_found else range(steps)) or ()
    true_step = np.array([-1 if step is None else step for step in matching])
    index = {video: n for n, video in enumerate(case.truth.durations)}
    matched = np.broadcast_to(true_step >= 0, table.made.shape)
    correct = table.hits[:, np.arange(steps), true_step] & matched
    confidence, ious = np.zeros(table.made.shape), []
    for at in with_truth:
        n, k = index[at.video], at.step
        confidence[n, k] = at.confidence
        if correct[n, k] and at.start is not None:
            ious.append(_iou(at, case, int(true_step[k])))
    rows = [n for n, video in enumerate(case.task.videos) if video.id in index]
    rows.sort(key=lambda n: index[case.task.videos[n].id])
    cues = result.cues[rows] if result is not None and result.cues is not None else np.empty(0)
    return Outcomes(
        cues,
        confidence,
        table.present[:, true_step] & matched,
        correct,
        table.made,
        matched,
        int(table.present.sum()),
        np.array(ious or [np.nan]),
        case.script_source,
    )


def _iou(at: Localisation, case: Case, step: int) -> float:
    """Return the best IoU with an annotation of a true step that contains the place."""
    slack = SLACK if case.kind == "spoken" else 0.0
    start, end, time = at.start or 0.0, at.end or 0.0, at.time or 0.0
    best = 0.0
    for a in case.truth.by_video[at.video]:
        if a.step == step and a.start <= time <= a.end:
            low, high = a.start + slack, a.end - slack
            overlap = max(min(end, high) - max(start, low), 0.0)
            best = max(best, overlap / (max(end, high) - min(start, low)))
    return best


def spread_evenly(case: Case) -> list[Localisation]:
    """Return the steps of the script spread evenly over each video."""
    steps = len(case.script.steps)
    return [
        Localisation(video.id, k, (k + 0.5) / steps * length)
        for video in case.task.videos
        if (length := video.duration or max((s.end for s in video.sentences), default=1.0))
        for k in range(steps)
    ]


def absence_rates(outcomes: Outcomes, placed: Mask) -> tuple[float, float]:
    """Return, of the matched pairs, the share of absent ones left out and of present ones placed.

    NaN where there is no such pair.
    """
    absent = outcomes.matched & ~outcomes.present
    present = outcomes.matched & outcomes.present
    return (
        1.0 - float(placed[absent].mean()) if absent.any() else float("nan"),
        float(placed[present].mean()) if present.any() else float("nan"),
    )


def confidence_and_correctness(group: Sequence[Outcomes]) -> tuple[Floats, Floats]:
    """Return the confidence of all matched places, and whether each is correct (0 or 1)."""
    confidence = [one.confidence[one.matched & one.placed] for one in group]
    correct = [one.correct[one.matched & one.placed] for one in group]
    return np.concatenate(confidence), np.concatenate(correct).astype(np.float64)


def reliability_bins(confidence: Floats, correct: Floats) -> list[tuple[float, float, int]]:
    """Return mean confidence, share correct and count of every bin that is not empty."""
    bin_of = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [
        (float(confidence[inside].mean()), float(correct[inside].mean()), int(inside.sum()))
        for inside in (bin_of == i for i in range(BINS))
        if inside.any()
    ]


def calibration(confidence: Floats, correct: Floats) -> tuple[float, list[str]]:
    """Return the expected calibration error, and each bin as text."""
    bins = reliability_bins(confidence, correct)
    error = sum(abs(mean - share) * count for mean, share, count in bins)
    shown = [f"{mean:.2f} → {share:.2f} ({count})" for mean, share, count in bins]
    return error / max(len(confidence), 1), shown


if __name__ == "__main__":
    main()
