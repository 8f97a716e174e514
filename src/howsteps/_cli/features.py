"""``howsteps features``: what is seen in the videos of a job, as one vector for each interval."""

import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from howsteps._cli import options, screen
from howsteps._cli.films import films, pace
from howsteps._cli.outcome import finish
from howsteps.errors import HowstepsError, Problem
from howsteps.task import Task


def features(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A video, or a folder of videos of one job.")
    ],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="WORK", help="Work folder: the cache and what is made."),
    ] = Path("howsteps-out"),
    network: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What looks at the frames: 'efficientnet-lite0', 'vgg16' (the paper's), "
            "'timm:NAME', the path of a TorchScript file, or 'none'.",
        ),
    ] = "efficientnet-lite0",
    weights: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Weights of the network, in place of the usual ones."),
    ] = None,
    motion: Annotated[bool, typer.Option(help="Whether motion is followed.")] = True,
    motion_words: Annotated[int, typer.Option(min=1, help="Words for motion.")] = 2000,
    appearance_words: Annotated[int, typer.Option(min=1, help="Words for appearance.")] = 1000,
    vocabulary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use the words that another collection was given."),
    ] = None,
    save_vocabulary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the words for other collections.")
    ] = None,
    device: Annotated[str, typer.Option(help="'cpu', or 'cuda' for the network.")] = "cpu",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Films watched at once (else: one for each core).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="One seed, one answer.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Look at the videos of a job: motion and appearance, one vector for every third of a second.

    Films are watched once: what was seen is kept under WORK/cache, named by content and options,
    and an interrupted run goes on from there. A film that cannot be read is named and left out.

    Example: howsteps features videos/ --out work
    """
