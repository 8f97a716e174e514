"""Keywords of a job's name: the words that every video of the job should contain.

In "how to make scrambled eggs in a microwave" these are *eggs* and *microwave*; *scrambled* is a
qualifier; "make" is a light verb and carries no information.
"""

import re
from dataclasses import dataclass

_OPENINGS = (("how", "to"), ("how", "do", "you"), ("how", "i"), ("the", "best", "way", "to"))
_LIGHT_VERBS = frozenset(
    "best do get getting give go have keep make making rid use using way".split()
)
_STOP_WORDS = frozenset(
    """a an and at best by diy do easy for from guide how i in is it make making my of on our
    perfect quick recipe recipes simple that the this to tutorial video videos way ways we
    what when with without you your before after so like""".split()
)
_PREPOSITIONS = frozenset("at by from in into of on onto over using with".split())
# Narrators may not mention what follows these.
_OPTIONAL_PREPOSITIONS = frozenset("as for like to".split())
_EXCLUDING = frozenset({"without"})
_SUFFIXES = ("ing", "ed", "es", "s", "e")
_MIN_STEM = 3  # letters


@dataclass(frozen=True, slots=True)
class JobWords:
    """The words of a job's name, as stems.

    ``core`` are its verb and the heads of its noun phrases, ``qualifiers`` the other words of its
    noun phrases, ``head`` is the noun that the job is done to.
    """

    core: tuple[str, ...]
    qualifiers: tuple[str, ...]
    head: str = ""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return re.findall(r"[a-z]+", text.lower().replace("_", " "))


def stem(word: str) -> str:
    """Strip the suffix of a word, so that "grilling", "grilled" and "grill" have the same stem."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            word = word[: -len(suffix)]
            break
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word


def stems(text: str) -> list[str]:
    """Return the stems of a text's words in order, without stop words."""
    return [stem(word) for word in words(text) if word not in _STOP_WORDS and len(word) > 1]


def job_words(name: str) -> JobWords:
    """Split a job's name into core words and qualifiers."""
    remaining = words(name)
    for opening in _OPENINGS:
        if tuple(remaining[: len(opening)]) == opening:
            remaining = remaining[len(opening) :]
    # The words of each phrase, and whether narrators may leave it out.
    phrases: list[tuple[list[str], bool]] = [([], False)]
    for word in remaining:
        if word in _EXCLUDING:
            break
        if word in _PREPOSITIONS | _OPTIONAL_PREPOSITIONS | {"and"}:
            phrases.append(([], word in _OPTIONAL_PREPOSITIONS))
        elif word in _LIGHT_VERBS or word not in _STOP_WORDS:
            phrases[-1][0].append(word)
    core: list[str] = []
    qualifiers: list[str] = []
    head = ""
    verb, *others = phrases[0][0] or [""]
    if others:  # the name begins with the job's verb
        core += [verb] if verb not in _LIGHT_VERBS else []
        phrases[0] = (others, False)
    for phrase, is_optional in phrases:
        nouns = [word for word in phrase if word not in _LIGHT_VERBS]
        if nouns:
            (qualifiers if is_optional else core).append(nouns[-1])
            qualifiers += nouns[:-1]
            head = head or nouns[-1]
    return JobWords(tuple(map(stem, core)), tuple(map(stem, qualifiers)), stem(head))
