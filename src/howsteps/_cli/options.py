"""Options that several commands share, and reading their input."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.markup import escape

from howsteps._cli import screen
from howsteps._cli.screen import live_callback
from howsteps.errors import Problem
from howsteps.pipeline.options import STAGES, RunOptions
from howsteps.task import Task

if TYPE_CHECKING:
    from howsteps.pipeline.context import Context
    from howsteps.reader import Editor

NO_SPEECH = "none"
SPEECH = "small.en"  # the default model


class Mode(StrEnum):
    """Our method, the text of the paper, or the authors' code."""

    default = "default"
    paper = "paper"
    authors = "authors"


Processor = StrEnum("Processor", ["cpu", "cuda"])
Stage = StrEnum("Stage", [(name, name) for name in STAGES])  # type: ignore[misc]

Source: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="A folder with the videos of one job, their captions, or both; a caption file; a task "
        "JSON file; or a folder of those.",
    ),
]
WorkFolder: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="WORK", help="The work folder of a run, or a result.json."),
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The work folder. Default: a folder named after INPUT, with '-steps' added, in the "
        "current folder.",
    ),
]
StageOut: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="A work folder that 'run' can continue with. Default: only the cache in your home "
        "folder is written.",
    ),
]
JsonFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write everything as JSON ('-' for stdout)."),
]
EditorUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--editor",
        metavar="URL",
        help="Let a language model edit the script. URL is a server with OpenAI's chat "
        "completions API (Ollama: http://localhost:11434/v1). The text that 'script --ask' writes "
        "is sent to it. Set HOWSTEPS_EDITOR_KEY if it needs a key.",
    ),
]
EditorModel: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model that --editor uses.")
]
JsonLines: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write each event to stdout as a line of JSON.")
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="K", help="Find at most this many steps. Default: chosen automatically."
    ),
]
AnyMode: TypeAlias = Annotated[
    Mode,
    typer.Option(
        help="'default': our best method. 'paper': the text of the CVPR 2016 paper. 'authors': its "
        "released code."
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(min=0, help="Random seed; the same seed gives the same result.")
]
Speech: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="The Whisper model (a name or a folder) for videos without captions, or 'none' to "
        "skip transcription. Needs: pip install 'howsteps\\[asr]'.",
    ),
]
Vision: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--vision/--no-vision",
        help="Whether to use the video frames. Default: yes, if there are video files and "
        "howsteps\\[vision] is installed.",
    ),
]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="Use fewer and smaller frames: several times faster.")
]
Device: TypeAlias = Annotated[Processor, typer.Option(help="Compute on the CPU or on a GPU.")]
Parser: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--parser", metavar="NAME", help="Use another spaCy pipeline (a name or a folder)."
    ),
]
Title: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The name of the job. Default: the name of its folder."),
]
KeepAll: TypeAlias = Annotated[
    bool,
    typer.Option("--keep-all", help="Also use videos that seem to show another job."),
]
From: TypeAlias = Annotated[
    Stage | None, typer.Option("--from", help="Run this stage and all later ones again.")
]
Force: TypeAlias = Annotated[
    list[Stage] | None, typer.Option("--force", help="Run this stage again (may be repeated).")
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="How many videos to process in parallel. Default: one per core."
    ),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def run_options(
    *,
    steps: int | None = None,
    mode: Mode = Mode.default,
    seed: int = 0,
    parser: str | None = None,
    speech: str = SPEECH,
    vision: bool | None = None,
    quick: bool = False,
    device: Processor = Processor.cpu,
    title: str | None = None,
    keep_all: bool = False,
) -> RunOptions:
    """Convert the options of the command line to those of the pipeline."""
    return RunOptions(
        steps,
        mode.value,
        seed,
        parser,
        None if speech == NO_SPEECH else speech,
        vision,
        quick,
        device.value,
        title,
        keep_all,
    )


def editor_of(url: str | None, model: str | None) -> "Editor | None":
    """The requested language model; prints where the question is sent."""
    if url is None and model is None:
        return None
    if url is None or model is None:
        raise typer.BadParameter("--editor URL and --model NAME must be used together")
    from howsteps.reader import Editor  # noqa: PLC0415 - kept out of every start

    editor = Editor(url, model)
    screen.err.print(
        f"what the narrators say they do is sent to {escape(editor.address)} "
        "('howsteps script --ask question.md' writes exactly what is sent)",
        soft_wrap=True,
    )
    return editor


def default_out(source: Path) -> Path:
    """The default work folder: in the current folder, named after the input."""
    resolved = source.resolve()
    return Path(f"{resolved.stem if resolved.is_file() else resolved.name}-steps")


@contextmanager
def stage_context(
    source: Path,
    out: Path | None,
    *,
    workers: int | None,
    quiet: bool,
    redo: frozenset[str] = frozenset(),
) -> Iterator["Context"]:
    """A context that caches in the work folder or, without one, in the user's cache folder."""
    from howsteps.pipeline.cache import Cache, user_cache  # noqa: PLC0415 - kept out of every start
    from howsteps.pipeline.context import Context  # noqa: PLC0415
    from howsteps.pipeline.executor import cores, local_executor  # noqa: PLC0415
    from howsteps.pipeline.work_folder import CACHE, check_folders, mark_work_folder  # noqa: PLC0415

    count = workers or cores()
    with ExitStack() as stack:
        if out is None:
            cache = stack.enter_context(user_cache())
        else:
            check_folders(out, source)
            mark_work_folder(out)
            cache = Cache(out / CACHE)
        callback = stack.enter_context(live_callback(quiet=quiet, json_lines=False))
        yield Context(cache, local_executor(count), callback, redo, count)


def narrated_tasks(
    source: Path, options: RunOptions, context: "Context", problems: list[Problem]
) -> Iterator[Task]:
    """Yield the tasks under a path, with mentions; problems are appended to the list."""
    from howsteps.pipeline.run import prepare_narration, read_source  # noqa: PLC0415 - loads NumPy
    from howsteps.pipeline.stages import check_parser  # noqa: PLC0415

    check_parser(options.parser)
    collection = read_source(source, options.title, context)
    problems += collection.problems
    for task in collection.tasks:
        narrated, found = prepare_narration(task, options, context)
        problems += found
        yield narrated
