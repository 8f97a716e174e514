"""Options that several commands share."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from howsteps.pipeline.options import STAGES
from howsteps.task import Mode

NO_SPEECH = "none"
SPEECH = "small.en"  # the default model
MORE = "More options"  # the panel of those that --help leaves out
rare_option = partial(typer.Option, rich_help_panel=MORE)

Device: TypeAlias = Literal["cpu", "cuda"]
Stage = StrEnum("Stage", [(name, name) for name in STAGES])  # type: ignore[misc]

Input: TypeAlias = Annotated[Path, typer.Argument(metavar="INPUT", hidden=True)]
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
    typer.Option("--json", metavar="FILE", help="Write everything as JSON ('-' for stdout)."),
]
JsonLines: TypeAlias = Annotated[
    bool,
    rare_option("--json", help="Write each event to stdout as a line of JSON."),
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="At most this many steps. Default: automatic."),
]
AnyMode: TypeAlias = Annotated[
    Mode,
    rare_option(
        metavar="MODE",
        help="'default': our best method. 'paper': the text of the CVPR 2016 paper. 'authors': its "
        "released code.",
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
AnyDevice: TypeAlias = Annotated[Device, rare_option(help="Compute on the CPU or on a GPU.")]
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
Begin: TypeAlias = Annotated[
    Stage | None,
    rare_option(
        "--begin",
        metavar="STAGE",
        help=f"Run this stage and all later ones again. Stages: {', '.join(STAGES)}.",
    ),
]
Force: TypeAlias = Annotated[
    list[Stage] | None,
    rare_option("--force", metavar="STAGE", help="Run this stage again (may be repeated)."),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Videos in parallel. Default: one per core."),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]


def speech_model(speech: str) -> str | None:
    """The Whisper model, or None for 'none'."""
    return None if speech == NO_SPEECH else speech


def default_out(source: Path) -> Path:
    """The default work folder: in the current folder, named after the input."""
    resolved = source.resolve()
    return Path(f"{resolved.stem if resolved.is_file() else resolved.name}-steps")
