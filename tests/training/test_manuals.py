from training.manuals import paragraphs, read_manuals

MALLARD = """<page xmlns="http://projectmallard.org/1.0/"><info><desc>Not this one.</desc></info>
<title>Change the  battery</title>
<steps><item><p>Open the <gui>lid</gui>,
  then it’s out.</p></item></steps><p>Too short</p>
<code>sudo do not read</code><p>Type <code>ls</code> and press the key.</p></page>"""
HTML = """<html><head><title>Help of the program</title></head><body><h1>Moving a picture frame</h1>
<p class="p">Drag the frame.<br>Let go.</p><table><tr><td><p>In a table cell</p></td></tr></table>
<footer><p>This page is elsewhere</p></footer></body></html>"""


def test_paragraphs_of_mallard():
    assert paragraphs(MALLARD) == [
        "Change the battery",
        "Open the lid, then it's out.",
        "Type and press the key.",
    ]


def test_paragraphs_of_html():
    assert paragraphs(HTML) == ["Moving a picture frame", "Drag the frame. Let go."]


def test_manuals_are_read_from_their_folders_and_nothing_twice(tmp_path):
    for place, page in {
        "C/help/battery.page": MALLARD,
        "de/help/battery.page": MALLARD,
        "text/guide/again.html": MALLARD,
        "text/guide/frame.html": HTML,
        "text/guide/notes.txt": MALLARD,
    }.items():
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, "utf-8")
    found = dict(read_manuals(tmp_path))
    assert list(found) == ["manual/C/help/battery", "manual/text/guide/frame"]
    assert found["manual/text/guide/frame"] == paragraphs(HTML)
