"""What a parser learns from: passages of several sentences, written or made to look spoken."""

from collections.abc import Iterable
from random import Random

from training.spoken import lower, spoken, unpunctuate, written
from training.treebanks import GENERATED, SILVER, Document, Tree

LONGEST_PASSAGE = 12  # sentences
SPOKEN_SHARE = 0.65
UNWRITTEN = frozenset({SILVER, GENERATED})  # genres that have no punctuation to begin with

Passage = list[Tree]


def one_pass(documents: Iterable[Document], random: Random, *, most: int = 360) -> list[Passage]:
    """Cut every document into runs of sentences, at most ``most`` words each, and alter them.

    Each call cuts and alters anew, so that a learner never sees the same passage twice.
    """
    found = []
    for document in documents:
        start = 0
        while start < len(document.trees):
            length = random.randint(1, LONGEST_PASSAGE)
            trees = list(document.trees[start : start + length])
            start += length
            if random.random() < SPOKEN_SHARE:
                trees = [spoken(tree, random) for tree in trees]
            elif document.genre in UNWRITTEN:
                trees = [written(tree) for tree in trees]
            trees = [tree for tree in trees if tree]
            while sum(map(len, trees)) > most:
                trees.pop()
            if trees:
                found.append(trees)
    random.shuffle(found)
    return found


def clean_stream(document: Document) -> Passage:
    """A whole document as it was written."""
    return list(document.trees)


def spoken_stream(document: Document) -> Passage:
    """A whole document in lower case, without punctuation: nothing else is changed."""
    return [tree for tree in (lower(unpunctuate(tree)) for tree in document.trees) if tree]
