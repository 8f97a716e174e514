"""Edits are placed again, and survive crashes."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from howsteps._cli.app import INTERRUPTED
from howsteps.errors import CannotWrite, HowstepsError
from howsteps.pipeline import placing
from howsteps.report.page import PAGE
from howsteps.serve.edits import FILE, Refused
from howsteps.serve.session import LOCK, Session, without_folders
from howsteps.store import read_result
from howsteps.task import BY_HAND
from tests.report.job import tea

from .conftest import connected, edit, write_work

RENAME = {"op": "rename", "step": 0, "label": "begin"}
PLACE = {"op": "place", "step": 1, "video": "Bo", "time": 40.0, "start": 38.0, "end": 44.0}


def labels(work: Path) -> list[str]:
    return [step.label for step in read_result(work).script.steps]


def test_an_edit_is_placed_and_all_files_are_updated(session, work) -> None:
    edit(session, 0, {"do": RENAME})
    edit(session, 1, {"do": {"op": "delete", "step": 3}})
    assert session.wait_until_placed(60)
    assert labels(work)[0] == "begin"
    assert len(labels(work)) == 4
    assert "Begin" in (work / PAGE).read_text("utf-8")
    assert "Begin" in (work / "exports" / "csv" / "steps.csv").read_text("utf-8")
    told = session.status()
    assert (told["placed"], told["error"]) == (2, "")
    assert (told["undo"], told["redo"]) == ({"op": "delete", "step": 3}, None)


def test_a_place_moved_by_hand_is_sure_and_stays(session, work) -> None:
    edit(session, 0, {"do": PLACE})
    edit(session, 1, {"do": {"op": "delete", "step": 0}})
    assert session.wait_until_placed(60)
    [one] = [p for p in read_result(work).localisations if p.evidence == BY_HAND]
    assert (one.video, one.step, one.time, one.confidence) == ("Bo", 0, 40.0, 1.0)
    edit(session, 2, {"undo": True})
    edit(session, 3, {"undo": True})
    assert session.wait_until_placed(60)
    assert not [p for p in read_result(work).localisations if p.evidence == BY_HAND]


def test_an_added_step_is_matched_with_mentions(session, work) -> None:
    said = read_result(work).script.steps[1].mentions
    edit(session, 0, {"do": {"op": "delete", "step": 1}})
    edit(session, 1, {"do": {"op": "add", "at": 1, "label": "boil water"}})
    assert session.wait_until_placed(60)
    assert set(read_result(work).script.steps[1].mentions) == set(said)
    chosen = [[m.video, _place(work, m)] for m in said[:1]]
    split = {"op": "split", "step": 1, "label": "heat it", "mentions": chosen}
    edit(session, 2, {"do": split})  # what was matched is its own now
    assert session.wait_until_placed(60)
    assert read_result(work).script.steps[2].mentions == said[:1]


def _place(work: Path, mention) -> int:
    [video] = [v for v in read_result(work).task.videos if v.id == mention.video]
    return video.mentions.index(mention)


def test_a_script_without_steps_is_not_placed(session) -> None:
    for revision in range(5):
        edit(session, revision, {"do": {"op": "delete", "step": 0}})
    assert session.wait_until_placed(60)
    assert "without steps" in session.status()["error"]
    edit(session, 5, {"undo": True})
    assert session.wait_until_placed(60)
    assert session.status()["error"] == ""


def test_the_content_is_the_script_as_it_is_edited_before_it_is_placed(work) -> None:
    session = Session(work)
    before = session.content()["videos"][0]["places"]
    edit(session, 0, {"do": {"op": "merge", "step": 0, "into": 1}})
    content = session.content()
    session.stop()
    assert (content["revision"], len(content["steps"])) == (1, 4)
    assert content["videos"][0]["places"] == [None, *before[2:]]


def test_a_result_of_another_program_is_not_replaced(session, work) -> None:
    edit(session, 0, {"do": RENAME})
    assert session.wait_until_placed(60)
    write_work(work, tea(5, 3))
    with pytest.raises(Refused, match="changed by another program; reload the page"):
        edit(session, 1, {"do": {"op": "delete", "step": 4}})
    assert (len(labels(work)), len(session.content()["steps"])) == (3, 3)
    assert b"begin" in (work / "edits-1.jsonl").read_bytes()
    edit(session, 0, {"do": {"op": "delete", "step": 2}})
    assert session.wait_until_placed(60)
    assert session.status()["error"] == ""
    assert len(labels(work)) == 2


def test_a_run_with_the_steps_of_the_page_leaves_them_to_undo(session, work) -> None:
    edit(session, 0, {"do": RENAME})
    assert session.wait_until_placed(60)
    write_work(work, replace(read_result(work), localisations=()))
    with pytest.raises(Refused, match="changed by another program; reload the page"):
        edit(session, 1, {"undo": True})
    assert session.content()["revision"] == 1
    edit(session, 1, {"undo": True})
    assert session.wait_until_placed(60)
    assert labels(work)[0] != "begin"
    assert not (work / "edits-1.jsonl").exists()


def test_a_waiting_edit_does_not_replace_the_result_of_another_program(work) -> None:
    session = Session(work)
    edit(session, 0, {"do": RENAME})
    write_work(work, tea(5, 3))
    session.start()
    assert session.wait_until_placed(60)
    assert "changed by another program" in session.status()["error"]
    session.stop()
    assert len(labels(work)) == 3
    assert b"begin" in (work / "edits-1.jsonl").read_bytes()


def test_a_result_that_a_run_writes_during_placement_is_not_replaced(
    session, work, monkeypatch
) -> None:
    localise = placing.stages.localise

    def overtaken(*args: Any) -> Any:
        found = localise(*args)
        write_work(work, tea(5, 3))
        return found

    assert session.wait_until_placed(60)
    monkeypatch.setattr(placing.stages, "localise", overtaken)
    edit(session, 0, {"do": RENAME})
    assert session.wait_until_placed(60)
    assert "changed by another program" in session.status()["error"]
    assert (len(labels(work)), len(session.content()["steps"])) == (3, 3)
    assert b"begin" in (work / "edits-1.jsonl").read_bytes()
    assert not (work / "script.md").exists()  # nothing of the edit was written


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_only_a_regular_file_is_used_as_a_lock(work, tmp_path, kind) -> None:
    target = tmp_path / "mine.txt"
    if kind == "link":
        target.write_text("mine")
        target.chmod(0o644)
    if "link" in kind:
        (work / LOCK).symlink_to(target)
    elif kind == "pipe":
        os.mkfifo(work / LOCK)
    else:
        (work / LOCK).mkdir()
    with pytest.raises(CannotWrite, match=r"cannot write .*\.serve\.lock: ") as told:
        Session(work)
    assert "\n" not in str(told.value)
    assert target.exists() == (kind == "link")
    if kind == "link":
        assert target.stat().st_mode & 0o777 == 0o644


def test_a_result_that_was_removed_is_reported(session, work) -> None:
    assert session.wait_until_placed(60)
    (work / "result.json").unlink()
    with pytest.raises(HowstepsError, match=r"result\.json: no such file"):
        edit(session, 0, {"do": RENAME})


def test_a_folder_is_served_once(session, work) -> None:
    with pytest.raises(CannotWrite, match="served already"):
        Session(work)


def test_a_folder_without_a_result_is_refused(tmp_path) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(HowstepsError, match="is not a work folder of howsteps"):
            Session(folder)
    assert not list(tmp_path.iterdir())
    (file := tmp_path / "steps.txt").write_text("x")
    with pytest.raises(HowstepsError, match="is a file, not a folder"):
        Session(file)


@pytest.mark.slow
def test_kill_9_between_edit_and_placement_loses_nothing(work) -> None:
    """The server is killed right after it acknowledged an edit; the next one places it."""
    program = f"""
import os, signal, sys
from pathlib import Path
from howsteps.serve.session import Session
from tests.serve.conftest import edit
session = Session(Path({str(work)!r}))
session._place = lambda: os.kill(os.getpid(), signal.SIGKILL)
edit(session, 0, {{"do": {RENAME!r}}})
print("answered", flush=True)
session.start()
import time; time.sleep(60)
"""
    killed = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert killed.stdout == "answered\n"
    assert labels(work)[0] != "begin"
    again = Session(work)
    assert again.status()["revision"] == 1
    again.start()
    assert again.wait_until_placed(60)
    again.stop()
    assert labels(work)[0] == "begin"


def test_ctrl_c_stops_the_server_and_leaves_the_edits(work) -> None:
    # What a shell starts in the background is deaf to Ctrl-C, and so are the tests that it starts.
    attentive = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = f"{attentive}; from howsteps._cli.app import main; main()"
    arguments = ["serve", str(work), "--no-browser"]
    running = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    said = running.stdout.readline()
    address = urlsplit(said.split()[-1])
    # As of a page that is open: the connection stays.
    with connected((address.hostname, address.port)) as page:
        page.sendall(f"GET / HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        assert page.recv(1)
        running.send_signal(signal.SIGINT)
        _, complaint = running.communicate(timeout=30)
    assert running.returncode == INTERRUPTED
    assert complaint.strip() == "howsteps: stopped by Ctrl-C"
    Session(work).stop()  # the folder is free, or this would be refused
    assert json.loads((work / FILE).read_text().splitlines()[0])["start"]["by_hand"] == []


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


DROP, KEEP = {"op": "drop", "video": "Bo"}, {"op": "keep", "video": "Bo"}


def test_a_video_is_left_out_and_undo_brings_it_back(session, work) -> None:
    before = read_result(work)
    edit(session, 0, {"do": PLACE})
    edit(session, 1, {"do": DROP})
    assert session.wait_until_placed(60)
    found = read_result(work)
    assert "Bo" not in found.by_video
    assert [each.video for each in found.set_aside] == ["Bo"]
    assert "drop: Bo" in (work / "script.md").read_text("utf-8")
    assert "Bo" not in {video["id"] for video in session.content()["videos"]}
    assert (session.status()["renewals"], session.status()["undo"]) == (1, DROP)
    edit(session, 2, {"undo": True})
    assert session.wait_until_placed(60)
    after = read_result(work)
    assert [step.mentions for step in after.steps] == [step.mentions for step in before.steps]
    assert [p.video for p in after.localisations if p.evidence == BY_HAND] == ["Bo"]
    assert (after.set_aside, session.status()["renewals"]) == ((), 2)
    edit(session, 3, {"redo": True})
    assert session.wait_until_placed(60)
    assert "Bo" not in read_result(work).by_video


def test_leaving_out_is_undone_after_a_restart_and_edits_go_on(work) -> None:
    first = Session(work)
    first.start()
    edit(first, 0, {"do": RENAME})
    edit(first, 1, {"do": DROP})
    edit(first, 2, {"do": {"op": "delete", "step": 3}})
    assert first.wait_until_placed(60)
    first.stop()
    second = Session(work)
    second.start()
    for revision in (3, 4):
        edit(second, revision, {"undo": True})
    assert second.wait_until_placed(60)
    assert labels(work)[0] == "begin"
    assert "Bo" in read_result(work).by_video
    edit(second, 5, {"undo": True})
    assert second.wait_until_placed(60)
    second.stop()
    assert labels(work)[0] != "begin"


def test_a_video_that_was_set_aside_is_used_again_as_it_was(session, work) -> None:
    edit(session, 0, {"do": PLACE})
    assert session.wait_until_placed(60)
    before = read_result(work)
    edit(session, 1, {"do": DROP})
    assert session.wait_until_placed(60)
    assert "Bo" not in read_result(work).by_video
    edit(session, 2, {"do": KEEP})
    assert session.wait_until_placed(60)
    assert [p.video for p in before.localisations if p.evidence == BY_HAND] == ["Bo"]
    assert read_result(work) == before


def test_a_video_that_is_used_and_set_aside_is_in_the_result_once(work) -> None:
    """As two files of somebody else's folder may have it."""
    (work / "set-aside.json").write_bytes((work / "result.json").read_bytes())
    before = read_result(work)
    session = Session(work)
    session.start()
    edit(session, 0, {"do": DROP})
    edit(session, 1, {"do": KEEP})
    assert session.wait_until_placed(60)
    session.stop()
    assert read_result(work).by_video.keys() == before.by_video.keys()


def test_the_last_video_stays(session) -> None:
    people = [video["id"] for video in session.content()["videos"]]
    for revision, person in enumerate(people[:-1]):
        edit(session, revision, {"do": {"op": "drop", "video": person}})
    with pytest.raises(Refused, match="no video would be left"):
        edit(session, len(people) - 1, {"do": {"op": "drop", "video": people[-1]}})


def test_a_choice_of_a_video_in_another_result_is_forgotten(work) -> None:
    session = Session(work)
    edit(session, 0, {"do": DROP})
    write_work(work, tea(5, 3))
    session.start()
    assert session.wait_until_placed(60)
    assert "changed by another program" in session.status()["error"]
    edit(session, 0, {"do": RENAME})
    assert session.wait_until_placed(60)
    session.stop()
    assert "Bo" in read_result(work).by_video


@pytest.mark.parametrize("change", [KEEP, {**DROP, "video": "Zoe"}])
def test_only_a_known_video_is_chosen(session, change) -> None:
    with pytest.raises(Refused, match="there is no video"):
        edit(session, 0, {"do": change})


def typed(work: Path, *steps: str) -> None:
    lines = "".join(f"{n}. {step}\n" for n, step in enumerate(steps, 1))
    (work / "script.md").write_text(f"# Make a pot of tea\n\n{lines}", "utf-8")


def test_what_was_typed_into_the_script_is_placed_and_can_be_undone(work) -> None:
    before = labels(work)
    first = Session(work)
    first.start()
    edit(first, 0, {"do": RENAME})
    assert first.wait_until_placed(60)
    typed(work, "begin", "pour the tea")  # while it is served
    first._look()
    assert first.wait_until_placed(60)
    assert labels(work) == ["begin", "pour the tea"]
    assert first.status()["renewals"] == 1
    first.stop()
    typed(work, "pour the tea")  # before it is served
    second = Session(work)
    second.start()
    assert second.wait_until_placed(60)
    assert [step["label"] for step in second.content()["steps"]] == ["Pour the tea"]
    assert second.status()["undo"] == {"op": "write"}
    for revision in (3, 4, 5):
        edit(second, revision, {"undo": True})
    assert second.wait_until_placed(60)
    second.stop()
    assert labels(work) == before


def test_a_script_that_cannot_be_read_is_reported_and_stays(work) -> None:
    (work / "script.md").write_text("# Tea\n", "utf-8")
    session = Session(work)
    session.start()
    assert session.wait_until_placed(60)
    session.stop()
    assert "script.md" in session.status()["error"]
    assert (work / "script.md").read_text("utf-8") == "# Tea\n"


def test_after_a_run_with_new_videos_the_page_can_say_why_nothing_is_undone(work) -> None:
    first = Session(work)
    first.start()
    edit(first, 0, {"do": RENAME})
    assert first.wait_until_placed(60)
    assert first.status()["kept"] == ""
    first.stop()
    write_work(work, tea(6, 5))
    second = Session(work)
    told = second.status()
    second.stop()
    assert (told["undo"], told["kept"]) == (None, "edits-1.jsonl")
