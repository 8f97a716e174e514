"""Tune the bias of the parser towards sentence ends on the speech-like development documents.

The parser learns each decision separately, and ends too few sentences: if an end is likely but not
certain, continuing is the safer guess. A bias on the score of ending a sentence corrects that.
"""

from collections.abc import Callable

from spacy.language import Language

# Added to the score, a logarithm. Beyond 1 captions lose relations, and written text sentence ends.
READINESS = (0.0, 0.25, 0.5, 0.75, 1.0)


def make_ready(nlp: Language, more: float) -> None:
    """Add a number to the score of the decision to end a sentence."""
    parser = nlp.get_pipe("parser")
    scores = parser.model.get_ref("upper")
    bias = scores.get_param("b").copy()
    for place, name in enumerate(parser.move_names):
        if name.startswith("B-"):
            bias[place] += more
    scores.set_param("b", bias)


def tune(nlp: Language, mark: Callable[[Language], float]) -> float:
    """Find the bias with the best score, set it in the pipeline, and return it."""
    now, marks = 0.0, {}
    for more in READINESS:
        make_ready(nlp, more - now)
        now = more
        marks[more] = mark(nlp)
    best = max(READINESS, key=marks.__getitem__)
    make_ready(nlp, best - now)
    return best
