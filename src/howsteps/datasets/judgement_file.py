"""A file in which people judge which relations count as which true step.

``{"rules": {name of a step: [{"verbs": […], "nouns": […]}, …]}}``
"""

from pathlib import Path
from typing import Any

from howsteps.errors import InputError
from howsteps.io.text import read_json
from howsteps.task import Rule


def read_judgements(path: Path, steps: tuple[str, ...]) -> dict[str, tuple[Rule, ...]]:
    """Read the rules for each of ``steps``; a step without rules is never recovered.

    Raises
    ------
    InputError
        The file is no judgement, or has rules for a step that is not one of ``steps``.
    """
    value = read_json(path)
    rules = value.get("rules") if isinstance(value, dict) else None
    if not isinstance(rules, dict):
        raise InputError(path, "has no 'rules' for the true steps")
    if unknown := [name for name in rules if name not in steps]:
        raise InputError(path, f"has rules for {unknown[0]!r}, which is not a true step")
    return {name: _rules(found, f"rules for {name!r}", path) for name, found in rules.items()}


def _rules(found: Any, what: str, path: Path) -> tuple[Rule, ...]:
    if not isinstance(found, list):
        raise InputError(path, f"{what}: not a list")
    rules = []
    for rule in found:
        sides = [rule.get(side) if isinstance(rule, dict) else None for side in ("verbs", "nouns")]
        if not all(
            isinstance(words, list) and all(isinstance(word, str) for word in words)
            for words in sides
        ):
            raise InputError(path, f"{what}: not lists of words under 'verbs' and 'nouns'")
        rules.append(Rule(*(frozenset(words) for words in sides if words is not None)))
    return tuple(rules)
