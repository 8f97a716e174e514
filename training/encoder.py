"""The small encoder of the shipped pipeline as arrays: what it looks up, and its weights."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from spacy.language import Language
from thinc.api import Model, NumpyOps

from training.corpus import norms
from training.treebanks import Token

FIRST_SEED = 8  # of the hash tables in spaCy's MultiHashEmbed


class Features:
    """Where a word's vectors lie: four rows in each hash table, then its row of word vectors."""

    def __init__(self, nlp: Language, rows: list[int]) -> None:
        self.nlp, self.rows = nlp, rows
        self.known: dict[tuple[str, str], NDArray[np.int32]] = {}

    def __call__(self, tokens: list[Token]) -> NDArray[np.int32]:
        """Return one line of rows per word; row 0 of the word vectors stands for none."""
        words = [token.form for token in tokens]
        keys = list(
            zip(words, norms(self.nlp, words, [token.space for token in tokens]), strict=True)
        )
        for key in keys:
            if key not in self.known:
                self.known[key] = self.look_up(*key)
        return np.stack([self.known[key] for key in keys])

    def look_up(self, word: str, norm: str) -> NDArray[np.int32]:
        """Hash one word and its norm, as spaCy does."""
        lexeme = self.nlp.vocab[word]
        normal = self.nlp.vocab.strings.add(norm)
        hashes = (normal, lexeme.prefix, lexeme.suffix, lexeme.shape)
        places = [
            NumpyOps().hash(np.array([value], dtype=np.uint64), FIRST_SEED + index)[0] % size
            for index, (value, size) in enumerate(zip(hashes, self.rows, strict=True))
        ]
        vector = self.nlp.vocab.vectors.find(key=normal) + 1
        return np.concatenate([*places, [vector]]).astype(np.int32)


def weights_of(encoder: Model) -> list[tuple[Model, str]]:
    """Every (layer, name) with weights, in the order in which words pass them."""
    return [
        (layer, name)
        for layer in encoder.walk(order="dfs_pre")
        for name in ("E", "W", "G", "b")
        if layer.has_param(name)
    ]


def load_encoder(nlp: Language, path: Path) -> None:
    """Give a pipeline the encoder that ``training.pretrain`` made."""
    with np.load(path) as arrays:
        places = weights_of(nlp.get_pipe("tok2vec").model)
        for (layer, name), key in zip(places, arrays.files, strict=True):
            if layer.get_param(name).shape != arrays[key].shape:
                raise ValueError(f"{path} was made for another encoder: see {name} of {layer.name}")
            layer.set_param(name, layer.ops.asarray(arrays[key].astype(np.float32)))
