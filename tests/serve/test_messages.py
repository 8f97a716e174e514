"""Messages for the page name files, but no folders of this machine."""

from pathlib import Path

import pytest

from howsteps.serve.session import without_folders

WORK = Path("/home/me/my jobs/tea")


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (f"cannot write {WORK}/edits.jsonl: full", "cannot write edits.jsonl: full"),
        (f"{WORK}/model/a.npz:3: is damaged", "model/a.npz:3: is damaged"),
        (f"{WORK}: has no model", "the work folder: has no model"),
        ("cannot read '/home/me/My Videos/a b.mp4'", "cannot read 'a b.mp4'"),
        ("copy /home/me/a.mp4 to /media/usb/b.mp4", "copy a.mp4 to b.mp4"),
        (r"cannot write C:\Users\me\a.srt", "cannot write a.srt"),
        ("words and/or frames, 3 / 4, https://a.example/b/c", None),
    ],
)
def test_folders_are_removed(message, shown) -> None:
    assert without_folders(message, WORK) == (shown or message)
