"""Learn which mentions a written label means: ``python -m training.label_match ACTS DATA…``.

ACTS holds narrations as for :mod:`training.step_model`, DATA are folders of reference scripts
(``spoken_*.json``: names of steps, rules, spans). Prints the weights of
:mod:`howsteps.script.label_match`, and precision, recall and F1 of the mentions that are found for
the names of a job that took no part in learning the weights or the threshold: by the rules (which
relations name a step) and by the spans (where it is spoken of; recall counts steps of videos).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from howsteps.narration.labels import acts_of_labels
from howsteps.script.act_table import Matrix
from howsteps.script.baselines import duration
from howsteps.script.label_match import (
    LEAST,
    WEIGHTS,
    Weights,
    acts_of,
    signs_of,
    spoken,
    weigh,
    with_order,
)
from howsteps.task import Mention
from training.step_model import read_task

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SLACK = 2.0  # seconds around a span
ALIKE = 0.15  # pairs below this in all signs teach nothing
Scores = tuple[float, float, float, float]  # by rules, by spans: precision and recall


@dataclass(frozen=True)
class Job:
    """The signs of a job: label acts × acts, and what is said and true of its mentions."""

    signs: Mapping[str, Matrix]
    many: Sequence[int]
    exact: Matrix
    act: np.ndarray
    heard: Sequence[Mention]
    places: Matrix
    true: np.ndarray  # steps × acts
    spans: Mapping[str, Sequence[tuple[int, float, float]]]

    @property
    def work(self) -> Matrix:
        """How likely each mention is work."""
        return np.array([mention.work for mention in self.heard])


def main() -> None:
    """Print weights and scores."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("acts", type=Path)
    options.add_argument("data", type=Path, nargs="+")
    chosen = options.parse_args()
    jobs = {
        path.stem.removeprefix("spoken_"): path
        for folder in chosen.data
        for path in sorted(folder.glob("spoken_*.json"))
    }
    read = {name: job_of(chosen.acts / f"{name}.json", path) for name, path in jobs.items()}
    print({name: round(weight, 2) for name, weight in learn(list(read.values())).items()})
    rows: dict[str, list[Scores]] = {}
    for name, job in read.items():
        others = [other for key, other in read.items() if key != name]
        weights = learn(others)
        least = max(THRESHOLDS, key=lambda t: np.mean([worth(o, weights, t) for o in others]))
        print(f"{name}: threshold {least}", flush=True)
        rows.setdefault("the same verb and noun", []).append(scores(job, exactly(job)))
        rows.setdefault("left out", []).append(scores(job, found(job, weights, least)))
        rows.setdefault("shipped", []).append(scores(job, found(job, WEIGHTS, LEAST)))
    print("| | rules P/R | F1 | spans P/R | F1 |\n|---|---|---|---|---|")
    for way, own in rows.items():
        p, r, sp, sr = np.mean(own, axis=0)
        rules, spans = (np.mean([f1(*row[at : at + 2]) for row in own]) for at in (0, 2))
        print(f"| {way} | {p:.2f}/{r:.2f} | {rules:.2f} | {sp:.2f}/{sr:.2f} | {spans:.2f} |")


def job_of(narrations: Path, reference: Path) -> Job:
    """Read one job."""
    raw = json.loads(reference.read_text("utf-8"))
    off, task = set(raw.get("off_task", ())), read_task(narrations)
    heard, places = [], []
    for video in task.videos:
        for mention in video.mentions if video.id not in off else ():
            if not mention.negated:
                heard.append(mention)
                places.append(min(1.0, mention.start / max(duration(video), 1.0)))
    names = [step["name"] for step in raw["steps"]]
    labels = [acts_of(acts) for acts in acts_of_labels(names)]
    number = {act: at for at, act in enumerate(dict.fromkeys(map(spoken, heard)))}
    written = [act for own in labels for act in own]
    exact = np.array([[w[0] == a[0] and w[2] == a[2] != "" for a in number] for w in written])
    true = [
        [any(a.verb in r["verbs"] and a.noun in r["nouns"] for r in step["rules"]) for a in number]
        for step in raw["steps"]
    ]
    return Job(
        signs_of(written, list(number)),
        [len(own) for own in labels],
        exact.astype(np.float64),
        np.array([number[spoken(mention)] for mention in heard]),
        heard,
        np.array(places),
        np.array(true),
        {video: [(step - 1, a, b) for step, a, b in rows] for video, rows in raw["spans"].items()},
    )


def learn(jobs: Sequence[Job]) -> dict[str, float]:
    """The weights, from pairs of a label and an act that rules allow or not."""
    rows, truth, weight = [], [], []
    names = [name for name in WEIGHTS if name not in {"bias", "gap", "work"}]
    for job in jobs:
        count = np.bincount(job.act)
        place = np.bincount(job.act, job.places) / count
        work = np.bincount(job.act, job.work) / count
        owner = np.repeat(np.arange(len(job.many)), job.many)
        for at, step in enumerate(owner):
            signs = np.column_stack([job.signs[name][at] for name in names])
            gap = np.abs(place - (step + 0.5) / len(job.many))
            near = signs.max(axis=1) > ALIKE
            rows.append(np.column_stack([signs, gap, work])[near])
            truth.append(job.true[step][near])
            weight.append(np.log1p(count[near]) / job.many[step])
    model = LogisticRegression(max_iter=300)
    model.fit(np.concatenate(rows), np.concatenate(truth), sample_weight=np.concatenate(weight))
    learnt = dict(zip([*names, "gap", "work"], map(float, model.coef_[0]), strict=True))
    return {"bias": float(model.intercept_[0]), **learnt}


def found(job: Job, weights: Weights, least: float) -> np.ndarray:
    """The step of every mention; −1: none."""
    words = weigh(job.signs, job.many, weights)[:, job.act]
    probable = with_order(words, job.work, job.places, weights, least)
    return np.where(probable.max(axis=0) >= least, probable.argmax(axis=0), -1)


def exactly(job: Job) -> np.ndarray:
    """The baseline: the step whose label has the same verb and noun."""
    signs = {"verb": job.exact}
    words = weigh(signs, job.many, {"bias": 0.0, "verb": 1.0})[:, job.act]
    return np.where(words.max(axis=0) > 0, words.argmax(axis=0), -1)


def scores(job: Job, steps: np.ndarray) -> Scores:
    """Precision and recall by the rules, and by the spans."""
    named = steps >= 0
    true = job.true[:, job.act]
    right = (named & true[steps, np.arange(len(steps))]).sum()
    inside, said, reached = 0, 0, set()
    for mention, step in zip(job.heard, steps, strict=True):
        if step >= 0 and mention.video in job.spans:
            said += 1
            if any(
                of == step and start - SLACK <= mention.start <= end + SLACK
                for of, start, end in job.spans[mention.video]
            ):
                inside += 1
                reached.add((mention.video, int(step)))
    there = {(video, step) for video, rows in job.spans.items() for step, *_ in rows}
    return (
        right / max(named.sum(), 1),
        right / max(true.any(axis=0).sum(), 1),
        inside / max(said, 1),
        len(reached) / max(len(there), 1),
    )


def worth(job: Job, weights: Weights, least: float) -> float:
    """What a threshold is chosen by: F1 by rules and by spans together."""
    p, r, sp, sr = scores(job, found(job, weights, least))
    return f1(p, r) + f1(sp, sr)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


if __name__ == "__main__":
    main()
