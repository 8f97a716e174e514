"""Fit the certainty models: ``python -m training.certainty RESULTS TRUTH… --footage VIDEOS…``.

RESULTS and TRUTH are as for :mod:`benchmarks.certainty`. Prints calibration, absent steps and F1
with each task left out, and writes ``certainty.json``.

The models of *words* are fitted on tasks with spoken spans or annotated steps: with their
discovered scripts and, where rules for the relations of the true steps are known, with the names of
the true steps as a person would write them, and with the true steps and all their mentions.
Narrators speak of a step for longer than it is done, so no probability is calibrated for both kinds
of truth; with the weight of :class:`Fitting`, a task with annotated steps counts as two of the
sixteen with spoken spans. *Words and video*, and *video* alone, are fitted on synthetic recordings
(:mod:`benchmarks.recordings`) and, with ``--footage``, on footage with synthetic narrations
(:mod:`benchmarks.footage`), whole and in pieces (:mod:`benchmarks.recombined`). A folder of footage
is left out with everything that is made of it: the job and its people. *Read*, for
videos that a language model read, is fitted on such readings (``--readings``, as for
:mod:`benchmarks.places_read`), and *read and video* on the synthetic recordings with a simulated
reader. One command fits all of them for which there are data, or those named by ``--only``.

Printed for each task left out is also the share right of the places of a confidence of ``HIGH`` or
more: a kind of evidence is *sure* (``howsteps.task.SURE_EVIDENCE``) where it is .8 on every one.

A step is absent where its probability of presence is below a threshold: the highest one that, with
each task left out, keeps ``kept`` of the steps that are present in discovered scripts, for either
kind of truth. Where this would lower F1, presence cannot be predicted, and no step is absent.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.certainty import (
    Case,
    Outcomes,
    absence_rates,
    calibration,
    confidence_and_correctness,
    judge,
    read_cases,
)
from benchmarks.footage import narrated as narration
from benchmarks.footage import settings
from benchmarks.own_script import written
from benchmarks.places_read import read_readings
from benchmarks.recombined import Job, filmed, recombined
from benchmarks.recordings import SETTINGS, recordings
from howsteps.localise import certainty, localise
from howsteps.localise.certainty import CUES, CertaintyModel
from howsteps.task import Reading, Script, Task

FILE = Path(certainty.__file__).with_name("certainty.json")
HIGHEST_THRESHOLD = 0.5  # a step that is more likely present than not is never absent
SEEDS = 8
PIECES = 8  # collections that are made of pieces of each folder of footage
CACHE = Path("build/footage")
MISREAD = 0.05  # share of the mentions that a simulated reader misses, and of steps it invents
HIGH = 0.7
DIGITS = 4

OutcomesByTask = Mapping[str, Sequence[Outcomes]]


@dataclass(frozen=True)
class Fitting:
    """How the models of one kind of evidence are fitted.

    Attributes
    ----------
    kept
        Share of the present steps that the threshold keeps.
    spoken_weight
        Weight of all tasks with spoken spans, relative to all with annotated steps.
    inverse_penalty
        Inverse of the L2 penalty.
    """

    kept: float = 0.85
    spoken_weight: float = 4.0
    inverse_penalty: float = 0.3


FITTING = Fitting()
VIDEO_FITTING = Fitting(kept=0.95)  # few steps can be told to be absent: hardly one is given away
# Few tasks were read: a stronger penalty. Steps that were not read are absent, which keeps more.
READ_FITTING = Fitting(kept=0.8, spoken_weight=8.0, inverse_penalty=0.03)


def main() -> None:
    """Fit the models, print their figures and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="?", help="without it, only those with video")
    parser.add_argument("truth", type=Path, nargs="*")
    parser.add_argument("--footage", type=Path, nargs="*", default=[], help="folders with truth")
    parser.add_argument("--features", type=Path, nargs="*", default=[], help="of it: VIDEOS.npz")
    parser.add_argument("--readings", type=Path, help="what a language model read: TASK.json")
    parser.add_argument("--only", nargs="*", metavar="KIND", help="kinds of evidence; default: all")
    parser.add_argument("--write", type=Path, default=FILE)
    arguments = parser.parse_args()
    models = json.loads(FILE.read_text("utf-8"))
    for kind, outcomes in kinds(arguments).items():
        how = READ_FITTING if kind == "read" else FITTING if kind == "words" else VIDEO_FITTING
        models[kind] = fit_with_threshold(outcomes, how)
        print(f"\n{kind}, {len(outcomes)} tasks, each left out")
        report(outcomes, how)
    arguments.write.write_text(json.dumps(models, indent=1) + "\n", "utf-8")


def kinds(arguments: argparse.Namespace) -> dict[str, OutcomesByTask]:
    """Return the outcomes by the chosen kinds of evidence."""
    ways = {
        "words and video": lambda: with_video(arguments),
        "video": lambda: with_video(arguments, narrated=False),
        "read and video": read_with_video,
    }
    if arguments.results:
        ways["words"] = lambda: caption_outcomes(arguments.results, arguments.truth)
    if arguments.readings:
        ways["read"] = lambda: read_outcomes(arguments)
    return {kind: way() for kind, way in ways.items() if kind in (arguments.only or ways)}


def with_video(arguments: argparse.Namespace, *, narrated: bool = True) -> OutcomesByTask:
    """Return the outcomes of synthetic recordings, and of the footage."""
    by_task = {name: list(synthetic_outcomes(name, narrated=narrated)) for name in SETTINGS}
    known = {path.stem: path for path in arguments.features}
    for folder in arguments.footage:
        whole = filmed(folder, known.get(folder.name), CACHE)
        jobs = [whole, *(recombined(whole, seed) for seed in range(PIECES))]
        by_task[folder.name] = [
            one for job in jobs for one in footage_outcomes(job, narrated=narrated)
        ]
    return by_task


def read_outcomes(arguments: argparse.Namespace) -> OutcomesByTask:
    """Return the outcomes of videos that were read, by their captions."""
    read = {}
    for whole in read_readings(arguments.results, arguments.readings, arguments.truth):
        one = whole.of(whole.videos)
        result = one.localise(absent=False)
        outcomes = judge(one.case, result, result.localisations)
        read[f"{one.case.kind}: {one.case.name}"] = [outcomes]
    return read


def read_with_video() -> OutcomesByTask:
    """Return the outcomes of synthetic recordings that were read."""
    return {name: list(synthetic_outcomes(name, read=True)) for name in SETTINGS}


def caption_outcomes(results: Path, truth: Sequence[Path]) -> dict[str, list[Outcomes]]:
    """Return the outcomes of tasks by their captions, for each of their scripts; no step absent."""
    by_task = {}
    for case in read_cases(results, truth):
        outcomes = by_task[f"{case.kind}: {case.name}"] = []
        for variant in with_scripts(case):
            result = localise(variant.task, variant.script, absent=False)
            outcomes.append(judge(variant, result, result.localisations))
    return by_task


def with_scripts(case: Case) -> list[Case]:
    """Return the case with its discovered script and, where rules are known, its true steps."""
    if not case.rules:
        return [case]
    names = written("\n".join(case.truth.steps), case.task)
    return [case, replace(case, script=names, script_source="written"), case.with_true_steps()]


def synthetic_outcomes(
    setting: str, *, narrated: bool = True, read: bool = False
) -> Iterator[Outcomes]:
    """Yield the outcomes of synthetic recordings with features.

    Without ``narrated``, each video in turn is localised without its narration; with ``read``, a
    language model read all of them.
    """
    for seed in range(SEEDS):
        drawn = recordings(SETTINGS[setting], seed=seed)
        case = Case(setting, "seen", drawn.task, drawn.script, drawn.truth, script_source="true")
        if read:
            result = localise(
                case.task,
                case.script,
                drawn.features,
                seconds=1.0,
                absent=False,
                readings=simulated_readings(case, seed),
                read_videos=[video.id for video in case.task.videos],
            )
            yield judge(case, result, result.localisations)
        else:
            yield from _video_outcomes(case, drawn.features, 1.0, narrated)


def simulated_readings(case: Case, seed: int) -> list[Reading]:
    """Read nearly all mentions of each step, with lines before and after; a few are invented."""
    rng = np.random.default_rng(seed)
    readings = []
    for k, step in enumerate(case.script.steps):
        spoken = {mention.video: mention.start for mention in step.mentions}
        for video in case.task.videos:
            time = spoken.get(video.id)
            if time is not None and rng.random() < MISREAD:
                time = None
            elif time is None and rng.random() < MISREAD:
                time = float(rng.uniform(0.0, video.length))
            if time is not None:
                start = max(time - float(rng.uniform(0.0, 3.0)), 0.0)
                end = time + float(rng.uniform(2.0, 10.0))
                readings.append(Reading(video.id, k, start, end, 0, 0))
    return readings


def footage_outcomes(job: Job, *, narrated: bool = True) -> Iterator[Outcomes]:
    """Yield the outcomes of footage with synthetic narrations, the true steps given."""
    many = [narration(job.truth, job.truth.task, *setting, 0) for setting in settings()]
    for task, script in job.narrations if len(job.narrations) == 1 else many:
        case = Case(task.name, "seen", task, script, job.truth, script_source="true")
        yield from _video_outcomes(case, job.features, job.seconds, narrated)


def _video_outcomes(
    case: Case, features: Any, seconds: float, narrated: bool
) -> Iterator[Outcomes]:
    if narrated:
        result = localise(case.task, case.script, features, seconds=seconds, absent=False)
        yield judge(case, result, result.localisations)
        return
    for video in case.task.videos:
        others = Task(case.task.name, tuple(v for v in case.task.videos if v != video))
        steps = tuple(
            replace(step, mentions=tuple(m for m in step.mentions if m.video != video.id))
            for step in case.script.steps
        )
        result = localise(others, Script(steps), features, seconds=seconds, absent=False)
        located = result.model.localise([features[video.id]])
        truth = replace(
            case.truth,
            annotations=tuple(a for a in case.truth.annotations if a.video == video.id),
            durations={video.id: case.truth.durations[video.id]},
        )
        single = replace(case, task=Task(case.task.name, (video,)), truth=truth)
        yield judge(
            single, replace(result, cues=located.cues), located.in_seconds([video.id], seconds)
        )


def training_data(
    outcomes_by_task: OutcomesByTask, spoken_weight: float
) -> tuple[Any, Any, Any, Any]:
    """Return cues, presence, correctness and weights of all matched pairs of video and step.

    The total weight of a task is the square root of its number of pairs, and the total weight of
    the tasks with one kind of truth is fixed.
    """
    cues, present, correct, weight = [], [], [], []
    counts = {
        name: sum(int(one.matched.sum()) for one in outcomes)
        for name, outcomes in outcomes_by_task.items()
    }
    total: dict[str, float] = {}
    for name, count in counts.items():
        total[kind_of_truth(name)] = total.get(kind_of_truth(name), 0.0) + count**0.5
    for name, outcomes in outcomes_by_task.items():
        kind = kind_of_truth(name)
        kind_weight = spoken_weight if kind == "spoken" else 1.0
        pair_weight = kind_weight / total[kind] * counts[name] ** -0.5
        for one in outcomes:
            cues.append(one.cues[one.matched])
            present.append(one.present[one.matched])
            correct.append(one.correct[one.matched])
            weight.append(np.full(int(one.matched.sum()), pair_weight))
    return tuple(np.concatenate(part) for part in (cues, present, correct, weight))


def fit(
    outcomes_by_task: OutcomesByTask, how: Fitting = FITTING, threshold: float = 0.0
) -> dict[str, Any]:
    """Fit the models of one kind of evidence; return their entry of ``certainty.json``."""
    cues, present, correct, weight = training_data(outcomes_by_task, how.spoken_weight)
    mean, deviation = np.nanmean(cues, axis=0), np.nanstd(cues, axis=0)
    mean, deviation = np.nan_to_num(mean), np.where(deviation > 1e-6, deviation, 1.0)
    deviation = np.nan_to_num(deviation, nan=1.0)
    standardised = np.nan_to_num((cues - mean) / deviation)
    models = {}
    for name, target in (("presence", present), ("correct", correct)):
        model = LogisticRegression(C=how.inverse_penalty, max_iter=1000)
        model.fit(standardised, target, sample_weight=weight / weight.mean())
        models[name] = {
            "bias": round(float(model.intercept_[0]), DIGITS),
            "weights": {
                cue: round(float(w), DIGITS) for cue, w in zip(CUES, model.coef_[0], strict=True)
            },
        }
    return {
        "cues": {
            cue: [round(float(m), DIGITS), round(float(d), DIGITS)]
            for cue, m, d in zip(CUES, mean, deviation, strict=True)
        },
        **models,
        "threshold": threshold,
    }


def leave_one_task_out(
    outcomes_by_task: OutcomesByTask, how: Fitting = FITTING
) -> dict[str, list[Outcomes]]:
    """Return the outcomes of every task with the probabilities by models of the other tasks."""
    predicted = {}
    for name, outcomes in outcomes_by_task.items():
        model = CertaintyModel.from_json(fit(_without(outcomes_by_task, name), how))
        predicted[name] = [_with_probabilities(one, model) for one in outcomes]
    return predicted


def _without(outcomes_by_task: OutcomesByTask, name: str) -> OutcomesByTask:
    return {other: outcomes for other, outcomes in outcomes_by_task.items() if other != name}


def _with_probabilities(outcomes: Outcomes, model: CertaintyModel) -> Outcomes:
    standardised = model.standardise(outcomes.cues)
    presence = model.presence.probability(standardised)
    correct = np.minimum(model.correct.probability(standardised), presence)
    return replace(outcomes, confidence=correct, presence=presence)


def fit_with_threshold(outcomes_by_task: OutcomesByTask, how: Fitting = FITTING) -> dict[str, Any]:
    """Fit the models, with the threshold of absence that keeps enough of the left-out tasks.

    Enough of those with spoken spans and of those with annotated steps, by discovered scripts.
    """
    presence_by_kind: dict[str, list[Any]] = {}
    every: list[Outcomes] = []
    for name, outcomes in leave_one_task_out(outcomes_by_task, how).items():
        discovered = [one for one in outcomes if one.script_source == "found"] or outcomes
        presence_by_kind.setdefault(kind_of_truth(name), []).extend(
            one.presence[one.matched & one.present] for one in discovered
        )
        every += outcomes
    thresholds = [
        float(np.quantile(np.concatenate(presence), 1.0 - how.kept))
        for presence in presence_by_kind.values()
    ]
    threshold = round(min(*thresholds, HIGHEST_THRESHOLD), DIGITS)
    gain = [one.f1(one.presence >= threshold) - one.f1(one.placed) for one in every]
    return fit(outcomes_by_task, how, threshold if np.mean(gain) > 0.0 else 0.0)


def kind_of_truth(name: str) -> str:
    """Return the kind of truth of a task named ``kind: task``; ``all`` for other names."""
    return name.split(":", maxsplit=1)[0] if ":" in name else "all"


def report(outcomes_by_task: OutcomesByTask, how: Fitting = FITTING) -> None:
    """Print the outcomes by group, each task by models and threshold of the others."""
    groups: dict[str, list[Outcomes]] = {}
    for name, outcomes in outcomes_by_task.items():
        rest = _without(outcomes_by_task, name)
        model = CertaintyModel.from_json(
            fit_with_threshold(rest, how) if len(rest) > 1 else fit(rest, how)
        )
        of_task = []
        for one in outcomes:
            predicted = _with_probabilities(one, model)
            placed = one.placed & (predicted.presence >= model.threshold)
            group = "true steps"
            if ":" in name:
                group = f"{kind_of_truth(name)}, script {one.script_source}"
            of_task.append(replace(predicted, placed=placed))
            groups.setdefault(group, []).append(of_task[-1])
        confidence, correct = confidence_and_correctness(of_task)
        high = correct[confidence >= HIGH]
        share = f", {high.mean():.2f} of them right" if len(high) else ""
        print(f"{name}: {len(high)} places from {HIGH} on{share}")
    for group, outcomes in groups.items():
        error, bins = calibration(*confidence_and_correctness(outcomes))
        rates = np.array([absence_rates(one, one.placed) for one in outcomes])
        all_placed = np.mean([one.f1(np.ones_like(one.placed)) for one in outcomes])
        print(
            f"{group}: calibration error {error:.3f}, absent {np.nanmean(rates[:, 0]):.2f}, kept "
            f"{np.nanmean(rates[:, 1]):.2f}, F1 {np.mean([one.f1() for one in outcomes]):.3f} "
            f"(every step placed {all_placed:.3f})\n  " + "; ".join(bins),
            flush=True,
        )


if __name__ == "__main__":
    main()
