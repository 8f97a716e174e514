"""Teach the small encoder on a GPU, before spaCy teaches the parser on top of it.

``SmallEncoder`` is the twin in torch of spaCy's ``MultiHashEmbed`` and ``MaxoutWindowEncoder``:
same tables, same layers, same weights. Under the heads of a reader it sees the treebanks and the
silver captions dozens of times in minutes. Needs ``torch``.
"""

import argparse
from math import inf
from pathlib import Path

import numpy as np
import torch
from spacy.language import Language
from torch import Tensor, nn

from training.encoder import Features
from training.reader import Labels, Reader, fit, report
from training.train import blank_pipeline, training_draw
from training.treebanks import Token, read_documents, read_treebanks


class Maxout(nn.Module):
    """The largest of a few linear pieces, normalised."""

    def __init__(self, inputs: int, width: int, pieces: int, dropout: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width, pieces, inputs))
        self.bias = nn.Parameter(torch.zeros(width, pieces))
        nn.init.uniform_(
            self.weight, -((6 / (inputs + width)) ** 0.5), (6 / (inputs + width)) ** 0.5
        )
        self.normal = nn.LayerNorm(width, eps=1e-8)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return … × width."""
        pieces = torch.einsum("...i,wpi->...wp", x, self.weight) + self.bias
        return self.dropout(self.normal(pieces.amax(-1)))

    def weights(self) -> list[Tensor]:
        """In spaCy's order."""
        return [self.weight, self.bias, self.normal.weight, self.normal.bias]


class SmallEncoder(nn.Module):
    """Hash tables and word vectors, mixed, then ``depth`` residual convolutions."""

    def __init__(self, nlp: Language, dropout: float = 0.1) -> None:
        super().__init__()
        settings = nlp.config["components"]["tok2vec"]["model"]
        rows = settings["embed"]["rows"]
        encode = settings["encode"]
        width, depth, self.window = encode["width"], encode["depth"], encode["window_size"]
        self.width, self.reach = width, depth * self.window
        self.features = Features(nlp, rows)
        vectors = torch.from_numpy(np.array(nlp.vocab.vectors.data))
        self.register_buffer("vectors", nn.functional.pad(vectors, (0, 0, 1, 0)), persistent=False)
        self.tables = nn.ParameterList(torch.empty(n, width).uniform_(-0.1, 0.1) for n in rows)
        self.project = nn.Linear(vectors.shape[1], width, bias=False)
        self.mix = Maxout(width * (len(rows) + 1), width, 3, dropout)
        self.layers = nn.ModuleList(
            Maxout(width * (2 * self.window + 1), width, encode["maxout_pieces"], dropout)
            for _ in range(depth)
        )

    def prepare(self, passages: list[list[Token]]) -> dict[str, Tensor]:
        """Rows of the tables; -1 in the last place where there is no word."""
        longest = max(map(len, passages))
        rows = np.zeros((len(passages), longest, 4 * len(self.tables) + 1), dtype=np.int32)
        rows[..., -1] = -1
        for line, passage in zip(rows, passages, strict=True):
            line[: len(passage)] = self.features(passage)
        return {"rows": torch.from_numpy(rows)}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return passages × longest × width."""
        rows = inputs["rows"].long()
        found = [
            table[rows[..., 4 * index : 4 * index + 4]].sum(-2)
            for index, table in enumerate(self.tables)
        ]
        found.append(self.project(self.vectors[rows[..., -1].clamp(min=0)]))
        there = (rows[..., -1:] >= 0).float()
        x = self.mix(torch.cat(found, dim=-1)) * there
        # spaCy puts zeros between documents, as far as the convolutions reach, and lets the layers
        # run over them.
        x = nn.functional.pad(x, (0, 0, self.reach, self.reach))
        span = 2 * self.window + 1
        for layer in self.layers:
            wide = nn.functional.pad(x, (0, 0, self.window, self.window))
            x = x + layer(torch.cat([wide[:, i : i + x.shape[1]] for i in range(span)], dim=-1))
        return x[:, self.reach : x.shape[1] - self.reach]

    def weights(self) -> list[Tensor]:
        """In spaCy's order."""
        layers = [self.mix, *self.layers]
        return [
            *self.tables,
            self.project.weight,
            *(w for layer in layers for w in layer.weights()),
        ]

    def save(self, path: Path) -> None:
        """Write the weights for ``training.encoder.load_encoder``."""
        arrays = {
            f"{i:03d}": w.detach().float().cpu().numpy() for i, w in enumerate(self.weights())
        }
        np.savez(path, **arrays)


def main() -> None:
    """Read the options and pretrain."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "treebanks", type=Path, help="folder of {ewt,gum}_{train,dev,test}.conllu.xz"
    )
    parser.add_argument("output", type=Path, help="the encoder's weights, npz")
    parser.add_argument(
        "--vectors", type=Path, required=True, help="table made by training.vectors"
    )
    parser.add_argument("--silver", type=Path, required=True, help="trees that the teacher made")
    parser.add_argument("--silver-share", type=float, default=0.5)
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--minutes", type=float, default=inf, help="stop sooner")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--batch", type=int, default=48, help="passages at once")
    parser.add_argument("--workers", type=int, default=12, help="processes that prepare batches")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--set", nargs="*", default=[], help="section.key=value of the config")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    nlp = blank_pipeline(options.set, options.vectors)
    banks = read_treebanks(options.treebanks)
    silver = list(read_documents(options.silver))
    labels = Labels.of(tree for document in [*banks.train, *silver] for tree in document.trees)
    reader = Reader(SmallEncoder(nlp, options.dropout), labels, options.dropout).to(options.device)
    fit(
        reader,
        lambda random: training_draw(banks.train, silver, options.silver_share, random),
        steps=options.steps,
        minutes=options.minutes,
        rates=(options.rate, options.rate),
        size=options.batch,
        seed=options.seed,
        workers=options.workers,
    )
    reader.encoder.save(options.output)
    print(report([reader], banks.dev), flush=True)


if __name__ == "__main__":
    main()
