"""Trees to test with, written by hand or drawn at random."""

from hypothesis import strategies as st

from training.treebanks import Token, Tree

GLUE = {"n't", "'s", "na"}


def tree(*words: str) -> Tree:
    """Write a tree as "form/upos/deprel/head"; heads count from 1, 0 is the root."""
    rows = [word.split("/") for word in words]
    return tuple(
        Token(
            form,
            form.lower(),
            upos,
            upos,
            place if head == "0" else int(head) - 1,
            deprel,
            place + 1 == len(rows) or rows[place + 1][0] not in GLUE,
        )
        for place, (form, upos, deprel, head) in enumerate(rows)
    )


LOWER_IT = tree("Lower/VERB/root/0", "the/DET/det/3", "car/NOUN/obj/1", "!/PUNCT/punct/1")
DO_NOT = tree(
    "Do/AUX/aux/3", "n't/PART/advmod/3", "drop/VERB/root/0", "it/PRON/obj/3", "./PUNCT/punct/3"
)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Any projective tree of up to ten words: every subtree is a run of words."""

    def grow(start: int, stop: int, parent: int | None) -> None:
        if start == stop:
            return
        head = draw(st.integers(start, stop - 1))
        heads[head] = head if parent is None else parent
        grow(start, head, head)
        grow(head + 1, stop, head)

    size = draw(st.integers(1, 10))
    heads = [0] * size
    grow(0, size, None)
    parts = draw(
        st.lists(
            st.sampled_from(("NOUN", "VERB", "DET", "PUNCT", "PRON")), min_size=size, max_size=size
        )
    )
    return tuple(
        Token(f"W{place}", f"w{place}", part, part, head, "root" if head == place else "dep")
        for place, (head, part) in enumerate(zip(heads, parts, strict=True))
    )


def is_tree(tokens: Tree) -> bool:
    """Exactly one root, and every word leads to it."""
    if sum(token.head == place for place, token in enumerate(tokens)) != 1:
        return False
    for place in range(len(tokens)):
        node, steps = place, 0
        while tokens[node].head != node:
            node, steps = tokens[node].head, steps + 1
            if steps > len(tokens):
                return False
    return True


def is_projective(tokens: Tree) -> bool:
    """No two arcs cross."""
    arcs = [tuple(sorted((place, token.head))) for place, token in enumerate(tokens)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)
