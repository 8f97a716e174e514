"""Caption text as a viewer sees it: no tags, no entities, no override codes."""

import html
import re

# Tags of HTML, WebVTT and SubRip; "3 < 4" and "<3" are not tags. Word times can be left in a line
# that somebody copied out of WebVTT.
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>|<[0-9:.,]{5,16}>")
_OVERRIDE = re.compile(r"\{\\[^{}]{0,300}\}")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Joiners, direction marks, byte order marks and soft hyphens take no room on the screen.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


def plain(text: str) -> str:
    r"""Drop HTML tags, ``{\an8}`` codes and invisible characters; resolve entities and ``\N``."""
    if "<" in text:
        text = _TAG.sub("", text)
    if "\\" in text:
        text = _OVERRIDE.sub("", text).replace("\\N", "\n").replace("\\h", " ")
    if "&" in text:
        text = _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)
    return text if text.isascii() else _UNSEEN.sub("", text)
