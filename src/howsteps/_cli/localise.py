"""``howsteps localise``: place every step in every video, for instance with your own script."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from howsteps._cli import options, screen
from howsteps._cli import run as running
from howsteps._cli.screen import live_callback
from howsteps.pipeline.options import RunOptions, read_options

# Options that can be used without INPUT, because they need only the work folder.
_WITHOUT_INPUT = frozenset({"script", "out", "json_lines", "quiet"})


def localise(
    context: typer.Context,
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="INPUT",
            help="The videos, as for 'run'. Can be left out if the work folder has a result.",
            show_default=False,
        ),
    ] = None,
    script: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Use this script: the work folder's script.md after you edited it, any list of "
            "steps that you wrote or copied, or a script.json. Default: find one.",
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
    """Find the steps of a script in every video, for example one that you edited.

    Writes the same files as 'run', to the same work folder. Cached results are reused, and options
    that you leave out keep their values. Steps that you wrote are matched with what narrators say.

    Example: howsteps localise --out steps/ --script steps/script.md
    """
    if source is None:
        _place_again(context, script, out, json_lines=json_lines, quiet=quiet)
        return
    requested = options.run_options(
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
        _as_before(requested, folder, context),
        script=script,
        begin=begin,
        force=force,
        workers=workers,
        json_lines=json_lines,
        quiet=quiet,
    )
    if not json_lines:
        running.show(done.results, done.folders)
    screen.finish(done.problems, found=bool(done.results))


def _place_again(
    context: typer.Context,
    script: Path | None,
    out: Path | None,
    *,
    json_lines: bool,
    quiet: bool,
) -> None:
    """Place a script in the videos of a work folder, without reading INPUT again."""
    from howsteps.pipeline.placing import place_again  # noqa: PLC0415 - kept out of every start

    if script is None or out is None:
        raise typer.BadParameter("give INPUT, or --out FOLDER and --script FILE")
    if others := sorted(_given(context) - _WITHOUT_INPUT):
        name = others[0].replace("_", "-")
        raise typer.BadParameter(f"--{name} needs INPUT, because the videos are read again")
    with live_callback(quiet=quiet, json_lines=json_lines) as callback:
        result = place_again(out, script, callback=callback)
    if not json_lines:
        running.show({result.task.name: result}, {result.task.name: out})
    screen.finish(result.problems, found=True)


def _given(context: typer.Context) -> set[str]:
    """The names of the options on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}


def _as_before(requested: RunOptions, folder: Path, context: typer.Context) -> RunOptions:
    """The options on the command line; the others as in the run that made the work folder."""
    before = read_options(folder)
    if before is None:
        return requested
    values = {field.name: getattr(requested, field.name) for field in fields(requested)}
    return replace(before, **{name: values[name] for name in _given(context) & values.keys()})
