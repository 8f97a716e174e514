"""Edits are on disk before they take effect, and are replayed."""

import errno
import json
import os
import resource
import signal
import time
from dataclasses import replace

import pytest

from howsteps.errors import CannotWrite, InputError
from howsteps.serve.changes import Change
from howsteps.serve.edits import FILE, MAX_STEPS, Journal, Refused, summary
from howsteps.store import converted, read_result
from tests.report.job import tea

RENAME = {"op": "rename", "step": 0, "label": "begin"}
DELETE = {"op": "delete", "step": 1}


@pytest.fixture
def result(work):
    return read_result(work)


@pytest.fixture
def journal(work, result):
    return Journal.resume(work, result)


def change(journal: Journal, **told: object) -> None:
    """Change what the page tells, as one JSON object."""
    journal.change(converted(told, Change))


def labels(journal: Journal) -> list[str]:
    return [step.label for step in journal.history.draft.steps]


def test_edits_are_replayed_after_a_crash(work, result, journal) -> None:
    change(journal, do=RENAME)
    change(journal, do=DELETE)
    again = Journal.resume(work, result)
    assert labels(again) == labels(journal) != [step.label for step in result.script.steps]
    assert (again.history.revision, again.history.placed) == (2, 0)


def test_undo_and_redo_are_replayed_too(work, result, journal) -> None:
    change(journal, do=RENAME)
    change(journal, do=DELETE)
    change(journal, undo=True)
    change(journal, undo=True)
    change(journal, redo=True)
    again = Journal.resume(work, result)
    assert labels(again)[0] == "begin"
    assert len(labels(again)) == 5
    change(again, redo=True)
    assert len(labels(again)) == 4
    with pytest.raises(Refused, match="nothing to redo"):
        change(again, redo=True)


def moved(step: int, to: int) -> dict[str, object]:
    return {"op": "move", "step": step, "to": to}


def placed(time: float, step: int = 0) -> dict[str, object]:
    return {"op": "place", "step": step, "video": "Bo", "time": time, "start": 0.0, "end": 60.0}


def test_a_key_pressed_five_times_is_one_edit(work, result, journal) -> None:
    before = labels(journal)
    change(journal, do=moved(0, 1))
    for to in (2, 3, 4):
        change(journal, again=moved(0, to))
    assert labels(journal) == [*before[1:], before[0]]
    again = Journal.resume(work, result)
    assert (labels(again), again.history.n_done) == (labels(journal), 1)
    change(again, undo=True)
    assert labels(again) == before
    change(again, redo=True)
    assert labels(again) == [*before[1:], before[0]]


@pytest.mark.parametrize(
    "edit",
    [RENAME, moved(0, 2), placed(30.0, step=1), {**placed(30.0), "video": "Ada"}],
)
def test_only_the_same_edit_is_made_again(edit, journal) -> None:
    with pytest.raises(Refused, match="does not repeat"):
        change(journal, again=edit)
    change(journal, do=placed(20.0))
    with pytest.raises(Refused, match="does not repeat"):
        change(journal, again=edit)
    change(journal, again=placed(21.0))
    assert [each.time for each in journal.history.draft.by_hand] == [21.0]


def test_the_next_undo_is_named(journal) -> None:
    assert journal.history.next_undo is None
    change(journal, do=RENAME)
    assert summary(journal.history.next_undo) == {"op": "rename", "step": 0}


def test_a_new_edit_clears_redo(journal) -> None:
    change(journal, do=RENAME)
    change(journal, undo=True)
    change(journal, do=DELETE)
    assert journal.history.next_redo is None


@pytest.mark.parametrize("torn", [b'{"do": {"op": "del', b'{"do":\n', b"\x00\x00\x00", b"{"])
def test_an_incomplete_last_line_is_dropped(work, result, torn, journal) -> None:
    change(journal, do=RENAME)
    whole = (work / FILE).read_bytes()
    (work / FILE).write_bytes(whole + torn)
    again = Journal.resume(work, result)
    assert labels(again)[0] == "begin"
    assert (work / FILE).read_bytes() == whole
    change(again, do=DELETE)
    assert len(labels(Journal.resume(work, result))) == 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("what?", "is not a valid line of a journal"),
        ('{"do":{"op":"rename","step":0,"label":"be\\ud800gin"}}', "not a valid line"),
        (json.dumps({"do": placed(1.0)}).replace("1.0", "9" * 400), "do.time: number out of range"),
        ('{"undo":true}', "there is nothing to undo"),
        ('{"redo":true}', "there is nothing to redo"),
    ],
)
def test_an_invalid_line_is_reported_and_nothing_is_lost(work, result, line, reason) -> None:
    Journal.resume(work, result)
    with (work / FILE).open("a") as file:
        file.write(f'{line}\n{{"do":{json.dumps(DELETE)}}}\n')
    before = (work / FILE).read_bytes()
    with pytest.raises(InputError, match=rf"edits\.jsonl:2: .*{reason}"):
        Journal.resume(work, result)
    assert (work / FILE).read_bytes() == before


def test_a_refused_edit_writes_nothing(work, journal) -> None:
    before = (work / FILE).read_bytes()
    with pytest.raises(Refused):
        change(journal, do={"op": "delete", "step": 77})
    with pytest.raises(Refused, match="nothing to undo"):
        change(journal, undo=True)
    with pytest.raises(ValueError, match="invalid value 'gather'"):
        change(journal, do={"op": "gather", "step": 0, "mentions": []})
    assert (work / FILE).read_bytes() == before


def test_a_full_disk_leaves_no_part_of_a_line(work, result, journal) -> None:
    change(journal, do=RENAME)
    before = (work / FILE).read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
    try:
        with pytest.raises(CannotWrite, match=r"cannot write edits\.jsonl"):
            change(journal, do=DELETE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (work / FILE).read_bytes() == before
    assert journal.history.revision == 1
    change(journal, do=DELETE)
    assert labels(Journal.resume(work, result)) == labels(journal)


def test_a_line_that_was_not_synced_is_removed(work, monkeypatch, journal) -> None:
    before = (work / FILE).read_bytes()

    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(CannotWrite):
            change(journal, do=RENAME)
    assert (work / FILE).read_bytes() == before


def test_the_journal_of_other_narrations_is_renamed(work, result) -> None:
    change(Journal.resume(work, result), do=RENAME)
    other = tea(6, 5)
    journal = Journal.resume(work, other)
    assert labels(journal) == [step.label for step in other.script.steps]
    assert b"begin" in (work / "edits-1.jsonl").read_bytes()
    assert journal.kept == Journal.resume(work, other).kept == "edits-1.jsonl"


def test_a_newer_script_of_another_command_is_an_edit(work, result, journal) -> None:
    change(journal, do=RENAME)
    ours = replace(result, script=replace(result.script, steps=journal.history.draft.steps))
    journal.place(1, ours)
    assert labels(Journal.resume(work, ours)) == labels(journal)
    other = replace(result, script=replace(result.script, steps=result.script.steps[2:]))
    again = Journal.resume(work, other)
    assert len(labels(again)) == 3
    assert again.history.placed == again.history.revision
    assert summary(again.history.next_undo) == {"op": "write"}
    change(again, undo=True)
    assert labels(again) == labels(journal)
    change(again, undo=True)
    assert labels(again) == [step.label for step in result.script.steps]
    assert len(labels(Journal.resume(work, result))) == 5


def test_gathered_mentions_are_undone_with_their_step(work, result, journal) -> None:
    change(journal, do={"op": "delete", "step": 1})
    change(journal, do={"op": "add", "at": 1, "label": "heat the water"})
    steps = list(journal.history.draft.steps)
    steps[1] = replace(steps[1], mentions=result.script.steps[1].mentions)
    found = replace(result, script=replace(result.script, steps=tuple(steps)))
    journal.place(2, found)
    assert journal.history.draft.steps[1].mentions
    again = Journal.resume(work, found)
    assert again.history.draft.steps[1].mentions
    change(again, undo=True)
    assert len(again.history.draft.steps) == 4


def test_an_edit_is_repeated_after_mentions_were_gathered(result, journal) -> None:
    change(journal, do={"op": "delete", "step": 1})
    change(journal, do={"op": "add", "at": 1, "label": "heat the water"})
    nudge = {"op": "place", "step": 0, "video": "Bo", "time": 4.0, "start": 2.0, "end": 8.0}
    change(journal, do=nudge)
    steps = list(journal.history.draft.steps)
    steps[1] = replace(steps[1], mentions=result.script.steps[1].mentions)
    by_hand = journal.history.draft.by_hand
    script = replace(result.script, steps=tuple(steps))
    journal.place(3, replace(result, script=script, localisations=by_hand))
    change(journal, again={**nudge, "time": 5.0})
    assert [place.time for place in journal.history.draft.by_hand] == [5.0]
    change(journal, undo=True)
    assert not journal.history.draft.by_hand


def test_the_limit_of_edits_survives_a_restart_unless_the_journal_is_moved(
    work, result, monkeypatch
) -> None:
    monkeypatch.setattr("howsteps.serve.edits._MAX_EDITS", 1)
    change(Journal.resume(work, result), do=RENAME)
    restarted = Journal.resume(work, result)
    with pytest.raises(Refused, match=r"move edits\.jsonl away"):
        change(restarted, do=DELETE)
    restarted.path.unlink()
    change(Journal.resume(work, result), do=DELETE)


def test_a_journal_of_another_program_is_not_written_to(work, journal) -> None:
    change(journal, do=RENAME)
    for content in (b"short\n", (work / FILE).read_bytes().replace(b"begin", b"start")):
        (work / FILE).write_bytes(content)
        with pytest.raises(CannotWrite, match="changed by another program"):
            change(journal, do=DELETE)
        assert (work / FILE).read_bytes() == content
    assert journal.history.revision == 1


def test_a_journal_that_became_a_link_is_not_written_to(work, tmp_path, journal) -> None:
    (tmp_path / "mine.txt").write_bytes(b"mine")
    (work / FILE).unlink()
    (work / FILE).symlink_to(tmp_path / "mine.txt")
    with pytest.raises(CannotWrite):
        change(journal, do=RENAME)
    assert (tmp_path / "mine.txt").read_bytes() == b"mine"


def test_thousands_of_edits_and_undos_are_replayed_in_linear_time(work, result) -> None:
    Journal.resume(work, result)
    lines = [{"do": {**RENAME, "label": f"begin {n}"}} for n in range(2000)] + [
        {"undo": True}
    ] * 1000
    with (work / FILE).open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    start = time.perf_counter()
    journal = Journal.resume(work, result)
    assert time.perf_counter() - start < 2.0
    assert (journal.history.revision, labels(journal)[0]) == (3000, "begin 999")


def test_a_script_never_has_more_steps_than_the_page_accepts(work, result, journal) -> None:
    for n in range(MAX_STEPS - 5):
        change(journal, do={"op": "add", "at": 0, "label": f"step {n}"})
    with pytest.raises(Refused, match="100 steps at most"):
        change(journal, do={"op": "add", "at": 0, "label": "one more"})
    first = json.loads((work / FILE).read_bytes().splitlines()[0])
    first["start"]["base"]["steps"] *= 100
    (work / FILE).write_text(json.dumps(first) + "\n")
    with pytest.raises(InputError, match=r"edits\.jsonl:1: .*500 steps; a script has 100 at most"):
        Journal.resume(work, result)
