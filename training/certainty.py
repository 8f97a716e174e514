"""Fit how sure places are: ``python -m training.certainty RESULTS TRUTH… [--footage VIDEOS]``.

RESULTS and TRUTH are as for :mod:`benchmarks.certainty`. Prints calibration, absent steps and F1
with each job left out, and writes ``certainty.json``.

*Words* are fitted on jobs with spoken spans or annotated steps: on their found scripts and, where
rules say which acts name a true step, on the names of the true steps as a person would write them
down, and on the true steps with all their mentions. Narrators speak of a step for longer than it is
done, so that no number is right for both kinds of truth; ``SPOKEN`` says how much each weighs, and
makes a job with annotated steps count as two of the sixteen with spoken spans. *Words and video*,
and *video* alone, are fitted on synthetic recordings (:mod:`benchmarks.recordings`) and, with
``--footage``, on real footage whose narration is made (:mod:`benchmarks.footage`).

A step is absent where its probability of presence is below a threshold: the highest at which, with
each job left out, ``KEPT`` of the steps that are there are kept in found scripts, whatever the kind
of truth. Where leaving steps out so would lower F1, presence cannot be told, and nothing is absent.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.certainty import (
    Case,
    Judged,
    absence,
    bins_of,
    calibration,
    judged,
    pairs,
    read_cases,
)
from benchmarks.own_script import written
from benchmarks.recordings import SETTINGS, recordings
from howsteps.localisation import localise_task
from howsteps.localise import certainty
from howsteps.localise.certainty import SIGNS, Table
from howsteps.task import Script, Task

FILE = Path(certainty.__file__).with_name("certainty.json")
KEPT = 0.85  # of the steps that are there
EVENS = 0.5  # what is more likely there than not is not absent
SPOKEN = 4.0  # what all jobs with spoken spans weigh together, those with annotated steps being one
STRENGTH = 0.3  # inverse of the L2 penalty
SEEDS = 8
LEAST_PLACES = 15  # in a bin of the diagram
DIGITS = 4

Jobs = Mapping[str, Sequence[Judged]]


def main() -> None:
    """Fit, print, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("results", type=Path)
    options.add_argument("truth", type=Path, nargs="+")
    options.add_argument("--footage", type=Path, help="a folder of videos with their truth beside")
    options.add_argument("--features", type=Path, help="of the footage: VIDEO.npy, three a second")
    options.add_argument("--write", type=Path, default=FILE)
    options.add_argument("--plot", type=Path, help="draw the reliability diagram")
    chosen = options.parse_args()
    kinds: dict[str, Jobs] = {"words": heard(chosen.results, chosen.truth)}
    video = {name: list(filmed(name)) for name in SETTINGS}
    alone = {name: list(filmed(name, narrated=False)) for name in SETTINGS}
    if chosen.footage:
        video["footage"] = list(footage(chosen.footage, chosen.features))
        alone["footage"] = list(footage(chosen.footage, chosen.features, narrated=False))
    kinds |= {"words and video": video, "video": alone}
    tables, shown = {}, {}
    for kind, jobs in kinds.items():
        tables[kind] = with_threshold(jobs)
        print(f"\n{kind}, {len(jobs)} jobs, each left out")
        shown |= {f"{kind}, {group}": own for group, own in report(jobs).items()}
    if chosen.plot:
        plot(shown, chosen.plot)
    chosen.write.write_text(json.dumps(tables, indent=1) + "\n", "utf-8")


def heard(results: Path, truth: Sequence[Path]) -> dict[str, list[Judged]]:
    """Jobs by their captions, with every script they have; every step placed."""
    found = {}
    for case in read_cases(results, truth):
        own = found[f"{case.kind}: {case.name}"] = []
        for one in with_scripts(case):
            placed = localise_task(one.task, one.script, absent=False)
            own.append(judged(one, placed, placed.localisations))
    return found


def with_scripts(case: Case) -> list[Case]:
    """The job with its found script and, where rules are known, with its true steps."""
    if not case.rules:
        return [case]
    names = written("\n".join(case.truth.steps), case.task)
    return [case, replace(case, script=names, script_is="written"), case.with_true_steps()]


def filmed(setting: str, *, narrated: bool = True) -> Iterator[Judged]:
    """Synthetic recordings with features; without narration each video in turn has none."""
    for seed in range(SEEDS):
        one = recordings(SETTINGS[setting], seed=seed)
        case = Case(setting, "seen", one.task, one.script, one.truth, script_is="true")
        yield from _seen(case, one.features, 1.0, narrated)


def footage(folder: Path, features: Path | None, *, narrated: bool = True) -> Iterator[Judged]:
    """Real footage with a made narration, the true steps given."""
    from benchmarks.footage import narrated as narration  # noqa: PLC0415 - takes a while
    from benchmarks.footage import read_truth, settings  # noqa: PLC0415

    where = features or folder
    truth = read_truth(
        folder.with_name(f"{folder.name}.steps.csv"), folder.with_name(f"{folder.name}.truth.csv")
    )
    vectors = {v: np.load(where / f"{v}.npy") for v in truth.durations}
    truth = replace(truth, durations={v: len(x) / 3 for v, x in vectors.items()})
    for share, lag in settings():
        task, script = narration(truth, folder.name, share, lag, 0)
        case = Case(folder.name, "seen", task, script, truth, script_is="true")
        yield from _seen(case, vectors, 1 / 3, narrated)


def _seen(case: Case, features: Any, seconds: float, narrated: bool) -> Iterator[Judged]:
    if narrated:
        placed = localise_task(case.task, case.script, features, seconds=seconds, absent=False)
        yield judged(case, placed, placed.localisations)
        return
    for video in case.task.videos:
        others = Task(case.task.name, tuple(v for v in case.task.videos if v != video))
        steps = tuple(
            replace(step, mentions=tuple(m for m in step.mentions if m.video != video.id))
            for step in case.script.steps
        )
        learnt = localise_task(others, Script(steps), features, seconds=seconds, absent=False)
        located = learnt.model.localise([features[video.id]])
        truth = replace(
            case.truth,
            annotations=tuple(a for a in case.truth.annotations if a.video == video.id),
            durations={video.id: case.truth.durations[video.id]},
        )
        own = replace(case, task=Task(case.task.name, (video,)), truth=truth)
        yield judged(
            own, replace(learnt, signs=located.signs), located.in_seconds([video.id], [seconds])
        )


def stacked(jobs: Jobs) -> tuple[Any, Any, Any, Any]:
    """Signs, presence, right places and weights of all matched pairs.

    Jobs of one kind of truth count alike, nearly.
    """
    signs, present, right, weight = [], [], [], []
    counts = {name: sum(int(one.matched.sum()) for one in own) for name, own in jobs.items()}
    of_kind: dict[str, float] = {}
    for name, count in counts.items():
        of_kind[group_of(name)] = of_kind.get(group_of(name), 0.0) + count**0.5
    for name, results in jobs.items():
        kind = group_of(name)
        each = (SPOKEN if kind == "spoken" else 1.0) / of_kind[kind] * counts[name] ** -0.5
        for one in results:
            own = one.matched
            signs.append(one.signs[own])
            present.append(one.present[own])
            right.append(one.right[own])
            weight.append(np.full(int(own.sum()), each))
    return tuple(np.concatenate(part) for part in (signs, present, right, weight))


def fitted(jobs: Jobs, least: float = 0.0) -> dict[str, Any]:
    """The tables of one kind of evidence, as they are written."""
    signs, present, right, weight = stacked(jobs)
    mean, deviation = np.nanmean(signs, axis=0), np.nanstd(signs, axis=0)
    mean, deviation = np.nan_to_num(mean), np.where(deviation > 1e-6, deviation, 1.0)
    deviation = np.nan_to_num(deviation, nan=1.0)
    standard = np.nan_to_num((signs - mean) / deviation)
    models = {}
    for name, target in (("presence", present), ("right", right)):
        model = LogisticRegression(C=STRENGTH, max_iter=1000)
        model.fit(standard, target, sample_weight=weight / weight.mean())
        models[name] = {
            "bias": round(float(model.intercept_[0]), DIGITS),
            "weights": {
                sign: round(float(w), DIGITS) for sign, w in zip(SIGNS, model.coef_[0], strict=True)
            },
        }
    return {
        "signs": {
            sign: [round(float(m), DIGITS), round(float(d), DIGITS)]
            for sign, m, d in zip(SIGNS, mean, deviation, strict=True)
        },
        **models,
        "least": least,
    }


def left_out(jobs: Jobs) -> dict[str, list[Judged]]:
    """Every job judged by tables of the others; nothing is absent yet."""
    found = {}
    for name, results in jobs.items():
        rest = {other: own for other, own in jobs.items() if other != name}
        table = Table.of(fitted(rest))
        found[name] = [_by(table, one) for one in results]
    return found


def _by(table: Table, one: Judged) -> Judged:
    standard = table.standard(one.signs)
    presence = table.presence.probability(standard)
    confidence = np.minimum(table.right.probability(standard), presence)
    return replace(one, confidence=confidence, signs=presence[..., None])


def with_threshold(jobs: Jobs) -> dict[str, Any]:
    """The tables, with the threshold of absence that keeps enough of the left-out jobs.

    Enough of those with spoken spans, and of those with annotated steps, by found scripts.
    """
    there: dict[str, list[Any]] = {}
    every: list[Judged] = []
    for name, results in left_out(jobs).items():
        found = [one for one in results if one.script_is == "found"] or results
        own = [one.signs[one.matched & one.present, 0] for one in found]
        there.setdefault(group_of(name), []).extend(own)
        every += results
    thresholds = [float(np.quantile(np.concatenate(p), 1.0 - KEPT)) for p in there.values()]
    least = round(min(*thresholds, EVENS), DIGITS)
    gain = [one.f1(one.signs[..., 0] >= least) - one.f1(one.kept) for one in every]
    return fitted(jobs, least=least if np.mean(gain) > 0.0 else 0.0)


def group_of(name: str) -> str:
    """Jobs of one kind of truth are reported together."""
    return name.split(":", maxsplit=1)[0] if ":" in name else "all"


def report(jobs: Jobs) -> dict[str, list[Judged]]:
    """Figures with each job left out; the threshold too is chosen without it."""
    groups: dict[str, list[Judged]] = {}
    for name, results in jobs.items():
        rest = {other: own for other, own in jobs.items() if other != name}
        table = Table.of(with_threshold(rest) if len(rest) > 1 else fitted(rest))
        for one in results:
            mine = _by(table, one)
            mine = replace(mine, kept=one.kept & (mine.signs[..., 0] >= table.least))
            label = f"{group_of(name)}, script {one.script_is}" if ":" in name else "true steps"
            groups.setdefault(label, []).append(mine)
    for group, results in groups.items():
        error, bins = calibration(*pairs(results))
        both = np.array([absence(one, one.kept) for one in results])
        every = np.mean([one.f1(np.ones_like(one.kept)) for one in results])
        print(
            f"{group}: calibration error {error:.3f}, absent {np.nanmean(both[:, 0]):.2f}, kept "
            f"{np.nanmean(both[:, 1]):.2f}, F1 {np.mean([one.f1() for one in results]):.3f} "
            f"(every step placed {every:.3f})\n  " + "; ".join(bins),
            flush=True,
        )
    return groups


def plot(groups: Mapping[str, Sequence[Judged]], path: Path) -> None:
    """The reliability diagram: how often places of a confidence are right."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure = Figure(figsize=(5, 4.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    for mark, (name, results) in zip("os^DvP", groups.items(), strict=True):
        bins = [one for one in bins_of(*pairs(results)) if one[2] >= LEAST_PLACES]
        axes.plot([b[0] for b in bins], [b[1] for b in bins], marker=mark, label=name)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share right")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)


if __name__ == "__main__":
    main()
