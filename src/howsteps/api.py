"""The public functions: from videos to steps in one call, and what to do with the result.

Paths may be ``str`` or :class:`pathlib.Path`. Problems (what was repaired or set aside, and
remarks) are returned with the results; errors are :class:`howsteps.HowstepsError`.
"""

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

from howsteps.errors import HowstepsError, Problem
from howsteps.pipeline.apply import apply as apply_model
from howsteps.pipeline.apply import read_videos
from howsteps.pipeline.events import Callback, ignore_event
from howsteps.pipeline.options import RunOptions, check_workers
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import Run, run
from howsteps.reader import Editor
from howsteps.result import read_result
from howsteps.task import Caption, Mode, Result, Task, Video

__all__ = [
    "Editor",
    "Files",
    "Run",
    "RunOptions",
    "apply",
    "discover",
    "export",
    "place_again",
    "read_result",
    "run",
    "write_page",
]

AnyPath: TypeAlias = str | PathLike[str]
# A path; a task; paths of videos and captions; or the captions of each video.
Source: TypeAlias = AnyPath | Task | Iterable[AnyPath] | Iterable[Iterable[Caption]]


class Files(NamedTuple):
    """The files that were written, and problems."""

    paths: tuple[Path, ...]
    problems: tuple[Problem, ...]


def discover(
    source: Source,
    *,
    out: AnyPath | None = None,
    steps: int | None = None,
    mode: Mode = "default",
    seed: int = 0,
    parser: str | None = None,
    speech: str | None = None,
    vision: bool | None = None,
    quick: bool = False,
    device: str = "cpu",
    title: str | None = None,
    keep_all: bool = False,
    editor: Editor | None = None,
    workers: int = 1,
    callback: Callback = ignore_event,
) -> Result:
    """Find the steps of one job in its videos, captions, or both.

    Parameters
    ----------
    source
        A folder with the videos and captions of one job, or another path that
        :func:`howsteps.datasets.read_tasks` reads; a list of such paths; a task; or a list with
        the captions of each video.
    out
        A work folder, with a cache. None: nothing is written.
    steps, mode, seed, parser, speech, vision, quick, device, title, keep_all
        As in :class:`howsteps.RunOptions`.
    editor
        A language model that edits the script: ``Editor("http://localhost:11434/v1", "NAME")``.
    workers
        The number of processes that work on videos; with more than one, call this under
        ``if __name__ == "__main__":``.
    callback
        Called with every event.

    Returns
    -------
    The result; ``result.problems`` lists what was repaired or set aside.

    Raises
    ------
    HowstepsError
        An argument is invalid, there is no task or more than one, or no steps are found; the
        message says why.
    """
    options = RunOptions(steps, mode, seed, parser, speech, vision, quick, device, title, keep_all)
    check_workers(workers)
    given, problems = _read(source, title)
    with tempfile.TemporaryDirectory() as temporary:
        done = run(
            given,
            Path(out or temporary),
            options,
            editor=editor,
            workers=workers,
            pages=out is not None,
            callback=callback,
        )
        return _one(replace(done, problems=(*problems, *done.problems)), _name(source))


def apply(
    model: AnyPath,
    videos: AnyPath | Iterable[AnyPath],
    *,
    out: AnyPath | None = None,
    speech: str | None = None,
    device: str = "cpu",
    title: str | None = None,
    workers: int = 1,
    callback: Callback = ignore_event,
) -> Result:
    """Find the steps of a learnt job in new videos.

    Parameters
    ----------
    model
        The work folder of a run, or its ``model`` folder.
    videos
        One or more videos, caption files, or folders of them.
    out
        A work folder for the result. None: nothing is written.
    title
        The name of the result; by default, the name of the learnt job.
    speech, device, workers, callback
        As in :func:`howsteps.discover`.

    Returns
    -------
    The result; ``result.problems`` lists what was set aside.

    Raises
    ------
    HowstepsError
        An argument is invalid, there is no model, or the steps cannot be placed in any of the
        videos.
    """
    RunOptions(speech=speech, device=device, title=title)  # checks them
    check_workers(workers)
    sources = _paths(videos)
    with tempfile.TemporaryDirectory() as temporary:
        done = apply_model(
            Path(model),
            sources,
            Path(out or temporary),
            speech=speech,
            device=device,
            title=title,
            workers=workers,
            pages=out is not None,
            callback=callback,
        )
        return _one(done, ", ".join(map(str, sources)))


def export(
    result: Result | AnyPath,
    folder: AnyPath,
    formats: str | Iterable[str],
    *,
    guesses: bool = False,
    precise: bool = False,
) -> Files:
    """Export a result for other programs, each format into its own folder under ``folder``.

    Parameters
    ----------
    result
        A result, a ``result.json``, or a work folder.
    formats
        One or more of :data:`howsteps.report.exports.FORMATS`: ``vtt``, ``youtube``, ``csv``, …
    guesses
        Include places that are guesses.
    precise
        Cut clips at the exact frame, which re-encodes the video.

    Raises
    ------
    HowstepsError
        There is no such format, or no such result.
    """
    from howsteps.report.exports import export as write  # noqa: PLC0415 - slow to import

    names = [formats] if isinstance(formats, str) else formats
    paths, problems = write(_result(result), Path(folder), names, guesses=guesses, precise=precise)
    return Files(tuple(paths), tuple(problems))


def write_page(
    result: Result | AnyPath, folder: AnyPath | None = None, *, thumbnails: bool = True
) -> Files:
    """Write the page of a result, ``report.html``.

    Parameters
    ----------
    result
        A result, a ``result.json``, or a work folder.
    folder
        Where to write it; by default, the folder of the result.
    thumbnails
        Make a thumbnail of every placed step (needs PyAV).

    Raises
    ------
    HowstepsError
        There is no such result, or no folder was given for a result in memory.
    """
    from howsteps.report.page import write_page as write  # noqa: PLC0415 - loads Jinja2

    if folder is None:
        if isinstance(result, Result):
            raise HowstepsError("a result in memory has no folder: pass one for the page")
        path = Path(result)
        folder = path if path.is_dir() else path.parent
    problems: list[Problem] = []
    page = write(_result(result), Path(folder), thumbnails=thumbnails, on_problem=problems.append)
    return Files((page,), tuple(problems))


def _read(source: Source, title: str | None) -> tuple[Path | Task, list[Problem]]:
    """Turn a source into a path or a task, which a run accepts; also return problems."""
    if isinstance(source, Task):
        return source, []
    if isinstance(source, str | PathLike):
        if source == "":
            raise HowstepsError("the path to the videos is empty")
        return Path(source), []
    if not isinstance(source, Iterable) or isinstance(source, bytes):
        raise HowstepsError(f"videos are a path, a list or a Task, not {source!r}")
    entries = list(source)  # it may be a generator
    name = title or "task"
    paths = [Path(each) for each in entries if isinstance(each, str | PathLike)]
    if len(paths) == len(entries):
        found = read_videos(paths, name)
        return found.tasks[0], list(found.problems)
    videos = []
    for number, captions in enumerate(entries, 1):
        if isinstance(captions, str | PathLike) or not isinstance(captions, Iterable):
            raise HowstepsError("a list must hold paths, or a list of captions for each video")
        videos.append(Video(f"video-{number}", tuple(captions)))
    return Task(name, tuple(videos)), []


def _name(source: Source) -> str:
    """The source as shown in messages."""
    if isinstance(source, Task):
        return source.name
    return str(source) if isinstance(source, str | PathLike) else "these videos"


def _paths(paths: AnyPath | Iterable[AnyPath]) -> list[Path]:
    return [Path(p) for p in ([paths] if isinstance(paths, str | PathLike) else paths)]


def _result(result: Result | AnyPath) -> Result:
    return result if isinstance(result, Result) else read_result(Path(result))


def _one(done: Run, source: str) -> Result:
    """The only result, with its problems."""
    if len(done.results) == 1:
        [result] = done.results.values()
        return replace(result, problems=done.problems)
    if done.results:
        names = ", ".join(done.results)
        raise HowstepsError(f"{source} holds several tasks ({names}): use howsteps.run for them")
    reason = done.problems[-1] if done.problems else "no task was found"
    raise HowstepsError(f"no steps were found in {source}: {reason}")
