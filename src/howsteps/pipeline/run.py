"""The whole pipeline, from a folder of how-to videos to their steps.

::

    read ─► transcribe ─► narration ─► script ──┐   (a language model may edit it, and read)
                 └──────► features ─────────────┴─► localise ─► result.json, script.json, model/

Videos of another job are set aside; the steps that groups of them share are listed separately.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from howsteps import datasets
from howsteps.datasets import Collection
from howsteps.errors import CannotWrite, HowstepsError, InputError, Problem, problem_of
from howsteps.io.files import Folder
from howsteps.narration.relevance import (
    Relevance,
    Way,
    names_the_job,
    relevance,
)
from howsteps.pipeline import stages
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Callback, ignore_event
from howsteps.pipeline.executor import Executor, local_executor
from howsteps.pipeline.features import unreadable_media, visual_features
from howsteps.pipeline.options import STAGES, RunOptions, check_workers, read_options, write_options
from howsteps.pipeline.placing import (
    manual_localisations,
    override_localisations,
    with_manual_mentions,
    with_mentions_as_readings,
)
from howsteps.pipeline.stages import (
    checked_options,
    discover_script,
    edit,
    is_text,
    known_script,
    read_given_script,
)
from howsteps.pipeline.work_folder import (
    CACHE,
    OWN_NAMES,
    UNEDITED,
    WrittenResults,
    check_folders,
    check_parts,
    other_job_remark,
    remove_if_empty,
    write_model,
    write_report,
    write_result,
    write_script,
    writing_to,
)
from howsteps.reader import AnswerFolder, LanguageModel, Reader, Remembered
from howsteps.script.text_form import VideoChoices
from howsteps.store import GivenTask, Malformed, converted, without_captions
from howsteps.task import OtherStep, OtherWay, Reading, Result, Script, SetAside, Task

MANY_FILES = 500  # captions that take longer than a few seconds to read
USUAL_STEPS = 5  # a script with fewer steps gets a remark


@dataclass(frozen=True)
class Run:
    """The result of every task, the folder it was written to, and all problems."""

    results: Mapping[str, Result]
    folders: Mapping[str, Path]
    problems: tuple[Problem, ...]

    @property
    def result(self) -> Result:
        """The result of the only task, with all problems.

        Raises
        ------
        HowstepsError
            There are several tasks, or none has a result; the message says why.
        """
        if len(self.results) > 1:
            names = ", ".join(self.results)
            raise HowstepsError(f"there are several tasks ({names}): see the results of each")
        for result in self.results.values():
            return replace(result, problems=self.problems)
        reason = self.problems[-1] if self.problems else "no task was found"
        raise HowstepsError(f"no steps were found: {reason}")


def run(
    source: Path | str | Task,
    out: Path | str,
    options: RunOptions | None = None,
    *,
    script: Path | str | None = None,
    llm: Reader | str | None = None,
    begin: str | None = None,
    force: Sequence[str] = (),
    workers: int = 1,
    executor: Executor | None = None,
    pages: bool = True,
    callback: Callback = ignore_event,
) -> Run:
    """Find the steps of every task under a path, and write the results.

    The files of a single task are written to ``out``; several tasks get a subfolder each. Stage
    results are cached in ``out/cache`` under the hash of their inputs, so an interrupted run
    resumes where it stopped, and produces the same bytes.

    Parameters
    ----------
    source
        A folder of videos and captions, or of such folders; a caption file; a task file
        (:func:`howsteps.datasets.read_tasks`); or a task.
    out
        The work folder.
    options
        The options that affect the result.
    script
        A script that a person wrote or edited, used as it is: ``script.json``, or a text file.
    llm
        A language model that edits the discovered script and reads every video: a
        :class:`~howsteps.reader.LanguageModel`, to which questions are sent; its name, on the
        usual server; or an :class:`~howsteps.reader.AnswerFolder`. If that writes questions, the
        run ends with them. None: what a model said in an earlier run still holds, and nothing is
        sent; ``"none"``: no longer.
    begin, force
        Recompute this stage and all later ones; recompute these stages.
    workers
        The number of processes that work on videos.
    executor
        Used instead of local processes, for example a
        :class:`howsteps.pipeline.ray_executor.RayExecutor`.
    pages
        Also write the page that shows the result, and the text exports.
    callback
        Called with every event.

    Raises
    ------
    HowstepsError
        An argument is invalid, nothing can be read at all, a folder cannot be written, there is no
        such stage, or a title was given for several tasks.
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
    _check_stages(begin, force)
    check_folders(out, *([] if isinstance(source, Task) else [source]))
    redo = frozenset(force) | frozenset(STAGES[STAGES.index(begin) :] if begin else ())
    context = Context(
        Cache(out / CACHE), executor or local_executor(workers), callback, redo, workers
    )
    context.executor.check()
    stages.check_parser(options.parser)
    collection = read_source(source, options.title, context)
    tasks, problems = collection.tasks, list(collection.problems)
    context.note(problems)
    ids = {video.id for task in tasks for video in task.videos}
    for unknown in [id_ for id_ in (*options.keep, *options.drop) if id_ not in ids]:
        raise HowstepsError(f"there is no video {unknown!r} to keep or drop")
    if given and is_text(given) and len(tasks) > 1:
        raise HowstepsError(f"a text script describes one job, but there are {len(tasks)}")
    if len(tasks) > 1 and (reserved := {*OWN_NAMES} & {task.name for task in tasks}):
        name = min(reserved)
        raise HowstepsError(f"no job can be called {name!r}: the work folder has a {name!r} itself")
    if not tasks:
        return Run({}, {}, tuple(problems))
    reader = _reader(llm, out)
    options = replace(options, llm=reader.model if reader else None)
    jobs = [
        _Job(
            task,
            out / task.name if len(tasks) > 1 else out,
            options,
            given,
            reader,
            pages,
            inside=len(tasks) > 1,
        )
        for task in tasks
    ]
    folders: dict[str, Path] = {}
    held: dict[str, Result] = {}
    with writing_to(out):
        write_options(options, out)
        for job, found, job_problems in _run_jobs(jobs, context):
            if found is not None:
                folders[job.task.name] = job.folder
                if len(jobs) == 1 and isinstance(found, Result):
                    held[job.task.name] = found
            context.note(job_problems)
            problems += job_problems
    if not folders:
        remove_if_empty(out)
    # The results of many jobs may not fit into memory.
    results = held if len(jobs) == 1 else WrittenResults(folders)
    return Run(results, folders, tuple(problems))


NO_MODEL = "none"


def _reader(llm: Reader | str | None, out: Path) -> Reader | None:
    """The reader of a run; without one, the one of the earlier run in its folder, as remembered."""
    if isinstance(llm, str):
        return None if llm == NO_MODEL else LanguageModel(llm)
    if llm is None:
        with suppress(InputError):
            before = read_options(out)
            return Remembered(before.llm) if before and before.llm else None
    return llm


def read_source(
    source: Path | Task, title: str | None = None, context: Context | None = None
) -> Collection:
    """Read the tasks of a source, each with its videos sorted; ``title`` renames a single task.

    Raises
    ------
    HowstepsError
        There is nothing to read, or a title was given for several tasks.
    """
    found = Collection((source,)) if isinstance(source, Task) else _read_tasks(source, context)
    found = replace(found, tasks=tuple(map(_sorted_by_id, found.tasks)))
    if title is None:
        return found
    if len(found.tasks) > 1:
        raise HowstepsError(f"a title is for one job, but {source} holds {len(found.tasks)}")
    name = clean_title(title)
    return replace(found, tasks=tuple(replace(task, name=name) for task in found.tasks))


def _read_tasks(source: Path, context: Context | None) -> Collection:
    """Read the tasks under a path; reading very many files is a stage that reports progress."""
    with ExitStack() as stage:

        def watch(total: int) -> Callable[[Path], None]:
            if context is None or total < MANY_FILES:
                return lambda _: None
            progress = stage.enter_context(context.stage("read", source.resolve().name, total))
            return lambda path: progress.done(path.name, cached=False)

        return datasets.read_tasks(source, watch)


def clean_title(title: str) -> str:
    """Return the title with single spaces; raise an error if no file could contain it."""
    if not (name := " ".join(title.split())):
        raise HowstepsError("the title is empty")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise HowstepsError(f"the title {name!r} is not valid UTF-8") from None
    return name


def check_task(task: Task) -> None:
    """Check the name, ids, durations and captions of a task that was made in Python.

    Raises
    ------
    HowstepsError
        One of them cannot be used; the message says which.
    """
    try:
        videos = [
            {"id": v.id, "duration": v.duration, "captions": msgspec.to_builtins(v.captions)}
            for v in task.videos
        ]
        given = converted({"name": task.name, "videos": videos}, GivenTask)
        for name in (given.name, *(video.id for video in given.videos)):
            name.encode()
        for name, count in Counter(video.id for video in given.videos).items():
            if count > 1:
                raise Malformed(f"{count} videos have the id {name!r}")
    except (AttributeError, TypeError, ValueError) as error:
        raise HowstepsError(f"this task cannot be used: {error}") from None


def _sorted_by_id(task: Task) -> Task:
    """Sort the videos by id, so that the result does not depend on the order of the files."""
    return replace(task, videos=tuple(sorted(task.videos, key=lambda video: video.id)))


def prepare_narration(
    task: Task, options: RunOptions, context: Context
) -> tuple[Task, list[Problem]]:
    """Run the stages before the script: transcribe videos without captions, extract mentions."""
    task, problems = stages.transcribe(task, options, context)
    task, more_problems = stages.extract_mentions(task, options, context)
    return task, problems + more_problems


def set_aside_unusable(
    task: Task, features: Mapping[str, object], problems: Sequence[Problem]
) -> tuple[Task, list[Problem]]:
    """Drop the videos that have neither a sentence nor features.

    Each is reported once, with the first problem that is not a remark: "is not a video file"
    says more than "has no captions", and "lasts longer than 6 hours" more than "has no frames".
    """
    used = {v.id for v in task.videos if v.sentences or v.id in features}
    videos = tuple(v for v in task.videos if v.id in used)
    reasons = dict.fromkeys(
        (v.media or Path(v.id) for v in task.videos if v.id not in used),
        "it has neither captions nor features",
    )
    # The last of several entries of a dictionary is kept.
    remarks = [problem for problem in problems if problem.harmless]
    losses = [problem for problem in reversed(problems) if not problem.harmless]
    reasons |= {p.path: p.reason for p in (*remarks, *losses) if p.path in reasons}
    others = [problem for problem in problems if problem.path not in reasons]
    dropped = [Problem(path, f"set aside: {reason}") for path, reason in reasons.items()]
    return replace(task, videos=videos), others + dropped


def find_script(task: Task, options: RunOptions, context: Context) -> Script:
    """Find the script of a task with mentions.

    Raises
    ------
    HowstepsError
        There are no mentions, or no steps; the message says why.
    """
    if not any(video.mentions for video in task.videos):
        captioned = [video for video in task.videos if video.captions]
        if captioned and not any(video.sentences for video in captioned):
            raise HowstepsError("no narration could be processed")
        raise HowstepsError("no narrator says what is being done in the available captions")
    script = stages.discover_script(task, options, context)
    if not script.steps:
        raise HowstepsError(_why_no_steps(task, options.steps))
    return script


def few_steps_remark(task: Task, script: Script, asked: int | None) -> list[Problem]:
    """Return a remark on steps of one narrator, or on fewer than requested or usual."""
    found, narrators = len(script.steps), sum(bool(video.mentions) for video in task.videos)
    if 0 < found < (asked or USUAL_STEPS):
        wanted = f", but {asked} were requested" if asked else ""
        steps = "1 step was" if found == 1 else f"{found} steps were"
        agree = "narrators agree on no more" if narrators != 1 else "its narrator mentions no more"
        reason = f"only {steps} found{wanted}: {agree}; more videos of the job may help"
    elif found and narrators == 1:
        reason = "the steps come from one narrator alone; more videos show which of them matter"
    else:
        return []
    return [Problem(Path(task.name), reason, harmless=True)]


def _check_stages(begin: str | None, force: Sequence[str]) -> None:
    for stage in (*force, *([begin] if begin else [])):
        if stage not in STAGES:
            raise HowstepsError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")


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


def _run_jobs(
    jobs: Sequence[_Job], context: Context
) -> Iterator[tuple[_Job, Result | Path | None, list[Problem]]]:
    """Yield each job when it is done: its result or its folder, if any, and its problems."""
    if len(jobs) == 1 or not context.executor.takes_tasks:
        for job in jobs:
            yield job, *_run_job(job, context)
        return
    remote = partial(_run_remotely, context=replace(context, callback=ignore_event, workers=1))
    with context.stage("tasks", context.cache.folder.parent.name, len(jobs)) as progress:
        for outcome in context.executor.map(remote, jobs, nested=True):
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

    Raises
    ------
    CannotWrite
        The disk is full or read-only. Files written before are complete, so the next run resumes.
    """
    if job.inside:
        (Folder(job.folder.parent) / job.folder.name).check()
    check_parts(job.folder)
    try:
        result, problems, unreadable = _run_task(job, context)
        if result is not None and job.pages:
            problems += write_report(result, job.folder, context, unreadable)
    except OSError as error:  # read errors are handled by the readers
        where = error.filename or job.folder
        raise CannotWrite(f"cannot write {where}: {error.strerror}") from error
    return result, problems


def _run_task(job: _Job, context: Context) -> tuple[Result | None, list[Problem], set[Path]]:
    """Run the stages on one task; if it ends early, the last problem says why.

    Returns
    -------
    The result, the problems, and the video files that cannot be decoded.
    """
    task, given, options = job.task, job.script, job.options
    problems: list[Problem] = []
    try:
        if given:
            options = checked_options(given, task, options)  # fail before the slow stages
        all_videos, problems = prepare_narration(task, options, context)
        filtered = set_aside_other_jobs(all_videos, options)
        task, set_aside = filtered.task, list(filtered.set_aside)
        problems += filtered.remarks
        if given:
            known = known_script((job.folder, given.parent), task)
            script, remarks = read_given_script(given, task, known, options, context)
            problems += remarks
        else:
            script = find_script(task, options, context)
            problems += few_steps_remark(task, script, options.steps)
        ways = find_other_ways(all_videos, filtered.ways, options, context)
        problems = with_page_hint(problems, ways if job.pages else ())
        if job.reader and not given:
            write_script(task, script, job.folder, UNEDITED)
            before = task.videos
            task, script, remarks = edit(
                task, script, job.reader, options, context, filtered.set_aside
            )
            problems += remarks
            said = f"of another job, says {job.reader.model}"
            set_aside += [SetAside(v.id, v.title, said) for v in before if v not in task.videos]
        readings: tuple[Reading, ...] = ()
        read: frozenset[str] = frozenset()
        if job.reader and options.mode == "default":
            readings, read, remarks = stages.read_videos(task, script, job.reader, context)
            problems += remarks
        if isinstance(job.reader, AnswerFolder) and job.reader.ask:
            return None, problems, set()
        problems += other_job_remark(task.name, job.folder)
        problems += write_script(
            task,
            script,
            job.folder,
            edited=given is not None,
            given=given,
            choices=VideoChoices(set_aside, options.keep),
        )
        task, features = visual_features(task, options, context)
        task, problems = set_aside_unusable(task, features.vectors, [*problems, *features.problems])
        # On a cluster, the GPUs are reserved for features and transcription.
        device = "cpu" if context.executor.takes_tasks else options.device
        by_hand = manual_localisations(job.folder, task, script)
        task_with_places, with_places = with_manual_mentions(task, script, by_hand)
        localised = stages.localise(
            task_with_places,
            with_places,
            features,
            replace(options, device=device),
            context,
            with_mentions_as_readings(readings, read, with_places, by_hand),
            read,
        )
    except CannotWrite:
        raise
    except HowstepsError as error:
        return None, [*problems, problem_of(error, Path(task.name))], set()
    problems += localised.remarks
    localisations = override_localisations(localised.localisations, by_hand)
    task = replace(task, videos=tuple(map(without_captions, task.videos)))
    result = Result(task, script, localisations, tuple(set_aside), ways, readings, read)
    write_model(localised.model, job.folder)
    write_result(result, job.folder, context)
    return result, problems, unreadable_media(task, features)


def _why_no_steps(task: Task, asked: int | None) -> str:
    if asked is not None:
        return (
            f"cannot choose {asked} steps: more than that are mentioned equally often; "
            "ask for more steps, or leave out `steps`"
        )
    if len(task.videos) < 2:
        return "its narrator mentions nothing that could be a step"
    return "no two narrators mention the same act; more videos may help"


OTHER_SCRIPT = "script of another way"  # stage name in events
MIN_VIDEOS = 8
MIN_STEPS = 5
MIN_SUPPORT, MIN_SUPPORT_SHARE = 3, 0.1  # of a step: videos, and share of the videos


class FilteredTask(NamedTuple):
    """The task without the videos of another job, and those videos.

    There is one remark per video, or one per group of videos that do the job in another way.
    """

    task: Task
    set_aside: tuple[SetAside, ...] = ()
    remarks: tuple[Problem, ...] = ()
    ways: tuple[Way, ...] = ()


def set_aside_other_jobs(task: Task, options: RunOptions) -> FilteredTask:
    """Set aside the videos of another job, and those that a person dropped.

    Modes ``paper`` and ``authors`` keep all videos that are not dropped.
    """
    is_asked = not options.keep_all and options.mode == "default"
    found = relevance(task) if is_asked else Relevance({})
    dropped = dict.fromkeys(options.drop, "you left it out")
    doubts = dropped | found.aside
    others = [v for v in task.videos if v.id in doubts and v.id not in options.keep]
    aside = tuple(SetAside(v.id, v.title, doubts[v.id]) for v in others)
    ids = {video.id for video in others}
    kept = tuple(video for video in task.videos if video.id not in ids)
    ways = tuple(
        replace(way, videos=left)
        for way in found.ways
        if (left := tuple(video for video in way.videos if video in ids))
    )
    remarks = [
        Problem(
            video.media or Path(video.id),
            f'set aside as another job: {each.reason} (to keep it: `keep="{video.id}"`)',
            harmless=True,
        )
        for video, each in zip(others, aside, strict=True)
        if video.id not in options.drop and not any(video.id in way.videos for way in ways)
    ]
    if is_asked and not names_the_job(task):
        reason = (
            f"the name {task.name!r} says little about the job, so videos of other jobs are hard "
            'to recognise; name the job, as in `title="change a tire"`'
        )
        remarks.append(Problem(Path(task.name), reason, harmless=True))
    remarks += [
        Problem(Path(task.name), way.sentence(len(task.videos)), harmless=True) for way in ways
    ]
    return FilteredTask(replace(task, videos=kept), aside, tuple(remarks), ways)


def with_page_hint(problems: Iterable[Problem], on_page: Iterable[OtherWay]) -> list[Problem]:
    """Add to the remark on another way, if its steps are on the page, where to find them."""
    reasons = {way.reason for way in on_page}
    hint = "; their own steps are at the end of the page"
    return [
        replace(problem, reason=f"{problem.reason}{hint}") if problem.reason in reasons else problem
        for problem in problems
    ]


def find_other_ways(
    task: Task, ways: Iterable[Way], options: RunOptions, context: Context
) -> tuple[OtherWay, ...]:
    """Find the groups of videos that have a script of their own.

    Parameters
    ----------
    task
        All videos with their mentions, including those of the ways.
    """
    found = []
    for way in ways:
        if len(way.videos) < MIN_VIDEOS:
            continue
        videos = tuple(video for video in task.videos if video.id in way.videos)
        way_task = replace(task, videos=videos)
        script = discover_script(way_task, options, context, stage=OTHER_SCRIPT)
        min_support = max(MIN_SUPPORT, MIN_SUPPORT_SHARE * len(videos))
        steps = tuple(
            OtherStep(step.label, step.support)
            for step in script.steps
            if step.support >= min_support
        )
        if len(steps) >= MIN_STEPS:
            found.append(OtherWay(way.sentence(len(task.videos)), way.videos, steps))
    return tuple(found)
