"""What a person decided about a work folder stays, whatever is run in it next."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from howsteps import export, place, read_result, run
from howsteps.errors import InputError
from howsteps.pipeline import placing
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import run as run_pipeline
from howsteps.pipeline.work_folder import DECISIONS
from howsteps.script.text_form import script_text
from howsteps.task import BY_HAND, Localisation, Script
from tests.pipeline.jobs import ACTS, MANNERS, NARRATORS, captions, narration, subrip


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return captions(tmp_path / "wash a cat")


@pytest.fixture
def out(job: Path, tmp_path: Path) -> Path:
    run(job, tmp_path / "out", steps=8)
    return tmp_path / "out"


def labels(out: Path) -> list[str]:
    return [step.label for step in read_result(out).script.steps]


def used(out: Path) -> list[str]:
    return [video.id for video in read_result(out).task.videos]


def content(out: Path) -> dict[str, bytes]:
    names = ("result.json", "script.md", "decisions.json")
    return {name: (out / name).read_bytes() for name in names}


class TestVideos:
    def test_a_video_that_was_left_out_stays_out(self, job: Path, out: Path) -> None:
        place(out, drop=["bob"])
        run(job, out, steps=8)
        assert used(out) == ["ann", "cyd", "dan", "eve"]
        assert [each.reason for each in read_result(out).set_aside] == ["you left it out"]
        assert not (out / "script.edited.md").exists()  # nobody edited it
        run(job, out, steps=8, keep=["bob"])  # decided anew
        run(job, out, steps=8)
        assert used(out) == ["ann", "bob", "cyd", "dan", "eve"]

    def test_a_choice_leaves_what_is_typed_into_the_script(self, out: Path) -> None:
        path = out / "script.md"
        text = path.read_text("utf-8")
        first = labels(out)[0]
        path.write_text(text.replace(first, "begin", 1), "utf-8")
        place(out, drop=["bob"])
        assert labels(out)[0] == "begin"
        assert not (out / "script.edited.md").exists()

    def test_a_video_that_is_gone_is_no_fault_of_the_script(self, job: Path, out: Path) -> None:
        place(out, "\n".join(reversed(labels(out))), drop=["bob"])
        (job / "bob.srt").unlink()
        found = run(job, out, steps=8).result
        assert not [each for each in found.problems if "bob" in each.reason]

    def test_a_line_of_the_script_is_a_decision(self, job: Path, out: Path, tmp_path: Path) -> None:
        text = (out / "script.md").read_text("utf-8")
        (tmp_path / "mine.md").write_text(f"{text}\ndrop: dan\n", "utf-8")
        place(out, tmp_path / "mine.md")
        run(job, out, steps=8)
        assert used(out) == ["ann", "bob", "cyd", "eve"]

    def test_lines_of_an_earlier_script_are_decisions_again(
        self, out: Path, tmp_path: Path
    ) -> None:
        place(out, drop=["bob"])
        earlier = (out / "script.md").rename(tmp_path / "earlier.md")
        place(out, keep=["bob"])
        place(out, earlier)
        assert "bob" not in used(out)

    def test_what_one_run_drops_stays_out_until_one_keeps_it(self, job: Path, out: Path) -> None:
        for chosen in ({"drop": ["bob"]}, {}, {"force": ["script"]}):
            run(job, out, steps=8, **chosen)
            assert "bob" not in used(out)
        for chosen in ({"keep": ["bob"]}, {}):
            run(job, out, steps=8, **chosen)
            assert "bob" in used(out)

    def test_what_a_file_drops_is_out_as_long_as_the_file_says_so(
        self, job: Path, out: Path
    ) -> None:
        files = {"bob": job / "howsteps.toml"}
        run_pipeline(job, out, RunOptions(steps=8, drop=("bob",)), named_in=files)
        assert "bob" not in used(out)
        run(job, out, steps=8)
        assert "bob" in used(out)

    def test_a_line_in_the_script_of_the_folder_is_a_decision_and_no_edit(
        self, job: Path, out: Path
    ) -> None:
        page, steps = out / "script.md", labels(out)
        page.write_text(f"{page.read_text('utf-8')}\ndrop: dan\n", "utf-8")
        for _ in range(2):
            found = run(job, out, steps=8)
            assert used(out) == ["ann", "bob", "cyd", "eve"]
            assert not any("script.md" in str(problem) for problem in found.problems)
        assert labels(out) == steps
        assert [path.name for path in out.glob("script*")] == ["script.md"]


class TestScript:
    """The steps that a person wrote or edited."""

    @pytest.fixture(params=["in place", "placed", "served", "given"])
    def edited(self, job: Path, out: Path, request: pytest.FixtureRequest) -> list[str]:
        """The steps after one was renamed, and one deleted, in some way."""
        page = out / "script.md"
        one, two, _, *rest = read_result(out).script.steps
        steps = (replace(one, label="get ready", optional=True), two, *rest)
        text = script_text("wash a cat", Script(steps))
        if request.param == "in place":
            page.write_text(text, "utf-8")
        elif request.param == "placed":
            page.write_text(text, "utf-8")
            place(out, page)
        elif request.param == "served":
            place(out, Script(steps))
        else:
            (out.parent / "mine.md").write_text(text, "utf-8")
            run(job, out, steps=8, script=out.parent / "mine.md")
        return [step.label for step in steps]

    def test_it_stays_and_is_found_in_new_videos(
        self, job: Path, out: Path, edited: list[str]
    ) -> None:
        (job / "flo.srt").write_text(narration("flo"), "utf-8")
        for _ in range(2):
            found = run(job, out, steps=8)
            result = read_result(out)
            assert labels(out) == edited
            assert [step.optional for step in result.steps][:2] == [True, False]
            assert [len(step.mentions) for step in result.steps] == [6, 5, 5, 6]
            filled = {place.video for place in result.places if place.step == 0}
            assert filled == {*NARRATORS, "flo"}
            [said] = [problem for problem in found.problems if "script.md" in str(problem)]
            assert said.reason.endswith("they are kept; to find them anew: `force` script")
        assert [path.name for path in out.glob("script*")] == ["script.md"]

    def test_a_step_that_nobody_mentions_yet_is_found_in_new_videos(
        self, job: Path, out: Path
    ) -> None:
        page = out / "script.md"
        page.write_text(f"{page.read_text('utf-8')}\n9. tickle the goat\n", "utf-8")
        for _ in range(2):
            remarks = [problem.reason for problem in run(job, out, steps=8).problems]
            assert "no narrator mentions the step 'tickle the goat'" in remarks
        for who in ("flo", "gil"):
            said = ("fill the tub", "wash the cat", "rinse the fur", "tickle the goat")
            text = subrip(dict(enumerate(MANNERS["flo"].format(act) for act in said)))
            (job / f"{who}.srt").write_text(text, "utf-8")
        run(job, out, steps=8)
        assert {m.video for m in read_result(out).steps[-1].mentions} == {"flo", "gil"}

    def test_a_step_that_nobody_mentions_stays_so_where_nothing_is_new(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "wash a cat").mkdir()
        more = ("we will {} like my uncle in spain", "it is time to {} because it rains")
        for n, manner in enumerate((*MANNERS.values(), *more)):
            last = "tickle the goat" if n == 0 else "open the door"
            said = [manner.format(act) for act in (*ACTS[:2], last)]
            (tmp_path / "wash a cat" / f"{n}.srt").write_text(subrip(dict(enumerate(said))))
        out, page = tmp_path / "out", tmp_path / "out" / "script.md"
        run(tmp_path / "wash a cat", out, steps=2)
        page.write_text("fill the tub\ncatch the cat\nopen the door\ntickle the goat\n", "utf-8")
        run(tmp_path / "wash a cat", out)
        first = read_result(out)
        run(tmp_path / "wash a cat", out)
        assert read_result(out) == first

    def test_it_is_kept_aside_once_where_steps_are_found_anew(
        self, job: Path, out: Path, edited: list[str]
    ) -> None:
        found = run(job, out, steps=8, force=["script"])
        run(job, out, steps=8)
        assert "get ready" not in labels(out)
        assert any("kept as script.edited.md" in str(problem) for problem in found.problems)
        assert "get ready (optional)" in (out / "script.edited.md").read_text("utf-8")
        assert len([*out.glob("script*.md")]) == 2
        run(job, out, steps=8, script=out / "script.edited.md")
        assert labels(out) == edited

    def test_what_was_kept_aside_comes_back_as_it_was(
        self, job: Path, out: Path, edited: list[str]
    ) -> None:
        run(job, out, steps=8)
        place_again(out, None, by_hand=[Localisation("ann", 0, 4.0, 3.0, 6.0)])
        before = content(out)
        run(job, out, steps=8, force=["script"])
        assert labels(out) != edited
        run(job, out, steps=8, script=out / "script.edited.md")
        assert content(out) == before

    @pytest.mark.parametrize("name", ["knit a sock", "wash a cat"])  # a folder is just "videos"
    def test_it_is_kept_aside_where_the_job_is_another(
        self, name: str, out: Path, edited: list[str], tmp_path: Path
    ) -> None:
        other = tmp_path / "elsewhere" / name
        other.mkdir(parents=True)
        for who in NARRATORS:
            lines = enumerate(("cast on the wool", "knit the heel", "turn the sock"))
            text = subrip({n: MANNERS[who].format(act) for n, act in lines})
            (other / f"{who}.srt").write_text(text, "utf-8")
        run(other, out)
        assert not {*labels(out)} & {*edited}
        assert "get ready (optional)" in (out / "script.edited.md").read_text("utf-8")

    def test_it_stays_with_another_title_and_without_a_video(
        self, job: Path, out: Path, edited: list[str]
    ) -> None:
        (job / "dan.srt").unlink()
        result = run(job, out, title="bathe an animal").result
        assert labels(out) == edited
        assert [len(step.mentions) for step in result.steps] == [4, 3, 4, 4]

    def test_mentions_that_were_split_by_hand_stay_split(self, job: Path, out: Path) -> None:
        first, *rest = read_result(out).script.steps
        ann, *others = first.mentions  # of one act, so a page of text cannot tell them apart
        split = (replace(first, mentions=tuple(others)), replace(first, label="begin"), *rest)
        split = (split[0], replace(split[1], mentions=(ann,)), *rest)
        place(out, Script(split))
        (job / "flo.srt").write_text(narration("flo"), "utf-8")
        run(job, out, steps=8)
        found = read_result(out).script.steps
        assert found[1].label == "begin"
        assert ann in found[1].mentions
        assert {*others} <= {*found[0].mentions}

    def test_a_link_is_not_read(self, job: Path, out: Path, tmp_path: Path) -> None:
        (tmp_path / "secret.txt").write_text("my secret\n", "utf-8")
        (out / "script.md").unlink()
        (out / "script.md").symlink_to(tmp_path / "secret.txt")
        run(job, out, steps=8)
        assert "my secret" not in labels(out)
        assert not (out / "script.md").is_symlink()
        assert (tmp_path / "secret.txt").read_text("utf-8") == "my secret\n"

    def test_what_a_person_writes_while_it_runs_is_kept(
        self, job: Path, out: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = out / "script.md"
        page.write_text("fill the tub\ndry the cat\n", "utf-8")
        find = placing.place

        def place_slowly(*given: Any) -> Any:
            page.write_text("rinse the cat\n", "utf-8")
            return find(*given)

        monkeypatch.setattr(placing, "place", place_slowly)
        run(job, out)
        assert labels(out) == ["fill the tub", "dry the cat"]
        assert (out / "script.edited.md").read_text("utf-8") == "rinse the cat\n"


class TestExports:
    def test_the_how_to_is_written_again(self, job: Path, out: Path) -> None:
        export(out, out / "exports", "howto")
        place(out, "fill the tub\ndry the animal", keep=())
        assert "Dry the animal" in (out / "exports" / "howto" / "howto.md").read_text("utf-8")
        run(job, out, title="bathe an animal")
        assert "# Bathe an animal" in (out / "exports" / "howto" / "howto.md").read_text("utf-8")

    def test_what_was_deleted_is_not(self, out: Path) -> None:
        export(out, out / "exports", "howto")
        for path in sorted((out / "exports" / "howto").rglob("*"), reverse=True):
            path.unlink()
        (out / "exports" / "howto").rmdir()
        place(out, drop=["bob"])
        assert not (out / "exports" / "howto").exists()

    def test_the_others_are_said_to_be_out_of_date(self, job: Path, out: Path) -> None:
        export(out, out / "exports", ["clips", "video"])
        (out / "exports" / "clips").mkdir()
        assert not any("earlier" in str(problem) for problem in run(job, out, steps=8).problems)
        remarks = [str(problem) for problem in place(out, drop=["bob"]).problems]
        stale = f"{out}/exports/clips: is of an earlier result; export it again"
        assert [each for each in remarks if "earlier" in each] == [stale]

    def test_guesses_stay(self, job: Path, out: Path) -> None:
        files = out / "exports" / "vtt"
        export(out, out / "exports", "vtt", guesses=True)
        with_guesses = {path.name: path.read_text("utf-8") for path in files.iterdir()}
        run(job, out, steps=8)
        assert {path.name: path.read_text("utf-8") for path in files.iterdir()} == with_guesses
        export(out, out / "exports", "vtt")
        without = {path.name: path.read_text("utf-8") for path in files.iterdir()}
        assert without != with_guesses


def test_a_file_that_is_none_is_an_error_that_names_it(job: Path, out: Path) -> None:
    (out / DECISIONS).write_text('{"videos": 3}')
    done = run(job, out, steps=8)  # of one job; others go on
    assert (done.failed, done.problems[-1].path) == (("wash a cat",), out / DECISIONS)
    with pytest.raises(InputError, match=r"decisions\.json: videos: expected object"):
        place(out, drop=["bob"])


WAYS = {
    "place": lambda job, out, choice: place(out, **{choice: ["bob"]}),
    "run": lambda job, out, choice: run(job, out, steps=8, **{choice: ["bob"]}),
}


class TestThereAndBack:
    """A video that is left out and taken back brings all that was known of it."""

    @pytest.fixture(params=["found", "edited"])
    def script(self, job: Path, out: Path, request: pytest.FixtureRequest) -> None:
        page = out / "script.md"
        if request.param == "edited":
            page.write_text(page.read_text("utf-8").replace("fill the tub", "get ready", 1))
            run(job, out, steps=8)

    @pytest.mark.parametrize("way", WAYS)
    def test_places_by_hand_come_back(self, way: str, job: Path, out: Path, script: None) -> None:
        first = read_result(out).script
        hand = [Localisation("bob", 0, 4.0, 3.0, 6.0), Localisation("bob", 1, None)]
        place_again(out, first, by_hand=hand)
        place(out, keep=["bob"])  # so that the decision is the same before and after
        before = content(out)
        WAYS[way](job, out, "drop")
        assert "bob" not in used(out)
        WAYS[way](job, out, "keep")
        assert content(out) == before
        placed = {p.step: p.time for p in read_result(out).by_video["bob"] if p.evidence == BY_HAND}
        assert placed == {0: 4.0, 1: None}

    def test_they_come_back_by_lines_of_the_script(self, job: Path, out: Path) -> None:
        hand = [Localisation("bob", 0, 4.0, 3.0, 6.0)]
        place_again(out, read_result(out).script, by_hand=hand)
        for line in ("drop: bob", "keep: bob"):
            page = out / "script.md"
            text = page.read_text("utf-8").replace("drop: bob", "")
            page.write_text(f"{text}\n{line}\n", "utf-8")
            run(job, out, steps=8)
            assert ("bob" in used(out)) == (line == "keep: bob")
        assert [p.time for p in read_result(out).places if p.evidence == BY_HAND] == [4.0]

    def test_they_go_with_a_step_that_is_renamed_meanwhile(self, out: Path) -> None:
        first = read_result(out).script
        place_again(out, first, by_hand=[Localisation("bob", 0, 4.0, 3.0, 6.0)])
        place(out, drop=["bob"])
        text = (out / "script.md").read_text("utf-8").replace(first.steps[0].label, "begin", 1)
        place(out, text)
        place(out, keep=["bob"])
        [hand] = [p for p in read_result(out).places if p.evidence == BY_HAND]
        assert (hand.video, hand.label, hand.time) == ("bob", "begin", 4.0)

    def test_they_wait_for_a_step_that_is_gone(self, job: Path, out: Path) -> None:
        first = read_result(out).script
        place_again(out, first, by_hand=[Localisation("ann", 1, 4.0, 3.0, 6.0)])
        place(out, Script(first.steps[:1]))
        assert not [p for p in read_result(out).places if p.evidence == BY_HAND]
        run(job, out, steps=8, force=["script"])
        [hand] = [p for p in read_result(out).places if p.evidence == BY_HAND]
        assert (hand.video, hand.label, hand.time) == ("ann", first.steps[1].label, 4.0)

    @pytest.mark.parametrize("way", WAYS)
    def test_the_acts_of_its_steps_are_listed_meanwhile(
        self, way: str, job: Path, out: Path
    ) -> None:
        text = subrip(dict(enumerate(MANNERS["bob"].format(act) for act in SAID_BY_BOB)))
        (job / "bob.srt").write_text(text, "utf-8")
        page = out / "script.md"
        page.write_text("fill the tub\n  also: load the basin\nwash the cat\n", "utf-8")
        place_or_run = WAYS[way]
        run(job, out, steps=8)
        assert "load the basin" in page.read_text("utf-8")
        mentions = [{*step.mentions} for step in read_result(out).steps]
        place_or_run(job, out, "drop")
        assert "load the basin" in page.read_text("utf-8")
        place_or_run(job, out, "keep")
        assert "load the basin" in page.read_text("utf-8")
        assert [{*step.mentions} for step in read_result(out).steps] == mentions


SAID_BY_BOB = ("load the basin", "wash the cat", "open the door")
