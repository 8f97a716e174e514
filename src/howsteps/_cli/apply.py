"""``howsteps apply``: find the steps of a learnt job in new videos."""

from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options, screen
from howsteps._cli import run as running
from howsteps._cli.screen import live_callback


def apply(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="The work folder of a run, or its 'model' folder."),
    ],
    sources: Annotated[
        list[Path], typer.Argument(metavar="VIDEO...", help="Videos, captions, or folders of them.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="The work folder of the result.")
    ] = Path("applied-steps"),
    speech: options.Speech = options.SPEECH,
    device: options.Device = options.Processor.cpu,
    title: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The name of the result. Default: the name of the learnt job."
        ),
    ] = None,
    workers: options.Workers = None,
    json_lines: options.JsonLines = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the steps that an earlier run learnt in new videos.

    Writes the same files as 'run': the page, result.json and the exports.

    Example: howsteps apply steps/ new-video.mp4 --out new-steps/
    """
    from howsteps.pipeline.apply import apply as apply_model  # noqa: PLC0415 - kept out of every start
    from howsteps.pipeline.executor import cores  # noqa: PLC0415

    with live_callback(quiet=quiet, json_lines=json_lines) as callback:
        done = apply_model(
            model,
            sources,
            out,
            speech=None if speech == options.NO_SPEECH else speech,
            device=device.value,
            title=title,
            workers=workers or cores(),
            callback=callback,
        )
    if not json_lines:
        for result in done.results.values():
            screen.out.print(running.places_table(result))
            running.show_location(out)
    screen.finish(done.problems, found=bool(done.results))
