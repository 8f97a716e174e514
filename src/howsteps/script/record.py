"""A script as JSON that people and programs read.

One task::

    {"version": 1, "task": …,
     "steps": [{"label", "support", "relations": [{"verb", "noun", "count"}],
                "mentions": [{"video", "start", "end", "verb", "noun"}], "examples": […]}],
     "alignment": {"objective", "objective_per_token", "bound", "seconds"},
     "order": {"swaps": [{"steps", "in_order", "swapped"}], "optional": […]}}

Several tasks::

    {"version": 1, "tasks": {name: {"steps": …, "alignment": …, "order": …}}}

Steps under "order" are counted from 1, as they are shown.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from howsteps.script.partial_order import Freedom
from howsteps.task import Script, Step

VERSION = 1


def record(
    scripts: Mapping[str, Script], order: Mapping[str, Freedom] = MappingProxyType({})
) -> dict[str, Any]:
    """The scripts of one or more tasks, and what their order leaves open where given, by name."""
    found = {
        name: _script(script) | ({"order": _freedom(order[name])} if name in order else {})
        for name, script in scripts.items()
    }
    if len(found) == 1:
        [(name, value)] = found.items()
        return {"version": VERSION, "task": name, **value}
    return {"version": VERSION, "tasks": found}


def _freedom(freedom: Freedom) -> dict[str, Any]:
    return {
        "swaps": [
            {
                "steps": [swap.one + 1, swap.two + 1],
                "in_order": swap.in_order,
                "swapped": swap.swapped,
            }
            for swap in freedom.swaps
        ],
        "optional": [place + 1 for place in freedom.optional],
    }


def _script(script: Script) -> dict[str, Any]:
    return {
        "steps": [_step(step) for step in script.steps],
        "alignment": {
            "objective": script.objective,
            "objective_per_token": script.objective_per_token,
            "bound": script.bound,
            "seconds": round(script.seconds, 3),
        },
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "label": step.label,
        "support": step.support,
        "relations": [
            {"verb": relation.verb, "noun": relation.noun, "count": count}
            for relation, count in step.relations
        ],
        "mentions": [
            {
                "video": mention.video,
                "start": round(mention.start, 3),
                "end": round(mention.end, 3),
                "verb": mention.verb,
                "noun": mention.noun,
            }
            for mention in step.mentions
        ],
        "examples": list(step.examples),
    }
