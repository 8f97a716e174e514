"""Safe and unique names of videos and tasks, used as keys and in paths."""

import re
import unicodedata
from collections import Counter

# Path separators, line breaks, control characters and lone surrogates.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\u2028\u2029\ud800-\udfff]+")
# Bytes. File systems allow 255, including the suffixes that are added.
_MAX_BYTES = 160

# ISO 639 codes, which tools put between a name and its suffix: "abc.en.vtt".
_LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
ie ig ii ik in io is it iu iw ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo
lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps
pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn
to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu eng
"""
_CODES = frozenset(_LANGUAGES.split())
# What Windows does not accept: characters, ends of a name, and names with any suffix.
_NOT_PORTABLE = re.compile(r'[<>:"|?*]|[. ]+$')
_DEVICE = re.compile(r"(CON|PRN|AUX|NUL|COM\d|LPT\d)(\..*)?", re.IGNORECASE | re.DOTALL)
_SUFFIX = re.compile(r"(?P<name>.+)\.(?P<code>[A-Za-z]{2,3})(?P<variant>(?:[-_][A-Za-z0-9]+)*)")


def split_language(stem: str) -> tuple[str, str]:
    """Split ``"abc.en-US"`` into ``("abc", "en-us")``; the language is empty if there is none."""
    found = _SUFFIX.fullmatch(stem)
    if found is None or found["code"].lower() not in _CODES:
        return stem, ""
    return found["name"], (found["code"] + found["variant"]).lower().replace("_", "-")


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
