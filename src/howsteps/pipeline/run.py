"""The whole pipeline, from a folder of how-to videos to their steps.

::

    read ─► transcribe ─► narration ─► script ──┐   (a language model may edit it, and read)
                 └──────► features ─────────────┴─► localise ─► result.json, script.md, model/

Videos of another job are set aside; the steps that groups of them share are listed separately.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from howsteps import datasets
from howsteps.captions.cues import printable
from howsteps.datasets import Collection
from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem, problem_of
from howsteps.io.cache import Cache
from howsteps.io.files import Folder
from howsteps.pipeline import asking, placing, selection, stages
from howsteps.pipeline.context import Callback, Context, ignore_event
from howsteps.pipeline.earlier import (
    NOTHING,
    ids,
    localised_by_hand,
    moved,
    places_now,
    read_whole,
    steps_now,
    with_mentions,
    with_videos,
    with_what_stays,
    without,
)
from howsteps.pipeline.executor import Executor, LocalExecutor
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.options import STAGES, RunOptions, check_workers, read_options, write_options
from howsteps.pipeline.work_folder import (
    CACHE,
    OWN_NAMES,
    SCRIPT_TEXT,
    Page,
    WrittenResults,
    check_folders,
    check_parts,
    read_decisions,
    write_overview,
    write_report,
    write_work,
    writing_to,
)
from howsteps.reader import AnswerFolder, LanguageModel, Reader, Remembered
from howsteps.script.text_form import parse_script_text
from howsteps.store import FILE, Decisions, without_captions
from howsteps.task import LIKE_SEEN, Localisation, Result, Script, Task
from howsteps.vision.features import Features

KEPT = "has the steps that you wrote or edited, so they are kept; to find them anew: `force` script"


@dataclass(frozen=True)
class Run:
    """The result of every task, the folder it was written to, and all problems.

    ``failed`` are the names of tasks without a result; a problem says why.
    """

    results: Mapping[str, Result]
    folders: Mapping[str, Path]
    problems: tuple[Problem, ...]
    failed: tuple[str, ...] = ()

    @property
    def result(self) -> Result:
        """The result of the only task, with all problems.

        Raises ``HowstepsError`` if there are several tasks, or none has a result.
        """
        if len(self.results) > 1:
            names = ", ".join(self.results)
            raise HowstepsError(f"there are several jobs ({names}): use `run`, and its `results`")
        for result in self.results.values():
            return replace(result, problems=self.problems)
        reason = self.problems[-1] if self.problems else "no task was found"
        raise HowstepsError(f"no steps were found: {reason}")


def run(
    source: Path | str | Task,
    out: Path | str,
    options: RunOptions | None = None,
    *,
    named_in: Mapping[str, Path] | None = None,
    script: Path | str | None = None,
    llm: Reader | str | None = None,
    force: Sequence[str] = (),
    workers: int = 1,
    executor: Executor | None = None,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Find the steps of every task under a path, and write the results.

    The files of a single task are written to ``out``; several tasks get a subfolder each, which
    stays that of the last one. Stage results are cached in ``out/cache`` under the hash of their
    inputs, so an interrupted run resumes where it stopped, and produces the same bytes.

    The arguments are those of :func:`howsteps.run`, but that its options are a ``RunOptions``. If
    ``llm`` writes questions, the run ends with them; None: what a model said in an earlier run
    still holds, and nothing is sent; ``"none"``: no longer.

    Parameters
    ----------
    named_in
        The file that names a video to keep or drop, which need not exist then.
    pages
        Also write the page that shows the result, and the text exports.

    Raises
    ------
    HowstepsError
        An argument is invalid, nothing can be read at all, or a folder cannot be written.
    """
    # Absolute, because other machines start in other folders.
    out, options = Path(out).absolute(), options or RunOptions()
    if source == "":
        raise HowstepsError("the path to the videos is empty")
    check_workers(workers)
    if isinstance(source, Task):
        check_task(source)
    else:
        source = Path(source).absolute()
    given = None if script is None else Path(script).absolute()
    for stage in force:
        if stage not in STAGES:
            raise HowstepsError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")
    check_folders(out, *([] if isinstance(source, Task) else [source]))
    executor = executor or LocalExecutor(workers)
    context = Context(Cache(out / CACHE), executor, callback, frozenset(force))
    stages.check_parser(options.parser)
    collection = read_source(source)
    tasks, problems = collection.tasks, list(collection.problems)
    problems += selection.check_choices(tasks, options, named_in or {})
    if len(tasks) > 1:
        _check_several(tasks, given)
    named = titled(tasks, options.title)
    if not tasks:
        return Run({}, {}, tuple(problems))
    reader = reader_of(llm, out)
    asks = isinstance(reader, AnswerFolder) and reader.ask  # and answers nothing yet
    answers = reader_of(None, out) if asks else reader
    model = answers.model if answers else None
    options = replace(options, llm=model)
    # A job that had a folder among others keeps it when it is the only one left.
    is_read = not isinstance(source, Task)
    inside = len(tasks) > 1 or (is_read and (out / tasks[0].name / FILE).is_file())
    jobs = [
        _Job(
            job,
            out / task.name if inside else out,
            options,
            given,
            reader,
            pages,
            inside=inside,
            in_files=frozenset(named_in or {}),
        )
        for task, job in zip(tasks, named, strict=True)
    ]
    folders: dict[str, Path] = {}
    held: dict[str, Result] = {}
    said: dict[str, tuple[Problem, ...]] = {}  # the problems of each job
    with writing_to(out):
        for job, found, job_problems in _run_jobs(jobs, context):
            if found is not None:
                folders[job.task.name] = job.folder
                if len(jobs) == 1 and isinstance(found, Result):
                    held[job.task.name] = found
            said[job.task.name] = tuple(job_problems)
            problems += job_problems
        problems += asking.tidied(reader)
        # On a cluster, jobs end in any order.
        folders = {job.task.name: job.folder for job in jobs if job.task.name in folders}
        write_overview(folders if pages and inside else {}, out)
        if inside and folders:
            write_options(options, out)
    # The results of many jobs may not fit into memory.
    results = held if len(jobs) == 1 else WrittenResults(folders, said)
    failed = tuple(job.task.name for job in jobs if job.task.name not in folders)
    return Run(results, folders, tuple(problems), failed)


def _check_several(tasks: Sequence[Task], script: Path | None) -> None:
    if script:
        raise HowstepsError(f"a script describes one job, but there are {len(tasks)}")
    if reserved := {*OWN_NAMES} & {task.name for task in tasks}:
        name = min(reserved)
        raise HowstepsError(f"no job can be called {name!r}: the work folder has a {name!r} itself")


NO_MODEL = "none"


def reader_of(llm: Reader | str | None, out: Path | None = None) -> Reader | None:
    """The reader of a run; without one, the one of the earlier run in its folder, as remembered."""
    if isinstance(llm, str):
        return None if llm == NO_MODEL else LanguageModel(llm)
    if llm is None and out is not None:
        before = _earlier_options(out).llm
        return Remembered(before) if before else None
    return llm


def read_source(source: Path | Task) -> Collection:
    """Read the tasks of a source, each with its videos sorted.

    Raises ``HowstepsError`` if there is nothing to read.
    """
    found = Collection((source,)) if isinstance(source, Task) else datasets.read_tasks(source)
    return replace(found, tasks=tuple(map(_sorted_by_id, found.tasks)))


def titled(tasks: Sequence[Task], title: str | None) -> list[Task]:
    """The tasks with the title, if there is one.

    Raises ``HowstepsError`` if it is for several.
    """
    if title is None:
        return [*tasks]
    if len(tasks) > 1:
        raise HowstepsError(f"a title is for one job, but there are {len(tasks)}")
    return [replace(task, name=clean_title(title)) for task in tasks]


def clean_title(title: str) -> str:
    """Return the title with single spaces, without control characters."""
    if not (name := " ".join(printable(title).split())):
        raise HowstepsError("the title is empty")
    return name


def check_task(task: Task) -> None:
    """Raise an error if two videos of a task that was made in Python have the same id."""
    for name, count in Counter(video.id for video in task.videos).items():
        if count > 1:
            raise HowstepsError(f"this task cannot be used: {count} videos have the id {name!r}")


def _sorted_by_id(task: Task) -> Task:
    """Sort the videos by id, so that the result does not depend on the order of the files."""
    return replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))


@dataclass(frozen=True)
class _Job:
    """One task, and how to process it."""

    task: Task
    folder: Path
    options: RunOptions
    script: Path | None
    reader: Reader | None
    pages: bool
    inside: bool  # the folder is one of several in the work folder
    in_files: frozenset[str]  # the videos to keep or drop that project files name


def _run_jobs(
    jobs: Sequence[_Job], context: Context
) -> Iterator[tuple[_Job, Result | Path | None, list[Problem]]]:
    """Yield each job when it is done: its result or its folder, if any, and its problems."""
    if len(jobs) == 1 or isinstance(context.executor, LocalExecutor):
        for job in jobs:
            yield job, *_run_job(job, context)
        return
    remote = partial(_run_remotely, context=replace(context, callback=ignore_event))
    with context.stage("tasks", context.cache.folder.parent.name, len(jobs)) as progress:
        for outcome in context.executor.map(remote, jobs):
            job = jobs[outcome.index]
            progress.done(job.task.name, cached=False)
            if outcome.value is not None:
                yield job, *outcome.value
            elif outcome.failure is not None:
                yield job, None, [Problem(Path(job.task.name), outcome.failure.reason)]


def _run_remotely(job: _Job, context: Context) -> tuple[Path | None, list[Problem]]:
    """Run one job on another machine, which returns the folder of its result."""
    result, problems = _run_job(job, context)
    return None if result is None else job.folder, problems


def _run_job(job: _Job, context: Context) -> tuple[Result | None, list[Problem]]:
    """Run one job; return its result and its problems.

    Raises ``CannotWrite`` if the disk is full or read-only. Files written before are complete, so
    the next run resumes.
    """
    if job.inside:
        (Folder(job.folder.parent) / job.folder.name).check()
    check_parts(job.folder)
    try:
        result, problems, unreadable = _run_task(job, context)
        if result is not None:
            write_options(job.options, job.folder)
        if result is not None and job.pages:
            problems += write_report(result, job.folder, context, unreadable)
    except OSError as error:  # read errors are handled by the readers
        where = error.filename or job.folder
        raise CannotWrite(f"cannot write {where}: {error.strerror}") from error
    return result, problems


def _earlier(folder: Path) -> tuple[Result, list[Problem]]:
    """The whole result of an earlier run, empty if there is none; a remark if it is unreadable."""
    try:
        return (read_whole(folder) if (folder / FILE).exists() else NOTHING), []
    except InputError as error:
        reason = f"{error.problem.reason}; it is made anew"
        return NOTHING, [replace(error.problem, reason=reason, harmless=True)]


def _earlier_options(folder: Path) -> RunOptions:
    with suppress(InputError):
        return read_options(folder) or RunOptions()
    return RunOptions()


def _asked_before(
    before: Result, job: _Job, options: RunOptions, reader: Reader | None
) -> Result | None:
    """The result of the earlier run, if the same reader was asked in it, in the same mode."""
    old = _earlier_options(job.folder)
    is_same = reader and (old.mode, old.llm) == (options.mode, reader.model)
    return before if is_same else None


def _run_task(job: _Job, context: Context) -> tuple[Result | None, list[Problem], set[Path]]:
    """Run the stages on one task; if it ends early, the last problem says why.

    Returns
    -------
    The result, the problems, and the video files that cannot be decoded.
    """
    problems: list[Problem] = []
    features: Features | None = None
    before, unreadable = _earlier(job.folder)
    reader = job.reader
    try:
        decisions = read_decisions(job.folder)
        if job.script:  # its errors are found before slow stages
            parse_script_text(Page.of(job.script).text, job.script)
        all_videos, remarks = stages.prepare_narration(job.task, job.options, context)
        page, is_script, problems = _page_of(job, before, all_videos, context)
        used = page if is_script else None
        wanted = selection.chosen_options(
            job.options, page, decisions.videos, job.task, before, used is page, job.in_files
        )
        options, chosen = wanted.options, wanted.decisions
        filtered = selection.set_aside_other_jobs(all_videos, options, before)
        task = filtered.task
        problems += [*unreadable, *wanted.remarks, *remarks, *filtered.remarks]
        if stages.is_silent(task, options):
            task, features = visual_features(task, options, context)
            problems += features.problems
        aside = without(all_videos, ids(task))
        own, seen, remarks = _find_steps(job, used, before, task, aside, options, features, context)
        asked = asking.Asked(task, own.within(ids(task)))
        known = _asked_before(before, job, options, reader)
        if reader and features is None:
            others = None if is_script else filtered.set_aside
            asked = asking.ask(task, asked.script, reader, options, context, others, known)
        task, script = asked.task, asked.script
        # Those on a script that was found are not on that of a model.
        problems += [*(remarks if is_script or not script.editor else ()), *asked.problems]
        if isinstance(reader, AnswerFolder) and reader.ask:
            return None, problems, set()
        if features is None:
            task, features = visual_features(task, options, context)
            problems += features.problems
        task, problems = selection.set_aside_unusable(task, features.vectors, problems)
        index = steps_now(before.script.within(ids(task)), script)
        places = places_now(decisions.places, before.script, script, index)
        fixed = (*seen, *localised_by_hand(places, script, task))
        readings, read = asked.readings, asked.read_videos
        placed = placing.place(task, script, features, options, context, fixed, readings, read)
    except CannotWrite:
        raise
    except HowstepsError as error:
        return None, [*problems, problem_of(error, Path(job.task.name))], set()
    if is_script:  # it stays what it is in the videos that are set aside
        script = with_mentions(script, own, range(len(script.steps)), ids(aside))
    task = replace(task, videos=tuple(map(without_captions, task.videos)))
    set_aside = (*filtered.set_aside, *asked.set_aside)
    result = Result(task, script, placed.localisations, set_aside, readings, read)
    result, remarks = write_work(
        with_what_stays(result, before, all_videos, index, was_asked=bool(known)),
        job.folder,
        placed.model,
        decisions=Decisions(chosen, places),
        keep=options.keep,
        edited=is_script,
        given=job.script,
        continues=page,
    )
    return result, [*problems, *remarks], unreadable_media(task, features)


def _page_of(
    job: _Job, before: Result, task: Task, context: Context
) -> tuple[Page | None, bool, list[Problem]]:
    """The page of a run, whether its steps are those of the run, and remarks.

    It is the given one, or the one in the work folder: its steps stay if a person wrote or edited
    them. There is none if it is of another job, or steps are to be found anew.
    """
    if job.script:
        return Page.of(job.script), True, []
    path = job.folder / SCRIPT_TEXT
    # The name may be just "videos".
    if before is not NOTHING and not _same_videos(before.task, task):
        reason = f"the result of another job, {before.task.name!r}, was here and is replaced"
        return None, False, [Problem(job.folder / FILE, reason, harmless=True)]
    # A link in a folder of somebody else may lead to any file.
    if not path.is_file() or path.is_symlink() or context.redo & asking.ANEW:
        return None, False, []
    page = Page.of(path)
    if page.is_as_found:
        return page, False, []
    return page, True, [Problem(path, KEPT, harmless=True)]


def _same_videos(one: Task, two: Task) -> bool:
    """Whether some videos of two tasks say the same."""
    said = {(video.id, video.sentences) for video in one.videos}
    return any((video.id, video.sentences) in said for video in two.videos)


def _find_steps(
    job: _Job,
    page: Page | None,
    before: Result,
    task: Task,
    aside: Task,
    options: RunOptions,
    features: Features | None,
    context: Context,
) -> tuple[Script, tuple[Localisation, ...], list[Problem]]:
    """Return the script, the places that were found by sight alone, and remarks.

    The script is the one on a person's ``page``, or found. ``before`` is the earlier result of the
    folder. ``features`` are those of videos in which nobody says what is done; None for others.
    """
    if page:
        origin = placing.origin_of(page, before, with_videos(task, aside))
        again = origin.read_videos
        if not job.reader:  # a model that is no longer used is not named any more
            origin = replace(origin, script=replace(origin.script, editor="", changes=()))
        script, remarks = placing.read_page(
            page, task, origin, options.parser, aside, () if job.reader else again
        )
        if features is None:
            return script, (), remarks
        index = steps_now(before.script, script)
        known = before.within(ids(task)).localisations
        seen = moved((p for p in known if p.evidence == LIKE_SEEN), index)
        seen = seen or stages.find_by_sight(task, features, len(script.steps), context)
        return script, seen, remarks
    if features is None:
        script = stages.find_script(task, options, context)
        return script, (), stages.script_remarks(task, script, options)
    seen = stages.find_by_sight(task, features, options.steps, context)
    script = stages.numbered_script(seen)
    return script, seen, [stages.silent_remark(task, script)]
