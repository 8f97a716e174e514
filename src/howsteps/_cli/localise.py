"""``howsteps localise``: the place of every step in every video, with a script of your own."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options, screen
from howsteps._cli import run as running
from howsteps.pipeline.options import RunOptions, read_options


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
    speech: options.Speech = options.SPEECH,
    vision: options.Vision = None,
    quick: options.Quick = False,
    device: options.Device = options.Processor.cpu,
    parser: options.Parser = None,
    title: options.Title = None,
    keep_all: options.KeepAll = False,
    begin: options.From = None,
    force: options.Force = None,
    workers: options.Workers = None,
    json_lines: options.JsonLines = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the steps of a script in every video, and write what 'run' writes.

    Works on the same work folder as 'run': what is cached there is not computed again, and options
    that you leave out are as in that run.

    Example: howsteps localise videos/ --out steps/ --script steps/script.json
    """
    asked = options.run_options(
        steps=steps,
        mode=mode,
        seed=seed,
        parser=parser,
        speech=speech,
        vision=vision,
        quick=quick,
        device=device,
        title=title,
        keep_all=keep_all,
    )
    folder = out or options.default_out(source)
    done = running.run_pipeline(
        source,
        folder,
        _as_before(asked, folder, context),
        script=script,
        begin=begin,
        force=force,
        workers=workers,
        json_lines=json_lines,
        quiet=quiet,
    )
    if not json_lines:
        running.show(done)
    screen.finish(done.problems, found=bool(done.results))


def _as_before(asked: RunOptions, folder: Path, context: typer.Context) -> RunOptions:
    """The options that were typed; the others as in the run that made the work folder."""
    before = read_options(folder)
    if before is None:
        return asked
    sources = {name: context.get_parameter_source(name) for name in context.params}
    typed = {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}
    given = {field.name: getattr(asked, field.name) for field in fields(asked)}
    return replace(before, **{name: given[name] for name in typed & given.keys()})
