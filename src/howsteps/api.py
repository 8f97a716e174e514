"""The public functions: from videos to steps in one call, and what to do with the result.

Paths may be ``str`` or :class:`pathlib.Path`. Problems (what was repaired or set aside, and
remarks) are returned with the results; errors are :class:`howsteps.HowstepsError`.
"""

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from howsteps.errors import HowstepsError, Problem
from howsteps.io.files import Folder
from howsteps.pipeline.apply import apply as apply_model
from howsteps.pipeline.apply import read_videos
from howsteps.pipeline.context import Callback, ignore_event
from howsteps.pipeline.executor import Executor
from howsteps.pipeline.options import RunOptions, check_workers, one_or_more
from howsteps.pipeline.placing import place_again
from howsteps.pipeline.run import Run
from howsteps.pipeline.run import run as run_pipeline
from howsteps.pipeline.work_folder import export_as_asked
from howsteps.reader import AnswerFolder, LanguageModel
from howsteps.store import read_result
from howsteps.task import Extents, Mode, Result, Script, Task

__all__ = [
    "AnswerFolder",
    "Files",
    "LanguageModel",
    "Run",
    "apply",
    "discover",
    "export",
    "place",
    "read_result",
    "run",
]

AnyPath: TypeAlias = str | PathLike[str]
Device: TypeAlias = Literal["cpu", "cuda"]
Source: TypeAlias = AnyPath | Task | Iterable[AnyPath]  # paths of videos and captions


class Files(NamedTuple):
    """The files that were written, and problems."""

    paths: tuple[Path, ...]
    problems: tuple[Problem, ...]


def discover(
    source: "Source",
    *,
    steps: int | None = None,
    script: AnyPath | None = None,
    title: str | None = None,
    keep_all: bool = False,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    speech: str | None = None,
    vision: bool | None = None,
    quick: bool = False,
    mode: Mode = "default",
    seed: int = 0,
    device: Device = "cpu",
    extents: Extents = "found",
    parser: str | None = None,
    llm: LanguageModel | AnswerFolder | str | None = None,
    workers: int = 1,
    callback: "Callback | None" = None,
) -> Result:
    """Find the steps of one job in its videos, captions, or both. Nothing is written.

    Parameters
    ----------
    source
        A folder with the videos and captions of one job, or another path that
        :func:`howsteps.datasets.read_tasks` reads; a list of such paths; or a task.
    steps
        Find at most this many steps; None: the number is chosen automatically.
    script
        The path of a list of steps that a person wrote or edited, which is used as it is.
    title
        The name of the job, instead of the name of its folder. Doing the job is not one of its
        steps, so a good title makes a better script.
    keep_all
        Also use videos that seem to show another job.
    keep, drop
        Ids of videos to use although they seem to show another job, and of videos to leave out.
    speech
        The Whisper model, such as ``"small.en"``, that transcribes videos without captions. None:
        they are not transcribed.
    vision
        Whether to use the video frames; None: if the extra ``vision`` is installed.
    quick
        Use fewer and smaller frames: several times faster, and enough if steps look different.
    mode
        ``"default"``: our best method; ``"paper"``: the text of the CVPR 2016 paper;
        ``"authors"``: its released code.
    seed
        The same seed gives the same result.
    device
        Where networks run.
    extents
        Start and end of each step: ``"found"``, or ``"filled"``: the steps cover the whole video,
        and meet where its frames change.
    parser
        Another spaCy pipeline, by name or folder.
    llm
        A language model that edits the script and reads every video: its name on the server of
        ``OPENAI_BASE_URL`` (else Ollama on this machine), a ``LanguageModel("NAME", "URL")``, or an
        ``AnswerFolder("FOLDER")`` with answers. What narrators say is sent to the server.
    workers
        The number of processes that work on videos; with more than one, call this under
        ``if __name__ == "__main__":``.
    callback
        Called with every event (:mod:`howsteps.pipeline.context`).

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
    options = replace(options, keep=one_or_more(keep), drop=one_or_more(drop), extents=extents)
    with tempfile.TemporaryDirectory() as out:
        return _run(source, out, options, script, llm, workers, callback, pages=False).result


def run(
    source: "Source",
    out: AnyPath,
    *,
    steps: int | None = None,
    script: AnyPath | None = None,
    title: str | None = None,
    keep_all: bool = False,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    speech: str | None = None,
    vision: bool | None = None,
    quick: bool = False,
    mode: Mode = "default",
    seed: int = 0,
    device: Device = "cpu",
    extents: Extents = "found",
    parser: str | None = None,
    llm: LanguageModel | AnswerFolder | str | None = None,
    workers: int = 1,
    callback: "Callback | None" = None,
    force: Sequence[str] = (),
    executor: "Executor | None" = None,
) -> Run:
    """Find the steps of every job under a path, and write them: :func:`discover` with files.

    The files of a single job are written to ``out``; several jobs get a subfolder each. Results of
    stages are cached in ``out/cache``, so an interrupted run resumes where it stopped.

    Parameters
    ----------
    source, steps, title, keep_all, speech, vision, quick, mode, seed, device, \
    extents, parser, llm, workers, callback
        As in :func:`discover`; here a path may hold several jobs.
    out
        The work folder.
    script
        None: the steps of the work folder if a person wrote or edited them; ``force=["script"]``
        finds them anew.
    keep, drop
        As in :func:`discover`; later runs remember it.
    force
        Compute these stages again: names of :data:`howsteps.pipeline.options.STAGES`.
    executor
        Used instead of local processes: a :class:`howsteps.pipeline.executor.RayExecutor`.

    Returns
    -------
    The results of all jobs, their folders, and problems. ``.result`` is the one of a single job.

    Raises
    ------
    HowstepsError
        An argument is invalid, nothing can be read at all, or a folder cannot be written.
    """
    options = RunOptions(steps, mode, seed, parser, speech, vision, quick, device, title, keep_all)
    options = replace(options, keep=one_or_more(keep), drop=one_or_more(drop), extents=extents)
    more = {"force": force, "executor": executor}
    return _run(source, out, options, script, llm, workers, callback, **more)


def _run(
    source: Source,
    out: AnyPath,
    options: RunOptions,
    script: AnyPath | None,
    llm: LanguageModel | AnswerFolder | str | None,
    workers: int,
    callback: Callback | None,
    **more: Any,
) -> Run:
    check_workers(workers)
    given, problems = _read(source, options.title)
    done = run_pipeline(
        given,
        Path(out),
        options,
        script=None if script is None else Path(script),
        llm=llm,
        workers=workers,
        callback=callback or ignore_event,
        **more,
    )
    return replace(done, problems=(*problems, *done.problems))


def place(
    work: AnyPath,
    script: Script | Path | str | None = None,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    parser: str | None = None,
    callback: "Callback | None" = None,
) -> Result:
    """Place the steps of a script in the videos of a work folder: ``howsteps place``.

    The files of the folder are updated; its videos are not read.

    Parameters
    ----------
    work
        The work folder of a run.
    script
        A script (:func:`howsteps.script.discover`); the path of a list of steps; or its text of
        several lines, one step each. None: that of the work folder, with what was typed into it.
    keep, drop
        Ids of videos that were set aside, to be used; and of videos to leave out from now on.
    parser
        Another spaCy pipeline, by name or folder.
    callback
        Called with every event.

    Returns
    -------
    The result; ``result.places`` has every step that was found in a video.

    Raises
    ------
    HowstepsError
        The script cannot be used, there is no result in the folder, or no video is long enough for
        its steps.
    """
    if isinstance(script, str) and "\n" not in script:  # a path; else a wrong one would be a step
        script = Path(script)
    return place_again(Path(work), script, keep=keep, drop=drop, parser=parser, callback=callback)


def apply(
    model: AnyPath,
    videos: AnyPath | Iterable[AnyPath],
    *,
    out: AnyPath | None = None,
    speech: str | None = None,
    device: Device = "cpu",
    title: str | None = None,
    llm: "LanguageModel | AnswerFolder | str | None" = None,
    workers: int = 1,
    callback: "Callback | None" = None,
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
    llm
        A language model that reads the new videos, as in :func:`howsteps.discover`.
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
    options = RunOptions(speech=speech, device=device, title=title)
    check_workers(workers)
    given = [videos] if isinstance(videos, str | PathLike) else videos
    with tempfile.TemporaryDirectory() as temporary:
        done = apply_model(
            Path(model),
            [Path(path) for path in given],
            Path(out or temporary),
            options=options,
            llm=llm,
            workers=workers,
            pages=out is not None,
            callback=callback or ignore_event,
        )
        return done.result


def export(
    result: Result | AnyPath,
    folder: AnyPath,
    formats: str | Iterable[str],
    *,
    guesses: bool = False,
) -> Files:
    """Write a result for other programs, or its page.

    Parameters
    ----------
    result
        A result, a ``result.json``, or a work folder.
    folder
        Each format has a folder of its own in it; ``page`` writes ``report.html`` into it.
    formats
        One or more of :data:`howsteps.report.exports.FORMATS`: ``page``, ``vtt``, ``csv``, …
    guesses
        Include places that are guesses.

    Raises
    ------
    HowstepsError
        There is no such format, or no such result.
    """
    names = [formats] if isinstance(formats, str) else formats
    found = result if isinstance(result, Result) else read_result(Path(result))
    target = Folder(Path(folder))
    paths, problems = export_as_asked(found, target, names, guesses=guesses)
    return Files(tuple(paths), tuple(problems))


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
    if not entries:
        raise HowstepsError("the list of videos is empty")
    if not all(isinstance(each, str | PathLike) for each in entries):
        raise HowstepsError("a list of videos must hold paths")
    paths = [Path(each).absolute() for each in entries]  # links stay in their folder
    folders = sorted({path if path.is_dir() else path.parent for path in paths})
    if len(folders) > 1 and title is None:
        raise HowstepsError(
            f"the videos are in several folders ({folders[0]}, {folders[1]}), which are jobs of "
            "their own: to join them, name the job with `title`"
        )
    found = read_videos([Path(each) for each in entries], title or folders[0].name)
    return found.tasks[0], list(found.problems)
