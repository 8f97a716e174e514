"""Names and texts as they are shown: on the page, in figures and in exports alike."""

import re
from html import escape

from howsteps.task import Step

# What Markdown takes for its own inside a line, and at the end of a heading.
_INSIDE = re.compile(r"[\\`*_\[\]~]|#+$")
# Before what would open a heading or a list at the beginning of a line.
_BEGINNING = re.compile(r"^(?:(\d+)(?=[.)])|(?=[#+-]))")


def heading(text: str) -> str:
    """Text with a capital at its beginning, as steps and jobs are written everywhere."""
    return text[:1].upper() + text[1:]


def title_of(task: str) -> str:
    """The name of a job as a heading: folders are often called ``fix_a_flat_tire``."""
    return heading(task if " " in task else task.replace("_", " ").strip())


def one_line(text: str) -> str:
    """A text without line breaks and other signs that control something."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or "step"


def label_of(step: Step) -> str:
    """How a step is called, in one line."""
    return heading(one_line(step.label))


def markdown(text: str) -> str:
    """One line of Markdown that shows the text as it is.

    Signs of HTML are written as HTML has them: not every reader of Markdown knows a backslash
    before them.
    """
    return escape(_INSIDE.sub(r"\\\g<0>", one_line(text)), quote=False)


def markdown_line(text: str) -> str:
    """The same at the beginning of a line, where a number or a hyphen could open a list."""
    return _BEGINNING.sub(r"\1\\", markdown(text))
