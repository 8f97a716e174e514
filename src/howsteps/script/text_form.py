"""A script as a page of text: ``script.md``.

::

    # change a tire

    1. loosen the lug nuts
       also: break the nuts loose, crack the lugs
    2. jack up the car (optional)
    3. or drive it onto a ramp

One step per line, in order. ``(optional)`` follows a step that may be left out, ``or`` precedes an
alternative to the step above. Below a step, ``also:`` lists the acts that belong to it, and ``+``
joins another step to it. At the end, ``drop:`` and ``keep:`` say which videos are left out, and
which are used although they seem to show another job. The parser is lenient: any list will do, such
as one copied from an article.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from howsteps.captions.cues import printable
from howsteps.errors import InputError
from howsteps.script.acts import Act, act_of
from howsteps.task import Mention, Script, SetAside, Step

MAX_STEPS = 100
MAX_PHRASES = 100  # below a step
MAX_LABEL = 200  # characters
MAX_CHARACTERS = 2**20  # of a page
_MAX_LINES = 10_000
_PROSE_WORDS = 12  # a longer line without a number is prose, not a step
SHOWN_ACTS = 8  # of a step; the others are counted ("and 7 more")
_MAX_LINE = 2000  # characters; the rest of a line is ignored

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINE_END = re.compile(r"\r\n|[\n\r]")
_HEADING = re.compile(r"#{1,6}\s+(?P<text>.*?)\s*#*\s*")
_NUMBER = r"\(?\d{1,3}[.):]|\d{1,3}\s?[-–—](?=\s)|step\s+\d{1,3}\s*[.:)–—-]?|\(?[a-z][.)]"
_ITEM = re.compile(
    rf"(?P<mark>[-*•·▪◦‣–—]|{_NUMBER})\s+(?:\[[ xX]?\]\s*)?(?P<text>\S.*)", re.IGNORECASE
)
_JOIN = re.compile(r"\+\s*(?P<text>\S.*)")
_ALSO = re.compile(r"also\s*:\s*(?P<text>.*)", re.IGNORECASE)
_CHOICE = re.compile(r"(?P<what>keep|drop)\s*:\s*(?P<video>\S.*)", re.IGNORECASE)
_MORE = re.compile(r"(?:^|,|\s)\s*(?:…\s*)?and \d+ more\s*$", re.IGNORECASE)
_OR = re.compile(r"or(?:\s*[:,]\s*|\s+)(?P<text>\S.*)", re.IGNORECASE)
_OPTIONAL_AFTER = re.compile(r"\s*[,;]?\s*(?:[(\[]\s*optional\s*[)\]])\s*([.!:;]*)$", re.IGNORECASE)
_OPTIONAL_BEFORE = re.compile(r"\A(?:[(\[]\s*optional\s*[)\]]\s*:?|optional\s*:)\s*", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_BOLD = re.compile(r"(\*\*|__)(?P<text>[^*_].*?)\1")
_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z\"“])")
_SECTION = re.compile(
    r"(?:part|method|section|chapter|phase|stage)\s+(?:\d|[ivx]+\b|[a-z]\b).*", re.I
)
_RULE = re.compile(r"[\s\-=_*~]*")
# Zero-width and bidirectional control characters.
_INVISIBLE = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DETERMINERS = frozenset(
    "the a an your my our his her their its this that these those some".split()
)

HOW_TO_CHOOSE = """\
<!-- Videos that were set aside. To use one, write "keep:" instead of "drop:"; to leave out another,
add a line with its id. Then: howsteps place THIS_FOLDER --script THIS_FOLDER/script.md -->"""

HOW_TO_EDIT = """\
<!-- One step a line, in order: rename, move, delete and add lines as you like. "(optional)" after
a step says that it may be left out, "or" before one that it is done instead of the step above.
"also:" lists the phrases that count as this step; "+ another step" joins that step to the one
above. A step without "also:" is matched by its name.
Then: howsteps place THIS_FOLDER --script THIS_FOLDER/script.md -->"""


class VideoChoices(NamedTuple):
    """The videos that were set aside, and the ids of those that a person wants to keep."""

    aside: Sequence[SetAside] = ()
    keep: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TextStep:
    """A step on a page, and its line number.

    ``written`` is what follows ``also:``, and ``also`` the phrases in it; ``more`` is whether it
    ends with "and 7 more". ``joins`` has the labels of ``+``.
    """

    label: str
    optional: bool = False
    alternative: bool = False
    written: str = ""
    also: tuple[str, ...] = ()
    more: bool = False
    joins: tuple[str, ...] = ()
    line: int = 0


def script_text(name: str, script: Script, choices: VideoChoices | None = None) -> str:
    """Write a script as a page; ``name`` is that of the task."""
    lines = [f"# {_one_line(name)}", ""]
    for number, step in enumerate(script.steps, 1):
        before, after = "or " * step.alternative, " (optional)" * step.optional
        lines.append(f"{number}. {before}{_one_line(step.label)}{after}")
        if also := also_text(step):
            lines.append(f"{' ' * len(f'{number}. ')}also: {also}")
    return "\n".join([*lines, *_choices_text(choices or VideoChoices()), "", HOW_TO_EDIT, ""])


def _choices_text(choices: VideoChoices) -> list[str]:
    """Lines that list the videos that were set aside, and those that were kept."""
    lines = [f"keep: {_one_line(video)}" for video in choices.keep]
    for each in choices.aside:
        is_named = each.title and each.title in each.video
        title = "" if is_named else f"{each.title or each.video}: "
        why = _one_line(f"{title}{each.because}")
        lines.append(f"drop: {_one_line(each.video)} <!-- {why} -->")
    return ["", HOW_TO_CHOOSE, *lines] if lines else []


def parse_choices(text: str) -> tuple[dict[str, int], dict[str, int]]:
    """The ids of the videos to keep and to drop, each with the number of its line."""
    found: dict[str, dict[str, int]] = {"keep": {}, "drop": {}}
    for number, line in enumerate(_LINE_END.split(_without_comments(text[:MAX_CHARACTERS])), 1):
        if choice := _CHOICE.fullmatch(line.strip()):
            found[choice["what"].lower()].setdefault(choice["video"], number)
    return found["keep"], found["drop"]


def without_choices(text: str) -> str:
    """The lines of a page but for comments and those that choose videos."""
    lines = (line.rstrip() for line in _LINE_END.split(_without_comments(text)))
    return "\n".join(line for line in lines if line and not _CHOICE.fullmatch(line.strip()))


def _without_comments(text: str) -> str:
    """A page without comments, but for their line ends, so that line numbers stay correct."""
    return _COMMENT.sub(lambda comment: "\n" * len(_LINE_END.findall(comment[0])), text)


def parse_script_text(text: str, path: Path) -> tuple[TextStep, ...]:
    """Parse the steps of a page; ``path`` is for error messages.

    Raises
    ------
    InputError
        There are no steps or too many, or one is too long; the message has the line number.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(path, f"is too long for a script ({len(text):,} characters)")
    lines = list(_lines(_without_comments(text).removeprefix("\ufeff")))
    if len(lines) > _MAX_LINES:
        raise InputError(path, f"is too long for a script ({len(lines):,} lines)")
    steps: list[TextStep] = []
    for line in _mark_steps(lines):
        if line.kind == "step":
            steps.append(_step(line, path))
        elif not steps:
            raise InputError(path, f"there is no step above {line.text[:40]!r}", line.number)
        elif line.kind == "also":
            above = steps[-1]
            steps[-1] = replace(
                above,
                written=", ".join(filter(None, (above.written, line.text))),
                also=(*above.also, *phrases_of(line.text)),
                more=above.more or _MORE.search(line.text) is not None,
            )
        else:
            steps[-1] = replace(steps[-1], joins=(*steps[-1].joins, _label(line.text)[0]))
        if steps and len(steps[-1].also) + len(steps[-1].joins) > MAX_PHRASES:
            reason = f"more than {MAX_PHRASES} acts below the step {steps[-1].label!r}"
            raise InputError(path, reason, line.number)
    if not steps:
        raise InputError(path, "has no steps; write one per line")
    if len(steps) > MAX_STEPS:
        reason = f"has {len(steps)} steps; a script has at most {MAX_STEPS}"
        raise InputError(path, reason, steps[MAX_STEPS].line)
    return tuple(_with_distinct_labels([replace(steps[0], alternative=False), *steps[1:]]))


def act_names(mentions: Sequence[Mention]) -> dict[str, set[Act]]:
    """The acts of some mentions by name, most frequent first.

    The name of an act is its most frequent phrase; several acts may have the same.
    """
    phrases: dict[Act, Counter[str]] = {}
    for mention in mentions:
        phrases.setdefault(act_of(mention), Counter())[mention.phrase] += 1
    names: dict[str, set[Act]] = {}
    for act in sorted(phrases, key=lambda act: (-phrases[act].total(), act)):
        counts = phrases[act]
        usual = min(counts, key=lambda phrase: (-counts[phrase], len(phrase), phrase))
        names.setdefault(as_listed(usual), set()).add(act)
    return names


def as_listed(phrase: str) -> str:
    """A phrase as it is written after ``also:``."""
    return " ".join(_one_line(phrase).replace(",", " ").split())


def key_of_phrase(text: str) -> str:
    """Normalise a phrase: without case, determiners and punctuation."""
    return " ".join(w for w in _WORD.findall(text.casefold()) if w not in _DETERMINERS)


def also_text(step: Step) -> str:
    """What follows ``also:`` below a step: what a person wrote, or the acts that narrators name."""
    if step.also is not None:
        return _one_line(step.also)
    names = list(act_names(step.mentions))
    more = f" and {len(names) - SHOWN_ACTS} more" if len(names) > SHOWN_ACTS else ""
    return ", ".join(names[:SHOWN_ACTS]) + more


class _Line(NamedTuple):
    """A non-blank line with its kind, indentation, text and number."""

    kind: str  # item, join, also, heading or plain; step after _mark_steps
    indent: int
    text: str
    number: int


def _lines(text: str) -> Iterator[_Line]:
    """Split a page into lines and classify them; rules, fences and tables are dropped."""
    for number, raw in enumerate(re.split(r"\r\n|[\n\r\u2028\u2029]", text), 1):
        line = raw[:_MAX_LINE].expandtabs(4)
        while (bare := line.lstrip()).startswith(">"):  # quoted
            line = bare[1:]
        bare = _plain(bare)
        indent = len(line) - len(line.lstrip())
        is_ruled = _RULE.fullmatch(bare) or bare.startswith(("```", "~~~", "|"))
        if is_ruled or _CHOICE.fullmatch(bare):
            continue
        if found := _HEADING.fullmatch(bare):
            yield _Line("heading", 0, found["text"], number)
        elif found := _ALSO.fullmatch(bare.removeprefix("- ").strip("*_ ")):
            yield _Line("also", indent, found["text"], number)
        elif found := _JOIN.fullmatch(bare):
            yield _Line("join", indent, found["text"], number)
        elif found := _ITEM.fullmatch(bare):
            inner = _ALSO.fullmatch(found["text"])
            kind, rest = ("also", inner["text"]) if inner else ("item", found["text"])
            yield _Line(kind, indent, rest, number)
        else:
            yield _Line("plain", indent, bare, number)


def _mark_steps(lines: Sequence[_Line]) -> Iterator[_Line]:
    """The relevant lines, with kind "step" for those that are steps.

    Steps are the list items with the least indentation; deeper ones are details. Without items, the
    headings below the title are the steps, and without headings all lines.
    """
    content = (x for x in lines if x.kind != "heading" and not x.text.endswith(":"))
    if (first := next(content, None)) and first.kind == "join":  # "+" is the bullet of the list
        lines = [line._replace(kind="item") if line.kind == "join" else line for line in lines]
    items = [line for line in lines if line.kind == "item"]
    left = min((line.indent for line in items), default=0)
    headings = [line for line in lines if line.kind == "heading"]
    in_list = False
    for index, line in enumerate(lines):
        if line.kind in {"also", "join"}:
            yield line
        elif items:
            is_item = line.kind == "item" and line.indent <= left + 1
            is_plain = line.kind == "plain" and in_list
            is_added = is_plain and line.indent <= left and _is_step(line.text)
            if is_item or is_added or (is_plain and _OR.fullmatch(line.text)):
                in_list = True
                yield line._replace(kind="step")
        elif len(headings) > 1:
            if line.kind == "heading" and index > 0:
                yield line._replace(kind="step")
        elif line.kind == "plain":
            yield line._replace(kind="step")


def _is_step(text: str) -> bool:
    """Whether a plain line within a list is a step that was added without a number or bullet."""
    is_prose = len(text.split()) > _PROSE_WORDS or text.endswith(":")
    return not (is_prose or _SECTION.fullmatch(text))


def _step(line: _Line, path: Path) -> TextStep:
    label, optional, alternative = _label(line.text)
    if not any(map(str.isalpha, key_of_phrase(label))):
        raise InputError(path, f"there are no words in the step {line.text[:40]!r}", line.number)
    if len(label) > MAX_LABEL:
        reason = f"a step of {len(label):,} characters; a label has at most {MAX_LABEL}"
        raise InputError(path, reason, line.number)
    return TextStep(label, optional, alternative, line=line.number)


def _label(text: str) -> tuple[str, bool, bool]:
    """The label of a step, whether it is optional, and whether it is an alternative."""
    found = _OR.fullmatch(text)
    alternative, text = (True, found["text"]) if found else (False, text)
    text, n_after = _OPTIONAL_AFTER.subn("", text)
    text, n_before = _OPTIONAL_BEFORE.subn("", text)
    bold = _BOLD.match(text)
    if bold and len(text.split()) > _PROSE_WORDS:
        text = bold["text"]
    text = " ".join(_BOLD.sub(r"\g<text>", text).strip("*_` ").split())
    if len(text.split()) > _PROSE_WORDS:
        text = _SENTENCE.split(text, maxsplit=1)[0]
    return text.rstrip(" .;:,"), n_after + n_before > 0, alternative


def phrases_of(text: str) -> list[str]:
    """The phrases in what follows ``also:``."""
    parts = _MORE.sub("", text).split(",")
    return [phrase for part in parts if key_of_phrase(phrase := part.strip())]


def _with_distinct_labels(steps: Sequence[TextStep]) -> Iterator[TextStep]:
    """A repeated label gets "again", as in script discovery."""
    used: set[str] = set()
    for step in steps:
        label = step.label
        while label.casefold() in used:
            label = f"{label} again"
        used.add(label.casefold())
        yield replace(step, label=label)


def _plain(text: str) -> str:
    """A line without invisible characters and links, with single spaces."""
    return " ".join(_LINK.sub(r"\1", _INVISIBLE.sub("", printable(text))).split())


def _one_line(text: str) -> str:
    return " ".join(printable(text).replace("<!--", "").replace("-->", "").split())
