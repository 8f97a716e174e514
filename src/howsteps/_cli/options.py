"""Options that several commands share, each described once."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.markup import escape

from howsteps._cli import screen
from howsteps.pipeline.options import STAGES, RunOptions

if TYPE_CHECKING:
    from howsteps.editor import Editor

NO_SPEECH = "none"
SPEECH = "small.en"  # the usual model


class Mode(StrEnum):
    """The three ways of doing everything: ours, the paper's text, the authors' program."""

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
        "JSON; or a folder of those.",
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
        help="The work folder; else the name of INPUT with '-steps', where you are.",
    ),
]
StageOut: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The work folder, which 'run' can go on with; else nothing is written but your "
        "user's cache.",
    ),
]
JsonFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all of it as JSON ('-': to stdout)."),
]
EditorUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--editor",
        metavar="URL",
        help="Let a language model edit the script: the address of a server that speaks OpenAI's "
        "chat completions (Ollama: http://localhost:11434/v1). The question that 'script --ask' "
        "shows is sent there. A key comes from HOWSTEPS_EDITOR_KEY.",
    ),
]
EditorModel: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model that edits (--editor).")
]
JsonLines: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Write events as lines of JSON to stdout.")
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="At most this many steps (else: chosen)."),
]
AnyMode: TypeAlias = Annotated[
    Mode,
    typer.Option(help="'paper' and 'authors' do as the CVPR 2016 paper says and its program did."),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="One seed, one answer.")]
Speech: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="The Whisper model (a name or a folder) for videos without captions; 'none': do not "
        "transcribe. Needs: pip install 'howsteps\\[asr]'.",
    ),
]
Vision: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--vision/--no-vision",
        help="Look at the frames (else: where there are any and howsteps\\[vision] is installed).",
    ),
]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="Look less closely; several times faster.")
]
Device: TypeAlias = Annotated[
    Processor, typer.Option(help="The processor, or the GPU for what can use it.")
]
Parser: TypeAlias = Annotated[
    str | None,
    typer.Option("--parser", metavar="NAME", help="Another spaCy pipeline, by name or folder."),
]
Title: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The name of the job (else: that of its folder)."),
]
KeepAll: TypeAlias = Annotated[
    bool,
    typer.Option("--keep-all", help="Learn also from videos that seem to be of another job."),
]
From: TypeAlias = Annotated[
    Stage | None, typer.Option("--from", help="Compute this stage and all after it again.")
]
Force: TypeAlias = Annotated[
    list[Stage] | None, typer.Option("--force", help="Compute this stage again (repeatable).")
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Videos worked on at once (else: one a core)."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


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
    """The options of the pipeline, from those of the command line."""
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
    """The language model that was asked for; says once where the question goes."""
    if url is None and model is None:
        return None
    if url is None or model is None:
        raise typer.BadParameter("--editor URL and --model NAME go together")
    from howsteps.editor import Editor  # noqa: PLC0415 - kept out of every start

    editor = Editor(url, model)
    screen.err.print(
        f"the acts of the narrations are sent to {escape(editor.address)} "
        "('howsteps script --ask question.md' shows what)",
        soft_wrap=True,
    )
    return editor


def default_out(source: Path) -> Path:
    """The work folder unless one is named: where you are, under the name of the input."""
    resolved = source.resolve()
    return Path(f"{resolved.stem if resolved.is_file() else resolved.name}-steps")
