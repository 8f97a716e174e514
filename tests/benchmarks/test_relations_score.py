"""How found relations are compared with marks, on marks made for the purpose."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.relations import (
    KINDS,
    MARKS,
    SETS,
    Found,
    Mark,
    Tally,
    marked_videos,
    near,
    read_marks,
    score,
)
from howsteps.errors import HowstepsError

NUT = Mark(3, 5, "remove", ("nut",))


def counts(tally: Tally) -> tuple[int, int, int]:
    return tally.right, tally.wrong, tally.missed


def test_places_and_lemmas_that_agree_are_right():
    result = score([NUT], [Found(3, 5, "remove", "nut")])
    assert counts(result.tallies["all"]) == (1, 0, 0)
    assert (result.wrong, result.missed) == ([], [])


@pytest.mark.parametrize(
    "pair",
    [
        Found(3, 6, "remove", "nut"),
        Found(2, 5, "remove", "nut"),
        Found(3, 5, "take", "nut"),
        Found(3, 5, "remove", "lug"),
    ],
)
def test_another_place_or_lemma_is_wrong_and_leaves_the_mark_missed(pair):
    result = score([NUT], [pair])
    assert counts(result.tallies["all"]) == (0, 1, 1)
    assert (result.wrong, result.missed) == ([pair], [NUT])


def test_what_is_right_counts_under_the_kind_of_the_mark_and_what_is_wrong_under_its_own():
    tool = Mark(9, 7, "use", ("tool",), kind="active")
    found = [Found(9, 7, "use", "tool", kind="relative"), Found(1, 2, "do", "it", kind="passive")]
    result = score([tool], found)
    assert counts(result.tallies["active"]) == (1, 0, 0)
    assert counts(result.tallies["passive"]) == (0, 1, 0)
    assert "relative" not in result.tallies


def test_an_optional_relation_is_neither_right_nor_wrong_nor_missed():
    mark = Mark(3, 5, "let", ("toast",), optional=True)
    for found in ([], [Found(3, 5, "let", "bread", negated=True)]):
        result = score([mark], found)
        assert counts(result.tallies.get("all", Tally())) == (0, 0, 0)
        assert counts(near([mark], found)) == (0, 0, 0)


def test_a_pronoun_may_stand_for_any_of_its_nouns():
    mark = Mark(3, 4, "lift", ("tire", "wheel"), kind="pronoun")
    for noun, right in (("tire", 1), ("wheel", 1), ("foot", 0)):
        result = score([mark], [Found(3, 4, "lift", noun, kind="pronoun")])
        assert counts(result.tallies["pronoun nouns"]) == (right, 1 - right, 0)
    assert counts(score([mark], []).tallies["pronoun nouns"]) == (0, 0, 1)


def test_negation_is_judged_where_the_words_are_found():
    plain, denied = Mark(1, 2, "add", ("egg",)), Mark(3, 4, "use", ("milk",), negated=True)
    found = [Found(1, 2, "add", "egg", negated=True), Found(3, 4, "use", "milk")]
    assert counts(score([plain, denied], found).tallies["negation"]) == (0, 1, 1)
    found = [Found(3, 4, "use", "milk", negated=True)]
    assert counts(score([plain, denied], found).tallies["negation"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("marked", "heard", "expected"),
    [
        ("off", "off", (1, 0, 0)),
        ("off", "", (0, 0, 1)),
        ("off", "up", (0, 1, 0)),
        ("", "", (0, 0, 0)),
        ("", "up", (0, 1, 0)),
        ("back?", "back", (0, 0, 0)),
        ("back?", "", (0, 0, 0)),
        ("back?", "up", (0, 1, 0)),
    ],
)
def test_particles(marked, heard, expected):
    result = score([Mark(1, 2, "put", ("jack",), marked)], [Found(1, 2, "put", "jack", heard)])
    assert counts(result.tallies["particles"]) == expected


def test_the_looser_figure_forgives_a_word_but_uses_each_mark_once():
    assert counts(near([NUT], [Found(4, 9, "remove", "nut")])) == (1, 0, 0)
    assert counts(near([NUT], [Found(5, 5, "remove", "nut")])) == (0, 1, 1)
    assert counts(near([NUT], [Found(3, 5, "remove", "nut")] * 2)) == (1, 1, 0)


def test_a_literal_reading_takes_the_measure_for_the_object():
    rows = [[1, 5, "add", "milk", "", False, "measure", {"measure": [3, "cup"]}]]
    assert read_marks(rows) == [Mark(1, 5, "add", ("milk",), kind="measure")]
    assert read_marks(rows, literal=True) == [Mark(1, 3, "add", ("cup",), kind="measure")]


places = st.integers(0, 6)
lemmas = st.sampled_from("abc")
marks = st.lists(
    st.builds(Mark, places, places, lemmas, st.tuples(lemmas), kind=st.sampled_from(KINDS)),
    unique_by=lambda mark: (mark.verb_place, mark.object_place),
)
findings = st.lists(
    st.builds(Found, places, places, lemmas, lemmas, kind=st.sampled_from(KINDS)),
    unique_by=lambda pair: (pair.verb_place, pair.object_place),
)


@given(marks, findings)
def test_every_mark_and_every_finding_is_counted_once(marks, found):
    tallies = score(marks, found).tallies
    whole = tallies.get("all", Tally())
    assert whole.right + whole.missed == len(marks)
    assert whole.right + whole.wrong == len(found)
    kinds = [tallies.get(kind, Tally()) for kind in KINDS]
    assert counts(whole) == tuple(map(sum, zip(*map(counts, kinds), strict=True)))
    assert tallies["near"].right + tallies["near"].missed == len(marks)
    assert tallies["near"].right + tallies["near"].wrong == len(found)


STORED = sorted(MARKS.glob("*/*.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_stored_marks_are_well_formed(path):
    marked = json.loads(path.read_text(encoding="utf-8"))
    assert marked["words"].keys() == marked["marks"].keys()
    for video, rows in marked["marks"].items():
        for mark in read_marks(rows):
            assert 0 <= mark.verb_place < marked["words"][video]
            assert 0 <= mark.object_place < marked["words"][video]
            assert mark.verb_place != mark.object_place
            assert mark.kind in KINDS
        assert len({(mark.verb_place, mark.object_place) for mark in read_marks(rows)}) == len(rows)


def test_no_video_is_in_both_sets_of_marks():
    videos = {
        name: [
            video
            for path in sorted((MARKS / name).glob("*.json"))
            for video in json.loads(path.read_text(encoding="utf-8"))["words"]
        ]
        for name in SETS
    }
    assert sorted(SETS) == sorted({path.parent.name for path in STORED})
    assert all(len(set(drawn)) == len(drawn) > 0 for drawn in videos.values())
    assert set(videos["development"]).isdisjoint(videos["held-out"])


def test_captions_that_differ_from_the_marked_ones_are_refused(tmp_path):
    asr = [{"text": "remove the lug nuts and then the wheel", "start": 0.0, "end": 4.0}]
    path = tmp_path / "task.json"
    path.write_text(json.dumps({"task": "Change", "videos": {"v": {"asr": asr}}}), encoding="utf-8")
    assert list(marked_videos(path, {"v": 8})) == ["v"]
    with pytest.raises(HowstepsError, match="video v has 8 words and its marks were made for 9"):
        marked_videos(path, {"v": 9})
    with pytest.raises(HowstepsError, match="video w is marked, but missing"):
        marked_videos(path, {"v": 8, "w": 3})
