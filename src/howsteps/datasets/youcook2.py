"""YouCook2: ``youcookii_annotations_trainval.json`` as released, one truth for each recipe.

Each video of ``database`` has ``recipe_type``, ``duration``, ``subset`` and ``annotations``: a list
of ``{"id", "sentence", "segment": [start, end]}``. Recipes share no list of steps: every sentence
is a step of its own, so that scores which match steps across videos mean little here.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

from howsteps.datasets import database
from howsteps.errors import InputError, Problem
from howsteps.task import Truth


def recognises(value: Any) -> bool:
    """Look for a database of videos with a recipe."""
    return database.has(value, "recipe_type", "annotations")


def read_youcook2(value: Any, path: Path) -> tuple[tuple[Truth, ...], list[Problem]]:
    """Make the truths of the contents of the file; ``path`` names it in errors."""
    tasks: dict[str, list[database.Clip]] = defaultdict(list)
    for clip in database.clips(value, path, segments="annotations", label="sentence"):
        recipe = clip.entry.get("recipe_type")
        if not isinstance(recipe, str | int):
            raise InputError(path, f"video {clip.video}: has no recipe_type")
        tasks[str(recipe)].append(clip)
    steps = {
        task: list(dict.fromkeys(segment.label for clip in clips for segment in clip.segments))
        for task, clips in tasks.items()
    }
    return database.truths(tasks, steps, path)
