"""Make written sentences look like automatic transcripts of speech.

Automatic captions are lower case, have no punctuation and no sentence ends, and contain fillers,
false starts and repeated words. Each function here takes trees and returns trees that are still
correct, so that a parser can learn from them.
"""

from dataclasses import replace
from random import Random

from training.treebanks import Token, Tree, restructure

FILLERS = ("um", "uh", "so", "okay", "well", "like", "now", "alright", "right", "yeah")
# Words people stumble over: "the the", "you you want", "and and then".
STUMBLES = frozenset({"DET", "PRON", "AUX", "ADP", "CCONJ", "SCONJ", "PART"})


def lower(tree: Tree, *, keep_i: bool = False) -> Tree:
    """Lower-case every word; ``keep_i`` leaves "I" as caption makers do."""
    return tuple(
        token if keep_i and token.form == "I" else replace(token, form=token.form.lower())
        for token in tree
    )


def unpunctuate(tree: Tree) -> Tree:
    """Drop punctuation; every remaining word keeps a head. A tree of punctuation becomes empty."""
    keep = [index for index, token in enumerate(tree) if token.upos != "PUNCT"]
    if not keep:
        return ()
    bare = restructure(tree, keep)
    # "tire-kicker" loses its hyphen: what is left are words with spaces, except clitics ("do|n't").
    glued = {
        new
        for new, old in enumerate(keep)
        if not tree[old].space and old + 1 < len(tree) and tree[old + 1].upos != "PUNCT"
    }
    return tuple(replace(token, space=index not in glued) for index, token in enumerate(bare))


def insert(tree: Tree, gap: int, word: Token) -> Tree:
    """Put a word in front of position ``gap``; ``word.head`` is an index into the old tree."""

    def moved(index: int) -> int:
        return index + (index >= gap)

    tokens = [replace(token, head=moved(token.head)) for token in tree]
    tokens.insert(gap, replace(word, head=moved(word.head)))
    return tuple(tokens)


def projective_head(tree: Tree, gap: int) -> int:
    """Find a head for a word in front of ``gap`` so that no two arcs cross.

    The governor of the innermost arc over the gap will do; with no arc over it, the root will.
    """
    arcs = [(min(i, t.head), max(i, t.head), t.head) for i, t in enumerate(tree)]
    over = [arc for arc in arcs if arc[0] < gap <= arc[1]]
    if over:
        return min(over, key=lambda arc: arc[1] - arc[0])[2]
    return next(index for index, token in enumerate(tree) if token.head == index)


def add_filler(tree: Tree, random: Random) -> Tree:
    """Say "um", "uh" or the like, at the start of the sentence more often than inside it."""
    gap = 0 if random.random() < 0.6 else random.randrange(len(tree) + 1)
    if gap > 0 and not tree[gap - 1].space:  # never between "do" and "n't"
        gap = 0
    form = random.choice(FILLERS)
    filler = Token(form, form, "INTJ", "UH", projective_head(tree, gap), "discourse")
    return insert(tree, gap, filler)


def stumble(tree: Tree, random: Random) -> Tree:
    """Say a small word twice: the first, abandoned one is a ``reparandum`` of the second."""
    places = [
        index
        for index, token in enumerate(tree)
        if token.upos in STUMBLES and token.space and (index == 0 or tree[index - 1].space)
    ]
    if not places:
        return tree
    place = random.choice(places)
    return insert(tree, place, replace(tree[place], head=place, deprel="reparandum"))


def cut(tree: Tree, start: int, stop: int) -> Tree:
    """Keep words ``start`` to ``stop`` of a sentence, as a caption that breaks off leaves them.

    A word that loses its governor hangs on the nearest word above it that is left, or on the first
    that lost it likewise; its relation is gone with the governor and becomes ``dep``, so that a
    cut never makes up an object.
    """
    kept = restructure(tree, list(range(start, stop)))
    return tuple(
        new if new.head == place or start <= old.head < stop else replace(new, deprel="dep")
        for place, (new, old) in enumerate(zip(kept, tree[start:stop], strict=True))
    )


def written(tree: Tree) -> Tree:
    """Write a bare sentence down: a capital at the start and a full stop at the end."""
    root = next(index for index, token in enumerate(tree) if token.head == index)
    first = replace(tree[0], form=tree[0].form[:1].upper() + tree[0].form[1:])
    stop = Token(".", ".", "PUNCT", ".", root, "punct")
    words = (first, *tree[1:])
    return (*words[:-1], replace(words[-1], space=False), stop)


def spoken(tree: Tree, random: Random) -> Tree:
    """Turn a written sentence into its automatic caption."""
    tree = lower(unpunctuate(tree), keep_i=random.random() < 0.5)
    if tree and random.random() < 0.15:
        tree = add_filler(tree, random)
    if tree and random.random() < 0.05:
        tree = stumble(tree, random)
    return tree
