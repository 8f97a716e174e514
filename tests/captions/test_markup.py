"""Markup is taken off; what only looks like markup stays."""

import pytest

from howsteps.captions.markup import plain


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("<i>lift</i> <b>it</b>", "lift it"),
        ('<font color="#fff">lift</font>', "lift"),
        ("<c.colorE5E5E5>lift</c>", "lift"),
        ("lift<00:00:01.000> it", "lift it"),
        (r"{\an8}{\i1}lift{\i0}", "lift"),
        (r"lift\Nit", "lift\nit"),
        ("salt &amp; pepper &#39;n&#x27; oil&nbsp;&lt;hot&gt;", "salt & pepper 'n' oil\xa0<hot>"),
        ("\u200bzero\u200b width\ufeff soft\u00adhyphen", "zero width softhyphen"),
        ("3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
        ("I <3 it", "I <3 it"),
        ("AT&T; {curly} &unknown;", "AT&T; {curly} &unknown;"),
    ],
)
def test_plain(text: str, seen: str) -> None:
    assert plain(text) == seen
