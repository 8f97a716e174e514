"""``howsteps localise``: the place of every step in every video, with a script of your own."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options
from howsteps._cli import run as running
from howsteps._cli.outcome import finish
from howsteps.pipeline.options import RunOptions


def localise(
    context: typer.Context,
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
    device: running.Device = running.Processor.cpu,
    parser: options.Parser = None,
    title: running.Title = None,
    begin: running.From = None,
    force: running.Force = None,
    workers: options.Workers = None,
    json_lines: running.JsonLines = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the steps of a script in every video, and write what 'run' writes.

    Works on the same work folder as 'run': what was computed there is not computed again, and what
    you do not say is as it was in that run.

    Example: howsteps localise videos/ --out steps/ --script steps/script.json
    """
    asked = RunOptions(
        steps=steps,
        mode=mode.value,
        seed=seed,
        parser=parser,
        speech=None if speech == running.NO_SPEECH else speech,
        vision=vision,
        quick=quick,
        device=device.value,
        title=title,
    )
    work = out or running.default_out(source)
    done = running.carry_out(
        source,
        work,
        _as_before(asked, work, context),
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


def _as_before(asked: RunOptions, work: Path, context: typer.Context) -> RunOptions:
    """What is asked for; where nothing was typed, as in the run that made the work folder."""
    from howsteps.pipeline.remembered import remembered  # noqa: PLC0415 - kept out of every start

    before = remembered(work)
    if before is None:
        return asked
    sources = {name: context.get_parameter_source(name) for name in context.params}
    typed = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    told = {field.name: getattr(asked, field.name) for field in fields(asked)}
    return replace(before, **{name: told[name] for name in typed & told.keys()})
