"""How true the certainty of places is: ``python -m benchmarks.certainty RESULTS TRUTH…``.

RESULTS is a folder of work folders, one a job (``howsteps run CAPTIONS --out RESULTS/JOB``). TRUTH
are folders of ``spoken_JOB.json`` (spans in which a step is spoken of as being done, with rules
that say which acts name it), or of task files with annotated steps, ``JOB.json``. Steps are placed
again by the code that is here, found steps are matched to true ones as ``paper-f1`` does, and

* places: F1 of those made, mean IoU of the right ones, beside an even spread;
* calibration: |confidence − share right| in five bins, over matched steps;
* absent: of the pairs that are not there, the share said to be absent; kept: of those there;
* the same with the true steps given, where rules are known: what the script costs.

The shipped tables were fitted on such jobs (:mod:`training.certainty`, which prints the figures
with each job left out), so figures of the same jobs are in sample. A calibration error above
``STALE`` says that the tables do not fit the code any more: fit them again.
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
from howsteps.localisation import TaskLocalisation, localise_task
from howsteps.result import read_result
from howsteps.task import Annotation, Localisation, Rule, Script, Step, Task, Truth

SLACK = 1.0  # seconds around what is spoken
BINS = 5
# Fresh tables have 0.056 and 0.121: no number is right for both kinds of truth.
STALE = {"spoken": 0.08, "seen": 0.15}

Values = NDArray[np.float64]
Bits = NDArray[np.bool_]
ScriptIs = Literal["found", "written", "true"]


@dataclass(frozen=True)
class Case:
    """A job with a script and the truth.

    ``kind`` of truth is ``spoken`` or ``seen``. ``script_is`` says where the script is from: it was
    found, or its steps are the true ones, their names matched with what is said or their mentions
    known.
    """

    name: str
    kind: str
    task: Task
    script: Script
    truth: Truth
    rules: tuple[tuple[Rule, ...], ...] = ()
    script_is: ScriptIs = "found"

    def with_true_steps(self) -> "Case":
        """The same job with its true steps in place of those found."""
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
        return replace(self, script=Script(tuple(steps)), script_is="true")


@dataclass(frozen=True)
class Judged:
    """Every step of a script in every video with truth.

    ``present``, ``right`` and ``kept`` are V×K; ``right`` of a step that matches no true one is
    False, and ``matched`` says which do. ``existing`` counts the true pairs of video and step.
    """

    signs: Values
    confidence: Values
    present: Bits
    right: Bits
    kept: Bits
    matched: Bits
    existing: int
    ious: Values
    script_is: ScriptIs = "found"

    def f1(self, kept: Bits | None = None) -> float:
        """Of the places made."""
        made = self.kept if kept is None else kept
        good = float((self.right & made).sum())
        return 2 * good / max(float(made.sum()) + self.existing, 1.0)


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("results", type=Path)
    options.add_argument("truth", type=Path, nargs="+")
    chosen = options.parse_args()
    cases = list(read_cases(chosen.results, chosen.truth))
    for given in (False, True):
        print(f"\n{'true steps given' if given else 'script found'}\n")
        print("| job | steps | F1 | even | absent | kept | IoU |\n|---|---|---|---|---|---|---|")
        all_found: dict[str, list[Judged]] = {}
        for case in cases:
            if given and not case.rules:
                continue
            one = case.with_true_steps() if given else case
            found = localise_task(one.task, one.script)
            result = judged(one, found, found.localisations)
            all_found.setdefault(case.kind, []).append(result)
            print(row(case.name, one, result), flush=True)
        for kind, results in all_found.items():
            print(f"\n{kind}: {summary(results)}")
            error, bins = calibration(*pairs(results))
            print("confidence → right: " + "; ".join(bins))
            if error > STALE[kind] and not given:
                print(f"STALE: calibration error {error:.3f}. Fit again: training.certainty")


def row(name: str, case: Case, result: Judged) -> str:
    """One line of the table."""
    even = judged(case, None, spread_evenly(case)).f1()
    absent, kept = absence(result, result.kept)
    return (
        f"| {name} | {len(case.script.steps)} | {result.f1():.3f} | {even:.3f} | {absent:.2f} | "
        f"{kept:.2f} | {np.mean(result.ious):.2f} |"
    )


def summary(results: Sequence[Judged]) -> str:
    """Means over jobs."""
    error, _ = calibration(*pairs(results))
    both = np.array([absence(one, one.kept) for one in results])
    ious = np.concatenate([one.ious for one in results])
    return (
        f"F1 {np.mean([one.f1() for one in results]):.3f}, calibration error {error:.3f}, absent "
        f"{np.nanmean(both[:, 0]):.2f}, kept {np.nanmean(both[:, 1]):.2f}, IoU {ious.mean():.2f}"
    )


def read_cases(results: Path, truth: Sequence[Path]) -> Iterator[Case]:
    """The jobs that have both a result and a truth."""
    for folder in sorted(results.iterdir()):
        files = [
            path
            for where in truth
            for path in (where / f"spoken_{folder.name}.json", where / f"{folder.name}.json")
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
    lengths = dict.fromkeys(video for video in spans if video in known)
    return Case(name, kind, task, script, Truth(name, names, annotations, lengths), rules)


def judged(case: Case, found: TaskLocalisation | None, places: Sequence[Localisation]) -> Judged:
    """Places against the truth."""
    own = [place for place in places if place.video in case.truth.durations]
    steps = len(case.script.steps)
    table = hit_table(own, case.truth, steps)
    matching = (range(steps) if case.script_is != "found" else table.score("made").matching) or ()
    true = np.array([-1 if step is None else step for step in matching])
    number = {video: n for n, video in enumerate(case.truth.durations)}
    matched = np.broadcast_to(true >= 0, table.made.shape)
    right = table.hits[:, np.arange(steps), true] & matched
    confidence, ious = np.zeros(table.made.shape), []
    for place in own:
        n, k = number[place.video], place.step
        confidence[n, k] = place.confidence
        if right[n, k] and place.start is not None:
            ious.append(_iou(place, case, int(true[k])))
    rows = [n for n, video in enumerate(case.task.videos) if video.id in number]
    rows.sort(key=lambda n: number[case.task.videos[n].id])
    signs = found.signs[rows] if found is not None and found.signs is not None else np.empty(0)
    return Judged(
        signs,
        confidence,
        table.present[:, true] & matched,
        right,
        table.made,
        matched,
        int(table.present.sum()),
        np.array(ious or [np.nan]),
        case.script_is,
    )


def _iou(place: Localisation, case: Case, step: int) -> float:
    slack = SLACK if case.kind == "spoken" else 0.0
    start, end, time = place.start or 0.0, place.end or 0.0, place.time or 0.0
    best = 0.0
    for a in case.truth.by_video[place.video]:
        if a.step == step and a.start <= time <= a.end:
            low, high = a.start + slack, a.end - slack
            both = max(min(end, high) - max(start, low), 0.0)
            best = max(best, both / (max(end, high) - min(start, low)))
    return best


def spread_evenly(case: Case) -> list[Localisation]:
    """The same steps spread evenly over each video."""
    steps = len(case.script.steps)
    return [
        Localisation(video.id, k, (k + 0.5) / steps * length)
        for video in case.task.videos
        if (length := video.duration or max((s.end for s in video.sentences), default=1.0))
        for k in range(steps)
    ]


def absence(one: Judged, kept: Bits) -> tuple[float, float]:
    """Of matched pairs: the share of those not there that is said so, and of those there kept."""
    gone, there = one.matched & ~one.present, one.matched & one.present
    return (
        1.0 - float(kept[gone].mean()) if gone.any() else float("nan"),
        float(kept[there].mean()) if there.any() else float("nan"),
    )


def pairs(results: Sequence[Judged]) -> tuple[Values, Values]:
    """Confidence, and whether the place is right, over the matched places that were made."""
    own = [one.matched & one.kept for one in results]
    confidence = np.concatenate([r.confidence[o] for r, o in zip(results, own, strict=True)])
    right = np.concatenate([r.right[o] for r, o in zip(results, own, strict=True)])
    return confidence, right.astype(np.float64)


def bins_of(confidence: Values, right: Values) -> list[tuple[float, float, int]]:
    """Mean confidence, share right and number of the places of each bin that has some."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    return [
        (float(confidence[own].mean()), float(right[own].mean()), int(own.sum()))
        for own in (place == number for number in range(BINS))
        if own.any()
    ]


def calibration(confidence: Values, right: Values) -> tuple[float, list[str]]:
    """The calibration error, and what each bin says and is."""
    bins = bins_of(confidence, right)
    error = sum(abs(said - is_right) * count for said, is_right, count in bins)
    shown = [f"{said:.2f} → {is_right:.2f} ({count})" for said, is_right, count in bins]
    return error / max(len(confidence), 1), shown


if __name__ == "__main__":
    main()
