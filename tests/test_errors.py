"""Messages with untrusted text do no harm to a terminal or a log."""

from pathlib import Path

import pytest

from howsteps.errors import InputError, Problem, shown


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Räder – 轮", "Räder – 轮"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb", "a\\nb"),
        ("\udcff.srt", "\\udcff.srt"),
        ("gpj.\u202efdp", "gpj.\\u202efdp"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_control_characters_are_escaped(text, line):
    assert shown(text) == line
    assert str(Problem(Path(text), "is empty")) == f"{line}: is empty"
    assert str(InputError(Path(text), "is empty", 3)) == f"{line}:3: is empty"
