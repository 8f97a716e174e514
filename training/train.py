"""From treebanks to the parser that howsteps ships: ``python -m training.train``.

Every pass over the treebanks cuts and alters them anew, so the parser never sees the same passage
twice. The best pipeline by the speech-like development documents is kept.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed, load_config, load_model_from_config
from thinc.api import Adam

from training.corpus import clean_stream, spoken_stream, to_doc, training_docs, untagged
from training.score import score
from training.treebanks import Document, read_documents, read_treebanks
from training.vectors import set_vectors

CONFIG = Path(__file__).with_name("config.cfg")


def blank_pipeline(overrides: dict[str, object], vectors: Path) -> Language:
    """Build the untrained pipeline with its word vectors."""
    nlp = load_model_from_config(load_config(CONFIG, overrides), auto_fill=True)
    with np.load(vectors) as table:
        set_vectors(nlp, table["words"].tolist(), table["rows"])
    return nlp


def batches(
    nlp: Language,
    gold: list[Document],
    silver: list[Document],
    silver_share: float,
    words: int,
    random: Random,
) -> Iterator[list[Example]]:
    """Endless batches of about ``words`` words, each pass with a fresh draw of the silver."""
    while True:
        draw = random.sample(silver, int(silver_share * len(silver)))
        batch: list[Example] = []
        size = 0
        for doc in training_docs(nlp, [*gold, *draw], random):
            batch.append(Example(untagged(doc), doc))
            size += len(doc)
            if size >= words:
                yield batch
                batch, size = [], 0


def judge(nlp: Language, dev: list[Document]) -> tuple[float, str]:
    """One figure to stop by (mostly pairs in speech), and the figures it comes from."""
    speech, written = (score(nlp, dev, stream) for stream in (spoken_stream, clean_stream))
    mark = 0.5 * speech.pair_f + 0.25 * written.pair_f + 0.25 * speech.sentence_f
    return mark, (
        f"speech {speech.pair_f:5.1f} written {written.pair_f:5.1f} "
        f"ends {speech.sentence_f:5.1f} LAS {speech.labelled:5.1f}"
    )


def train(options: argparse.Namespace) -> None:
    """Train until the steps or the minutes run out, and keep the best pipeline."""
    fix_random_seed(options.seed)
    random = Random(options.seed)
    overrides = dict(pair.split("=", 1) for pair in options.set)
    nlp = blank_pipeline({key: int(value) for key, value in overrides.items()}, options.vectors)
    treebanks = read_treebanks(options.treebanks)
    gold, dev = list(treebanks.train), list(treebanks.dev)
    silver = list(read_documents(options.silver)) if options.silver else []
    spoken_genres = [document for document in gold if document.genre in options.stress]
    gold += spoken_genres * (options.stress_times - 1)

    sample = [to_doc(nlp, document.trees) for document in gold]
    optimizer = Adam(options.rate, L2=0.01, grad_clip=1.0, use_averages=True)
    nlp.initialize(lambda: [Example(untagged(doc), doc) for doc in sample], sgd=optimizer)
    best, started = 0.0, time.monotonic()
    stream = batches(nlp, gold, silver, options.silver_share, options.words, random)
    for step, batch in enumerate(stream, 1):
        progress = max(step / options.steps, (time.monotonic() - started) / options.minutes / 60)
        optimizer.learn_rate = options.rate * min(1.0, step / 200, max(1.15 - progress, 0.05) * 2)
        nlp.update(batch, sgd=optimizer, drop=options.dropout)
        last = progress >= 1
        if step % options.every == 0 or last:
            with nlp.use_params(optimizer.averages):
                mark, figures = judge(nlp, dev)
                minutes = (time.monotonic() - started) / 60
                print(f"{step:6d} {minutes:6.1f} min  {mark:5.2f}  {figures}", flush=True)
                if mark > best:
                    best = mark
                    nlp.to_disk(options.output)
        if last:
            break


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path, help="folder of {ewt,gum}_{train,dev,test}.conllu.xz")
    parser.add_argument("output", type=Path, help="folder of the pipeline")
    parser.add_argument("--vectors", type=Path, required=True, help="table made by training.vectors")
    parser.add_argument("--silver", type=Path, help="trees that the teacher made, as CoNLL-U")
    parser.add_argument("--silver-share", type=float, default=0.5)
    parser.add_argument("--stress", nargs="*", default=["vlog"], help="genres to see more often")
    parser.add_argument("--stress-times", type=int, default=2)
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--every", type=int, default=400)
    parser.add_argument("--words", type=int, default=1500, help="words in a batch")
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", nargs="*", default=[], help="section.key=number of the config")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
