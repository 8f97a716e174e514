"""Universal Dependencies treebanks: sentences as trees, and which of them may be trained on."""

import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

# The text of a GUM genre keeps its own licence. A model may be shipped only if every text that it
# learnt from allows it: non-commercial genres are out, and so is `conversation`, whose source is
# said to forbid derivatives.
SHIPPABLE_GUM = frozenset(
    "academic bio court interview news speech textbook vlog voyage".split(),
)
# How-to articles and vlogs are the text most like spoken instructions: scoring only.
SCORING_GENRES = frozenset({"whow", "vlog"})
SILVER = "silver"  # the genre of captions that the teacher labelled
GENERATED = "generated"  # and that of instructions that a grammar made


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a tree; ``head`` is an index into the tree, the root's is its own."""

    form: str
    lemma: str
    upos: str
    xpos: str
    head: int
    deprel: str
    space: bool = True


Tree = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A text as its sentences' trees, in order."""

    id: str
    genre: str
    trees: tuple[Tree, ...]


def parse_sentence(lines: list[str]) -> Tree:
    """Read the ten-column lines of one sentence."""
    tokens = []
    unspaced_until = 0  # inside a multi-word token such as "don't" no space follows a part
    for line in lines:
        number, form, lemma, upos, xpos, _, head, deprel, _, misc = line.split("\t")
        if "." in number:
            continue
        space = "SpaceAfter=No" not in misc
        if "-" in number:
            last = int(number.split("-")[1])
            unspaced_until, space_after_range = last, space
            continue
        index = int(number)
        if index < unspaced_until:
            space = False
        elif index == unspaced_until:
            space = space_after_range
        governor = int(head) - 1 if head != "0" else len(tokens)
        tokens.append(Token(form, lemma, upos, xpos, governor, deprel, space))
    return tuple(tokens)


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a CoNLL-U file, plain or xz."""
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        name, trees, lines = "", [], []
        for raw in [*file, ""]:
            line = raw.rstrip("\n")
            if line.startswith("# newdoc id = "):
                if trees:
                    yield Document(name, genre_of(name), tuple(trees))
                name, trees = line.removeprefix("# newdoc id = "), []
            elif line and not line.startswith("#"):
                lines.append(line)
            elif not line and lines:
                trees.append(parse_sentence(lines))
                lines = []
        if trees:
            yield Document(name, genre_of(name), tuple(trees))


def write_documents(path: Path, documents: Iterable[Document]) -> None:
    """Write documents as CoNLL-U (xz), in the form that ``read_documents`` takes."""
    with lzma.open(path, "wt", encoding="utf-8") as file:
        for document in documents:
            file.write(f"# newdoc id = {document.id}\n")
            for tree in document.trees:
                for i, t in enumerate(tree):
                    head = 0 if t.head == i else t.head + 1
                    misc = "_" if t.space else "SpaceAfter=No"
                    row = (i + 1, t.form, t.lemma, t.upos, t.xpos, "_", head, t.deprel, "_", misc)
                    file.write("\t".join(map(str, row)) + "\n")
                file.write("\n")


def genre_of(document: str) -> str:
    """Genre from a document's name: ``GUM_vlog_radiology``, ``answers/2011…`` (EWT)."""
    if document.startswith("GUM_"):
        return document.split("_")[1]
    return document.split("/", maxsplit=1)[0]


def shippable(document: Document) -> bool:
    """Whether the licence of a document lets a model trained on it be shipped."""
    return not document.id.startswith("GUM_") or document.genre in SHIPPABLE_GUM


@dataclass(frozen=True, slots=True)
class Treebanks:
    """Documents to learn from, to stop early on, and to score on."""

    train: tuple[Document, ...]
    dev: tuple[Document, ...]
    scoring: tuple[Document, ...]


def read_treebanks(folder: Path) -> Treebanks:
    """Read EWT and GUM from a folder of ``{ewt,gum}_{train,dev,test}.conllu.xz``.

    The scoring documents (dev and test of whow and vlog) are in neither of the other two parts.
    """

    def part(name: str) -> list[Document]:
        return [
            document
            for bank in ("ewt", "gum")
            for document in read_documents(folder / f"{bank}_{name}.conllu.xz")
        ]

    dev = part("dev")
    held_out = [document for document in dev + part("test") if document.id.startswith("GUM_")]
    return Treebanks(
        train=tuple(document for document in part("train") if shippable(document)),
        dev=tuple(d for d in dev if shippable(d) and d.genre not in SCORING_GENRES),
        scoring=tuple(d for d in held_out if d.genre in SCORING_GENRES),
    )


def restructure(tree: Tree, keep: list[int]) -> Tree:
    """Keep some tokens of a tree, in order; orphans go to their nearest kept ancestor.

    When the root itself is dropped, the first of its kept children takes its place.
    """
    kept = set(keep)
    place = {old: new for new, old in enumerate(keep)}

    def governor(index: int) -> int | None:
        while True:
            head = tree[index].head
            if head in kept and head != index:
                return head
            if head == index:
                return None
            index = head

    heads = {index: governor(index) for index in keep}
    root = next((index for index in keep if tree[index].head == index), None)
    if root is None:
        root = next(index for index in keep if heads[index] is None)
    tokens = []
    for index in keep:
        head = heads[index]
        token = tree[index]
        if index == root:
            token = replace(token, head=place[index], deprel="root")
        else:
            token = replace(token, head=place[root if head is None else head])
        tokens.append(token)
    return tuple(tokens)
