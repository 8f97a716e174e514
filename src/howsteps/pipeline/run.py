"""One call from a folder of how-to videos to their steps: the stages in their order.

::

    read ─► transcribe ─► narration ─► script ──┐
                 └──────► features ─────────────┴─► localise ─► result.json, script.json, model/
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from howsteps import datasets
from howsteps.datasets.collection import WORK_FOLDER
from howsteps.engine.cache import Cache
from howsteps.engine.context import Context
from howsteps.engine.events import Callback, ignore_event
from howsteps.engine.executor import Executor, local_executor
from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem
from howsteps.io.files import write_atomically
from howsteps.pipeline import stages, vision
from howsteps.pipeline.options import STAGES, RunOptions
from howsteps.pipeline.remembered import remember
from howsteps.pipeline.work_folder import CACHE, Written, write_learnt, write_report, write_result
from howsteps.result import settled
from howsteps.script.edited import check_script, read_script
from howsteps.task import Mode, Result, Task


@dataclass(frozen=True)
class Run:
    """What a run found: the result of every task, where it is written, and what went wrong."""

    results: Mapping[str, Result]
    folders: Mapping[str, Path]
    problems: tuple[Problem, ...]


def run(
    source: Path | str,
    out: Path | str,
    options: RunOptions | None = None,
    *,
    script: Path | str | None = None,
    begin: str | None = None,
    force: Sequence[str] = (),
    workers: int = 1,
    executor: Executor | None = None,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Find the steps of every task under a path, and write them down.

    With one task the files are in ``out``; with several, each task has a folder of its own there.
    What a stage computed is kept in ``out/cache`` under the hash of what it came from, so a run
    that was stopped goes on where it was, and gives the same bytes.

    Parameters
    ----------
    source
        What :func:`howsteps.datasets.read` reads: a folder of videos and captions, or of such
        folders.
    out
        The work folder.
    script
        A script that a person edited, taken as given.
    begin, force
        Make this stage and all after it again; make these stages again.
    workers
        How many processes work on videos.
    executor
        Who does the work in place of processes on this machine, such as a
        :class:`howsteps.engine.ray_executor.RayExecutor`.
    pages
        Also write the page that shows the result, and the exports that are text.
    tell
        Called with every event.

    Raises
    ------
    HowstepsError
        Nothing can be read at all, a folder cannot be written, a stage has another name, or there
        are several tasks for one title.
    """
    # Absolute, as other machines begin in other folders.
    source, out, options = Path(source).absolute(), Path(out).absolute(), options or RunOptions()
    given = None if script is None else Path(script).absolute()
    _check(begin, force)
    mark(out, source)
    redo = frozenset(force) | frozenset(STAGES[STAGES.index(begin) :] if begin else ())
    work = Context(Cache(out / CACHE), executor or local_executor(workers), callback, redo, workers)
    collection = datasets.read_tasks(source)
    tasks = _titled(collection.tasks, options.title, source)
    remember(options, out)
    problems = list(collection.problems)
    work.note(problems)
    folders: dict[str, Path] = {}
    jobs = [
        _Job(task, out if len(tasks) == 1 else out / task.name, options, given, pages)
        for task in tasks
    ]
    for job, is_found, flaws in _carried_out(jobs, work):
        if is_found:
            folders[job.task.name] = job.folder
        work.note(flaws)
        problems += flaws
    return Run(Written(folders), folders, tuple(problems))


def discover(
    source: Path | str,
    *,
    out: Path | str | None = None,
    steps: int | None = None,
    mode: Mode = "default",
    seed: int = 0,
    speech: str | None = None,
    vision: bool | None = None,
    quick: bool = False,
    device: str = "cpu",
    title: str | None = None,
    workers: int = 1,
    callback: Callback = ignore_event,
) -> Result:
    """Find the steps of one job in a folder of its videos, captions, or both.

    Parameters
    ----------
    source
        A folder with the videos and captions of one job.
    out
        A work folder; what was computed is kept there. None: nothing is written.
    steps, mode, seed, speech, vision, quick, device, title
        As for :class:`howsteps.pipeline.options.Options`.
    workers
        How many processes work on videos; with more than one, call this under
        ``if __name__ == "__main__":``.
    tell
        Called with every event.

    Raises
    ------
    HowstepsError
        There is no task or more than one, or its steps cannot be found; the message says why.
    """
    options = RunOptions(
        steps,
        mode,
        seed,
        speech=speech,
        vision=vision,
        quick=quick,
        device=device,
        title=title,
    )
    with tempfile.TemporaryDirectory() as empty:
        done = run(
            source, out or empty, options, workers=workers, pages=out is not None, callback=callback
        )
        if len(done.results) == 1:
            [result] = done.results.values()
            return result
    if done.results:
        names = ", ".join(done.results)
        raise HowstepsError(f"{source} holds several tasks ({names}): howsteps.run takes them all")
    reason = done.problems[-1] if done.problems else "no task was found"
    raise HowstepsError(f"no steps were found in {source}: {reason}")


def mark(out: Path, *sources: Path) -> None:
    """Mark a work folder as ours: what is written there is not read as captions later.

    Raises
    ------
    HowstepsError
        There is nothing to read, or it is the folder to read from.
    """
    for source in sources:
        if not source.exists():
            raise InputError(source, "no such file or folder")
        if out.resolve() == source.resolve():
            reason = f"{out} holds the videos; write to another folder, or to one inside it"
            raise HowstepsError(reason)
    write_atomically(out / WORK_FOLDER, b"What howsteps computed. cache/ may be deleted.\n")


def _check(begin: str | None, force: Sequence[str]) -> None:
    for stage in (*force, *([begin] if begin else [])):
        if stage not in STAGES:
            raise HowstepsError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")


def _titled(tasks: Sequence[Task], title: str | None, source: Path) -> Sequence[Task]:
    """The tasks under the title that was asked for."""
    if title is None:
        return tasks
    if len(tasks) > 1:
        raise HowstepsError(f"a title is for one job, and {source} holds {len(tasks)}")
    if not (name := " ".join(title.split())):
        raise HowstepsError("a title has words")
    return [replace(task, name=name) for task in tasks]


@dataclass(frozen=True)
class _Job:
    """One task, and what is to be made of it."""

    task: Task
    folder: Path
    options: RunOptions
    script: Path | None
    pages: bool


def _carried_out(jobs: Sequence[_Job], work: Context) -> Iterator[tuple[_Job, bool, list[Problem]]]:
    """Each job as it is done: whether it has a result, and what went wrong."""
    if len(jobs) == 1 or not work.executor.takes_tasks:
        for job in jobs:
            yield job, *_carry_out(job, work)
        return
    away = partial(_carry_out, work=replace(work, callback=ignore_event, workers=1))
    with work.stage("tasks", work.cache.folder.parent.name, len(jobs)) as progress:
        for outcome in work.executor.map(away, jobs, nested=True):
            job = jobs[outcome.place]
            progress.done(job.task.name, kept=False)
            if outcome.value is not None:
                yield job, *outcome.value
            elif outcome.failure is not None:
                yield job, False, [Problem(Path(job.task.name), outcome.failure.reason)]


def _carry_out(job: _Job, work: Context) -> tuple[bool, list[Problem]]:
    """Do one job: whether it has a result, and what went wrong.

    Raises
    ------
    CannotWrite
        A place is full or closed. What was written before is whole, and the next run goes on.
    """
    try:
        result, problems = _one(job.task, job.folder, job.options, job.script, work)
        if result is not None and job.pages:
            problems += write_report(result, job.folder, work)
    except OSError as error:  # what is read is looked after where it is read
        where = error.filename or job.folder
        raise CannotWrite(f"cannot write {where}: {error.strerror}") from error
    return result is not None, problems


def _one(
    task: Task, folder: Path, options: RunOptions, given: Path | None, work: Context
) -> tuple[Result | None, list[Problem]]:
    """Run the stages on one task; what ends it early is a problem like any other."""
    problems: list[Problem] = []
    try:
        if given:
            check_script(given, task)  # before anything that takes long
        task, found = stages.transcribed(task, options, work)
        problems += found
        task, found = stages.narrated(task, options, work)
        problems += found
        if not given and not any(video.mentions for video in task.videos):
            raise HowstepsError("no narrator says what is done, as far as there are captions")
        script = read_script(given, task) if given else stages.script_of(task, options, work)
        if not script.steps:
            raise HowstepsError(_why_no_steps(task, options.steps))
        seen = vision.visual_features(task, options, work)
        task, problems = known(seen.task, seen.vectors, [*problems, *seen.problems])
        # On a cluster the GPUs belong to the videos.
        device = "cpu" if work.executor.takes_tasks else options.device
        place = stages.located(task, script, seen, replace(options, device=device), work)
    except CannotWrite:
        raise
    except InputError as error:
        return None, [*problems, error.problem]
    except HowstepsError as error:
        return None, [*problems, Problem(Path(task.name), str(error))]
    problems += [Problem(Path(task.name), note, harmless=True) for note in place.notes]
    result = settled(Result(task, script, place.localisations))
    write_learnt(task.name, script, place.model, folder)
    write_result(result, folder, work)
    return result, problems


def _why_no_steps(task: Task, asked: int | None) -> str:
    if asked is not None:
        return (
            f"no {asked} steps stand out: more than that are named equally often, and which to "
            "leave out would be chance; ask for more steps, or leave their number open"
        )
    if len(task.videos) < 2:
        return "its narrator names nothing that is done"
    return "no two narrators name the same thing; more videos, or more of what is said, may help"


def known(
    task: Task, features: Mapping[str, object], problems: Sequence[Problem]
) -> tuple[Task, list[Problem]]:
    """Set aside the videos of which nothing is known: neither a word nor a picture.

    Each has one line, of what was wrong with it last: that a file is no film says more than that
    it has no captions.
    """
    kept = {v.id for v in task.videos if v.sentences or v.id in features}
    videos = tuple(v for v in task.videos if v.id in kept)
    lost = dict.fromkeys(
        (v.media or Path(v.id) for v in task.videos if v.id not in kept),
        "it has no captions that could be read, and was not looked at",
    )
    lost |= {problem.path: problem.reason for problem in problems if problem.path in lost}
    others = [problem for problem in problems if problem.path not in lost]
    aside = [Problem(path, f"set aside: {reason}") for path, reason in lost.items()]
    return replace(task, videos=videos), others + aside
