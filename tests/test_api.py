"""The public functions, as users call them."""

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import howsteps
from howsteps.datasets import read_tasks
from tests.pipeline.jobs import captions, narration

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captions(tmp_path_factory.mktemp("api") / "wash a cat", ("ann", "bob", "eve"))


@pytest.fixture(scope="module")
def work(job: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("work") / "out"
    howsteps.run(job, out)
    return out


class TestNames:
    def test_dir_shows_public_names_only(self) -> None:
        assert dir(howsteps) == sorted(howsteps.__all__)
        assert all(getattr(howsteps, name) is not None for name in howsteps.__all__)
        with pytest.raises(AttributeError, match="no_such_name"):
            howsteps.no_such_name  # type: ignore[attr-defined] # noqa: B018

    def test_importing_loads_nothing_heavy(self) -> None:
        heavy = "import sys, howsteps; print(*{'numpy', 'spacy', 'numba'} & set(sys.modules))"
        program = [sys.executable, "-c", heavy]
        said = subprocess.run(program, check=True, capture_output=True, text=True)  # noqa: S603
        assert said.stdout.strip() == ""

    @pytest.mark.slow
    def test_a_type_checker_sees_real_types(self) -> None:
        program = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores"]
        page = ROOT / "tests" / "typed_user.py"
        said = subprocess.run(  # noqa: S603 - our own tools
            [*program, str(page)], check=False, capture_output=True, text=True, cwd=ROOT
        )
        assert said.returncode == 0, said.stdout

    def test_the_reference_lists_every_public_name(self) -> None:
        page = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
        listed = set(re.findall(r"`howsteps\.(\w+)", page))
        assert listed == {*howsteps.__all__} - {"__version__"}

    @pytest.mark.parametrize("name", ["discover", "run", "apply", "export", "place"])
    def test_signatures_are_readable(self, name: str) -> None:
        function = getattr(howsteps, name)
        signature = inspect.signature(function)
        assert "0x" not in str(signature)
        documented = inspect.getdoc(function) or ""
        shared = {"work", "result"}  # described by the first lines
        assert [p for p in signature.parameters if p not in documented and p not in shared] == []

    def test_discover_and_run_take_the_same_arguments(self) -> None:
        one, many = (inspect.signature(f).parameters for f in (howsteps.discover, howsteps.run))
        assert many.keys() - one.keys() == {"out", "force", "executor"}
        assert all(one[name] == many[name] for name in one)


class TestDiscover:
    @pytest.mark.slow
    def test_a_path_a_task_and_files_give_the_same_script(self, job: Path) -> None:
        [task] = read_tasks(job).tasks
        by_path = howsteps.discover(str(job))
        by_task = howsteps.discover(task)
        by_files = howsteps.discover(sorted(job.iterdir()), title=task.name)
        labels = [step.label for step in by_path.script.steps]
        assert len(labels) >= 4
        for result in (by_task, by_files):
            assert [step.label for step in result.script.steps] == labels
        assert by_task == by_path

    @pytest.mark.parametrize("source", [None, "", [None]])
    def test_what_is_no_source_is_an_error(self, source: Any) -> None:
        with pytest.raises(howsteps.HowstepsError, match="path"):
            howsteps.discover(source)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            *(("mode", "zzz"), ("steps", 1.5), ("seed", -1), ("workers", 0), ("workers", "x")),
            *(("device", "zzz"), ("title", 5)),
        ],
    )
    def test_an_invalid_argument_is_named(self, job: Path, name: str, value: Any) -> None:
        with pytest.raises(howsteps.HowstepsError, match=rf"^{name}: "):
            howsteps.discover(job, **{name: value})

    def test_an_empty_list_is_an_error(self) -> None:
        with pytest.raises(howsteps.HowstepsError, match="the list of videos is empty"):
            howsteps.discover([])

    def test_a_list_is_named_after_its_folder_and_is_of_one_folder(
        self, job: Path, tmp_path: Path
    ) -> None:
        assert howsteps.discover([*job.iterdir()]).task.name == "wash a cat"
        other = captions(tmp_path / "other", ("cyd",))
        with pytest.raises(howsteps.HowstepsError, match="are in several folders"):
            howsteps.discover([job, other / "cyd.srt"])


class TestApply:
    def test_paths_may_be_strings_and_nothing_is_written_by_default(
        self, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        new = tmp_path / "flo.srt"
        new.write_text(narration("flo"))
        monkeypatch.chdir(tmp_path)
        result = howsteps.apply(str(work), str(new))
        assert [video.id for video in result.task.videos] == ["flo"]
        assert result.task.name == howsteps.read_result(work).task.name
        assert list(tmp_path.iterdir()) == [new]
        assert howsteps.apply(work, [new], out="applied").localisations == result.localisations
        assert (tmp_path / "applied" / "result.json").is_file()

    @pytest.mark.parametrize(("name", "value"), [("workers", 0), ("device", 5), ("title", 5)])
    def test_an_invalid_argument_is_named(self, work: Path, name: str, value: Any) -> None:
        with pytest.raises(howsteps.HowstepsError, match=rf"^{name}: "):
            howsteps.apply(work, [], **{name: value})

    def test_nothing_to_place_is_an_error(self, work: Path, tmp_path: Path) -> None:
        (tmp_path / "mute.srt").write_text("no captions")
        with pytest.raises(howsteps.HowstepsError, match=r"mute\.srt"):
            howsteps.apply(work, tmp_path / "mute.srt")


class TestFiles:
    def test_a_format_and_a_page_by_path(self, work: Path, tmp_path: Path) -> None:
        written = howsteps.export(str(work), str(tmp_path), "vtt")
        assert sorted(path.name for path in written.paths) == ["ann.vtt", "bob.vtt", "eve.vtt"]
        assert written.problems == ()
        page = howsteps.export(howsteps.read_result(work), tmp_path, "page")
        assert page.paths == (tmp_path / "report.html",)


class TestPlace:
    def test_the_files_of_a_work_folder_are_updated(self, work: Path, tmp_path: Path) -> None:
        out = Path(shutil.copytree(work, tmp_path / "copy"))
        (out / "mine.txt").write_text("dry the cat\nfill the tub")
        result = howsteps.place(str(out), str(out / "mine.txt"))
        assert [step.label for step in result.steps] == ["dry the cat", "fill the tub"]
        assert howsteps.read_result(out).steps == result.steps


class TestResult:
    def test_places_have_labels_and_the_table_has_every_step(self, work: Path) -> None:
        result = howsteps.read_result(work)
        assert result.steps == result.script.steps
        placed = [at for at in result.localisations if at.time is not None]
        assert [(at.video, at.time, at.level) for at in result.places] == [
            (at.video, at.time, at.level) for at in placed
        ]
        assert {at.label for at in result.places} <= {step.label for step in result.steps}
        table = result.to_table()
        assert len(table) == len(result.localisations)
        assert table[0]["step"] == result.steps[0].label
        header = (work / "exports" / "csv" / "steps.csv").read_text("utf-8").splitlines()[0]
        assert list(table[0]) == header.split(",")

    def test_it_is_one_line_in_a_terminal(self, work: Path) -> None:
        result = howsteps.read_result(work)
        assert repr(result) == f"<Result 'wash a cat': {len(result.steps)} steps in 3 videos>"
        assert "mentions" not in repr(result.steps[0])
        assert "sentences" not in repr(result.task)

    def test_the_json_is_that_of_the_file(
        self, work: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(work)
        assert howsteps.read_result(work).to_json() == (work / "result.json").read_text("utf-8")
