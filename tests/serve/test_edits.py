"""The effect of each edit on a script, and invalid edits."""

from functools import reduce

import pytest

from howsteps.serve.changes import PageEdit
from howsteps.serve.edits import Refused, apply_edit, draft_of
from howsteps.store import converted
from howsteps.task import BY_HAND
from tests.report.job import tea, with_video

RESULT = tea(5, 5)
DRAFT = draft_of(RESULT)
LABELS = [step.label for step in DRAFT.steps]


def after_edits(draft, edits):
    """What is left of a draft after edits, as the page or (to gather) the server writes them."""
    told = [converted(edit, PageEdit) for edit in edits]
    return reduce(apply_edit, told, draft)


def labels(*edits) -> list[str]:
    return [step.label for step in after_edits(DRAFT, edits).steps]


def at(mention) -> list[object]:
    [video] = [v for v in RESULT.task.videos if v.id == mention.video]
    return [video.id, video.mentions.index(mention)]


ALL = [at(mention) for mention in DRAFT.steps[1].mentions]


def placed(step: int, time: float | None = 10.0, video: str = "Ada") -> dict[str, object]:
    spread = {"start": None, "end": None} if time is None else {"start": time - 2, "end": time + 4}
    return {"op": "place", "step": step, "video": video, "time": time, **spread}


def test_a_step_is_renamed_and_its_label_made_one_line() -> None:
    told = {"op": "rename", "step": 1, "label": "  heat\nthe   water\x07 "}
    assert labels(told) == [LABELS[0], "heat the water", *LABELS[2:]]


@pytest.mark.parametrize(("step", "to"), [(0, 4), (4, 0), (2, 2), (1, 3)])
def test_a_step_is_moved_to_its_new_number(step, to) -> None:
    moved = labels({"op": "move", "step": step, "to": to})
    assert moved[to] == LABELS[step]
    assert sorted(moved) == sorted(LABELS)
    rest = [label for label in LABELS if label != LABELS[step]]
    assert [label for label in moved if label != LABELS[step]] == rest


def test_a_merged_step_has_the_mentions_of_both() -> None:
    one, other = DRAFT.steps[1], DRAFT.steps[3]
    merged = after_edits(DRAFT, [{"op": "merge", "step": 3, "into": 1}])
    assert [step.label for step in merged.steps] == [*LABELS[:3], LABELS[4]]
    assert set(merged.steps[1].mentions) == {*one.mentions, *other.mentions}


def test_a_split_step_gives_the_chosen_mentions_to_a_new_one_after_it() -> None:
    chosen = DRAFT.steps[1].mentions[:2]
    told = {"op": "split", "step": 1, "label": "heat it", "mentions": [at(m) for m in chosen]}
    after = after_edits(DRAFT, [told])
    assert [step.label for step in after.steps[1:3]] == [LABELS[1], "heat it"]
    assert after.steps[2].mentions == chosen
    assert set(after.steps[1].mentions) == set(DRAFT.steps[1].mentions) - set(chosen)


def test_steps_are_deleted_added_and_marked() -> None:
    assert labels({"op": "delete", "step": 0}) == LABELS[1:]
    assert labels({"op": "add", "at": 5, "label": "rest"}) == [*LABELS, "rest"]
    told = {"op": "optional", "step": 2, "value": True}
    assert after_edits(DRAFT, [told]).steps[2].optional


def test_a_manual_place_moves_with_its_step() -> None:
    after = after_edits(DRAFT, [placed(2), {"op": "move", "step": 2, "to": 0}])
    [one] = after.by_hand
    assert (one.step, one.time, one.confidence, one.evidence) == (0, 10.0, 1.0, BY_HAND)
    after = after_edits(after, [{"op": "add", "at": 0, "label": "begin"}])
    assert after.by_hand[0].step == 1
    merged = after_edits(after, [{"op": "merge", "step": 1, "into": 4}])
    assert merged.by_hand[0].step == 3
    assert after_edits(after, [{"op": "delete", "step": 1}]).by_hand == ()


def test_a_merge_keeps_the_place_of_the_remaining_step() -> None:
    after = after_edits(
        DRAFT, [placed(1, 10.0), placed(3, 30.0), {"op": "merge", "step": 3, "into": 1}]
    )
    assert [(one.step, one.time) for one in after.by_hand] == [(1, 10.0)]


def test_a_step_can_be_marked_absent_and_released() -> None:
    after = after_edits(DRAFT, [placed(2, 10.0), placed(2, None)])
    assert [one.time for one in after.by_hand] == [None]
    assert after_edits(after, [{"op": "release", "step": 2, "video": "Ada"}]).by_hand == ()


def test_a_place_ends_with_its_video() -> None:
    length = RESULT.task.videos[0].duration
    [one] = after_edits(DRAFT, [placed(2, length + 0.004)]).by_hand
    assert (one.start, one.time, one.end) == (length - 1.996, length, length)


def test_a_video_of_unknown_duration_may_be_long() -> None:
    unknown = draft_of(with_video(RESULT, 0, duration=None))
    assert after_edits(unknown, [placed(2, 9000.0)]).by_hand[0].time == 9000.0


@pytest.mark.parametrize(
    "edit",
    [
        None,
        [],
        {},
        {"op": "explode"},
        {"op": ["rename"]},
        {"op": "rename", "step": 0},
        {"op": "rename", "step": 0, "label": "x", "more": 1},
        {"op": "rename", "step": 5, "label": "x"},
        {"op": "rename", "step": -1, "label": "x"},
        {"op": "rename", "step": True, "label": "x"},
        {"op": "rename", "step": "0", "label": "x"},
        {"op": "rename", "step": 0, "label": ""},
        {"op": "rename", "step": 0, "label": " \n\x00"},
        {"op": "rename", "step": 0, "label": "x" * 201},
        {"op": "rename", "step": 0, "label": 7},
        {"op": "rename", "step": 0, "label": LABELS[1].upper()},
        {"op": "merge", "step": 1, "into": 1},
        {"op": "split", "step": 1, "label": "x", "mentions": []},
        {"op": "split", "step": 1, "label": "x", "mentions": "Ada"},
        {"op": "split", "step": 1, "label": "x", "mentions": [["Ada", 99]]},
        {"op": "split", "step": 1, "label": "x", "mentions": [["Nobody", 0]]},
        {"op": "split", "step": 1, "label": "x", "mentions": ALL},
        {"op": "split", "step": 1, "label": "x", "mentions": [at(DRAFT.steps[2].mentions[0])]},
        {"op": "optional", "step": 1, "value": 1},
        placed(9),
        placed(0, video="../../etc/passwd"),
        placed(0, -5.0),
        placed(0, 1e300),
        placed(0, float("nan")),
        placed(0, 10**400),
        placed(0, 9000.0),
        {**placed(0, None), "start": float("nan")},
        {**placed(0, None), "end": "x" * 1000},
        {**placed(0, None), "start": 0},
        {**placed(0), "start": 50.0},
        {**placed(0), "end": "soon"},
    ],
)
def test_invalid_edits_are_refused(edit) -> None:
    with pytest.raises((Refused, ValueError)):
        after_edits(DRAFT, [edit])


def test_the_number_of_steps_is_limited() -> None:
    many = [{"op": "add", "at": 0, "label": f"step {n}"} for n in range(95)]
    full = after_edits(DRAFT, many)
    with pytest.raises(Refused, match="100 steps at most"):
        after_edits(full, [{"op": "add", "at": 0, "label": "one more"}])
