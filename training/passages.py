"""Training passages of several sentences, as written or made to look spoken."""

from collections.abc import Iterable
from random import Random

from training.spoken import cut, lower, spoken, unpunctuate, written
from training.treebanks import GENERATED, SILVER, Document, Tree

LONGEST_PASSAGE = 12  # sentences
SPOKEN_SHARE = 0.65
LINE_SHARE = 0.1  # of the spoken passages: those that start or stop at a caption's line break
UNWRITTEN = frozenset({SILVER, GENERATED})  # genres that have no punctuation to begin with

Passage = list[Tree]


def one_pass(documents: Iterable[Document], random: Random, *, most: int = 360) -> list[Passage]:
    """Cut every document into runs of sentences, at most ``most`` words each, and augment them.

    Each call does so again at random, so that a learner never sees the same passage twice.
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
                if random.random() < LINE_SHARE:
                    trees = line_breaks(trees, random)
            elif document.genre in UNWRITTEN:
                trees = [written(tree) for tree in trees]
            trees = [tree for tree in trees if tree]
            while sum(map(len, trees)) > most:
                trees.pop()
            if trees:
                found.append(trees)
    random.shuffle(found)
    return found


def line_breaks(trees: Passage, random: Random) -> Passage:
    """Start in the middle of the first sentence, stop in the middle of the last, or both.

    A caption's line ends where the screen does. What is read from a line on starts anywhere in a
    sentence; words stay whole ("do|n't"), and a passage of one word stays as it is.
    """
    trees = [tree for tree in trees if tree]
    if not trees:
        return []
    sides = random.choice(("start", "stop", "both"))
    if sides != "stop":
        trees[0] = cut(trees[0], random.choice(breaks(trees[0])), len(trees[0]))
    if sides != "start":
        trees[-1] = cut(trees[-1], 0, random.choice([*breaks(trees[-1])[1:], len(trees[-1])]))
    return trees


def breaks(tree: Tree) -> list[int]:
    """Places where a line may start: the first word, and every word with a space before it."""
    return [place for place in range(len(tree)) if place == 0 or tree[place - 1].space]


def clean_stream(document: Document) -> Passage:
    """A whole document as it was written."""
    return list(document.trees)


def spoken_stream(document: Document) -> Passage:
    """A whole document in lower case, without punctuation: nothing else is changed."""
    return [tree for tree in (lower(unpunctuate(tree)) for tree in document.trees) if tree]
