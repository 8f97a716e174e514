"""What a run says about its input: progress, remarks, and the reasons of losses."""

from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.errors import HowstepsError, Problem
from howsteps.io.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import run
from howsteps.pipeline.selection import set_aside_other_jobs, set_aside_unusable
from howsteps.pipeline.stages import find_script, script_remarks
from howsteps.store import read_result
from howsteps.task import Caption, Localisation, Mention, Script, Sentence, Step, Task, Video, Word
from tests.pipeline.jobs import captions, narration
from tests.script import spoken


@pytest.mark.parametrize(
    ("found", "asked", "line"),
    [
        (3, None, "only 3 steps were found: narrators agree on no more"),
        (1, 10, "only 1 step was found, but 10 were requested: narrators agree on no more"),
        (5, None, None),
        (4, 4, None),
    ],
)
def test_few_steps_give_a_remark(found: int, asked: int | None, line: str | None) -> None:
    task = Task("tea", (Video("a"), Video("b")))
    script = Script(tuple(Step(str(n), ()) for n in range(found)))
    remarks = script_remarks(task, script, RunOptions(steps=asked))
    assert [problem.reason.partition(";")[0] for problem in remarks] == ([line] if line else [])


def test_narrations_that_are_left_out_as_copies_are_counted_in_the_remark() -> None:
    words = tuple(Word(f"w{n}", 0.0, 1.0) for n in range(60))
    mention = Mention("a", "boil", "water", "boil the water", 0.0, 1.0)
    videos = [Video(v, sentences=(Sentence(words),), mentions=(mention,)) for v in "abc"]
    [remark] = script_remarks(Task("tea", tuple(videos)), Script((Step("boil", ()),)), RunOptions())
    assert "and 2 of 3 narrations repeat another and do not count;" in remark.reason


def test_the_steps_of_one_narrator_give_a_remark() -> None:
    mention = Mention("a", "boil", "water", "boil the water", 0.0, 1.0)
    script = Script(tuple(Step(str(n), (mention,)) for n in range(7)))
    alone, other = Video("a", mentions=(mention,)), Video("b", mentions=(mention,))
    [remark] = script_remarks(Task("tea", (alone, Video("c"))), script, RunOptions())
    assert remark.reason.startswith("the steps come from one narrator alone")
    assert script_remarks(Task("tea", (alone, other)), script, RunOptions()) == []


def test_words_that_were_misheard_are_said() -> None:
    task = spoken.task(*["steam clam; cook clam"] * 6, "steam clamp")
    script = Script((Step("steam the clams", tuple(v.mentions[0] for v in task.videos)),))
    few, remark = script_remarks(task, script, RunOptions())
    assert remark.reason.endswith('count as others: "clamp" as "clam" (1×)')
    assert script_remarks(task, script, RunOptions(mode="paper")) == [few]


def test_narrations_that_all_failed_are_not_called_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("howsteps.pipeline.stages._extract", out_of_memory)
    found = run(captions(tmp_path / "wash a cat", ("ann", "bob")), tmp_path / "out")
    assert not found.results
    assert [problem.reason for problem in found.problems] == [
        *["not enough memory"] * 2,
        "no narration could be processed",
    ]


def test_one_narration_that_failed_is_not_the_reason_for_no_acts(tmp_path: Path) -> None:
    spoken = Sentence((Word("hello", 0.0, 1.0),))
    videos = (
        Video("a", captions=(Caption(0.0, 1.0, "hello"),), sentences=(spoken,)),
        Video("b", captions=(Caption(0.0, 1.0, "hi"),)),
    )
    context = Context(Cache(tmp_path))
    with pytest.raises(HowstepsError, match="no narrator says what is being done"):
        find_script(Task("wash a cat", videos), RunOptions(), context)
    with pytest.raises(HowstepsError, match="no narration could be processed"):
        find_script(Task("wash a cat", videos[1:]), RunOptions(), context)


def test_the_reason_of_a_dropped_video_is_its_first_loss() -> None:
    media = Path("a.mkv")
    task = Task("wash a cat", (Video("a", media=media),))
    problems = [
        Problem(media, "has no captions", harmless=True),
        Problem(media, "lasts longer than 6 hours"),
        Problem(media, "has no frames"),
    ]
    _, [problem] = set_aside_unusable(task, {}, problems)
    assert problem.reason == "not used: lasts longer than 6 hours"
    _, [problem] = set_aside_unusable(task, {}, problems[:1])
    assert problem.reason == "not used: has no captions"


class TestUsedFolder:
    def test_exports_of_videos_that_went_away_are_removed(self, tmp_path: Path) -> None:
        job, out = captions(tmp_path / "wash a cat"), tmp_path / "out"
        run(job, out)
        assert (out / "exports" / "vtt" / "eve.vtt").is_file()
        (job / "eve.srt").rename(job / "eva.srt")
        run(job, out)
        names = sorted(path.stem for path in (out / "exports" / "vtt").iterdir())
        assert names == ["ann", "bob", "cyd", "dan", "eva"]
        assert (out / "exports" / "csv" / "steps.csv").is_file()

    def test_of_a_result_that_cannot_be_read_the_decisions_stay(self, tmp_path: Path) -> None:
        job, out = captions(tmp_path / "wash a cat", ("ann", "bob", "eve")), tmp_path / "out"
        run(job, out, pages=False)
        hand = [Localisation("bob", 0, 4.0, 3.0, 6.0)]
        placed = place_again(out, None, by_hand=hand, pages=False)
        old = (out / "result.json").read_text("utf-8").replace('"version": 3', '"version": 1')
        (out / "result.json").write_text(old, "utf-8")
        problems = run(job, out, pages=False).problems
        [problem] = [problem for problem in problems if "version" in problem.reason]
        assert problem.reason.endswith(
            "is version 1, which this version of howsteps cannot read; it is made anew"
        )
        assert read_result(out).by_video["bob"][0] == placed.by_video["bob"][0]
        assert not [*out.glob("result.old*")]

    def test_another_job_in_the_same_folder_gives_a_remark(self, tmp_path: Path) -> None:
        job, out = captions(tmp_path / "wash a cat"), tmp_path / "out"
        assert not run(job, out, pages=False).problems
        assert not run(job, out, pages=False).problems
        assert not run(job, out, RunOptions(title="bathe a cat"), pages=False).problems
        (tmp_path / "wash a dog").mkdir()
        (tmp_path / "wash a dog" / "flo.srt").write_text(narration("flo"))
        remark, *_ = run(tmp_path / "wash a dog", out, pages=False).problems
        assert remark.reason == "the result of another job, 'bathe a cat', was here and is replaced"
        assert remark.harmless


BOILED = ("boil egg", "peel egg", "salt egg")


def videos(count: int, name: str, title: str, acts: tuple[str, ...], talk: str) -> list[Video]:
    """Narrations of one way of doing the job, with some digressions."""
    found = []
    for n in range(count):
        id_ = f"{name} {n}"
        text = f"{' '.join(acts)} {talk} {'and so on ' * 10}"
        mentions = tuple(
            Mention(id_, *act.split(), phrase=act, start=60.0 * at, end=60.0 * at + 1, work=0.9)
            for at, act in enumerate(acts)
        )
        sentence = Sentence((Word(text, 0.0, 600.0),))
        found.append(Video(id_, title=title, sentences=(sentence,), mentions=mentions))
    return found


def test_many_videos_of_another_way_have_one_remark() -> None:
    own = videos(12, "boil", "How to boil eggs", BOILED, "boil the eggs")
    others = videos(9, "fry", "Eggs", ("heat pan", "melt butter", "crack egg"), "eggs eggs eggs")
    found = set_aside_other_jobs(Task("how to boil eggs", (*own, *others)), RunOptions())
    assert found.task.videos == (*own,)
    [remark] = found.remarks  # on all of them, and not on each too
    assert "9 of 21 videos hardly say 'boil'" in remark.reason


def test_how_to_keep_a_video_names_its_short_id() -> None:
    [other] = videos(1, "Knots", "Knots", ("tie knot",), "pull the rope")
    own = videos(12, "boil", "How to boil eggs", BOILED, "boil the eggs")
    for youtube, name in (("dQw4w9WgXcQ", "dQw4w9WgXcQ"), (None, "Knots 0")):
        task = Task("how to boil eggs", (*own, replace(other, youtube=youtube)))
        [remark] = set_aside_other_jobs(task, RunOptions()).remarks
        assert remark.reason.endswith(f'(to keep it: `keep="{name}"`)')


def test_a_run_checks_its_task_and_workers_before_it_writes(tmp_path: Path) -> None:
    with pytest.raises(HowstepsError, match="2 videos have the id"):
        run(Task("wash a cat", (Video("ann"), Video("ann"))), tmp_path / "out")
    with pytest.raises(HowstepsError, match="workers"):
        run(Task("wash a cat", (Video("ann"),)), tmp_path / "out", workers=0)
    assert not (tmp_path / "out").exists()
