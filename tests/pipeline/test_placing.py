"""Placing an edited script again, from the work folder alone."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.errors import HowstepsError, InputError
from howsteps.pipeline.context import Event, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import run
from howsteps.report.page import PAGE
from howsteps.store import read_result
from howsteps.task import BY_HAND, Localisation, Result, Script
from tests.jobs import tea
from tests.pipeline.jobs import captions


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    job = captions(folder / "wash a cat")
    run(job, folder / "out", RunOptions(steps=8))
    shutil.rmtree(job)  # the narrations are in the work folder
    return folder / "out"


@pytest.fixture
def out(work: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(work, tmp_path / "copy"))


def in_video(result: Result, video: str) -> list[Localisation]:
    return [one for one in result.localisations if one.video == video]


def test_the_same_script_has_the_same_places(out: Path) -> None:
    before = read_result(out)
    events: list[Event] = []
    after = place_again(out, before.script, callback=events.append)
    assert after == before
    assert after == read_result(out)
    assert [e.stage for e in events if isinstance(e, StageEnded)] == ["localise"]


def test_videos_of_unknown_duration_keep_their_length(tmp_path: Path) -> None:
    # Music after the last word is in the captions, but in none of the sentences of the result.
    job = tea()
    for n, video in enumerate(job["videos"].values()):
        del video["duration"]
        video["asr"] += [[40.0, 42.0, "stir the tea"], [44.0, 46.0, "boil the water again"]]
        video["asr"].append([60.0 + 30 * n, 62.0 + 30 * n, "[Music]"])
    (tmp_path / "tea.json").write_text(json.dumps(job))
    run(tmp_path / "tea.json", tmp_path / "out")
    shutil.rmtree(tmp_path / "out" / "cache")  # or the places would come from there
    before = read_result(tmp_path / "out")
    assert [video.length for video in before.task.videos] == [62.0 + 30 * n for n in range(6)]
    assert place_again(tmp_path / "out", before.script).localisations == before.localisations


def test_an_edited_script_is_placed_and_written_without_the_videos(out: Path) -> None:
    before = read_result(out)
    first, second, *others = before.script.steps
    edited = Script((replace(second, label="begin"), *others))
    (out / PAGE).unlink()
    after = place_again(out, edited)
    assert [step.label for step in after.script.steps] == ["begin", *(s.label for s in others)]
    assert len(after.localisations) == len(before.task.videos) * len(edited.steps)
    assert after == read_result(out)
    assert (out / PAGE).is_file()
    written = place_again(out, out / "script.md", pages=False).script
    assert [step.mentions for step in written.steps] == [step.mentions for step in edited.steps]
    assert first.label not in [step.label for step in written.steps]


def test_a_manual_place_counts_as_a_mention_and_is_sure(out: Path) -> None:
    before = read_result(out)
    video = before.task.videos[0].id
    hand = [Localisation(video, 0, 4.0, 3.0, 6.0), Localisation(video, 1, None)]
    after = place_again(out, before.script, by_hand=hand, pages=False)
    placed, absent, *_ = in_video(after, video)
    assert placed == Localisation(
        video, 0, 4.0, 3.0, 6.0, confidence=1.0, presence=1.0, evidence=BY_HAND
    )
    assert (absent.time, absent.evidence) == (None, BY_HAND)
    assert after.task == before.task  # nobody said anything more

    # It stays for the step of that label, wherever it stands and whatever else is edited.
    _, second, *others = after.script.steps
    moved = place_again(out, Script((second, *others)), pages=False)
    assert in_video(moved, video)[0] == replace(absent, step=0)
    assert [one.evidence for one in in_video(moved, video)].count(BY_HAND) == 1
    renamed = Script((*others, replace(second, label="another name")))
    last = len(renamed.steps) - 1
    assert in_video(place_again(out, renamed, pages=False), video)[last] == replace(
        absent, step=last
    )


def test_a_new_run_keeps_manual_places(out: Path, tmp_path: Path) -> None:
    before = read_result(out)
    video = before.task.videos[0].id
    hand = Localisation(video, 0, 4.0, 3.0, 6.0)
    place_again(out, before.script, by_hand=[hand], pages=False)
    run(captions(tmp_path / "wash a cat"), out, RunOptions(steps=8), pages=False)
    after = read_result(out)
    assert after.script == before.script
    placed = in_video(after, video)[0]
    assert (placed.time, placed.evidence) == (4.0, BY_HAND)


def test_a_missing_step_cannot_be_placed_by_hand(out: Path) -> None:
    script = read_result(out).script
    with pytest.raises(HowstepsError, match="no step 99 of video 'nobody'"):
        place_again(out, script, by_hand=[Localisation("nobody", 98, 1.0)])


class TestPagesOfText:
    def test_the_text_itself_is_accepted_too(self, out: Path) -> None:
        labels = [step.label for step in read_result(out).script.steps]
        after = place_again(out, "\n".join(reversed(labels)), pages=False)
        assert [step.label for step in after.script.steps] == labels[::-1]
        assert all(step.mentions for step in after.script.steps)

    def test_steps_that_nobody_mentions_are_named(self, out: Path) -> None:
        page = "fill the bath\ntickle it until the elephant laughs"
        found = place_again(out, page, pages=False)
        assert [str(p) for p in found.problems if "elephant" in str(p)] == [
            "script.md:2: no narrator mentions the step 'tickle it until the elephant laughs'"
        ]

    def test_an_edited_script_text_is_never_overwritten(self, out: Path) -> None:
        script = read_result(out).script
        page = out / "script.md"
        page.write_bytes(page.read_bytes().replace(b"\n", b"\r\n"))  # saved on Windows, no edit
        place_again(out, script, pages=False)
        assert not (out / "script.edited.md").exists()
        for kept in ("script.edited.md", "script.edited-2.md"):
            page.write_text(f"my own list, {kept}\n", "utf-8")
            after = place_again(out, script, pages=False)
            assert (out / kept).read_text("utf-8") == f"my own list, {kept}\n"
            assert any(f"is kept as {kept}" in str(problem) for problem in after.problems)

    def test_a_script_text_that_was_edited_in_place_is_kept_by_another_one(
        self, out: Path, tmp_path: Path
    ) -> None:
        page, other, kept = out / "script.md", tmp_path / "one.md", out / "script.edited.md"
        page.write_text("fill the tub\ndry the cat\n", "utf-8")
        place_again(out, page, pages=False)
        place_again(out, page, pages=False)
        yours = page.read_text("utf-8")
        other.write_text("rinse the cat\n", "utf-8")
        assert not kept.exists()
        place_again(out, other, pages=False)
        assert kept.read_text("utf-8") == yours
        place_again(out, other, pages=False)
        assert not (out / "script.edited-2.md").exists()

    def test_a_run_that_finds_steps_anew_keeps_the_script_text_that_was_placed(
        self, out: Path, tmp_path: Path
    ) -> None:
        job = captions(tmp_path / "wash a cat")
        place_again(out, "fill the tub\ndry the cat", pages=False)
        place_again(out, "fill the tub\nrinse the cat\ndry the cat", pages=False)
        yours = (out / "script.md").read_text("utf-8")
        assert not (out / "script.edited.md").exists()
        found = run(job, out, RunOptions(steps=8), force=["script"], pages=False)
        assert (out / "script.edited.md").read_text("utf-8") == yours
        assert any("is kept as script.edited.md" in str(problem) for problem in found.problems)
        run(job, out, RunOptions(steps=8), pages=False)
        assert not (out / "script.edited-2.md").exists()

    def test_errors_are_raised_before_anything_is_written(self, out: Path) -> None:
        before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
        with pytest.raises(InputError, match=r"script\.md:2: there are no words"):
            place_again(out, "fill the tub\n- ???")
        assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before


@pytest.fixture(scope="module")
def dropped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dropped")
    job = captions(folder / "wash a cat")
    run(job, folder / "out", RunOptions(steps=8, drop=("bob",)))
    shutil.rmtree(job)
    return folder / "out"


class TestOtherVideos:
    def test_a_video_that_was_set_aside_is_used_without_its_file(
        self, dropped: Path, tmp_path: Path
    ) -> None:
        out = Path(shutil.copytree(dropped, tmp_path / "copy"))
        assert "bob" not in read_result(out).by_video
        after = place_again(out, None, keep=["bob"])
        assert after == read_result(out)
        assert after.set_aside == ()
        assert not (out / "set-aside.json").exists()
        said = {m.video for step in after.script.steps for m in step.mentions}
        assert "bob" in said
        assert any(place.time is not None for place in in_video(after, "bob"))
        assert "keep: bob" in (out / "script.md").read_text("utf-8")

    def test_there_and_back_is_the_same_result(self, out: Path) -> None:
        before = read_result(out)
        without = place_again(out, None, drop=["dan"])
        assert [each.video for each in without.set_aside] == ["dan"]
        assert in_video(without, "dan") == []
        assert all(m.video != "dan" for step in without.script.steps for m in step.mentions)
        again = place_again(out, None, keep=["dan"])
        assert [video.id for video in again.task.videos] == [v.id for v in before.task.videos]
        assert again.set_aside == ()
        assert in_video(again, "dan")

    def test_the_lines_of_a_script_choose_videos(self, dropped: Path, tmp_path: Path) -> None:
        out = Path(shutil.copytree(dropped, tmp_path / "copy"))
        text = (out / "script.md").read_text("utf-8")
        assert "drop: bob" in text
        (out / "script.md").write_text(text.replace("drop: bob", "keep: bob"), "utf-8")
        after = place_again(out, out / "script.md")
        assert "bob" in after.by_video
        assert after.problems == ()

    def test_a_step_that_only_these_videos_say_is_matched_with_them_again(self, out: Path) -> None:
        before = read_result(out)
        others = [video.id for video in before.task.videos if video.id != "bob"]
        without = place_again(out, None, drop=others, pages=False)
        [silent] = [k for k, step in enumerate(without.steps) if not step.mentions]
        again = place_again(out, None, keep=others, pages=False)
        assert {*again.steps[silent].mentions} >= {*before.steps[silent].mentions}

    def test_a_video_has_another_name_on_youtube(self, out: Path) -> None:
        for name, old, new in (
            ("result.json", '"youtube": null', '"youtube": "abcdefghijk"'),
            ("options.json", '"keep": []', '"keep": ["abcdefghijk"]'),
        ):
            text = (out / name).read_text("utf-8")
            assert old in text
            (out / name).write_text(text.replace(old, new, 1), "utf-8")
        place_again(out, None, drop="dan", pages=False)
        assert "keep: ann" in (out / "script.md").read_text("utf-8")
        after = place_again(out, out / "script.md", drop="abcdefghijk", pages=False)
        assert {*after.by_video} == {"bob", "cyd", "eve"}

    @pytest.mark.parametrize("choice", ["keep", "drop"])
    def test_an_unknown_video_is_refused(self, choice: str, out: Path) -> None:
        with pytest.raises(HowstepsError, match="there is no video 'zoe' to keep or drop"):
            place_again(out, None, **{choice: "zoe"})

    def test_a_video_must_be_left(self, out: Path) -> None:
        before = read_result(out)
        with pytest.raises(HowstepsError, match="no video would be left"):
            place_again(out, None, drop=[video.id for video in before.task.videos])
        assert read_result(out) == before
