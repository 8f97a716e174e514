"""Labels and text as shown on the page, in figures and in exports."""

import re
from html import escape

from howsteps.task import Step

# Characters with a meaning in Markdown inside a line, and at the end of a heading.
_SPECIAL = re.compile(r"[\\`*_\[\]~]|#+$")
# What would start a heading or a list at the start of a line.
_LINE_START = re.compile(r"^(?:(\d+)(?=[.)])|(?=[#+-]))")


def capitalised(text: str) -> str:
    """Text with a capital first letter, as labels and titles are shown."""
    return text[:1].upper() + text[1:]


def title_of(task: str) -> str:
    """The name of a task as a title: folders are often named like ``fix_a_flat_tire``."""
    return capitalised(task if " " in task else task.replace("_", " ").strip())


def one_line(text: str) -> str:
    """Text without line breaks and other control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()) or "step"


def step_label(step: Step) -> str:
    """The label of a step, in one line."""
    return capitalised(one_line(step.label))


def markdown(text: str) -> str:
    """Escape text as one line of Markdown.

    HTML characters become entities, because not every Markdown parser accepts a backslash there.
    """
    return escape(_SPECIAL.sub(r"\\\g<0>", one_line(text)), quote=False)


def markdown_line(text: str) -> str:
    """The same at the start of a line, where a number or a hyphen could start a list."""
    return _LINE_START.sub(r"\1\\", markdown(text))
