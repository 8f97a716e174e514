"""A larger parser that labels spoken text for the small one to learn from.

A pretrained encoder (MiniLM) with four heads on top: tags, sentence starts, arcs and labels
(biaffine, over a passage of several sentences). It is trained on the same trees as the small
parser, on a GPU in minutes, and never shipped: it reads unlabelled captions once, and what it
reads becomes training text ("silver"). Needs ``torch`` and ``transformers``.
"""

import argparse
import json
import lzma
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer

from training.arborescence import best_tree
from training.spoken import lower, spoken, unpunctuate
from training.treebanks import Document, Token, Tree, read_treebanks

WINDOW = 180  # words the teacher reads at once when labelling
LONGEST = 12  # sentences in a training passage


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


def mlp(inputs: int, outputs: int) -> nn.Sequential:
    """One hidden view of the words for one purpose."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Dropout(0.3))


class Teacher(nn.Module):
    """Encoder with heads for tags, sentence starts, arcs and labels."""

    def __init__(self, encoder: Path, labels: Labels) -> None:
        super().__init__()
        self.labels = labels
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.encoder = AutoModel.from_pretrained(encoder).float()
        width = self.encoder.config.hidden_size
        self.root = nn.Parameter(torch.zeros(width))
        self.xpos = nn.Linear(width, len(labels.xpos))
        self.upos = nn.Linear(width, len(labels.upos))
        self.starts = nn.Sequential(mlp(width, 128), nn.Linear(128, 1))
        self.arc_dependent, self.arc_head = mlp(width, 300), mlp(width, 300)
        self.label_dependent, self.label_head = mlp(width, 128), mlp(width, 128)
        self.arcs = Biaffine(300, 1)
        self.relations = Biaffine(128, len(labels.deprel))

    def words(self, passages: list[list[str]]) -> tuple[Tensor, Tensor]:
        """Mean of the pieces of every word (place 0: the root), and which places are words."""
        pieces = self.tokenizer(
            passages,
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=512,
            return_tensors="pt",
        )
        longest = max(map(len, passages))
        device = self.root.device
        place = torch.zeros(pieces["input_ids"].shape, dtype=torch.long)
        for row in range(len(passages)):
            ids = pieces.word_ids(row)
            place[row] = torch.tensor([0 if i is None else i + 1 for i in ids])
        place = place.to(device)
        hidden = self.encoder(
            input_ids=pieces["input_ids"].to(device),
            attention_mask=pieces["attention_mask"].to(device),
        ).last_hidden_state.float()
        size = (len(passages), longest + 1, hidden.shape[-1])
        total = torch.zeros(size, device=device)
        total.scatter_add_(1, place.unsqueeze(-1).expand_as(hidden), hidden)
        count = torch.zeros(size[:2], device=device)
        count.scatter_add_(1, place, torch.ones_like(place, dtype=count.dtype))
        mean = total / count.clamp(min=1).unsqueeze(-1)
        mean = torch.cat([self.root.expand(len(passages), 1, -1), mean[:, 1:]], dim=1)
        mask = torch.zeros(size[:2], dtype=torch.bool, device=device)
        for row, passage in enumerate(passages):
            mask[row, 1 : len(passage) + 1] = True
        return nn.functional.dropout(mean, 0.2, self.training), mask

    def forward(self, passages: list[list[str]]) -> dict[str, Tensor]:
        """Scores of everything; places count from 1, place 0 is the root."""
        words, mask = self.words(passages)
        heads_allowed = mask.clone()
        heads_allowed[:, 0] = True
        arcs = self.arcs(self.arc_dependent(words), self.arc_head(words)).squeeze(1)
        return {
            "mask": mask,
            "xpos": self.xpos(words),
            "upos": self.upos(words),
            "starts": self.starts(words).squeeze(-1),
            "arcs": arcs.masked_fill(~heads_allowed.unsqueeze(1), -1e9),
            "relations": self.relations(self.label_dependent(words), self.label_head(words)),
        }


def loss(teacher: Teacher, passages: list[list[Tree]]) -> Tensor:
    """Sum of the cross entropies of all heads over a batch of passages."""
    labels = teacher.labels
    out = teacher([[t.form for tree in trees for t in tree] for trees in passages])
    size = out["mask"].shape
    target = {key: torch.full(size, -100) for key in ("xpos", "upos", "heads", "deprel")}
    starts = torch.zeros(size)
    index = {key: {v: i for i, v in enumerate(getattr(labels, key))} for key in
             ("xpos", "upos", "deprel")}
    for row, trees in enumerate(passages):
        offset = 1
        for tree in trees:
            if tree:
                starts[row, offset] = 1.0
            for i, token in enumerate(tree):
                target["xpos"][row, offset + i] = index["xpos"][token.xpos]
                target["upos"][row, offset + i] = index["upos"][token.upos]
                target["heads"][row, offset + i] = 0 if token.head == i else offset + token.head
                target["deprel"][row, offset + i] = index["deprel"][token.deprel]
            offset += len(tree)
    device = out["mask"].device
    goal = {key: value.to(device) for key, value in target.items()}
    mask = out["mask"]
    entropy = nn.functional.cross_entropy
    gold_heads = goal["heads"].clamp(min=0)
    at_gold = out["relations"].gather(
        3, gold_heads[:, None, :, None].expand(-1, out["relations"].shape[1], -1, 1)
    ).squeeze(-1)
    return (
        entropy(out["xpos"].transpose(1, 2), goal["xpos"])
        + entropy(out["upos"].transpose(1, 2), goal["upos"])
        + entropy(out["arcs"].transpose(1, 2), goal["heads"])
        + entropy(at_gold, goal["deprel"])
        + nn.functional.binary_cross_entropy_with_logits(
            out["starts"][mask], starts.to(device)[mask]
        )
    )


def passages(documents: list[Document], random: Random) -> list[list[Tree]]:
    """One pass over the documents: runs of sentences, mostly made to look spoken."""
    found = []
    for document in documents:
        start = 0
        while start < len(document.trees):
            length = random.randint(1, LONGEST)
            trees = list(document.trees[start : start + length])
            start += length
            if random.random() < 0.75:
                trees = [spoken(tree, random) for tree in trees]
            trees = [tree for tree in trees if tree]
            while sum(map(len, trees)) > 2 * WINDOW:
                trees.pop()
            if trees:
                found.append(trees)
    return found


def train(teacher: Teacher, documents: list[Document], epochs: int, seed: int) -> None:
    """Fine-tune: a gentle rate for the encoder, a brisk one for the heads, one cosine."""
    random = Random(seed)
    encoder = list(teacher.encoder.parameters())
    known = {id(parameter) for parameter in encoder}
    heads = [p for p in teacher.parameters() if id(p) not in known]
    rates = [2e-4, 1.5e-3]
    optimizer = torch.optim.AdamW(
        [{"params": encoder, "lr": rates[0]}, {"params": heads, "lr": rates[1]}], weight_decay=0.01
    )
    started = time.monotonic()
    for epoch in range(epochs):
        teacher.train()
        items = sorted(passages(documents, random), key=lambda trees: sum(map(len, trees)))
        groups = [items[i : i + 48] for i in range(0, len(items), 48)]
        random.shuffle(groups)
        total = 0.0
        for number, group in enumerate(groups):
            done = (epoch + number / len(groups)) / epochs
            scale = min(1.0, done / 0.05) * 0.5 * (1 + np.cos(np.pi * done))
            for part, rate in zip(optimizer.param_groups, rates, strict=True):
                part["lr"] = rate * scale
            with torch.autocast(teacher.root.device.type, dtype=torch.bfloat16):
                value = loss(teacher, group)
            optimizer.zero_grad()
            value.backward()
            nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
            optimizer.step()
            total += value.item()
        minutes = (time.monotonic() - started) / 60
        print(f"epoch {epoch + 1:3d}  loss {total / len(groups):.3f}  {minutes:.1f} min", flush=True)


@torch.no_grad()
def read(teachers: list[Teacher], texts: list[list[Token]]) -> Iterator[list[Tree]]:
    """Parse word streams: all teachers' log-probabilities are averaged, then one tree a sentence."""
    places = [0] * len(texts)
    trees: list[list[Tree]] = [[] for _ in texts]
    open_texts = [i for i, text in enumerate(texts) if text]
    while open_texts:
        batch = open_texts[:96]
        windows = [texts[i][places[i] : places[i] + WINDOW] for i in batch]
        for i, window, (found, used) in zip(
            batch, windows, label(teachers, windows), strict=True
        ):
            whole = places[i] + len(window) == len(texts[i])
            # The last sentence of a window may be cut short: leave it to the next window.
            if not whole and len(found) > 1:
                used -= len(found[-1])
                found = found[:-1]
            trees[i] += found
            places[i] += used
        open_texts = [i for i in open_texts if places[i] < len(texts[i])]
    yield from trees


def label(
    teachers: list[Teacher], windows: list[list[Token]]
) -> list[tuple[list[Tree], int]]:
    """Trees of each window and the number of words they cover."""
    forms = [[token.form for token in window] for window in windows]
    sums: dict[str, Tensor] = {}
    for teacher in teachers:
        teacher.eval()
        with torch.autocast(teacher.root.device.type, dtype=torch.bfloat16):
            out = teacher(forms)
        for key in ("xpos", "upos", "arcs"):
            sums[key] = sums.get(key, 0) + out[key].float().log_softmax(-1)
        sums["relations"] = sums.get("relations", 0) + out["relations"].float().log_softmax(1)
        sums["starts"] = sums.get("starts", 0) + out["starts"].float()
    labels = teachers[0].labels
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
            for i in range(1, len(places)):
                head = places[heads[i]]
                tree.append(
                    replace(
                        window[places[i] - 1],
                        xpos=labels.xpos[xpos[row, places[i]]],
                        upos=labels.upos[upos[row, places[i]]],
                        head=i - 1 if head == 0 else head - begin,
                        deprel="root"
                        if head == 0
                        else labels.deprel[relations[row, places[i], head]],
                    )
                )
            trees.append(tuple(tree))
        results.append((trees, len(window)))
    return results


def write_trees(path: Path, named: Iterable[tuple[str, list[Tree]]]) -> None:
    """Write documents as CoNLL-U (xz), in the form that ``read_documents`` takes."""
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for name, trees in named:
            file.write(f"# newdoc id = {name}\n")
            for tree in trees:
                for i, t in enumerate(tree):
                    head = 0 if t.head == i else t.head + 1
                    space = "_" if t.space else "SpaceAfter=No"
                    row = (i + 1, t.form, t.lemma, t.upos, t.xpos, "_", head, t.deprel, "_", space)
                    file.write("\t".join(map(str, row)) + "\n")
                file.write("\n")


def main() -> None:
    """Train one or more teachers, score them, and label word streams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebanks", type=Path)
    parser.add_argument("encoder", type=Path, help="folder of the pretrained encoder")
    parser.add_argument("streams", type=Path, help="JSON: {name: [[word, space], …]} to label")
    parser.add_argument("output", type=Path, help="silver trees, CoNLL-U xz")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    banks = read_treebanks(options.treebanks)
    labels = Labels.of(tree for document in banks.train for tree in document.trees)
    teachers = []
    for seed in range(options.teachers):
        torch.manual_seed(seed)
        teacher = Teacher(options.encoder, labels).to(options.device)
        train(teacher, list(banks.train), options.epochs, seed)
        teachers.append(teacher)
        for name, documents in (("dev", banks.dev), ("scoring", banks.scoring)):
            print(f"teachers {len(teachers)}  {name}: {report(teachers, documents)}", flush=True)
    streams = json.loads(options.streams.read_text("utf-8"))
    texts = [[Token(w, "_", "_", "_", 0, "_", bool(s)) for w, s in t] for t in streams.values()]
    write_trees(options.output, zip(streams, read(teachers, texts), strict=True))


def report(teachers: list[Teacher], documents: Iterable[Document]) -> str:
    """Pairs by place, attachment and sentence starts on spoken streams, in words."""
    gold = [[t for t in (lower(unpunctuate(x)) for x in d.trees) if t] for d in documents]
    guess = list(read(teachers, [[token for tree in trees for token in tree] for trees in gold]))
    right = found = there = heads = words = 0
    ends = [0, 0, 0]
    for truth, answer in zip(gold, guess, strict=True):
        a, b = flat(truth), flat(answer)
        pairs_a, pairs_b = pairs_of(a), pairs_of(b)
        right, found, there = (
            right + len(pairs_a & pairs_b), found + len(pairs_b), there + len(pairs_a),
        )
        heads += sum(x.head == y.head and x.deprel == y.deprel for x, y in zip(a, b, strict=True))
        words += len(a)
        starts_a, starts_b = starts_of(truth), starts_of(answer)
        for i, places in enumerate((starts_a & starts_b, starts_b, starts_a)):
            ends[i] += len(places)
    return (
        f"pairs F {200 * right / max(found + there, 1):.1f}  LAS {100 * heads / words:.1f}  "
        f"ends F {200 * ends[0] / max(ends[1] + ends[2], 1):.1f}"
    )


def flat(trees: list[Tree]) -> list[Token]:
    """Tokens of all trees, heads as places in the whole text."""
    tokens: list[Token] = []
    for tree in trees:
        offset = len(tokens)
        tokens += [replace(token, head=offset + token.head) for token in tree]
    return tokens


def pairs_of(tokens: list[Token]) -> set[tuple[int, int]]:
    """(verb, noun) places joined by ``obj``."""
    return {
        (t.head, i)
        for i, t in enumerate(tokens)
        if t.deprel == "obj" and t.upos == "NOUN" and tokens[t.head].upos == "VERB"
    }


def starts_of(trees: list[Tree]) -> set[int]:
    """Places where a sentence starts, the first of the text left out."""
    lengths = np.cumsum([len(tree) for tree in trees])
    return set(lengths[:-1].tolist())


if __name__ == "__main__":
    main()
