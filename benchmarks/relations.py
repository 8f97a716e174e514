"""Accuracy of relation extraction: ``python -m benchmarks.relations CAPTIONS``.

Extracts relations from narrations that were annotated by hand (``benchmarks/marks``) and compares
them with the marks. A relation is right if verb and object are at the marked words and both lemmas
agree. Rules were developed on the development marks; ``--marks held-out`` scores the others.
"""

import argparse
import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from howsteps import datasets
from howsteps.captions.words import words_of
from howsteps.errors import HowstepsError
from howsteps.narration import mentions, parser, relations
from howsteps.narration.acts import Act
from howsteps.narration.grammar import Antecedents
from howsteps.task import Video

MARKS = Path(__file__).with_name("marks")
SETS = ("development", "held-out")
KINDS = ("active", "pronoun", "passive", "relative", "measure")
# Tolerance on the position of the verb for the lenient score, in words.
NEAR = 1


@dataclass(frozen=True, slots=True)
class Mark:
    """An annotated relation; see ``benchmarks/marks/README.md``.

    Places are indices of words. ``nouns`` are the lemmas that count as right, the preferred one
    first. A particle with a question mark is optional, as is a relation marked ``optional``.
    """

    verb_place: int
    object_place: int
    verb: str
    nouns: tuple[str, ...]
    particle: str = ""
    negated: bool = False
    kind: str = "active"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """An extracted relation, with the indices of its words in the narration."""

    verb_place: int
    object_place: int
    verb: str
    noun: str
    particle: str = ""
    negated: bool = False
    kind: str = "active"


@dataclass(slots=True)
class Tally:
    """Counts of true positives, false positives and false negatives."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def __iadd__(self, other: "Tally") -> "Tally":
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed
        return self

    @property
    def precision(self) -> float:
        """The share of extracted relations that are right."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of marked relations that were extracted."""
        return self.right / max(1, self.right + self.missed)

    @property
    def f(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)


@dataclass(slots=True)
class Score:
    """Comparison of extracted relations with the marks.

    Negation and particles are scored only if both words are at marked positions, so that missed
    relations do not count. ``pronoun nouns`` are the antecedents of pronouns.
    """

    tallies: dict[str, Tally] = field(default_factory=dict)
    wrong: list[Found] = field(default_factory=list)
    missed: list[Mark] = field(default_factory=list)

    def add(self, name: str, right: int = 0, wrong: int = 0, missed: int = 0) -> None:
        """Add counts under a name."""
        self.tallies.setdefault(name, Tally())
        self.tallies[name] += Tally(right, wrong, missed)


def score(marks: Sequence[Mark], found: Sequence[Found]) -> Score:
    """Compare the relations found in a narration with its marks."""
    result = Score()
    mark_at = {(mark.verb_place, mark.object_place): mark for mark in marks}
    matched = set()
    for pair in found:
        mark = mark_at.get((pair.verb_place, pair.object_place))
        if mark is not None and mark.optional:
            continue
        right = mark is not None and _agree(mark, pair)
        # True positives count under the kind of the mark, false positives under that of the pair.
        for name in ("all", mark.kind if mark is not None and right else pair.kind):
            result.add(name, right=right, wrong=not right)
        if not right:
            result.wrong.append(pair)
        if mark is None:
            continue
        if right:
            matched.add(mark)
        _score_details(result, mark, pair)
    result.missed = [mark for mark in marks if not mark.optional and mark not in matched]
    for mark in result.missed:
        result.add("all", missed=1)
        result.add(mark.kind, missed=1)
    places = {(pair.verb_place, pair.object_place) for pair in found}
    missed_pronouns = [mark for mark in result.missed if mark.kind == "pronoun"]
    result.add(
        "pronoun nouns",
        missed=sum((mark.verb_place, mark.object_place) not in places for mark in missed_pronouns),
    )
    result.tallies["near"] = near(marks, found)
    return result


def near(marks: Sequence[Mark], found: Sequence[Found]) -> Tally:
    """Compare lemmas only, with a tolerance of one word on the position of the verb."""
    tally = Tally()
    unmatched = list(marks)
    for pair in found:
        candidates = [
            mark
            for mark in unmatched
            if abs(mark.verb_place - pair.verb_place) <= NEAR and _agree(mark, pair)
        ]
        if not candidates:
            places = pair.verb_place, pair.object_place
            tally.wrong += not any(
                mark.optional and (mark.verb_place, mark.object_place) == places for mark in marks
            )
            continue
        best = min(
            candidates,
            key=lambda mark: (
                abs(mark.verb_place - pair.verb_place),
                abs(mark.object_place - pair.object_place),
            ),
        )
        unmatched.remove(best)
        tally.right += not best.optional
    tally.missed = sum(not mark.optional for mark in unmatched)
    return tally


def _agree(mark: Mark, pair: Found) -> bool:
    return mark.verb == pair.verb and pair.noun in mark.nouns


def _score_details(result: Score, mark: Mark, pair: Found) -> None:
    """Score antecedent, negation and particle of a relation at a marked position."""
    if mark.kind == "pronoun":
        resolved = pair.noun in mark.nouns
        result.add("pronoun nouns", right=resolved, wrong=not resolved)
    result.add(
        "negation",
        right=mark.negated and pair.negated,
        wrong=pair.negated and not mark.negated,
        missed=mark.negated and not pair.negated,
    )
    certain, either = mark.particle, mark.particle.removesuffix("?")
    if certain == either:
        result.add(
            "particles",
            right=pair.particle == certain != "",
            wrong=pair.particle not in {"", certain},
            missed=pair.particle == "" != certain,
        )
    else:
        result.add("particles", wrong=pair.particle not in {"", either})


def read_marks(rows: Iterable[Sequence[Any]], *, literal: bool = False) -> list[Mark]:
    """Read the marks of a narration; ``literal`` takes "a cup of milk" as a cup."""
    marks = []
    for verb_place, place, verb, noun, particle, negated, kind, extra in rows:
        index, lemma = extra["measure"] if literal and kind == "measure" else (place, noun)
        nouns = (lemma, *extra.get("also", ()))
        optional = extra.get("optional", False)
        marks.append(Mark(verb_place, index, verb, nouns, particle, negated, kind, optional))
    return marks


def find(video: Video, passages: Sequence[parser.Passage], mode: str) -> Iterator[Found]:
    """Yield the relations of a parsed narration, as the narration stage extracts them."""
    offset = 0
    antecedents = Antecedents()
    for words, doc in passages:
        word_indices = parser.word_indices(doc)
        pairs = (
            relations.find_relations(doc, antecedents)
            if mode == "default"
            else relations.find_direct_objects(doc)
        )
        for pair in pairs:
            act = Act(pair.verb, pair.noun, pair.spoken, pair.passive)
            mention = mentions.mention_of_act(video.id, act, words, word_indices, 0, is_pair=True)
            noun = pair.spoken if pair.resolved else pair.noun
            yield Found(
                offset + word_indices[pair.verb.i],
                offset + word_indices[noun.i],
                mention.verb,
                mention.noun,
                mention.particle,
                mention.negated,
                _kind(pair),
            )
        offset += len(words)


def _kind(pair: relations.Pair) -> str:
    if pair.resolved:
        return "pronoun"
    if pair.passive:
        return "passive"
    if pair.noun != pair.spoken:
        return "measure"
    return "relative" if pair.noun.i < pair.verb.i else "active"


def marked_videos(task: Path, counts: dict[str, int]) -> dict[str, Video]:
    """Read the marked videos of a task; raise an error if their captions have changed."""
    videos = {
        video.id: video for video in datasets.read_tasks(task).tasks[0].videos if video.id in counts
    }
    for name, count in counts.items():
        if name not in videos:
            raise HowstepsError(f"{task}: video {name} is marked, but missing")
        words = len(words_of(videos[name].captions))
        if words != count:
            raise HowstepsError(
                f"{task}: video {name} has {words} words and its marks were made for {count}: "
                "the captions or the reader of captions have changed"
            )
    return videos


def main() -> None:
    """Score the marked narrations and print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captions", type=Path, help="folder with the task files that were marked")
    options.add_argument("--marks", choices=SETS, default=SETS[0], help="which marks to score")
    options.add_argument("--parser", help="another spaCy pipeline")
    options.add_argument("--mode", choices=("default", "paper"), default="default")
    options.add_argument(
        "--errors", type=int, default=0, help="number of errors of each kind to show"
    )
    chosen = options.parse_args()
    nlp = parser.load_parser(chosen.parser)
    total = Score()
    wrong: list[str] = []
    missed: list[str] = []
    for path in sorted((MARKS / chosen.marks).glob("*.json")):
        marked = json.loads(path.read_text(encoding="utf-8"))
        videos = marked_videos(chosen.captions / path.name, marked["words"])
        streams = [words_of(video.captions) for video in videos.values()]
        for video, words, passages in zip(
            videos.values(), streams, parser.parse_narrations(nlp, streams), strict=True
        ):
            marks = read_marks(marked["marks"][video.id], literal=chosen.mode == "paper")
            result = score(marks, list(find(video, passages, chosen.mode)))
            for name, tally in result.tallies.items():
                total.add(name, tally.right, tally.wrong, tally.missed)
                if name == "all":
                    total.add(path.stem, tally.right, tally.wrong, tally.missed)
            texts = [word.text for word in words]
            wrong += (_shown(video.id, pair, pair.noun, texts) for pair in result.wrong)
            missed += (_shown(video.id, mark, mark.nouns[0], texts) for mark in result.missed)
    _print_table(total)
    for title, errors in (("wrong", wrong), ("missed", missed)):
        sample = random.Random(0).sample(range(len(errors)), min(chosen.errors, len(errors)))  # noqa: S311
        if sample:
            print(
                f"\n{len(sample)} of {len(errors)} {title}",
                *(errors[i] for i in sorted(sample)),
                sep="\n",
            )


def _print_table(total: Score) -> None:
    details = ("negation", "particles", "pronoun nouns")
    tasks = sorted(set(total.tallies) - {"all", "near", *KINDS, *details})
    print(
        "| relations | right | wrong | missed | precision | recall | F |",
        "|---" * 7 + "|",
        sep="\n",
    )
    for name in ("all", "near", *tasks, *KINDS, *details):
        tally = total.tallies.get(name, Tally())
        shares = " | ".join(f"{100 * x:.1f}" for x in (tally.precision, tally.recall, tally.f))
        print(f"| {name} | {tally.right} | {tally.wrong} | {tally.missed} | {shares} |")


def _shown(video: str, pair: Found | Mark, noun: str, words: Sequence[str]) -> str:
    """Format an error in its context, with the verb and the object in brackets."""
    places = pair.verb_place, pair.object_place
    around = range(max(0, min(places) - 6), min(len(words), max(places) + 7))
    text = " ".join(f"[{words[i]}]" if i in places else words[i] for i in around)
    return f"{video}:{pair.verb_place} {pair.kind}: {pair.verb} {noun}: … {text} …"


if __name__ == "__main__":
    main()
