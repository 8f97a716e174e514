"""The words of a job's name: which of them every video of the job should say.

In "how to make scrambled eggs in a microwave" these are *eggs* and *microwave*; *scrambled* tells
which eggs. "Make" tells nothing.
"""

import re
from dataclasses import dataclass

_OPENINGS = (("how", "to"), ("how", "do", "you"), ("how", "i"), ("the", "best", "way", "to"))
_LIGHT = frozenset("best do get getting give go have keep make making rid use using way".split())
_FILLERS = frozenset(
    """a an and at best by diy do easy for from guide how i in is it make making my of on our
    perfect quick recipe recipes simple that the this to tutorial video videos way ways we
    what when with without you your before after so like""".split()
)
_WITHIN = frozenset("at by from in into of on onto over using with".split())
_LOOSE = frozenset("as for like to".split())  # what follows may go unsaid
_LEFT_OUT = frozenset({"without"})
_ENDINGS = ("ing", "ed", "es", "s", "e")
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class JobWords:
    """Stems of what is done and to what (``core``), and of what says which one (``rest``)."""

    core: tuple[str, ...]
    rest: tuple[str, ...]
    head: str = ""  # the stem of what the job is done to


def words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return re.findall(r"[a-z]+", text.lower().replace("_", " "))


def stem(word: str) -> str:
    """A word without its ending, so that "grilling", "grilled" and "grill" are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """The stems of a text's words that tell something, in order."""
    return [stem(word) for word in words(text) if word not in _FILLERS and len(word) > 1]


def job_words(name: str) -> JobWords:
    """The words of a job's name by their part in it."""
    said = words(name)
    for opening in _OPENINGS:
        if tuple(said[: len(opening)]) == opening:
            said = said[len(opening) :]
    parts: list[tuple[list[str], bool]] = [([], False)]
    for word in said:
        if word in _LEFT_OUT:
            break
        if word in _WITHIN | _LOOSE | {"and"}:
            parts.append(([], word in _LOOSE))
        elif word in _LIGHT or word not in _FILLERS:
            parts[-1][0].append(word)
    core: list[str] = []
    rest: list[str] = []
    head = ""
    verb, *others = parts[0][0] or [""]
    if others:  # the job's verb opens its name
        core += [verb] if verb not in _LIGHT else []
        parts[0] = (others, False)
    for part, loose in parts:
        things = [word for word in part if word not in _LIGHT]
        if things:
            (rest if loose else core).append(things[-1])
            rest += things[:-1]
            head = head or things[-1]
    return JobWords(tuple(map(stem, core)), tuple(map(stem, rest)), stem(head))
