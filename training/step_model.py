"""Learn the weights of the step model: ``python -m training.step_model ACTS DATA OUTLINES FILE``.

ACTS holds narrations as ``TASK.json`` (videos with id, title, duration, sentences and mentions),
DATA the reference scripts (``spoken_*.json``, ``judge_*.json``, in one or more folders), OUTLINES
acts and talk of many jobs, one JSON a line. A pair of acts is one step where the rules of one true
step allow both; an act is a step where any rule allows it. Each job is learnt from whole, without
its videos of other jobs, and in a draw of thirty videos, and counts the same as any other.
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

from howsteps.script.act_features import act_features, pair_features
from howsteps.script.act_table import ActTable, table_of
from howsteps.script.events import candidates
from howsteps.script.step_model import StepModel
from howsteps.script.stop_relations import title_words
from howsteps.task import Mention, Place, Sentence, Task, Video, Word
from howsteps.wordnet import WordNet

DRAW = 30
PAIRS = 3000  # of a collection
NO_STEP = 0.3  # the weight of a pair of which one act is no step
STRENGTH = 0.05  # inverse of the L2 penalty
PRIOR = 3.0  # counts that draw the odds of a word to one
DIGITS = 4
_STOP = frozenset(
    "the a an of your my it to in on with and for from into this that them some".split()
)


@dataclass(frozen=True)
class Reference:
    """Which (verb, noun) pairs name which true step, and the videos of other jobs."""

    rules: Sequence[Sequence[dict[str, list[str]]]]
    off_task: frozenset[str]

    def steps_of(self, verb: str, noun: str) -> frozenset[int]:
        """The true steps that an act may be of."""
        return frozenset(
            step
            for step, rules in enumerate(self.rules)
            if any(verb in rule["verbs"] and noun in rule["nouns"] for rule in rules)
        )


@dataclass(frozen=True)
class Collection:
    """The acts of some videos of a job, their signs, and the true steps of each act."""

    task: str
    table: ActTable
    pairs: dict[str, np.ndarray]
    acts: dict[str, np.ndarray]
    truth: list[frozenset[int]]


def read_task(path: Path) -> Task:
    """A narration as it was dumped."""
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
    """The name of a task and its true steps."""
    raw = json.loads(path.read_text("utf-8"))
    if "steps" in raw:
        rules = [step["rules"] for step in raw["steps"]]
    else:
        rules = list(raw["rules"].values())
    name = path.stem.removeprefix("spoken_").removeprefix("judge_")
    return name, Reference(rules, frozenset(video.strip() for video in raw.get("off_task", ())))


def word_odds(outlines: Iterable[Path]) -> dict[str, dict[str, float]]:
    """Log-odds of work against talk for the verbs and nouns of outlines."""
    counts = {kind: (Counter[str](), Counter[str]()) for kind in ("verbs", "nouns")}
    for path in outlines:
        for line in path.read_text("utf-8").splitlines():
            outline = json.loads(line)
            said = [(act, 0) for step in outline["steps"] for act in step["acts"]]
            for act, talk in said + [(act, 1) for act in outline["talk"]]:
                words = [word for word in act.split() if word not in _STOP]
                counts["verbs"][talk].update(words[:1])
                counts["nouns"][talk].update(word.removesuffix("s") for word in words[1:])
    work, talk = (sum(counts["verbs"][side].values()) for side in (0, 1))
    return {
        kind: {
            word: round(
                float(np.log((did[word] * talk / work + PRIOR / 2) / (said[word] + PRIOR / 2))), 2
            )
            for word in sorted(did.keys() | said.keys())
            if did[word] + said[word] >= 3
        }
        for kind, (did, said) in counts.items()
    }


def parts(task: Task, reference: Reference, seed: int = 0) -> Iterator[Task]:
    """The whole collection, that without videos of other jobs, and a small draw."""
    yield task
    own = [video for video in task.videos if video.id.strip() not in reference.off_task]
    yield Task(task.name, tuple(own))
    drawn = np.random.default_rng(seed).permutation(len(task.videos))[:DRAW]
    yield Task(task.name, tuple(task.videos[n] for n in sorted(drawn)))


def collection(task: Task, reference: Reference, odds: Any, wordnet: WordNet) -> Collection:
    """The signs of the acts of some videos."""
    heard = candidates(task)
    table = table_of(heard, [video.duration or 0.0 for video in task.videos])
    mentions = [mention for row in heard for mention in row]
    return Collection(
        task.name,
        table,
        pair_features(table, mentions, wordnet),
        act_features(table, mentions, title_words(task.name), odds),
        [reference.steps_of(act.verb, act.noun) for act in table.acts],
    )


def learn(collections: Sequence[Collection], odds: dict[str, dict[str, float]]) -> StepModel:
    """The weights that tell steps in the given collections."""
    pairs = _fit(*_pooled([_pair_examples(one) for one in collections]))
    acts = _fit(*_pooled([_act_examples(one) for one in collections]))
    names = list(collections[0].pairs), list(collections[0].acts)
    return StepModel(
        dict(zip(names[0], pairs[0], strict=True)),
        pairs[1],
        dict(zip(names[1], acts[0], strict=True)),
        acts[1],
        odds,
    )


def _pair_examples(one: Collection) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = np.triu_indices(len(one.truth), 1)
    step = np.array([bool(truth) for truth in one.truth])
    weight = np.where(step[a] & step[b], 1.0, np.where(step[a] | step[b], NO_STEP, 0.0))
    weight = weight * np.sqrt(np.minimum(one.table.videos[a], one.table.videos[b]))
    used = np.flatnonzero(weight > 0)
    if len(used) > PAIRS:
        used = np.sort(np.random.default_rng(0).choice(used, PAIRS, replace=False))
    a, b = a[used], b[used]
    x = np.stack([sign[a, b] for sign in one.pairs.values()], axis=1)
    y = np.array([bool(one.truth[i] & one.truth[j]) for i, j in zip(a, b, strict=True)])
    return x, y, weight[used]


def _act_examples(one: Collection) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = np.stack(list(one.acts.values()), axis=1)
    return x, np.array([bool(truth) for truth in one.truth]), np.sqrt(one.table.videos)


def _pooled(
    parts: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    weight = np.concatenate([part[2] / max(part[2].sum(), 1e-9) for part in parts])
    return x, y, weight / weight.mean()


def _fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[list[float], float]:
    """Weights of the signs as they are, and the bias; the penalty is on standardised signs."""
    mean, scale = x.mean(axis=0), x.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    model = LogisticRegression(C=STRENGTH, max_iter=1000)
    model.fit((x - mean) / scale, y, sample_weight=weight)
    own = model.coef_[0] / scale
    return [float(w) for w in own], float(model.intercept_[0] - own @ mean)


def save(model: StepModel, path: Path) -> None:
    """Write the model as the package reads it."""

    def rounded(weights: Any) -> dict[str, float]:
        return {name: round(value, DIGITS) for name, value in weights.items()}

    record = {
        "pairs": {"bias": round(model.pair_bias, DIGITS), "weights": rounded(model.pair_weights)},
        "acts": {"bias": round(model.act_bias, DIGITS), "weights": rounded(model.act_weights)},
        "odds": model.odds,
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Read everything, learn, write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("acts", type=Path)
    options.add_argument("data", type=Path, nargs="+")
    options.add_argument("--outlines", type=Path, required=True)
    options.add_argument("--file", type=Path, required=True)
    asked = options.parse_args()
    odds, wordnet = word_odds(sorted(asked.outlines.glob("*.jsonl"))), WordNet.load()
    references = dict(
        read_reference(path)
        for folder in asked.data
        for pattern in ("spoken_*.json", "judge_*.json")
        for path in sorted(folder.glob(pattern))
    )
    collections = [
        collection(part, reference, odds, wordnet)
        for name, reference in references.items()
        for part in parts(read_task(asked.acts / f"{name}.json"), reference)
    ]
    save(learn(collections, odds), asked.file)


if __name__ == "__main__":
    main()
