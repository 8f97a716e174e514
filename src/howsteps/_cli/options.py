"""Options that several commands share; those in ``howsteps.toml`` are their defaults."""

from dataclasses import fields
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import typer

from howsteps.pipeline.options import STAGES, RunOptions, project_file, read_project
from howsteps.task import Extents, Mode

NO_SPEECH = "none"
SPEECH = "small.en"  # the default model
MORE = "More options"  # the panel of those that --help leaves out
rare_option = partial(typer.Option, rich_help_panel=MORE)

Device: TypeAlias = Literal["cpu", "cuda"]
Stage = StrEnum("Stage", [(name, name) for name in STAGES])  # type: ignore[misc]


AnySource = TypeVar("AnySource", Path, list[Path])


def use_project(context: typer.Context, source: AnySource) -> AnySource:
    """Take the options in the project file of the input, or of the first one, as defaults."""
    context.default_map = read_project(source if isinstance(source, Path) else source[0])
    return source


Input: TypeAlias = Annotated[
    Path, typer.Argument(metavar="INPUT", hidden=True, is_eager=True, callback=use_project)
]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The work folder. Default: INPUT-steps, in the current folder.",
    ),
]
StageOut: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="A work folder that 'run' can continue with. Default: none, only a cache.",
    ),
]
JsonFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        dir_okay=False,
        allow_dash=True,
        help="Write everything as JSON ('-' for stdout).",
    ),
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="At most this many steps. Default: automatic."),
]
AnyMode: TypeAlias = Annotated[
    Mode,
    rare_option(
        metavar="MODE",
        help="'default': our best method. 'paper': the text of the CVPR 2016 paper, which takes "
        "only verbs with a direct object. 'authors': its released code.",
    ),
]
Seed: TypeAlias = Annotated[
    int,
    rare_option(min=0, metavar="N", help="Random seed; the same seed gives the same result."),
]
Speech: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="The Whisper model (a name or a folder) that transcribes videos without captions, "
        "or 'none'. Needs: pip install 'howsteps\\[asr]'.",
    ),
]
Vision: TypeAlias = Annotated[
    bool | None,
    rare_option(
        "--vision/--no-vision",
        help="Whether to use the video frames. Default: yes, if there are video files and "
        "howsteps\\[vision] is installed.",
    ),
]
Quick: TypeAlias = Annotated[
    bool, typer.Option("--quick", help="Use fewer, smaller frames: much faster.")
]
AnyDevice: TypeAlias = Annotated[
    Device, rare_option(metavar="DEVICE", help="'cpu', or 'cuda': compute on a GPU.")
]
Parser: TypeAlias = Annotated[
    str | None,
    rare_option(
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
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ID", help="Use this video in any case (may be repeated)."),
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="ID", help="Leave out this video (may be repeated)."),
]
AnyExtents: TypeAlias = Annotated[
    Extents,
    rare_option(
        metavar="EXTENTS",
        help="'found': start and end of each step. 'filled': the steps cover the whole video, "
        "and meet where its frames change.",
    ),
]
Force: TypeAlias = Annotated[
    list[Stage] | None,
    rare_option(
        "--force",
        metavar="STAGE",
        help=f"Run this stage again (may be repeated): {', '.join(STAGES)}.",
    ),
]
Llm: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL", help="A language model to read all videos and, in 'run', write the script."
    ),
]
LlmUrl: TypeAlias = Annotated[
    str | None,
    rare_option(
        metavar="URL",
        help="A server with OpenAI's chat completions API. Default: OPENAI_BASE_URL, else Ollama "
        "on this machine. Its key: HOWSTEPS_LLM_KEY or OPENAI_API_KEY. What narrators say is sent "
        "to it.",
    ),
]
LlmTokens: TypeAlias = Annotated[
    int,
    rare_option(
        min=0,
        metavar="N",
        help="The most tokens that reading a job may take, by an upper estimate; if they do not "
        "suffice, the most different videos are read.",
    ),
]
LlmParallel: TypeAlias = Annotated[int, rare_option(min=1, metavar="N", help="Requests at a time.")]
Ask: TypeAlias = Annotated[
    Path | None,
    rare_option(
        "--ask",
        "--llm-dry-run",
        metavar="FOLDER",
        file_okay=False,
        help="Send nothing: write the questions that have no answer in FOLDER yet, and stop.",
    ),
]
Answer: TypeAlias = Annotated[
    Path | None,
    rare_option(
        metavar="FOLDER",
        exists=True,
        file_okay=False,
        help="Use the answers in FOLDER: NAME.answer.json (or .txt, .md) beside NAME.txt.",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Videos in parallel. Default: one per core."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def speech_model(speech: str) -> str | None:
    """The Whisper model, or None for 'none'."""
    return None if speech == NO_SPEECH else speech


def requested(context: typer.Context) -> RunOptions:
    """The options of a run: those of the project file, which the command line overrides.

    What the command line keeps is not dropped by the file, and the other way round.
    """
    values = dict(context.params)
    typed = _typed(context)
    for one, other in (_LISTS, _LISTS[::-1]):
        if one in typed and other not in typed:
            values[other] = [v for v in values.get(other) or () if v not in typed[one]]
    given = {field.name: values[field.name] for field in fields(RunOptions) if field.name in values}
    lists = {name: tuple(given.get(name) or ()) for name in _LISTS}
    speech = speech_model(given.get("speech", NO_SPEECH))
    return RunOptions(**{**given, **lists, "speech": speech, "llm": None})


def named_in(context: typer.Context, source: Path) -> dict[str, Path]:
    """The videos that the project file keeps or drops, and the command line does not."""
    typed = {video for name in _LISTS for video in _typed(context).get(name, ())}
    project = read_project(source)
    videos = {video for name in _LISTS for video in project.get(name, ())}
    return dict.fromkeys(videos - typed, project_file(source))


def _typed(context: typer.Context) -> dict[str, Any]:
    """The options that were given on the command line."""
    # By name: new versions of Typer have a Click of their own.
    return {
        name: value
        for name, value in context.params.items()
        if (source := context.get_parameter_source(name)) and source.name == "COMMANDLINE"
    }


_LISTS = ("keep", "drop")


def default_out(source: Path) -> Path:
    """The default work folder: in the current folder, named after the input."""
    resolved = source.resolve()
    return Path(f"{resolved.stem if resolved.is_file() else resolved.name}-steps")
