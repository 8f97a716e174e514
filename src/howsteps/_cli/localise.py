"""``howsteps localise``: the place of every step in every video, with a script of your own."""

from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options
from howsteps._cli import run as running
from howsteps._cli.outcome import finish
from howsteps.engine.options import Options


def localise(
    source: options.Source,
    script: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A script.json taken as given, after you renamed, merged, deleted or reordered "
            "its steps; else the script is discovered.",
        ),
    ] = None,
    out: options.Out = None,
    steps: options.Steps = None,
    mode: options.AnyMode = options.Mode.default,
    seed: options.Seed = 0,
    speech: running.Speech = "small.en",
    vision: running.Vision = None,
    quick: running.Quick = False,
    device: running.Device = "cpu",
    model: options.Parser = None,
    begin: running.From = None,
    force: running.Force = None,
    workers: options.Workers = None,
    json_lines: running.JsonLines = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the steps of a script in every video, and write result.json.

    Works on the same work folder as 'run': what was computed there is not computed again.

    Example: howsteps localise videos/ --out steps/ --script steps/script.json
    """
    asked = Options(
        steps=steps,
        mode=mode.value,
        seed=seed,
        parser=model,
        speech=None if speech == running.NO_SPEECH else speech,
        vision=vision,
        quick=quick,
        device=device,
    )
    done = running.carry_out(
        source,
        out or running.default_out(source),
        asked,
        script=script,
        begin=begin,
        force=force,
        workers=workers,
        json_lines=json_lines,
        quiet=quiet,
    )
    if not json_lines:
        running.show(done)
    finish(done.problems, found=bool(done.results))
