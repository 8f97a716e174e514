"""A larger parser that labels spoken text for the small one to learn from.

A reader on a pretrained encoder (MiniLM), trained on the same trees as the small parser, on a GPU
in minutes, and never shipped: an ensemble of them labels captions and manuals once,
and the labelled text becomes training text ("silver"). Needs ``torch`` and ``transformers``.
"""

import argparse
import json
from math import inf
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from training.reader import Labels, Reader, fit, read, report
from training.treebanks import Document, Token, genre_of, read_treebanks, write_documents


class PretrainedEncoder(nn.Module):
    """A Hugging Face encoder; a word's vector is the mean of its pieces'."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.encoder = AutoModel.from_pretrained(folder).float()
        self.width = self.encoder.config.hidden_size

    def prepare(self, passages: list[list[Token]]) -> dict[str, Tensor]:
        """Cut words into pieces; ``place`` says which word a piece is of, counted from 1."""
        pieces = self.tokenizer(
            [[token.form for token in passage] for passage in passages],
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=512,
            return_tensors="pt",
        )
        place = [
            [0 if i is None else i + 1 for i in pieces.word_ids(row)]
            for row in range(len(passages))
        ]
        return {
            "pieces": pieces["input_ids"],
            "attention": pieces["attention_mask"],
            "place": torch.tensor(place),
        }

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return passages × longest × width."""
        hidden = self.encoder(
            input_ids=inputs["pieces"], attention_mask=inputs["attention"]
        ).last_hidden_state.float()
        place = inputs["place"]
        size = (len(place), int(inputs["lengths"].max()) + 1, self.width)
        total = torch.zeros(size, device=place.device)
        total.scatter_add_(1, place.unsqueeze(-1).expand_as(hidden), hidden)
        count = torch.zeros(size[:2], device=place.device)
        count.scatter_add_(1, place, torch.ones_like(place, dtype=count.dtype))
        return (total / count.clamp(min=1).unsqueeze(-1))[:, 1:]


def train(options: argparse.Namespace) -> None:
    """Train one teacher and save it."""
    torch.manual_seed(options.seed)
    banks = read_treebanks(options.treebanks)
    labels = Labels.of(tree for document in banks.train for tree in document.trees)
    teacher = Reader(PretrainedEncoder(options.encoder), labels).to(options.device)
    fit(
        teacher,
        lambda _: list(banks.train),
        steps=options.steps,
        minutes=options.minutes,
        rates=(options.rate, options.head_rate),
        size=options.batch,
        seed=options.seed,
        workers=options.workers,
    )
    print(f"teacher {options.seed}  dev: {report([teacher], banks.dev)}", flush=True)
    torch.save(teacher.state_dict(), options.output)


def label(options: argparse.Namespace) -> None:
    """Load teachers, print their figures together, and label word streams."""
    banks = read_treebanks(options.treebanks)
    labels = Labels.of(tree for document in banks.train for tree in document.trees)
    teachers = []
    for path in options.teachers:
        teacher = Reader(PretrainedEncoder(options.encoder), labels).to(options.device)
        teacher.load_state_dict(torch.load(path, map_location=options.device, weights_only=True))
        teachers.append(teacher)
    for name, documents in (("dev", banks.dev), ("scoring", banks.scoring)):
        print(f"teachers {len(teachers)}  {name}: {report(teachers, documents)}", flush=True)
    streams = json.loads(options.streams.read_text("utf-8"))
    texts = [
        [Token(word, "_", "_", "_", 0, "_", bool(space)) for word, space in stream]
        for parts in streams.values()
        for stream in parts
    ]
    found = iter(read(teachers, texts))
    write_documents(
        options.output,
        (
            Document(name, genre_of(name), tuple(tree for _ in parts for tree in next(found)))
            for name, parts in streams.items()
        ),
    )


def main() -> None:
    """``train`` makes one teacher; ``label`` has some of them label texts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("encoder", type=Path, help="folder of the pretrained encoder")
    parser.add_argument("--device", default="cuda")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("train")
    one.add_argument("output", type=Path, help="the trained teacher")
    one.add_argument("--steps", type=int, default=3200)
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--minutes", type=float, default=inf, help="stop sooner")
    one.add_argument("--rate", type=float, default=2e-4, help="of the encoder")
    one.add_argument("--head-rate", type=float, default=1.5e-3)
    one.add_argument("--workers", type=int, default=2, help="processes that prepare batches")
    one.add_argument("--batch", type=int, default=16, help="passages at once")
    one.set_defaults(run=train)
    two = commands.add_parser("label")
    two.add_argument("streams", type=Path, help="JSON that training.streams wrote")
    two.add_argument("output", type=Path, help="silver trees, CoNLL-U xz")
    two.add_argument("teachers", type=Path, nargs="+")
    two.set_defaults(run=label)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
