"""Train the step model: ``python -m training.step_model ACTS DATA… --outlines DIR --file FILE``.

ACTS holds narrations as ``TASK.json`` (videos with id, title, duration, sentences and mentions),
DATA the reference scripts (``spoken_*.json``, ``judge_*.json``, in one or more folders), the
outlines acts and talk of many tasks, one JSON object per line. A pair of acts is positive if the
rules of one true step allow both; an act is positive if any rule allows it. Each task is used three
times with equal weight: all videos, without off-task videos, and a random sample of 30.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from howsteps.narration.wordnet import WordNet
from howsteps.script.acts import ActTable, build_act_table, candidate_mentions, title_words
from howsteps.script.step_model import StepModel, act_features, pair_features
from howsteps.task import Mention, Place, Sentence, Task, Video, Word

SAMPLE_VIDEOS = 30
MAX_PAIRS = 3000  # per example set
NON_STEP_WEIGHT = 0.3  # of a pair in which one act is not a step
INVERSE_PENALTY = 0.05  # C of the L2-regularised regression
PSEUDO_COUNT = 3.0  # shrinks the odds of a word towards one
MIN_WORD_COUNT = 3
DIGITS = 4
_STOP_WORDS = frozenset(
    "the a an of your my it to in on with and for from into this that them some".split()
)


@dataclass(frozen=True)
class Reference:
    """Which (verb, noun) pairs name which true step, and the off-task videos."""

    rules: Sequence[Sequence[dict[str, list[str]]]]
    off_task: frozenset[str]

    def steps_of(self, verb: str, noun: str) -> frozenset[int]:
        """The true steps that an act may belong to."""
        return frozenset(
            step
            for step, rules in enumerate(self.rules)
            if any(verb in rule["verbs"] and noun in rule["nouns"] for rule in rules)
        )


@dataclass(frozen=True)
class ExampleSet:
    """The acts of some videos of a task, their features, and the true steps of each act."""

    task: str
    table: ActTable
    pairs: dict[str, np.ndarray]
    acts: dict[str, np.ndarray]
    truth: list[frozenset[int]]


def read_task(path: Path) -> Task:
    """Read the narrations of a task."""
    videos = []
    for raw in json.loads(path.read_text("utf-8")):
        mentions = tuple(
            Mention(
                **{k: v for k, v in m.items() if k not in {"places", "tools", "modifiers"}},
                places=tuple(Place(**place) for place in m.get("places", ())),
                tools=tuple(m.get("tools", ())),
                modifiers=tuple(m.get("modifiers", ())),
            )
            for m in raw["mentions"]
        )
        sentences = tuple(
            Sentence(tuple(Word(word, start, end) for word in text.split()))
            for start, end, text in raw["sentences"]
        )
        videos.append(
            Video(
                raw["id"],
                title=raw["title"],
                duration=raw["duration"],
                sentences=sentences,
                mentions=mentions,
            )
        )
    return Task(path.stem, tuple(videos))


def read_reference(path: Path) -> tuple[str, Reference]:
    """Read the name of a task and its true steps."""
    raw = json.loads(path.read_text("utf-8"))
    if "steps" in raw:
        rules = [step["rules"] for step in raw["steps"]]
    else:
        rules = list(raw["rules"].values())
    name = path.stem.removeprefix("spoken_").removeprefix("judge_")
    return name, Reference(rules, frozenset(video.strip() for video in raw.get("off_task", ())))


def verb_odds(outlines: Iterable[Path]) -> dict[str, float]:
    """Log-odds of work against talk for the verbs of outlines."""
    counts = Counter[str](), Counter[str]()
    for path in outlines:
        for line in path.read_text("utf-8").splitlines():
            outline = json.loads(line)
            work = [(act, 0) for step in outline["steps"] for act in step["acts"]]
            for act, is_talk in work + [(act, 1) for act in outline["talk"]]:
                words = [word for word in act.split() if word not in _STOP_WORDS]
                counts[is_talk].update(words[:1])
    work_counts, talk_counts = counts
    n_work, n_talk = work_counts.total(), talk_counts.total()

    def log_odds(in_work: int, in_talk: int) -> float:
        odds = (in_work * n_talk / n_work + PSEUDO_COUNT / 2) / (in_talk + PSEUDO_COUNT / 2)
        return round(float(np.log(odds)), 2)

    return {
        verb: log_odds(work_counts[verb], talk_counts[verb])
        for verb in sorted(work_counts.keys() | talk_counts.keys())
        if work_counts[verb] + talk_counts[verb] >= MIN_WORD_COUNT
    }


def subsets(task: Task, reference: Reference, seed: int = 0) -> Iterator[Task]:
    """The task with all videos, without off-task videos, and with a random sample."""
    yield task
    on_task = [video for video in task.videos if video.id.strip() not in reference.off_task]
    yield Task(task.name, tuple(on_task))
    sample = np.random.default_rng(seed).permutation(len(task.videos))[:SAMPLE_VIDEOS]
    yield Task(task.name, tuple(task.videos[n] for n in sorted(sample)))


def example_set(task: Task, reference: Reference, odds: Any, wordnet: WordNet) -> ExampleSet:
    """The acts of a task with their features and true steps."""
    mentions_by_video = candidate_mentions(task)
    table = build_act_table(mentions_by_video, [video.duration or 0.0 for video in task.videos])
    mentions = [mention for row in mentions_by_video for mention in row]
    return ExampleSet(
        task.name,
        table,
        pair_features(table, mentions, wordnet),
        act_features(table, mentions, title_words(task.name), odds),
        [reference.steps_of(act.verb, act.noun) for act in table.acts],
    )


def learn(sets: Sequence[ExampleSet], odds: dict[str, float]) -> StepModel:
    """Fit both regressions."""
    pair_weights, pair_bias = _fit(*_pooled([_pair_examples(examples) for examples in sets]))
    act_weights, act_bias = _fit(*_pooled([_act_examples(examples) for examples in sets]))
    return StepModel(
        dict(zip(sets[0].pairs, pair_weights, strict=True)),
        pair_bias,
        dict(zip(sets[0].acts, act_weights, strict=True)),
        act_bias,
        odds,
    )


def _pair_examples(examples: ExampleSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cues, labels and weights of pairs of acts."""
    a, b = np.triu_indices(len(examples.truth), 1)
    step = np.array([bool(truth) for truth in examples.truth])
    weight = np.where(step[a] & step[b], 1.0, np.where(step[a] | step[b], NON_STEP_WEIGHT, 0.0))
    weight = weight * np.sqrt(
        np.minimum(examples.table.video_counts[a], examples.table.video_counts[b])
    )
    used = np.flatnonzero(weight > 0)
    if len(used) > MAX_PAIRS:
        used = np.sort(np.random.default_rng(0).choice(used, MAX_PAIRS, replace=False))
    a, b = a[used], b[used]
    x = np.stack([cue[a, b] for cue in examples.pairs.values()], axis=1)
    y = np.array([bool(examples.truth[i] & examples.truth[j]) for i, j in zip(a, b, strict=True)])
    return x, y, weight[used]


def _act_examples(examples: ExampleSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cues, labels and weights of acts."""
    x = np.stack(list(examples.acts.values()), axis=1)
    return (
        x,
        np.array([bool(truth) for truth in examples.truth]),
        np.sqrt(examples.table.video_counts),
    )


def _pooled(
    examples: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All examples together; every set has the same total weight, and the mean weight is 1."""
    x = np.concatenate([x for x, _, _ in examples])
    y = np.concatenate([y for _, y, _ in examples])
    weight = np.concatenate([weight / max(weight.sum(), 1e-9) for _, _, weight in examples])
    return x, y, weight / weight.mean()


def _fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[list[float], float]:
    """Weights of the unscaled features, and the bias; the penalty is on standardised ones."""
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=1000)
    model.fit((x - mean) / scale, y, sample_weight=weight)
    weights = model.coef_[0] / scale
    return [float(w) for w in weights], float(model.intercept_[0] - weights @ mean)


def save(model: StepModel, path: Path) -> None:
    """Write the model in the format that :mod:`howsteps.script.step_model` reads."""

    def rounded(weights: Any) -> dict[str, float]:
        return {name: round(value, DIGITS) for name, value in weights.items()}

    record = {
        "pairs": {"bias": round(model.pair_bias, DIGITS), "weights": rounded(model.pair_weights)},
        "acts": {"bias": round(model.act_bias, DIGITS), "weights": rounded(model.act_weights)},
        "odds": model.odds,
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Train the model and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("acts", type=Path)
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--outlines", type=Path, required=True)
    parser.add_argument("--file", type=Path, required=True)
    options = parser.parse_args()
    odds, wordnet = verb_odds(sorted(options.outlines.glob("*.jsonl"))), WordNet.load()
    references = dict(
        read_reference(path)
        for folder in options.data
        for pattern in ("spoken_*.json", "judge_*.json")
        for path in sorted(folder.glob(pattern))
    )
    sets = [
        example_set(task, reference, odds, wordnet)
        for name, reference in references.items()
        for task in subsets(read_task(options.acts / f"{name}.json"), reference)
    ]
    save(learn(sets, odds), options.file)


if __name__ == "__main__":
    main()
