"""Invalid arguments: each ends with a message and exit code 2, before anything runs."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howsteps._cli.app import _Commands, _Evaluation, commands, main
from howsteps.errors import HowstepsError
from howsteps.pipeline.run import run
from tests.pipeline.jobs import captions


def error_of(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str | Path
) -> str:
    """The single line on stderr of a command that cannot run."""
    monkeypatch.setattr(sys, "argv", ["howsteps", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert (end.value.code, shown.out) == (2, "")
    [line] = shown.err.splitlines()
    return line


WRONG = """\
run nosuch|run JOB --out FILE|run JOB --steps 0|run JOB --steps x|run JOB --script nosuch
run JOB --script JOB|run JOB --keep zoe|run JOB --drop zoe|run JOB --keep ann --drop ann
run JOB --llm x --llm-url ftp://x|run JOB --llm-url http://x|run JOB --llm-tokens -1
run JOB --llm-parallel 0|run JOB --ask FILE|run JOB --answer nosuch|run JOB --answer FILE
run JOB --mode best|run JOB --seed -1|run JOB --device tpu|run JOB --extents all
run JOB --parser nosuch|run JOB --force all|run JOB --workers 0|run JOB --unknown|run
script nosuch|script JOB --steps 0|script JOB --keep zoe
narration nosuch|narration JOB --json JOB|narration JOB --mode best
features nosuch|features JOB --mode best|features JOB --seed -1|features JOB --workers 0
place nosuch --script FILE|place JOB|place JOB --script nosuch
apply nosuch JOB|apply JOB|apply JOB nosuch|export nosuch|export JOB --format doc
serve nosuch|serve JOB --port 99999|demo --out FILE|demo --workers 0|fetch x|fetch
evaluate methods nosuch|evaluate methods DATA --methods x|evaluate methods DATA --steps 0
evaluate methods DATA --steps x|evaluate methods DATA --protocol x|evaluate methods DATA --seeds 0
evaluate methods DATA --videos 1|evaluate methods DATA --judge nosuch
evaluate methods DATA --captions nosuch|evaluate methods DATA --features nosuch
evaluate methods DATA --rate 0|evaluate methods DATA --json JOB
evaluate methods DATA --figure x.doc
evaluate stats nosuch|evaluate stats FILE|evaluate stats DATA --rate 0
evaluate stats DATA --json JOB|evaluate paper nosuch|evaluate paper JOB
evaluate paper DATA --steps x|evaluate paper DATA --out FILE
evaluate paper DATA --methods x|evaluate paper DATA --seeds 0|evaluate paper DATA --videos 1"""


@pytest.mark.parametrize("line", WRONG.replace("\n", "|").split("|"))
def test_a_wrong_value_of_any_argument_exits_with_two(
    line: str,
    job: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("buy film")
    (tmp_path / "steps.csv").write_text("video,step,start,end\nann,fill the tub,1,4\n")
    before = sorted(tmp_path.rglob("*"))
    paths = {"JOB": str(job), "FILE": "notes.txt", "DATA": "steps.csv"}
    words = [paths.get(word, word) for word in line.split()]
    monkeypatch.setattr(sys, "argv", ["howsteps", *words])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert (end.value.code, shown.out) == (2, "")
    assert shown.err
    assert sorted(path for path in tmp_path.rglob("*") if path.name != ".howsteps") == before


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return captions(tmp_path / "wash_a_cat", ("ann", "bob", "eve"))


@pytest.mark.parametrize(
    "command", ["run", "script", "narration", "evaluate", "export", "features"]
)
def test_an_empty_path_is_not_the_current_folder(
    command: str, job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(job)
    assert "is empty" in error_of(capsys, monkeypatch, command, "")
    with pytest.raises(HowstepsError, match="is empty"):
        run("", job / "out")


@pytest.mark.parametrize(
    "command",
    [
        "export {}",
        "export {} -f csv",
        "export {} -f page",
        "serve {}",
        "apply {} {job}",
        "place {} --script script.md",
    ],
)
@pytest.mark.parametrize("name", ["empty", "nosuch"])
def test_another_folder_is_not_a_work_folder(
    command: str,
    name: str,
    job: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "empty").mkdir()
    asked = command.format(tmp_path / name, job=job).split()
    said = error_of(capsys, monkeypatch, *asked)
    assert said.endswith(f"{name}: is not a work folder of howsteps; run 'howsteps run' first")
    assert not list((tmp_path / "empty").iterdir())


def test_the_error_for_several_jobs_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("knots", "tea"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_text("{}")
    said = error_of(capsys, monkeypatch, "export", tmp_path)
    assert said.endswith("holds the work folders of 2 jobs; give one of them, e.g. 'knots'")


def test_a_file_is_not_a_work_folder(
    job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (file := tmp_path / "steps.txt").write_text("x")
    for asked in (["run", job, "--out"], ["place", "--script", file]):
        said = error_of(capsys, monkeypatch, *asked, file)
        assert said.endswith("steps.txt is a file, not a folder")


@pytest.mark.parametrize(
    "command",
    [
        ["run"],
        ["script"],
        ["narration"],
        ["features"],
        ["evaluate", "stats"],
        ["export"],
        ["evaluate", "paper"],
        ["evaluate", "methods"],
        ["apply", "model"],
        ["run", "job", "--out"],
        ["place", "--script", "script.md"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("path", ["x" * 5000, "x/" * 2500], ids=["name", "path"])
def test_an_impossible_path(
    command: list[str],
    path: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    captions(tmp_path / "job", ("ann", "bob"))
    monkeypatch.chdir(tmp_path)
    assert error_of(capsys, monkeypatch, *command, path)


def test_an_unreachable_cluster(
    job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    cluster = ["--ray", f"127.0.0.1:{port}"]
    line = error_of(capsys, monkeypatch, "run", job, "--out", tmp_path / "out", *cluster)
    assert "no Ray cluster can be reached at 127.0.0.1" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["run", "script", "narration"])
def test_an_unusable_parser(
    command: str,
    job: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "folder").mkdir()
    for parser in (tmp_path / "folder", "numpy", "rich"):  # the others are no pipelines
        line = error_of(capsys, monkeypatch, command, job, "-q", "--parser", parser)
        assert "no spaCy pipeline" in line


@pytest.mark.parametrize("name", ["options.json", "cache"])
def test_a_job_cannot_have_the_name_of_a_part_of_the_work_folder(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for job in (name, "wash a cat"):
        captions(tmp_path / "jobs" / job, ("ann", "bob"))
    line = error_of(capsys, monkeypatch, "run", tmp_path / "jobs", "--out", tmp_path / "out", "-q")
    assert line.endswith(f"no job can be called {name!r}: the work folder has a {name!r} itself")
    assert not (tmp_path / "out").exists()


def test_a_terminal_of_no_columns_gets_the_message(tmp_path: Path) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "howsteps", "run", str(tmp_path / "nowhere")],
        env={**os.environ, "COLUMNS": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no such file or folder" in done.stderr


def helped(*words: str) -> str:
    command = [sys.executable, "-m", "howsteps", *words]
    surroundings = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run(  # noqa: S603 - our own program
        command, env=surroundings, capture_output=True, text=True, check=True
    )
    return done.stdout


class TestHelp:
    def test_the_list_has_the_first_line_of_each_command(self) -> None:
        pages = {name: command.help for name, command in commands().items()}
        listed = {**_Commands.listed, **{f"evaluate {n}": e for n, e in _Evaluation.listed.items()}}
        del listed["evaluate"]
        assert {name: page.split("\n")[0] for name, page in pages.items()} == {
            name: entry.about for name, entry in listed.items()
        }

    @pytest.mark.parametrize("name", ["run", "script", "evaluate methods", "features"])
    def test_a_page_fits_a_screen_and_the_rest_is_on_another(self, name: str) -> None:
        page, everything = helped(*name.split(), "--help"), helped(*name.split(), "--help-all")
        assert len(page.splitlines()) <= 40
        assert "More options" not in page
        assert "More options" in everything
        assert not re.search(r"<(bool|int|path|list|str|float)|x>=|…\s*│", everything, re.I)
        assert "..." not in page.split("\n\n")[0]

    def test_a_command_with_few_options_shows_them_all(self) -> None:
        assert helped("serve", "--help-all") == helped("serve", "--help")


class TestSurroundings:
    """Commands in processes of their own."""

    def ended(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "howsteps", *arguments],
            check=False,
            stderr=subprocess.PIPE,
            text=True,
            **{"stdout": subprocess.PIPE, **options},
        )

    def test_numba_that_cannot_be_loaded_is_one_line(self, job: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        ended = self.ended(
            *("run", str(job), "-o", str(out), "-q"), env={**os.environ, "NUMBA_NUM_THREADS": "0"}
        )
        assert ended.returncode == 1
        [line] = ended.stderr.splitlines()
        assert "Numba cannot be loaded: " in line
