"""``howsteps features``: what is seen in the videos of a job, as one vector for each interval."""

import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from howsteps._cli import options, screen
from howsteps._cli.films import films
from howsteps._cli.outcome import finish
from howsteps._cli.run import Device, Processor, Quick, default_out
from howsteps.errors import HowstepsError, MissingExtra, Problem
from howsteps.extras import VISION
from howsteps.io.timestamps import format_time
from howsteps.task import Task
from howsteps.vision.options import VisionOptions, WatchOptions, looking_for

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from howsteps.pipeline.descriptors import Progress, VideoProgress
    from howsteps.pipeline.features import Features

NONE = "none"
FOLDER = "features"


def features(
    source: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A video, or a folder of videos of one job.")
    ],
    out: options.Out = None,
    mode: Annotated[
        options.Mode,
        typer.Option(
            help="'paper' and 'authors': VGG-16, Farneback flow, dense sampling; slow. 'default': "
            "EfficientNet-Lite0 and inverse search, faster than the film runs."
        ),
    ] = options.Mode.default,
    quick: Quick = False,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What looks at the frames in place of the mode's own: 'efficientnet-lite0', "
            "'vgg16', 'timm:NAME', the path of a TorchScript file, or 'none'.",
        ),
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Weights of the network, in place of the usual ones."),
    ] = None,
    motion: Annotated[bool, typer.Option(help="Whether motion is followed.")] = True,
    motion_words: Annotated[
        int | None, typer.Option(min=1, help="Words for motion (else: 2,000; quick: 500).")
    ] = None,
    appearance_words: Annotated[
        int | None, typer.Option(min=1, help="Words for appearance (else: 1,000; quick: 500).")
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Use the words that another collection was given."),
    ] = None,
    save_vocabulary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the words for other collections.")
    ] = None,
    device: Device = Processor.cpu,
    workers: options.Workers = None,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Watch all films again.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Look at the videos of a job: motion and appearance, one vector for every third of a second.

    Films are watched once. What was seen is kept in the work folder, named by content and options,
    and a run that was stopped goes on where it was; so does 'run' on the same work folder. A film
    that cannot be read is named and left out.

    Example: howsteps features videos/ --out steps/
    """
    from howsteps import datasets  # noqa: PLC0415 - kept out of the start of every command
    from howsteps.engine.cache import Cache  # noqa: PLC0415
    from howsteps.io.files import write_atomically  # noqa: PLC0415
    from howsteps.pipeline.features import features_of  # noqa: PLC0415
    from howsteps.pipeline.run import mark  # noqa: PLC0415
    from howsteps.pipeline.work_folder import CACHE  # noqa: PLC0415
    from howsteps.vision import codebook as words  # noqa: PLC0415

    if VISION.missing:
        raise MissingExtra(VISION.name, VISION.purpose)
    usual = looking_for(mode.value, quick=quick)
    asked = VisionOptions(
        _watch_options(usual.watch, network, weights, motion, seed),
        motion_words or usual.motion_words,
        appearance_words or usual.appearance_words,
        seed,
    )
    given = words.read_codebooks(vocabulary) if vocabulary else None
    work = out or default_out(source)
    mark(work, source)
    collection = datasets.read_tasks(source)
    if save_vocabulary and len(collection.tasks) > 1:
        raise HowstepsError(f"--save-vocabulary is for one job, and {source} holds several")
    problems, found = list(collection.problems), False
    for task in collection.tasks:
        seen = [video for video in task.videos if video.media]
        if not seen:
            problems.append(Problem(source, f"{task.name}: no video files, only captions"))
            continue
        tally = Tally()
        with films(len(seen), quiet=quiet) as told:
            result = features_of(
                seen,
                asked,
                cache=Cache(work / CACHE),
                vocabularies=given,
                device=device.value,
                workers=workers,
                again=force,
                progress=partial(_both, tally.add, told),
            )
        problems += result.problems
        folder = (work if len(collection.tasks) == 1 else work / task.name) / FOLDER
        _write(result.vectors, folder)
        if save_vocabulary and result.vectors:
            write_atomically(save_vocabulary, words.to_bytes(result.vocabularies))
        show(task, result, tally, folder)
        found = found or bool(result.vectors)
    if found:
        show_cache(work / CACHE)
    finish(problems, found=found)


def _watch_options(
    usual: WatchOptions, network: str | None, weights: Path | None, motion: bool, seed: int
) -> WatchOptions:
    """The options of a mode with what was asked for in place of its own."""
    if network == NONE and not motion:
        raise typer.BadParameter("neither motion nor a network: there is nothing to look for")
    look = usual.appearance
    if network == NONE:
        look = None
    elif look is not None:
        own = str(weights.absolute()) if weights else None
        look = replace(look, network=network or look.network, weights=own)
    return replace(usual, motion=usual.motion if motion else None, appearance=look, seed=seed)


def _both(first: "Progress", second: "Progress", seen: "VideoProgress") -> None:
    first(seen)
    second(seen)


def _write(vectors: "Mapping[str, NDArray[np.float32]]", folder: Path) -> None:
    import numpy as np  # noqa: PLC0415

    from howsteps.io.files import write_atomically  # noqa: PLC0415

    for video, rows in vectors.items():
        buffer = io.BytesIO()
        np.save(buffer, rows, allow_pickle=False)
        write_atomically(folder / f"{video}.npy", buffer.getvalue())


class Tally:
    """How many films were known, watched and not readable, and where the time went."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()
        self.seconds = 0.0

    def add(self, seen: "VideoProgress") -> None:
        """Count a film when it is done."""
        if seen.state != "watching":
            self.states[seen.state] += 1
        if seen.spent is not None:
            self.seconds += seen.seconds
            self.spent.update(seen.spent)


def show(task: Task, result: "Features", tally: Tally, folder: Path) -> None:
    """Print what was seen, what it took, and where it is."""
    screen.out.print(f"[bold]{escape(task.name)}[/]: {_films(tally)}")
    if tally.spent:
        work = sum(tally.spent.values())
        parts = ", ".join(f"{what} {100 * s / work:.0f} %" for what, s in tally.spent.most_common())
        screen.out.print(
            f"[dim]work: {work:,.0f} s on {format_time(tally.seconds)} of film: {parts}[/]"
        )
    if result.vectors:
        rows = sum(len(vectors) for vectors in result.vectors.values())
        width = next(iter(result.vectors.values())).shape[1]
        kinds = ", ".join(f"{len(v):,} words of {k}" for k, v in result.vocabularies.items())
        screen.out.print(f"{rows:,} intervals × {width:,} numbers ({kinds})")
        screen.out.print(f"written to {escape(str(folder))}", soft_wrap=True)


def show_cache(cache: Path) -> None:
    """Print how much is kept for the next time."""
    size = sum(path.stat().st_size for path in cache.rglob("*") if path.is_file())
    screen.out.print(f"[dim]{size / 1e6:,.0f} MB kept in {escape(str(cache))}[/]", soft_wrap=True)


def _films(tally: Tally) -> str:
    """``3 films watched (4:10), 9 known from before, 1 set aside``."""
    parts = []
    if watched := tally.states["watched"]:
        parts.append(f"{screen.plural(watched, 'film')} watched ({format_time(tally.seconds)})")
    if known := tally.states["known"]:
        parts.append(f"{screen.plural(known, 'film')} known from before")
    if failed := tally.states["failed"]:
        parts.append(f"{screen.plural(failed, 'film')} set aside")
    return ", ".join(parts)
