"""Background frequencies of verbs: the share of how-to videos that use each.

The table holds counts over 16 tasks and 782 videos, nothing else; ``training/background.py`` makes
it.
"""

import json
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("background.json")


def share(verb: str) -> float:
    """The share of how-to videos that use a verb with an object; 0 if it is not in the table."""
    return _shares().get(verb, 0) / 1000


@cache
def _shares() -> dict[str, int]:
    verbs: dict[str, int] = json.loads(_TABLE.read_text("utf-8"))["verbs"]
    return verbs
