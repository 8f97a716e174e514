"""Safe and unique names of videos and tasks, used as keys and in paths."""

import re
import unicodedata
from collections import Counter

# Path separators, line breaks, control characters and lone surrogates.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u2028\u2029\ud800-\udfff]+")
# Bytes. File systems allow 255, including the suffixes that are added.
_MAX_BYTES = 160

# What Windows does not accept: characters, ends of a name, and names with any suffix.
_NOT_PORTABLE = re.compile(r'[<>:"|?*]|[. ]+$')
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|COM\d|LPT\d)(\..*)?", re.IGNORECASE | re.DOTALL)
# The code of a language, which tools put between a name and its suffix: "abc.en-US.vtt".
_LANGUAGE = re.compile(r"(?P<name>.+)\.(?P<code>(?:[A-Za-z]{2}|eng)(?:[-_][A-Za-z0-9]+)*)")


def split_language(stem: str) -> tuple[str, str]:
    """Split ``"abc.en-US"`` into ``("abc", "en-us")``; the language is empty if there is none."""
    found = _LANGUAGE.fullmatch(stem)
    if found is None:
        return stem, ""
    return found["name"], found["code"].lower().replace("_", "-")


def portable(name: str) -> str:
    """A name of a file that every system accepts and writes alike, in Unicode form NFC."""
    safe = _NOT_PORTABLE.sub("_", unicodedata.normalize("NFC", name))
    return f"_{safe}" if _DEVICE.fullmatch(safe) else safe


class Names:
    """Assigns safe names that are unique even if case is ignored."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._taken: set[str] = set()
        self._counts: Counter[str] = Counter()

    def give(self, wanted: object) -> tuple[str, str | None]:
        """Return a safe name for ``wanted``, and a message if it differs from ``wanted``."""
        original = str(wanted).strip() if isinstance(wanted, str | int) else ""
        short = _UNSAFE.sub("_", original).encode()[:_MAX_BYTES].decode(errors="ignore")
        safe = short.strip(" ").lstrip(".") or self._kind
        name = safe
        while name.casefold() in self._taken:
            # Counted per name, so that many videos without a name take linear time.
            self._counts[safe.casefold()] += 1
            name = f"{safe}-{self._counts[safe.casefold()] + 1}"
        self._taken.add(name.casefold())
        if name == original:
            return name, None
        if not original:
            return name, f"a {self._kind} without a name is called {name!r}"
        why = "is used twice" if safe == original else "is not safe as a name"
        return name, f"the {self._kind} name {original[:_MAX_BYTES]!r} {why}; called {name!r}"
