"""A graph-based reader of spoken text on top of any encoder, for training on a GPU.

Five heads share the encoder: fine tags, coarse tags, sentence starts, arcs and their labels (the
last two biaffine, over a passage of several sentences). The teacher is such a reader on a large
pretrained encoder; the small encoder that is shipped learns under one too. Needs ``torch``.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from training.arborescence import best_tree
from training.passages import Passage, one_pass
from training.score import flat, judge, summary
from training.treebanks import Document, Token, Tree

WINDOW = 180  # words read at once
BATCH = 96  # windows read at once


@dataclass(frozen=True)
class Labels:
    """The label sets, read off the training trees."""

    xpos: tuple[str, ...]
    upos: tuple[str, ...]
    deprel: tuple[str, ...]

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> "Labels":
        """Collect every label that occurs."""
        tokens = [token for tree in trees for token in tree]
        return cls(
            tuple(sorted({token.xpos for token in tokens})),
            tuple(sorted({token.upos for token in tokens})),
            tuple(sorted({token.deprel for token in tokens})),
        )


class Encoder(Protocol):
    """Turns passages into one vector per word, in two stages."""

    width: int

    def prepare(self, passages: list[list[Token]]) -> dict[str, Tensor]:
        """Look everything up that takes no arithmetic, on the CPU."""

    def __call__(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return passages × longest × width."""


class Biaffine(nn.Module):
    """Score every (dependent, head) pair: xᵀWy with a bias on both sides."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(outputs, width + 1, width + 1))

    def forward(self, dependent: Tensor, head: Tensor) -> Tensor:
        """Return batch × outputs × dependents × heads."""
        dependent = nn.functional.pad(dependent, (0, 1), value=1.0)
        head = nn.functional.pad(head, (0, 1), value=1.0)
        return torch.einsum("bix,oxy,bjy->boij", dependent, self.weight, head)


def view(inputs: int, outputs: int) -> nn.Sequential:
    """One hidden view of the words for one purpose."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Dropout(0.3))


class Reader(nn.Module):
    """Encoder with heads for tags, sentence starts, arcs and labels."""

    def __init__(self, encoder: nn.Module, labels: Labels, dropout: float = 0.2) -> None:
        super().__init__()
        self.labels = labels
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        width = encoder.width
        self.root = nn.Parameter(torch.zeros(width))
        self.xpos = nn.Linear(width, len(labels.xpos))
        self.upos = nn.Linear(width, len(labels.upos))
        self.starts = nn.Linear(width, 1)
        self.arc_dependent, self.arc_head = view(width, 300), view(width, 300)
        self.label_dependent, self.label_head = view(width, 128), view(width, 128)
        self.arcs = Biaffine(300, 1)
        self.relations = Biaffine(128, len(labels.deprel))

    def prepare(self, passages: list[list[Token]]) -> dict[str, Tensor]:
        """What ``forward`` takes."""
        lengths = torch.tensor([len(passage) for passage in passages])
        return {**self.encoder.prepare(passages), "lengths": lengths}

    def forward(self, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
        """Scores of everything; places count from 1, place 0 is the root."""
        words = self.dropout(self.encoder(inputs))
        words = torch.cat([self.root.expand(len(words), 1, -1), words], dim=1)
        lengths = inputs["lengths"]
        places = torch.arange(words.shape[1], device=words.device)
        heads_allowed = places[None] <= lengths[:, None]
        arcs = self.arcs(self.arc_dependent(words), self.arc_head(words)).squeeze(1)
        return {
            "mask": heads_allowed & (places[None] > 0),
            "xpos": self.xpos(words),
            "upos": self.upos(words),
            "starts": self.starts(words).squeeze(-1),
            "arcs": arcs.masked_fill(~heads_allowed.unsqueeze(1), -1e9),
            "relations": self.relations(self.label_dependent(words), self.label_head(words)),
        }


def targets(labels: Labels, passages: list[Passage]) -> dict[str, Tensor]:
    """What the heads should say; -100 where there is no word."""
    index = {
        key: {value: i for i, value in enumerate(getattr(labels, key))}
        for key in ("xpos", "upos", "deprel")
    }
    longest = max(sum(map(len, trees)) for trees in passages)
    goal = {
        key: np.full((len(passages), longest + 1), -100)
        for key in ("xpos", "upos", "deprel", "heads", "starts")
    }
    for row, trees in enumerate(passages):
        offset = 1
        for tree in trees:
            end = offset + len(tree)
            for key in ("xpos", "upos", "deprel"):
                goal[key][row, offset:end] = [index[key][getattr(t, key)] for t in tree]
            goal["heads"][row, offset:end] = [
                0 if token.head == i else offset + token.head for i, token in enumerate(tree)
            ]
            goal["starts"][row, offset:end] = [i == 0 for i in range(len(tree))]
            offset = end
    return {key: torch.from_numpy(value) for key, value in goal.items()}


def loss(out: dict[str, Tensor], goal: dict[str, Tensor]) -> Tensor:
    """Sum of the cross entropies of all heads."""
    entropy = nn.functional.cross_entropy
    heads = goal["heads"].clamp(min=0)
    at_gold = out["relations"].gather(
        3, heads[:, None, :, None].expand(-1, out["relations"].shape[1], -1, 1)
    )
    mask = out["mask"]
    return (
        entropy(out["xpos"].transpose(1, 2), goal["xpos"])
        + entropy(out["upos"].transpose(1, 2), goal["upos"])
        + entropy(out["arcs"].transpose(1, 2), goal["heads"])
        + entropy(at_gold.squeeze(-1), goal["deprel"])
        + nn.functional.binary_cross_entropy_with_logits(
            out["starts"][mask], goal["starts"][mask].float()
        )
    )


class Lessons(IterableDataset):
    """Endless batches of fresh passes over documents; every worker alters them differently."""

    def __init__(
        self, reader: Reader, draw: Callable[[Random], list[Document]], seed: int, size: int
    ) -> None:
        self.prepare, self.labels = reader.prepare, reader.labels
        self.draw, self.seed, self.size = draw, seed, size

    def __iter__(self) -> Iterator[tuple[dict[str, Tensor], dict[str, Tensor]]]:
        """Yield inputs and targets; passages of like length go together."""
        worker = get_worker_info()
        random = Random(f"{self.seed} {worker.id if worker else 0}")
        while True:
            items = one_pass(self.draw(random), random)
            items.sort(key=lambda trees: sum(map(len, trees)))
            groups = [items[i : i + self.size] for i in range(0, len(items), self.size)]
            random.shuffle(groups)
            for group in groups:
                yield self.prepare([flat(trees) for trees in group]), targets(self.labels, group)


def fit(
    reader: Reader,
    draw: Callable[[Random], list[Document]],
    *,
    steps: int,
    minutes: float,
    rates: tuple[float, float],
    size: int,
    seed: int,
    workers: int = 0,
) -> None:
    """Train until the steps or the minutes run out, under one cosine.

    ``rates`` are the encoder's and the heads'.
    """
    encoder = list(reader.encoder.parameters())
    known = {id(parameter) for parameter in encoder}
    heads = [parameter for parameter in reader.parameters() if id(parameter) not in known]
    optimizer = torch.optim.AdamW([{"params": encoder}, {"params": heads}], weight_decay=0.01)
    device = reader.root.device
    lessons = DataLoader(Lessons(reader, draw, seed, size), batch_size=None, num_workers=workers)
    started, total = time.monotonic(), torch.zeros((), device=device)
    reader.train()
    for step, lesson in enumerate(lessons, 1):
        spent = (time.monotonic() - started) / 60
        done = min(1.0, max(step / steps, spent / minutes))
        scale = min(1.0, done / 0.05) * 0.5 * (1 + np.cos(np.pi * done))
        for part, rate in zip(optimizer.param_groups, rates, strict=True):
            part["lr"] = rate * scale
        inputs, goal = (
            {key: value.to(device, non_blocking=True) for key, value in half.items()}
            for half in lesson
        )
        with torch.autocast(device.type, dtype=torch.bfloat16):
            value = loss(reader(inputs), goal)
        optimizer.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        total += value.detach()
        if step % 200 == 0:
            print(f"{step:6d} {spent:6.1f} min  loss {total.item() / 200:.3f}", flush=True)
            total.zero_()
        if done == 1.0:
            return


@torch.no_grad()
def read(readers: list[Reader], texts: list[list[Token]]) -> list[list[Tree]]:
    """Parse word streams: the readers' log-probabilities are summed, then one tree a sentence."""
    places = [0] * len(texts)
    trees: list[list[Tree]] = [[] for _ in texts]
    open_texts = [i for i, text in enumerate(texts) if text]
    while open_texts:
        batch = open_texts[:BATCH]
        windows = [texts[i][places[i] : places[i] + WINDOW] for i in batch]
        for i, window, found in zip(batch, windows, label(readers, windows), strict=True):
            # The last sentence of a window may be cut short: leave it to the next window.
            whole = places[i] + len(window) == len(texts[i])
            kept = found if whole or len(found) == 1 else found[:-1]
            trees[i] += kept
            places[i] += sum(map(len, kept))
        open_texts = [i for i in open_texts if places[i] < len(texts[i])]
    return trees


def label(readers: list[Reader], windows: list[list[Token]]) -> list[list[Tree]]:
    """Trees of each window."""
    sums: dict[str, Tensor] = {}
    for reader in readers:
        reader.eval()
        device = reader.root.device
        inputs = {key: value.to(device) for key, value in reader.prepare(windows).items()}
        with torch.autocast(device.type, dtype=torch.bfloat16):
            out = reader(inputs)
        for key, axis in (("xpos", -1), ("upos", -1), ("arcs", -1), ("relations", 1)):
            sums[key] = sums.get(key, 0) + out[key].float().log_softmax(axis)
        sums["starts"] = sums.get("starts", 0) + out["starts"].float()
    labels = readers[0].labels
    xpos, upos = (sums[key].argmax(-1).cpu().numpy() for key in ("xpos", "upos"))
    arcs = sums["arcs"].double().cpu().numpy()
    starts = (sums["starts"] > 0).cpu().numpy()
    relations = sums["relations"].argmax(1).cpu().numpy()
    results = []
    for row, window in enumerate(windows):
        begins = [1, *(i for i in range(2, len(window) + 1) if starts[row, i])]
        trees = []
        for begin, end in zip(begins, [*begins[1:], len(window) + 1], strict=True):
            places = [0, *range(begin, end)]
            heads = best_tree(arcs[row][np.ix_(places, places)])
            tree = []
            for i, place in enumerate(places[1:]):
                head = places[heads[i + 1]]
                token = replace(
                    window[place - 1],
                    xpos=labels.xpos[xpos[row, place]],
                    upos=labels.upos[upos[row, place]],
                    head=i if head == 0 else head - begin,
                    deprel="root" if head == 0 else labels.deprel[relations[row, place, head]],
                )
                tree.append(token)
            trees.append(tuple(tree))
        results.append(trees)
    return results


def report(readers: list[Reader], documents: Iterable[Document]) -> str:
    """The readers' figures on documents, speech-like and as written."""
    return summary(*judge(documents, lambda texts: read(readers, [flat(t) for t in texts])))[1]
