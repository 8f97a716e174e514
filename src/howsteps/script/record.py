"""A script as JSON that people and programs read.

One task::

    {"version": 1, "task": …,
     "steps": [{"label", "support", "relations": [{"verb", "noun", "count"}],
                "mentions": [{"video", "start", "end", "verb", "noun"}], "examples": […]}],
     "alignment": {"objective", "objective_per_token", "bound", "seconds"}}

Several tasks::

    {"version": 1, "tasks": {name: {"steps": …, "alignment": …}}}
"""

from collections.abc import Mapping
from typing import Any

from howsteps.task import Script, Step

VERSION = 1


def record(scripts: Mapping[str, Script]) -> dict[str, Any]:
    """The scripts of one or more tasks, by name, as plain values."""
    if len(scripts) == 1:
        [(name, script)] = scripts.items()
        return {"version": VERSION, "task": name, **_script(script)}
    return {
        "version": VERSION,
        "tasks": {name: _script(script) for name, script in scripts.items()},
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
