"""``howsteps features``: compute one vector per interval of the videos."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from howsteps._cli import options, screen
from howsteps._cli.screen import escape
from howsteps._cli.script import stage_context
from howsteps.errors import Problem
from howsteps.io.files import Folder
from howsteps.paper.visual_words import VisualWords
from howsteps.pipeline.features import features_of, method_of
from howsteps.pipeline.run import read_source
from howsteps.task import Mode, Task
from howsteps.vision.features import Features, Method, PooledFrames
from howsteps.vision.network import load

FOLDER = "features"


def features(
    source: options.Input,
    out: options.Out = None,
    mode: Annotated[
        Mode,
        typer.Option(
            metavar="MODE",
            help="'default': EfficientNet-Lite0 features of three frames per second. 'paper' and "
            "'authors': codewords of dense trajectories and VGG-16; slow, and needs the extra "
            "'paper'.",
        ),
    ] = "default",
    quick: options.Quick = False,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Another network for the frames: an ONNX file.",
        ),
    ] = None,
    device: options.AnyDevice = "cpu",
    workers: options.Workers = None,
    seed: options.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Ignore cached descriptors.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute features of the videos of a job.

    INPUT is a video, or a folder of videos of one job. Every third of a second of a video has a
    vector. Each video is decoded once, and its descriptors are cached in the work folder, where
    'run' finds them. An interrupted command resumes where it stopped. A video that cannot be read
    is reported and left out.

    Example: howsteps features videos/ --out steps/
    """
    method = _method(mode, quick, network, seed)
    method.require_extras(device)
    if network:
        load(network)  # a wrong one is no fault of the videos
    folder = out or options.default_out(source)
    redo = frozenset({FOLDER}) if force else frozenset()
    found = False
    with stage_context(source, folder, workers=workers, quiet=quiet, redo=redo) as context:
        collection = read_source(source)
        problems = list(collection.problems)
        for task in collection.tasks:
            videos = [video for video in task.videos if video.media]
            if not videos:
                problems.append(Problem(source, f"{task.name}: no video files, only captions"))
                continue
            result = features_of(videos, method, context, task=task.name, device=device)
            problems += result.problems
            one = len(collection.tasks) == 1
            where = (Folder(folder) if one else Folder(folder) / task.name) / FOLDER
            _write(result.vectors, where)
            show(task, result, len(videos), where.path)
            found = found or bool(result.vectors)
    screen.finish(problems, found=found)


def _method(mode: Mode, quick: bool, network: str | None, seed: int) -> Method:
    """The method of a mode, with another network if one is given."""
    usual = method_of(mode, quick).options
    if mode == "default":
        return PooledFrames(replace(usual, network=network) if network else usual)
    appearance = replace(usual.appearance, network=network) if network else usual.appearance
    return VisualWords(replace(usual, appearance=appearance, seed=seed))


def _write(vectors: Mapping[str, NDArray[np.float32]], folder: Folder) -> None:
    for video, rows in vectors.items():
        with folder.writing(f"{video}.npy") as file:
            np.save(file, rows)


def show(task: Task, result: Features, videos: int, folder: Path) -> None:
    """Print how many videos were processed, and where the vectors are."""
    cached = sum(video.cached for video in result.described)
    count = f"{len(result.described)} of {screen.plural(videos, 'video')} described"
    screen.out.print(f"[bold]{escape(task.name)}[/]: {count} ({cached} cached)")
    if result.vectors:
        rows = sum(len(vectors) for vectors in result.vectors.values())
        width = next(iter(result.vectors.values())).shape[1]
        line = f"{rows:,} intervals × {width:,} numbers, written to {folder}"
        screen.out.print(escape(line), soft_wrap=True)
