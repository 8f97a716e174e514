"""One call from a folder of how-to videos to their steps: the stages in their order.

::

    read ─► transcribe ─► narration ─► script ──┐   (a language model may edit it)
                 └──────► features ─────────────┴─► localise ─► result.json, script.json, model/
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from howsteps import datasets
from howsteps.datasets import Collection
from howsteps.editor import Editor
from howsteps.engine.cache import Cache
from howsteps.engine.context import Context
from howsteps.engine.events import Callback, ignore_event
from howsteps.engine.executor import Executor, local_executor
from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem
from howsteps.pipeline import stages
from howsteps.pipeline.editing import edit
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.given_script import check_given, is_text, known_script, read_given
from howsteps.pipeline.options import STAGES, RunOptions, write_options
from howsteps.pipeline.other_jobs import of_this_job, other_ways, with_their_steps
from howsteps.pipeline.placing import placed_before, placed_by_hand, with_hand
from howsteps.pipeline.work_folder import (
    CACHE,
    UNEDITED,
    WrittenResults,
    check_folders,
    mark,
    remove_if_empty,
    write_model,
    write_report,
    write_result,
    write_script,
)
from howsteps.result import settled
from howsteps.task import Result, Script, Task

USUAL_STEPS = 5  # fewer are worth a remark


@dataclass(frozen=True)
class Run:
    """The result of every task, the folder it is written to, and what went wrong."""

    results: Mapping[str, Result]
    folders: Mapping[str, Path]
    problems: tuple[Problem, ...]


def run(
    source: Path | str | Task,
    out: Path | str,
    options: RunOptions | None = None,
    *,
    script: Path | str | None = None,
    editor: Editor | None = None,
    begin: str | None = None,
    force: Sequence[str] = (),
    workers: int = 1,
    executor: Executor | None = None,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Find the steps of every task under a path, and write them down.

    With one task the files are in ``out``; with several, each task has a folder of its own there.
    What a stage computes is cached in ``out/cache`` under the hash of what it depends on, so a run
    that was stopped goes on where it was, and gives the same bytes.

    Parameters
    ----------
    source
        A folder of videos and captions, or of such folders; a caption file; a task file
        (:func:`howsteps.datasets.read_tasks`); or a task.
    out
        The work folder.
    options
        What changes the result.
    script
        A script that a person wrote or edited, taken as given: ``script.json``, or a page of text.
    editor
        A language model that edits the script that is found. The question is sent to its address.
    begin, force
        Compute this stage and all after it again; compute these stages again.
    workers
        How many processes work on videos.
    executor
        Used in place of processes on this machine, such as a
        :class:`howsteps.engine.ray_executor.RayExecutor`.
    pages
        Also write the page that shows the result, and the exports that are text.
    callback
        Called with every event.

    Raises
    ------
    HowstepsError
        Nothing can be read at all, a folder cannot be written, there is no such stage, or there
        are several tasks for one title.
    """
    # Absolute, as other machines begin in other folders.
    out, options = Path(out).absolute(), options or RunOptions()
    if source == "":
        raise HowstepsError("the path of the videos is empty")
    source = source if isinstance(source, Task) else Path(source).absolute()
    given = None if script is None else Path(script).absolute()
    _check_stages(begin, force)
    check_folders(out, *([] if isinstance(source, Task) else [source]))
    redo = frozenset(force) | frozenset(STAGES[STAGES.index(begin) :] if begin else ())
    context = Context(
        Cache(out / CACHE), executor or local_executor(workers), callback, redo, workers
    )
    context.executor.check()
    stages.check_parser(options.parser)
    collection = read_source(source, options.title)
    tasks, problems = collection.tasks, list(collection.problems)
    context.note(problems)
    if given and is_text(given) and len(tasks) > 1:
        raise HowstepsError(f"a text script is for one job, but there are {len(tasks)}")
    folders: dict[str, Path] = {}
    if tasks:
        mark(out)
        write_options(options, out)
    jobs = [
        _Job(task, out if len(tasks) == 1 else out / task.name, options, given, editor, pages)
        for task in tasks
    ]
    for job, is_found, flaws in _run_jobs(jobs, context):
        if is_found:
            folders[job.task.name] = job.folder
        context.note(flaws)
        problems += flaws
    if not folders:
        remove_if_empty(out)
    return Run(WrittenResults(folders), folders, tuple(problems))


def read_source(source: Path | Task, title: str | None = None) -> Collection:
    """The tasks of a source, under the title that was asked for, each with its videos in order.

    Raises
    ------
    HowstepsError
        There is nothing to read, or there are several tasks for one title.
    """
    found = Collection((source,)) if isinstance(source, Task) else datasets.read_tasks(source)
    found = replace(found, tasks=tuple(map(_in_order, found.tasks)))
    if title is None:
        return found
    if len(found.tasks) > 1:
        raise HowstepsError(f"a title is for one job, but {source} holds {len(found.tasks)}")
    if not (name := " ".join(title.split())):
        raise HowstepsError("a title has words")
    return replace(found, tasks=tuple(replace(task, name=name) for task in found.tasks))


def _in_order(task: Task) -> Task:
    """The videos by their ids: the same videos in another order are the same job."""
    return replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))


def narrate(task: Task, options: RunOptions, context: Context) -> tuple[Task, list[Problem]]:
    """The stages before the script: transcribe where there are no captions, extract mentions."""
    task, problems = stages.transcribe(task, options, context)
    task, found = stages.extract_mentions(task, options, context)
    return task, problems + found


def set_aside(
    task: Task, features: Mapping[str, object], problems: Sequence[Problem]
) -> tuple[Task, list[Problem]]:
    """Leave out the videos that have neither a sentence nor features.

    Each has one line, the last problem that it had: "is not a video file" says more than "has no
    captions".
    """
    used = {v.id for v in task.videos if v.sentences or v.id in features}
    videos = tuple(v for v in task.videos if v.id in used)
    lost = dict.fromkeys(
        (v.media or Path(v.id) for v in task.videos if v.id not in used),
        "it has neither captions nor features",
    )
    lost |= {problem.path: problem.reason for problem in problems if problem.path in lost}
    others = [problem for problem in problems if problem.path not in lost]
    aside = [Problem(path, f"set aside: {reason}") for path, reason in lost.items()]
    return replace(task, videos=videos), others + aside


def script_of(task: Task, options: RunOptions, context: Context) -> Script:
    """The script of a task with mentions.

    Raises
    ------
    HowstepsError
        There are no mentions, or no steps; the message says why.
    """
    if not any(video.mentions for video in task.videos):
        raise HowstepsError("no narrator says what is being done, in the captions that there are")
    script = stages.discover_script(task, options, context)
    if not script.steps:
        raise HowstepsError(_why_no_steps(task, options.steps))
    return script


def few_steps(task: Task, script: Script, asked: int | None) -> list[Problem]:
    """A remark where fewer steps were found than were asked for, or than a job usually has."""
    found = len(script.steps)
    if not 0 < found < (asked or USUAL_STEPS):
        return []
    wanted = f", and {asked} were asked for" if asked else ""
    steps = "1 step was" if found == 1 else f"{found} steps were"
    agree = "narrators agree on no more" if len(task.videos) > 1 else "its narrator names no more"
    reason = f"only {steps} found{wanted}: {agree}; more videos of the job may help"
    return [Problem(Path(task.name), reason, harmless=True)]


def _check_stages(begin: str | None, force: Sequence[str]) -> None:
    for stage in (*force, *([begin] if begin else [])):
        if stage not in STAGES:
            raise HowstepsError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")


@dataclass(frozen=True)
class _Job:
    """One task, and what is to be made of it."""

    task: Task
    folder: Path
    options: RunOptions
    script: Path | None
    editor: Editor | None
    pages: bool


def _run_jobs(jobs: Sequence[_Job], context: Context) -> Iterator[tuple[_Job, bool, list[Problem]]]:
    """Each job as it is done: whether it has a result, and what went wrong."""
    if len(jobs) == 1 or not context.executor.takes_tasks:
        for job in jobs:
            yield job, *_run_job(job, context)
        return
    remote = partial(_run_job, context=replace(context, callback=ignore_event, workers=1))
    with context.stage("tasks", context.cache.folder.parent.name, len(jobs)) as progress:
        for outcome in context.executor.map(remote, jobs, nested=True):
            job = jobs[outcome.place]
            progress.done(job.task.name, cached=False)
            if outcome.value is not None:
                yield job, *outcome.value
            elif outcome.failure is not None:
                yield job, False, [Problem(Path(job.task.name), outcome.failure.reason)]


def _run_job(job: _Job, context: Context) -> tuple[bool, list[Problem]]:
    """Do one job: whether it has a result, and what went wrong.

    Raises
    ------
    CannotWrite
        A folder is full or closed. What was written before is whole, and the next run goes on.
    """
    try:
        result, problems, unreadable = _run_task(job, context)
        if result is not None and job.pages:
            problems += write_report(result, job.folder, context, unreadable)
    except OSError as error:  # errors of reading are handled where files are read
        where = error.filename or job.folder
        raise CannotWrite(f"cannot write {where}: {error.strerror}") from error
    return result is not None, problems


def _run_task(job: _Job, context: Context) -> tuple[Result | None, list[Problem], set[Path]]:
    """Run the stages on one task; what ends it early is the last of its problems.

    Returns
    -------
    The result, the problems, and the videos that cannot be decoded.
    """
    task, given, options = job.task, job.script, job.options
    problems: list[Problem] = []
    try:
        if given:
            check_given(given, task)  # before anything that takes long
        everything, problems = narrate(task, options, context)
        own = of_this_job(everything, options)
        task = own.task
        problems += own.remarks
        if given:
            known = known_script((job.folder, given.parent), task)
            script, remarks = read_given(given, task, known, options, context)
            problems += remarks
        else:
            script = script_of(task, options, context)
            problems += few_steps(task, script, options.steps)
        ways = other_ways(everything, own.ways, options, context)
        problems = with_their_steps(problems, ways if job.pages else ())
        if job.editor and not given:
            write_script(task, script, job.folder, UNEDITED)
            task, script, found = edit(task, script, job.editor, context)
            problems += found
        problems += write_script(task, script, job.folder, edited=given is not None, given=given)
        task, features = visual_features(task, options, context)
        task, problems = set_aside(task, features.vectors, [*problems, *features.problems])
        # On a cluster the GPUs belong to the videos.
        device = "cpu" if context.executor.takes_tasks else options.device
        hand = placed_before(job.folder, task, script)
        place = stages.localise(
            *with_hand(task, script, hand), features, replace(options, device=device), context
        )
    except CannotWrite:
        raise
    except InputError as error:
        return None, [*problems, error.problem], set()
    except HowstepsError as error:
        return None, [*problems, Problem(Path(task.name), str(error))], set()
    problems += place.remarks
    found_places = placed_by_hand(place.localisations, hand)
    result = settled(Result(task, script, found_places, own.aside, ways))
    write_model(place.model, job.folder)
    write_result(result, job.folder, context)
    return result, problems, unreadable_media(task, features)


def _why_no_steps(task: Task, asked: int | None) -> str:
    if asked is not None:
        return (
            f"no {asked} steps stand out: more are named equally often; "
            "ask for more steps, or leave out --steps"
        )
    if len(task.videos) < 2:
        return "its narrator names nothing that could be a step"
    return "no two narrators name the same act; more videos may help"
