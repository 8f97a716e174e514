"""From treebanks to the parser that howsteps ships: ``python -m training.train``.

Every pass over the treebanks augments them again at random, so the parser never sees the same
passage twice. The best pipeline by the speech-like development documents is kept, and its bias
towards sentence ends is tuned on them.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed, load_config, load_model_from_config
from thinc.api import Adam

from training.corpus import parse, to_doc, untagged
from training.encoder import load_encoder
from training.ends import tune
from training.imperatives import instructions
from training.passages import one_pass
from training.score import judge, summary
from training.treebanks import Document, read_documents, read_treebanks
from training.vectors import set_vectors

INSTRUCTIONS = 600  # made up for every pass
CONFIG = Path(__file__).with_name("config.cfg")


def blank_pipeline(settings: list[str], vectors: Path) -> Language:
    """Build the untrained pipeline with its word vectors; ``settings`` are "section.key=value"."""
    pairs = (setting.split("=", 1) for setting in settings)
    overrides = {key: json.loads(value) for key, value in pairs}
    nlp = load_model_from_config(load_config(CONFIG, overrides), auto_fill=True)
    with np.load(vectors) as table:
        set_vectors(nlp, table["words"].tolist(), table["rows"])
    return nlp


def training_draw(
    gold: Iterable[Document], silver: list[Document], share: float, random: Random
) -> list[Document]:
    """The documents of one pass: gold, the vlogs twice, part of the silver, and instructions."""
    gold = list(gold)
    vlogs = [document for document in gold if document.genre == "vlog"]
    part = random.sample(silver, int(share * len(silver)))
    return [*gold, *vlogs, *part, instructions(INSTRUCTIONS, random)]


def batches(
    nlp: Language, draw: Callable[[], list[Document]], words: int, random: Random
) -> Iterator[list[Example]]:
    """Endless batches of about ``words`` words; ``draw`` gives the documents of each pass."""
    while True:
        batch: list[Example] = []
        size = 0
        for trees in one_pass(draw(), random):
            doc = to_doc(nlp, trees)
            batch.append(Example(untagged(doc), doc))
            size += len(doc)
            if size >= words:
                yield batch
                batch, size = [], 0


def train(options: argparse.Namespace) -> None:
    """Train until nothing gets better or the time runs out, and keep the best pipeline."""
    if options.gpu:
        spacy.require_gpu()
    fix_random_seed(options.seed)
    random = Random(options.seed)
    nlp = blank_pipeline(options.set, options.vectors)
    banks = read_treebanks(options.treebanks)
    silver = list(read_documents(options.silver)) if options.silver else []

    sample = [to_doc(nlp, document.trees) for document in banks.train]
    optimizer = Adam(options.rate, L2=0.01, grad_clip=1.0, use_averages=True)
    nlp.initialize(lambda: [Example(untagged(doc), doc) for doc in sample], sgd=optimizer)
    if options.encoder:
        load_encoder(nlp, options.encoder)
    best, worse, started = 0.0, 0, time.monotonic()  # worse: scores since the best
    stream = batches(
        nlp,
        lambda: training_draw(banks.train, silver, options.silver_share, random),
        options.words,
        random,
    )
    for step, batch in enumerate(stream, 1):
        progress = max(step / options.steps, (time.monotonic() - started) / options.minutes / 60)
        optimizer.learn_rate = options.rate * min(1.0, step / 200, max(1.15 - progress, 0.05) * 2)
        # A pretrained encoder is frozen until the heads have settled.
        resting = ["tok2vec"] if options.encoder and step <= options.rest else []
        nlp.update(batch, sgd=optimizer, drop=options.dropout, exclude=resting, annotates=resting)
        last = progress >= 1
        if step % options.every == 0 or last:
            with nlp.use_params(optimizer.averages):
                mark, figures = summary(*judge(banks.dev, partial(parse, nlp)))
                minutes = (time.monotonic() - started) / 60
                print(f"{step:6d} {minutes:6.1f} min  {figures}", flush=True)
                worse += 1
                if mark > best:
                    best, worse = mark, 0
                    nlp.to_disk(options.output)
        if last or worse >= options.patience:
            break
    nlp = spacy.load(options.output)
    readiness = tune(nlp, lambda nlp: summary(*judge(banks.dev, partial(parse, nlp)))[0])
    nlp.to_disk(options.output)
    figures = summary(*judge(banks.dev, partial(parse, nlp)))[1]
    print(f"ends made readier by {readiness}  {figures}", flush=True)


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "treebanks", type=Path, help="folder of {ewt,gum}_{train,dev,test}.conllu.xz"
    )
    parser.add_argument("output", type=Path, help="folder of the pipeline")
    parser.add_argument(
        "--vectors", type=Path, required=True, help="table made by training.vectors"
    )
    parser.add_argument("--silver", type=Path, help="trees that the teacher made, as CoNLL-U")
    parser.add_argument("--silver-share", type=float, default=0.75)
    parser.add_argument("--encoder", type=Path, help="weights made by training.pretrain")
    parser.add_argument("--rest", type=int, default=300, help="steps before such an encoder moves")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--minutes", type=float, default=inf, help="stop sooner")
    parser.add_argument("--every", type=int, default=500, help="steps between scores")
    parser.add_argument(
        "--patience", type=int, default=4, help="stop after so many scores without a better one"
    )
    parser.add_argument("--words", type=int, default=1500, help="words in a batch")
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--gpu", action="store_true", help="needs cupy; larger batches pay there")
    parser.add_argument("--set", nargs="*", default=[], help="section.key=value of the config")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
