"""Verb classes: verbs that do the same kind of thing in a task, and classes that are opposites.

Whisk, beat and stir are one class; putting and removing are opposites, whatever a dictionary or an
embedding says. The table was written by hand: nearly a thousand verbs of work in the kitchen, the
garden, the workshop and the house; particle verbs have an underscore ("take_off").
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_TABLE = Path(__file__).with_name("verb_classes.json")
# With one of these particles, a verb that is not listed has the classes of the bare verb.
_NEUTRAL_PARTICLES = frozenset(["", "up", "down", "around", "over", "in", "on", "together"])


class _Classes(NamedTuple):
    by_verb: dict[str, frozenset[str]]
    opposites: frozenset[frozenset[str]]
    opposite_particles: frozenset[frozenset[str]]
    helpers: frozenset[str]


def classes_of(verb: str, particle: str) -> frozenset[str]:
    """The classes of a verb with its particle; none for a verb that is not listed."""
    known = _table().by_verb
    full = f"{verb}_{particle}" if particle else verb
    if full in known:
        return known[full]
    return known.get(verb, frozenset()) if particle in _NEUTRAL_PARTICLES else frozenset()


def is_helper(verb: str, particle: str) -> bool:
    """Whether a verb only prepares the actual act: "*take* a towel"."""
    return not particle and verb in _table().helpers


def shared_class(verbs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Overlap coefficient of the classes of all pairs of verbs: |A ∩ B| / min(|A|, |B|)."""
    classes = [classes_of(*verb) for verb in verbs]
    return np.array(
        [[len(a & b) / max(1, min(len(a), len(b))) for b in classes] for a in classes]
    ).reshape(len(verbs), len(verbs))


def are_opposite(one: tuple[str, str], two: tuple[str, str]) -> bool:
    """Whether one verb undoes the other, by their classes or by their particles (on, off)."""
    table = _table()
    if frozenset((one[1], two[1])) in table.opposite_particles:
        return True
    a, b = classes_of(*one), classes_of(*two)
    return not a & b and any(frozenset((x, y)) in table.opposites for x in a for y in b)


@cache
def _table() -> _Classes:
    raw = json.loads(_TABLE.read_text("utf-8"))
    by_verb: dict[str, set[str]] = {}
    for name, verbs in raw["classes"].items():
        for verb in verbs.split():
            by_verb.setdefault(verb, set()).add(name)
    return _Classes(
        {verb: frozenset(names) for verb, names in by_verb.items()},
        frozenset(frozenset(pair) for pair in raw["opposites"]),
        frozenset(frozenset(pair) for pair in raw["opposite_particles"]),
        frozenset(raw["helpers"].split()),
    )
