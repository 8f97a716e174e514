"""Compare our WordNet with NLTK's on random words; measure load time, size and speed.

Only this benchmark needs NLTK. It takes the database from which our tables were built::

    pip install nltk
    apt-get install wordnet-base
    python -m benchmarks.wordnet /usr/share/wordnet

NLTK parses the same files independently, so agreement shows that our tables are complete and in
order. All figures except times depend only on the seed.
"""

import argparse
import random
import shutil
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nltk
import numpy as np
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from howsteps.narration import wordnet as package
from howsteps.narration.wordnet import ENDINGS, PARTS_OF_SPEECH, PartOfSpeech, WordNet, match_matrix
from howsteps.task import Relation

LETTER: dict[PartOfSpeech, str] = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LEXICOGRAPHER_FILES = 45


@dataclass(frozen=True, slots=True)
class Reference:
    """NLTK's answers, with synsets numbered as in our tables."""

    reader: Any
    index_of: dict[Any, int]

    @classmethod
    def open(cls, database: Path, scratch: Path) -> "Reference":
        """Copy the database to a folder in the layout of NLTK's downloads, and open it."""
        corpus = scratch / "corpora" / "wordnet"
        corpus.mkdir(parents=True)
        for path in database.iterdir():
            if path.is_file():
                shutil.copy(path, corpus)
        # Not in Debian's package. NLTK opens these two files, but no query uses them.
        names = "".join(f"{n:02d}\tfile.{n}\t0\n" for n in range(LEXICOGRAPHER_FILES))
        (corpus / "lexnames").write_text(names, encoding="ascii")
        (corpus / "index.sense").touch()
        nltk.data.path.append(str(scratch))  # NLTK only opens corpora in its data folders
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing translations, which are not needed
            reader = WordNetCorpusReader(str(corpus), None)
        index_of: dict[Any, int] = {}
        for pos in PARTS_OF_SPEECH:
            in_file_order = sorted(reader.all_synsets(LETTER[pos]), key=lambda s: s.offset())
            index_of.update({s: len(index_of) + i for i, s in enumerate(in_file_order)})
        return cls(reader, index_of)

    def senses(self, lemma: str, pos: PartOfSpeech) -> list[Any]:
        """Return NLTK's lemma objects of one lemma in the order of its senses.

        NLTK returns a synset twice if it contains both a word and what looks like its singular.
        """
        found = self.reader.lemmas(lemma, LETTER[pos])
        return list({(sense.synset(), sense.name()): sense for sense in found}.values())

    def synset_ids(self, lemma: str, pos: PartOfSpeech) -> list[int]:
        """Return the synsets of a lemma."""
        return list(dict.fromkeys(self.index_of[s.synset()] for s in self.senses(lemma, pos)))

    def tag_counts(self, lemma: str, pos: PartOfSpeech) -> list[int]:
        """Return the tag counts of its senses."""
        counts: Counter[Any] = Counter()
        for sense in self.senses(lemma, pos):
            counts[sense.synset()] += sense.count()
        return list(counts.values())


def inflect(lemma: str, pos: PartOfSpeech, rng: random.Random) -> str:
    """Return a random form of a lemma, correct or not."""
    ending, replacement = rng.choice([("", ""), *ENDINGS[pos]])
    return lemma.removesuffix(replacement) + ending


def agreement(
    name: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    questions: Sequence[tuple[Any, ...]],
) -> None:
    """Print how often the answers to the same questions agree, and the first disagreements."""
    wrong = [(q, ours(*q), theirs(*q)) for q in questions if ours(*q) != theirs(*q)]
    print(f"{name:32} {len(questions) - len(wrong):6,} of {len(questions):6,} agree")
    for question, our_answer, their_answer in wrong[:5]:
        print(f"    {question}: ours {our_answer}, NLTK's {their_answer}")


def compare(ours: WordNet, theirs: Reference, questions: int, seed: int) -> None:
    """Compare every kind of query on random lemmas and forms."""
    rng = random.Random(seed)  # noqa: S311 - not a secret
    lemmas = [(lemma, pos) for pos in PARTS_OF_SPEECH for lemma in ours.words(pos)]
    some = rng.sample(lemmas, questions)
    single = {pos: [w for w in ours.words(pos) if "_" not in w] for pos in PARTS_OF_SPEECH}
    forms = [
        (inflect(rng.choice(single[pos]), pos, rng), pos)
        for pos in PARTS_OF_SPEECH
        for _ in range(questions // 4)
    ]
    irregular = [(form, pos) for pos in PARTS_OF_SPEECH for form in ours.exceptions[pos]]

    def morphy(word: str, pos: PartOfSpeech) -> list[str]:
        return list(theirs.reader._morphy(word, LETTER[pos]))

    def synset_ids(lemma: str, pos: PartOfSpeech) -> list[int]:
        return ours.synset_ids(lemma, pos).tolist()

    def tag_counts(lemma: str, pos: PartOfSpeech) -> list[int]:
        return ours.tag_counts(lemma, pos).tolist()

    def candidates(word: str, pos: PartOfSpeech) -> list[str]:
        return list(ours.lemmas(word, pos))

    agreement("synsets in order", synset_ids, theirs.synset_ids, some)
    agreement("tag counts", tag_counts, theirs.tag_counts, some)
    agreement("morphy, regular forms", candidates, morphy, forms)
    # If the list has a form twice, NLTK keeps only the last line and we keep both.
    agreement("morphy, irregular forms", candidates, morphy, irregular)


def seconds(
    action: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time
) -> float:
    """Return the median time of an action; by default CPU time."""
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return float(np.median(times))


def speed(wordnet: WordNet, seed: int) -> None:
    """Print size, load time and the time of the queries of the pipeline."""
    size = Path(package.__file__).with_name("wordnet.npz").stat().st_size
    cpu = seconds(WordNet.load, 20)
    wall = seconds(WordNet.load, 20, time.perf_counter)
    print(f"size {size / 1e6:.2f} MB")
    print(f"load: {cpu * 1e3:.0f} ms of one core, {wall * 1e3:.0f} ms on the clock")
    rng = random.Random(seed)  # noqa: S311 - not a secret
    common = {
        pos: [w for w in wordnet.words(pos) if wordnet.tag_counts(w, pos).sum() > 5]
        for pos in PARTS_OF_SPEECH
    }
    for count in (45, 300, 3000):
        relations = [
            Relation(rng.choice(common["verb"]), rng.choice(common["noun"])) for _ in range(count)
        ]
        duration = seconds(partial(match_matrix, relations, wordnet), 5)
        print(f"match matrix of {count:5,} relations: {duration * 1e3:.1f} ms")
    forms = [inflect(rng.choice(common["verb"]), "verb", rng) for _ in range(10_000)]
    duration = seconds(lambda: [wordnet.lemma(form, "verb") for form in forms], 3)
    print(f"lemma: {duration / len(forms) * 1e6:.1f} µs a word")


def main() -> None:
    """Compare, time and print."""
    parser = argparse.ArgumentParser(description="Compare our WordNet with NLTK's.")
    parser.add_argument("database", type=Path, help="folder with data.noun, index.noun, noun.exc …")
    parser.add_argument("--questions", type=int, default=4000, help="random questions of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wordnet = WordNet.load()
    speed(wordnet, options.seed)
    with tempfile.TemporaryDirectory() as scratch:
        reference = Reference.open(options.database, Path(scratch))
        compare(wordnet, reference, options.questions, options.seed)


if __name__ == "__main__":
    main()
