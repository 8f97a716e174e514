"""Options that several commands share, each described once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

# Expanded where it is used: who has no home can still do all that needs none.
TRANSCRIPTS = Path("~/.cache/howsteps/transcripts")


class Mode(StrEnum):
    """The three ways of doing everything: ours, the paper's text, the authors' program."""

    default = "default"
    paper = "paper"
    authors = "authors"


Source: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT",
        help="A folder with the videos of one job, their captions, or both; a caption file; a task "
        "JSON; or a folder of those.",
    ),
]
JsonFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write all of it as JSON ('-': to stdout)."),
]
Parser: TypeAlias = Annotated[
    str | None,
    typer.Option("--parser", metavar="NAME", help="Another spaCy pipeline, by name or folder."),
]
Speech: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Transcribe videos that have no captions with this Whisper model (a name such as "
        "'small.en', or a folder). Needs: pip install 'howsteps\\[asr]'.",
    ),
]
Cache: TypeAlias = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Where transcripts are kept.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
Out: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="FOLDER",
        help="The work folder; else the name of INPUT with '-steps', where you are.",
    ),
]
Steps: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="K", help="At most this many steps (else: chosen)."),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="One seed, one answer.")]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Videos worked on at once (else: one a core)."),
]
AnyMode: TypeAlias = Annotated[
    Mode,
    typer.Option(help="'paper' and 'authors' do as the CVPR 2016 paper says and its program did."),
]
Context: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="WORK", help="The work folder of a run, or a result.json."),
]
