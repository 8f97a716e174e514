"""Learn what is work and what is talk: ``python -m training.work DATA OUTLINES FILE``.

DATA holds ``annotations/cooking_key_sentences.csv`` (is a sentence a step?),
``annotations/spoken_*.json`` (where steps are spoken of as being done) and ``captions/*.json`` with
step intervals; OUTLINES holds acts and talk of many jobs, one JSON a line. FILE receives the
weights. ``--folds`` measures them instead, on tasks and dishes that took no part.

A feature is kept when it occurs in three tasks or more: nothing of a single video is learnt by
heart.
"""

import argparse
import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from howsteps import datasets
from howsteps.captions.words import words_of
from howsteps.narration import acts, parser
from howsteps.narration.mentions import act_mentions, mention_features
from howsteps.narration.work import Weights, act_features, neighbour_mean
from howsteps.task import Caption, Mention, Task, Video

# How much an example of each source counts. Step intervals are of what is seen, not of what is
# said; outlines have no sentence around their acts.
SOURCES = {"cooking": 1.0, "spans": 1.5, "intervals": 0.2, "outlines": 0.03}
# Of the acts of a sentence that is a step, those that are not the marked one.
UNMARKED = 0.4
TALK_OF_OUTLINES = 4.0  # they hold nine acts for one of talk
STRENGTH = 0.03  # inverse of the L2 penalty
FEWEST, FEWEST_TASKS = 8, 3
PULL, REACH = 0.5, 8.0
# Log-odds that are taken for even. The sources disagree on how much of a narration is work: cooking
# sentences have their best F a little above this, spoken spans well below.
CUT = 0.1
_LEXICAL = ("verb=", "noun=", "determiner=", "place", "tool", "no object", "object")


@dataclass(slots=True)
class Example:
    """One act, whether it is work, and where it comes from."""

    task: str
    source: str
    work: bool
    weight: float
    features: set[str]
    video: str = ""
    start: float = 0.0
    sentence: int = -1
    negated: bool = False
    odds: float = field(default=0.0, compare=False)


def main() -> None:
    """Learn the weights, or measure them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("outlines", type=Path)
    options.add_argument("file", type=Path)
    options.add_argument("--folds", action="store_true")
    chosen = options.parse_args()
    steps = marked(chosen.data / "annotations" / "cooking_key_sentences.csv")
    examples = [*cooking(steps), *spans(chosen.data), *intervals(chosen.data / "captions")]
    phrases = list(outlines(chosen.outlines))
    if chosen.folds:
        total = sum(row["is_step"] == "1" for rows in steps.values() for row in rows)
        measure(examples, phrases, total)
    else:
        weights = learnt([*examples, *phrases])
        chosen.file.write_text(json.dumps(weights, indent=0, sort_keys=True) + "\n", "utf-8")


def heard(task: Task) -> Iterator[tuple[Video, list[tuple[Mention, set[str]]]]]:
    """Every video of a task with its acts and their features."""
    parsed = parser.parse_narrations(
        parser.load_parser(), (words_of(video.captions) for video in task.videos)
    )
    for video, passages in zip(task.videos, parsed, strict=True):
        found = act_mentions(video, passages)
        yield video, list(zip(found.mentions, mention_features(video, found), strict=True))


def seconds(text: str) -> float:
    """The seconds of "01:02.5"."""
    return sum(float(x) * 60**k for k, x in enumerate(reversed(text.split(":"))))


def marked(path: Path) -> dict[str, list[dict[str, str]]]:
    """The rows of every video, in the order of their times."""
    videos: dict[str, list[dict[str, str]]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                seconds(row["time"])
            except ValueError:
                continue
            videos[row["video"]].append(row)
    for rows in videos.values():
        rows.sort(key=lambda row: seconds(row["time"]))
    return dict(videos)


def cooking(videos: dict[str, list[dict[str, str]]]) -> Iterator[Example]:
    """Acts of sentences that are steps or not."""
    starts = {video: [seconds(row["time"]) for row in rows] for video, rows in videos.items()}
    made = []
    for video, rows in videos.items():
        at = starts[video]
        ends = [max(b, a + 0.5) for a, b in zip(at, [*at[1:], at[-1] + 6], strict=True)]
        lines = zip(at, ends, rows, strict=True)
        captions = tuple(Caption(start, end, row["sentence"]) for start, end, row in lines)
        made.append(Video(video, captions, title=rows[0]["dish"]))
    for video, found in heard(Task("cooking", tuple(made))):
        rows, at = videos[video.id], starts[video.id]
        for mention, own in found:
            place = int(np.searchsorted(at, mention.start + 0.05, side="right")) - 1
            if place < 0:
                continue
            row = rows[place]
            step = row["is_step"] == "1"
            verbs, things = row["verb"].lower().split(), row["object"].lower().split()
            hit = mention.verb in {verb.strip(";,") for verb in verbs} or any(
                mention.noun and thing.startswith(mention.noun[:4]) for thing in things
            )
            weight = SOURCES["cooking"] * (UNMARKED if step and not hit else 1.0)
            dish = f"cooking: {row['dish'].strip()}"
            yield Example(
                dish, "cooking", step, weight, own, video.id, mention.start, place, mention.negated
            )


def spans(data: Path) -> Iterator[Example]:
    """Acts inside and outside the spans in which a step is spoken of."""
    for path in sorted((data / "annotations").glob("spoken_*.json")):
        reference = json.loads(path.read_text("utf-8"))
        name = path.stem.removeprefix("spoken_")
        [task] = datasets.read_tasks(data / "captions" / "unlabelled" / f"{name}.json").tasks
        chosen = tuple(video for video in task.videos if video.id in reference["spans"])
        for video, found in heard(replace(task, videos=chosen)):
            own = reference["spans"][video.id]
            for mention, its in found:
                work = any(a - 1 <= mention.start <= b + 1 for _, a, b in own)
                yield Example(name, "spans", work, SOURCES["spans"], its, video.id, mention.start)


def intervals(captions: Path) -> Iterator[Example]:
    """Acts said while a step is seen, or not."""
    for path in sorted(captions.glob("*.json")):
        videos = json.loads(path.read_text("utf-8"))["videos"]
        [task] = datasets.read_tasks(path).tasks
        for video, found in heard(task):
            steps = videos[video.id]["steps"]
            for mention, its in found:
                work = any(a - 2 <= mention.start <= b + 1 for _, a, b in steps)
                yield Example(
                    path.stem, "intervals", work, SOURCES["intervals"], its, video.id, mention.start
                )


def outlines(folder: Path) -> Iterator[Example]:
    """Acts and talk of jobs that were made up: what verb and noun alone tell."""
    items = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            job = json.loads(line)
            items += [(t, (True, job["job"])) for s in job["steps"] for t in s["acts"]]
            items += [(text, (False, job["job"])) for text in job["talk"]]
    weight = SOURCES["outlines"]
    for doc, (work, job) in parser.load_parser().pipe(items, as_tuples=True, batch_size=256):
        for act in acts.find_acts(doc)[:1]:
            own = {
                feature
                for feature in act_features(act, negated=False)
                if feature.startswith(_LEXICAL)
            }
            counts = weight if work else weight * TALK_OF_OUTLINES
            yield Example(job, "outlines", work, counts, own)


def fit(examples: Sequence[Example]) -> tuple[float, dict[str, float]]:
    """The bias and the weight of every feature that is common enough."""
    said: Counter[str] = Counter()
    tasks: dict[str, set[str]] = defaultdict(set)
    for example in examples:
        for feature in example.features:
            said[feature] += 1
            tasks[feature].add(example.task)
    kept = sorted(s for s in said if said[s] >= FEWEST and len(tasks[s]) >= FEWEST_TASKS)
    column = {feature: place for place, feature in enumerate(kept)}
    # How often there is work differs between the sources; that must not be laid to any feature.
    source = {name: len(kept) + place for place, name in enumerate(SOURCES)}
    rows, columns, values = [], [], []
    for row, example in enumerate(examples):
        its = [column[feature] for feature in example.features if feature in column]
        rows += [row] * (len(its) + 1)
        columns += [*its, source[example.source]]
        values += [1.0] * len(its) + [3.0]
    shape = (len(examples), len(kept) + len(source))
    model = LogisticRegression(C=STRENGTH, max_iter=500)
    model.fit(
        csr_matrix((values, (rows, columns)), shape=shape),
        [example.work for example in examples],
        sample_weight=[example.weight for example in examples],
    )
    return float(model.intercept_[0]), dict(zip(kept, model.coef_[0].tolist(), strict=False))


def learnt(examples: Sequence[Example]) -> dict[str, object]:
    """The table that ships."""
    bias, weights = fit(examples)
    return {
        "bias": round(bias - CUT, 3),
        "features": {feature: round(w, 3) for feature, w in weights.items() if abs(w) >= 0.01},
        "pull": PULL,
        "reach": REACH,
    }


def measure(examples: Sequence[Example], phrases: Sequence[Example], steps: int) -> None:
    """Print how well acts are told apart in dishes and tasks that took no part."""
    dishes = sorted({e.task for e in examples if e.source == "cooking"})
    fold = {dish: f"cooking {place % 6}" for place, dish in enumerate(dishes)}
    for name in sorted({fold.get(e.task, e.task) for e in examples}):
        inside = [e for e in examples if fold.get(e.task, e.task) == name]
        outside = [e for e in examples if fold.get(e.task, e.task) != name]
        bias, weights = fit([*outside, *phrases])
        told = Weights(bias - CUT, weights, PULL, REACH)
        for example in inside:
            example.odds = told.bias + sum(
                weights.get(feature, 0.0) for feature in example.features
            )
    by_video: dict[tuple[str, str], list[Example]] = defaultdict(list)
    for example in examples:
        by_video[example.task, example.video].append(example)
    for own in by_video.values():
        odds = np.array([e.odds for e in own])
        pulled = odds + PULL * neighbour_mean(odds, np.array([e.start for e in own]), REACH)
        for example, value in zip(own, pulled.tolist(), strict=True):
            example.odds = value
    print(_sentences([e for e in examples if e.source == "cooking"], steps))
    for name in sorted({e.task for e in examples if e.source != "cooking"}):
        print(f"{name:50}", _acts([e for e in examples if e.task == name]))


def _sentences(examples: Iterable[Example], steps: int) -> str:
    best: dict[tuple[str, int], tuple[bool, float]] = {}
    for e in examples:
        if not e.negated:
            odds = max(e.odds, best.get((e.video, e.sentence), (False, -99.0))[1])
            best[e.video, e.sentence] = (e.work, odds)
    lines = []
    for cut in (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4):
        right = sum(work and odds >= cut for work, odds in best.values())
        kept = sum(odds >= cut for _, odds in best.values())
        p, r = right / max(kept, 1), right / steps
        lines.append(f"cooking, cut {cut:+.1f}: P {p:.3f} R {r:.3f} F {2 * p * r / (p + r):.3f}")
    return "\n".join(lines)


def _acts(examples: Sequence[Example]) -> str:
    work = np.array([e.work for e in examples])
    odds = np.array([e.odds for e in examples])
    kept = odds >= 0
    right = float((work & kept).sum())
    p, r = right / max(float(kept.sum()), 1.0), right / float(work.sum())
    area = roc_auc_score(work, odds)
    return f"{len(work):6} acts, {work.mean():.2f} work: AUC {area:.3f} P {p:.2f} R {r:.2f}"


if __name__ == "__main__":
    main()
