"""The form of the strict editor: what is asked, and how the answers are counted."""

import re
from random import Random

import pytest

from benchmarks.strict import ask, count

SCRIPTS = {"boil an egg": {"new": ["boil the water", "peel the egg"], "old": ["boil it"]}}


def filled(form: str, key: dict[str, dict[str, str]]) -> str:
    """Keep the steps of the new version; drop those of the old one as meaningless."""
    lines = []
    for line in form.splitlines():
        version = key["boil an egg"].get(line[2:3], "") if line.startswith("? ") else ""
        mark = {"new": f"k{line[1:]}", "old": f"d{line[1:]} | meaningless"}
        lines.append(mark.get(version, line))
    return "\n".join(lines)


def test_the_form_hides_the_versions_and_its_answers_are_counted() -> None:
    form, key = ask(SCRIPTS, Random(0))
    assert "new" not in form.partition("# boil an egg")[2]
    letter = next(letter for letter, name in key["boil an egg"].items() if name == "old")
    answered = filled(form, key).replace(f"missing {letter}:", f"missing {letter}: peel; rinse")
    answered = re.sub(r"(?m)^(missing [A-Z]:) *$", r"\1 nothing", answered)
    rows = count(answered, key).splitlines()
    assert rows[1].split() == ["new", "2", "1.00", "0.00", "0.00", "0.0"]
    assert rows[2].split() == ["old", "1", "0.00", "0.00", "1.00", "2.0", "meaningless", "1"]


def test_a_form_that_is_not_filled_in_is_refused() -> None:
    form, key = ask(SCRIPTS, Random(0))
    with pytest.raises(SystemExit, match="not judged yet"):
        count(form, key)
