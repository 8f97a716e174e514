"""Train the matching of written labels: ``python -m training.label_match ACTS DATA…``.

ACTS holds narrations as for :mod:`training.step_model`, DATA are folders of reference scripts
(``spoken_*.json``: names of steps, rules, spans). Prints the weights of
:mod:`howsteps.script.matching`, then precision, recall and F1 of the matched mentions by
leave-one-out over tasks (weights and threshold are learnt on the others): by rules (which relations
name a step), and by spans (where it is spoken of; recall counts steps of videos).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from howsteps.narration.mentions import acts_of_labels
from howsteps.script.acts import Matrix
from howsteps.script.matching import (
    MIN_PROBABILITY,
    WEIGHTS,
    Weights,
    acts_of,
    match_features,
    spoken_act,
    step_log_odds,
    step_probabilities,
)
from howsteps.task import Mention
from training.step_model import read_task

THRESHOLDS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4)
SLACK = 2.0  # seconds around a span
MIN_FEATURE = 0.15  # a pair with all features below this is not used
Scores = tuple[float, float, float, float]  # precision and recall by rules, then by spans


@dataclass(frozen=True)
class Job:
    """A task to learn from.

    Attributes
    ----------
    features
        Of label acts and acts (label acts × acts).
    act_counts
        How many acts the label of each step names.
    exact
        Whether verb and noun are the same (label acts × acts).
    act
        The act of every mention.
    mentions, positions
        The mentions, and their relative position in the video.
    true
        Whether an act is of a step, by rules (steps × acts).
    spans
        (step, start, end) where steps are spoken of, by video.
    """

    features: Mapping[str, Matrix]
    act_counts: Sequence[int]
    exact: Matrix
    act: np.ndarray
    mentions: Sequence[Mention]
    positions: Matrix
    true: np.ndarray
    spans: Mapping[str, Sequence[tuple[int, float, float]]]

    @property
    def work(self) -> Matrix:
        """The probability that each mention is work."""
        return np.array([mention.work for mention in self.mentions])


def main() -> None:
    """Print the weights and the scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("acts", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    options = parser.parse_args()
    references = {
        path.stem.removeprefix("spoken_"): path
        for folder in options.data
        for path in sorted(folder.glob("spoken_*.json"))
    }
    jobs = {name: job_of(options.acts / f"{name}.json", path) for name, path in references.items()}
    print({name: round(weight, 2) for name, weight in learn(list(jobs.values())).items()})
    rows: dict[str, list[Scores]] = {}
    for name, job in jobs.items():
        others = [other for key, other in jobs.items() if key != name]
        weights = learn(others)
        threshold = max(
            THRESHOLDS, key=lambda t: np.mean([threshold_score(o, weights, t) for o in others])
        )
        print(f"{name}: threshold {threshold}", flush=True)
        rows.setdefault("the same verb and noun", []).append(scores(job, exact_matches(job)))
        rows.setdefault("leave-one-out", []).append(
            scores(job, matched_steps(job, weights, threshold))
        )
        rows.setdefault("shipped", []).append(
            scores(job, matched_steps(job, WEIGHTS, MIN_PROBABILITY))
        )
    print("| | rules P/R | F1 | spans P/R | F1 |\n|---|---|---|---|---|")
    for method, by_job in rows.items():
        p, r, sp, sr = np.mean(by_job, axis=0)
        rules, spans = (np.mean([f1(*row[i : i + 2]) for row in by_job]) for i in (0, 2))
        print(f"| {method} | {p:.2f}/{r:.2f} | {rules:.2f} | {sp:.2f}/{sr:.2f} | {spans:.2f} |")


def job_of(narrations: Path, reference: Path) -> Job:
    """Read one task: its narrations and its reference script."""
    raw = json.loads(reference.read_text("utf-8"))
    off, task = set(raw.get("off_task", ())), read_task(narrations)
    mentions, positions = [], []
    for video in task.videos:
        for mention in video.mentions if video.id not in off else ():
            if not mention.negated:
                mentions.append(mention)
                positions.append(min(1.0, mention.start / max(video.length, 1.0)))
    names = [step["name"] for step in raw["steps"]]
    labels = [acts_of(acts) for acts in acts_of_labels(names)]
    index = {act: i for i, act in enumerate(dict.fromkeys(map(spoken_act, mentions)))}
    label_acts = [act for acts in labels for act in acts]
    exact = np.array(
        [[la.verb == a.verb and la.noun == a.noun != "" for a in index] for la in label_acts]
    )
    true = [
        [any(a.verb in r["verbs"] and a.noun in r["nouns"] for r in step["rules"]) for a in index]
        for step in raw["steps"]
    ]
    return Job(
        match_features(label_acts, list(index)),
        [len(acts) for acts in labels],
        exact.astype(np.float64),
        np.array([index[spoken_act(mention)] for mention in mentions]),
        mentions,
        np.array(positions),
        np.array(true),
        {video: [(step - 1, a, b) for step, a, b in rows] for video, rows in raw["spans"].items()},
    )


def learn(jobs: Sequence[Job]) -> dict[str, float]:
    """Fit the weights on pairs of a label act and an act, which the rules allow or not."""
    rows, truth, weight = [], [], []
    names = [name for name in WEIGHTS if name not in {"bias", "gap", "work"}]
    for job in jobs:
        count = np.bincount(job.act)
        position = np.bincount(job.act, job.positions) / count
        work = np.bincount(job.act, job.work) / count
        owner = np.repeat(np.arange(len(job.act_counts)), job.act_counts)
        for row, step in enumerate(owner):
            features = np.column_stack([job.features[name][row] for name in names])
            gap = np.abs(position - (step + 0.5) / len(job.act_counts))
            used = features.max(axis=1) > MIN_FEATURE
            rows.append(np.column_stack([features, gap, work])[used])
            truth.append(job.true[step][used])
            weight.append(np.log1p(count[used]) / job.act_counts[step])
    model = LogisticRegression(max_iter=300)
    model.fit(np.concatenate(rows), np.concatenate(truth), sample_weight=np.concatenate(weight))
    learnt = dict(zip([*names, "gap", "work"], map(float, model.coef_[0]), strict=True))
    return {"bias": float(model.intercept_[0]), **learnt}


def matched_steps(job: Job, weights: Weights, threshold: float) -> np.ndarray:
    """The step that each mention is matched with; −1: none."""
    log_odds = step_log_odds(job.features, job.act_counts, weights)[:, job.act]
    probability = step_probabilities(log_odds, job.work, job.positions, weights, threshold)
    return np.where(probability.max(axis=0) >= threshold, probability.argmax(axis=0), -1)


def exact_matches(job: Job) -> np.ndarray:
    """The baseline: the step whose label has the same verb and noun."""
    features = {"verb": job.exact}
    is_exact = step_log_odds(features, job.act_counts, {"bias": 0.0, "verb": 1.0})[:, job.act]
    return np.where(is_exact.max(axis=0) > 0, is_exact.argmax(axis=0), -1)


def scores(job: Job, steps: np.ndarray) -> Scores:
    """Precision and recall of the steps of mentions, by rules and by spans."""
    matched = steps >= 0
    true = job.true[:, job.act]
    right = (matched & true[steps, np.arange(len(steps))]).sum()
    n_inside, n_matched, reached = 0, 0, set()
    for mention, step in zip(job.mentions, steps, strict=True):
        if step >= 0 and mention.video in job.spans:
            n_matched += 1
            if any(
                true_step == step and start - SLACK <= mention.start <= end + SLACK
                for true_step, start, end in job.spans[mention.video]
            ):
                n_inside += 1
                reached.add((mention.video, int(step)))
    annotated = {(video, step) for video, rows in job.spans.items() for step, *_ in rows}
    return (
        right / max(matched.sum(), 1),
        right / max(true.any(axis=0).sum(), 1),
        n_inside / max(n_matched, 1),
        len(reached) / max(len(annotated), 1),
    )


def threshold_score(job: Job, weights: Weights, threshold: float) -> float:
    """The criterion for choosing the threshold: the sum of F1 by rules and by spans."""
    p, r, sp, sr = scores(job, matched_steps(job, weights, threshold))
    return f1(p, r) + f1(sp, sr)


def f1(precision: float, recall: float) -> float:
    """The harmonic mean of precision and recall."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


if __name__ == "__main__":
    main()
