"""The stages of a run, one function each: transcribe, narration, script, localise.

(The stage ``features`` is in :mod:`howsteps.pipeline.features`.) Each stage looks up its result in
the cache, under the hash of its inputs (:mod:`howsteps.pipeline.cache`), and computes it if it is
missing.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from howsteps.errors import SPEECH, HowstepsError, Problem, problem_of
from howsteps.io.files import check_unchanged, fingerprint, key_of, sha256_of_file
from howsteps.pipeline import learnt_steps
from howsteps.pipeline.cache import narration_key, parser_identity, stage_key
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import Failure, single_threaded
from howsteps.pipeline.features import feature_space, method_of
from howsteps.pipeline.learnt_steps import LearntSteps
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.store import (
    NarrationRecord,
    PlacesRecord,
    ScriptRecord,
    narration_record,
    rounded,
    script_of,
    script_record,
    with_narration,
)
from howsteps.task import Caption, Localisation, Mode, Script, Task, Video
from howsteps.vision.features import Features

if TYPE_CHECKING:
    from howsteps.localise.method import TaskLocalisation
    from howsteps.paper.localise import ClusteredTask

_TRANSCRIBE = 1  # version of the stage's output
SEARCH_SECONDS = 5.0  # effort of the script search, in seconds on a typical machine
SUBSAMPLE_SECONDS = 0.5  # the same for a subsample of the videos
FEW_NARRATIONS = 32  # parsed in less time than a second process needs to load the parser


def transcribe(task: Task, options: RunOptions, context: Context) -> tuple[Task, list[Problem]]:
    """Transcribe the videos that have no captions; return the task with their captions."""
    uncaptioned = [
        video for video in task.videos if video.media and not (video.captions or video.sentences)
    ]
    if not uncaptioned:
        return task, []
    reason = ""
    if options.speech is None:
        reason = 'has no captions, and transcription is off (to turn it on: `speech="small.en"`)'
    elif SPEECH.missing:
        reason = f"has no captions; to transcribe it: {SPEECH.command}"
    if reason:
        return task, [Problem(_path(video), reason, harmless=True) for video in uncaptioned]
    from howsteps.narration import speech  # noqa: PLC0415 - loads an extra

    problems, jobs = [], []
    for video in uncaptioned:
        media = Path(video.media or "")
        try:
            before = fingerprint(media)
            identity = speech.cache_key(media, str(options.speech), vad=True)
        except HowstepsError as error:
            problems.append(problem_of(error, _path(video)))
            continue
        key = key_of(_TRANSCRIBE, speech=identity)
        jobs.append((video.id, key, (media, str(options.speech), options.device, before)))
    found, failures = context.compute_each(
        "transcribe",
        task.name,
        jobs,
        _transcribe,
        tuple[Caption, ...],
        lambda _, captions: captions,
        device=options.device,
    )
    problems += [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        Problem(_path(video), "it has no speech", harmless=True)
        for video in uncaptioned
        if found.get(video.id) == ()
    ]
    videos = tuple(
        replace(video, captions=found.get(video.id, video.captions)) for video in task.videos
    )
    return replace(task, videos=videos), problems


def _transcribe(job: tuple[Path, str, str, tuple[int, int]]) -> tuple[Caption, ...]:
    from howsteps.narration.speech import transcribe  # noqa: PLC0415 - loads an extra

    media, model, device, before = job
    captions = transcribe(media, model=model, device=device)
    check_unchanged(media, before)  # or another video's words would be cached under this hash
    return captions


def extract_mentions(
    task: Task, options: RunOptions, context: Context
) -> tuple[Task, list[Problem]]:
    """Return the task with the sentences and mentions of every video that has captions."""
    parser = parser_identity(options.parser)
    jobs = [
        (
            video.id,
            stage_key(
                "narration",
                captions=list(video.captions),
                duration=video.duration,
                mode=options.mode,
                parser=parser,
            ),
            (video, options.mode, options.parser),
        )
        for video in task.videos
        if video.captions and not video.sentences
    ]
    by_id = {video.id: video for video in task.videos}

    def read(video: str, narration: NarrationRecord) -> Video:
        return with_narration(by_id[video], narration)

    found, failures = context.compute_each(
        "narration", task.name, jobs, _extract, NarrationRecord, read, max_serial=FEW_NARRATIONS
    )
    videos = tuple(found.get(video.id, video) for video in task.videos)
    problems = [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        Problem(_path(video), "no relation found in its narration", harmless=True)
        for video in videos
        if video.id in found and not video.mentions
    ]
    return replace(task, videos=videos), problems


def _extract(job: tuple[Video, Mode, str | None]) -> NarrationRecord:
    from howsteps.narration import extract_relations  # noqa: PLC0415 - loads spaCy

    video, mode, parser = job
    with single_threaded():
        # One at a time, so that the mentions of a video never depend on other videos.
        [found] = extract_relations(Task("", (video,)), mode=mode, model=parser).videos
    return narration_record(found)


def check_parser(parser: str | None) -> None:
    """Raise a ``HowstepsError`` if the given parser cannot be loaded."""
    if parser is not None:
        from howsteps.narration.parser import load_parser  # noqa: PLC0415 - loads spaCy

        load_parser(parser)


def discover_script(
    task: Task,
    options: RunOptions,
    context: Context,
    *,
    seconds: float = SEARCH_SECONDS,
    certify: float = 0.0,
    stage: str = "script",
) -> Script:
    """Find the steps of the job; in modes ``paper`` and ``authors`` each with its stability.

    ``seconds`` and ``certify`` apply to modes ``paper`` and ``authors``, as in
    :func:`howsteps.paper.script.discover`. ``stage`` is the stage name in events.

    Raises
    ------
    HowstepsError
        No video has a mention.
    """
    key = stage_key(
        "script",
        task=task.name,
        videos=_identities(task),
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
        seconds=seconds,
        certify=certify,
    )
    with context.stage(stage, task.name, 1) as progress:
        record = context.cached("script", key, ScriptRecord)
        if missing := record is None:
            with single_threaded():
                script = _discover(task, options, seconds, certify)
            record = script_record(script, task)
            context.cache.put("script", key, record)
        progress.done(task.name, cached=not missing)
    return script_of(record, task)


def _identities(task: Task) -> list[list[object]]:
    """The videos of a task for a key: what script and places are computed from."""
    return [[v.id, v.duration, v.length, narration_key(v)] for v in task.videos]


def _discover(task: Task, options: RunOptions, seconds: float, certify: float) -> Script:
    if options.mode == "default":
        from howsteps.script import discover  # noqa: PLC0415 - loads Numba

        return discover(task, steps=options.steps)
    from howsteps.paper.script import discover as align_mentions  # noqa: PLC0415 - loads Numba
    from howsteps.paper.script import with_stability  # noqa: PLC0415

    by_alignment = partial(align_mentions, mode=options.mode, seed=options.seed)
    script = by_alignment(task, steps=options.steps, seconds=seconds, certificate_seconds=certify)
    again = partial(by_alignment, steps=len(script.steps), seconds=SUBSAMPLE_SECONDS)
    return with_stability(script, task, again, seed=options.seed)


class LocalisedTask(NamedTuple):
    """The localisations, remarks on them, and the folder of the model."""

    localisations: tuple[Localisation, ...]
    remarks: tuple[Problem, ...]
    model: Path


def localise(
    task: Task,
    script: Script,
    features: Features,
    options: RunOptions,
    context: Context,
) -> LocalisedTask:
    """Find the place of every step in every video.

    Raises
    ------
    HowstepsError
        No video is long enough for the steps.
    """
    key = stage_key(
        "localise",
        job=[learnt_steps.VERSION, task.name],
        script=msgspec.to_builtins(script_record(script, task)),
        videos=_identities(task),
        features=dict(features.keys),
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
    )
    model = context.cache.folder / "localise" / f"{key}.model"
    with context.stage("localise", task.name, 1) as progress:
        found = context.cached("localise", key, PlacesRecord)
        if missing := found is None or found.model != _digests(model):
            with single_threaded():
                placement = _place(task, script, features, options)
            placement.model.save(model)
            feature_space(task, features, options).save(model, method_of)
            learnt_steps.save(LearntSteps.of(task, script), model)
            found = PlacesRecord(
                localisations=[rounded(place) for place in placement.localisations],
                relaxed=[(int(w.video), int(w.step)) for w in placement.relaxed_windows],
                model=_digests(model),
            )
            # Written after the model, so that an entry implies a complete model.
            context.cache.put("localise", key, found)
        progress.done(task.name, cached=not missing)
    remarks = tuple(
        Problem(
            _path(task.videos[video]),
            f"step {step + 1} is mentioned out of order here; the mention was ignored",
            harmless=True,
        )
        for video, step in found.relaxed
    )
    return LocalisedTask(tuple(found.localisations), remarks, model)


def _place(
    task: Task, script: Script, features: Features, options: RunOptions
) -> "TaskLocalisation | ClusteredTask":
    """Localise by the method of the mode; both load Numba."""
    if options.mode == "default":
        from howsteps.localise.method import localise as by_default  # noqa: PLC0415

        return by_default(task, script, features.vectors, seconds=INTERVAL)
    from howsteps.paper.localise import localise as by_clustering  # noqa: PLC0415

    return by_clustering(
        task,
        script,
        features.vectors,
        mode=options.mode,
        seconds=INTERVAL,
        requested_steps=options.steps,
        seed=options.seed,
    )


def _digests(model: Path) -> dict[str, str]:
    """The SHA-256 of every file of a model, by file name."""
    return {path.name: sha256_of_file(path) for path in sorted(model.glob("*"))}


def _path(video: Video) -> Path:
    """The path that problems of a video refer to."""
    return video.media or Path(video.id)


def _failed(task: Task, video: str, failure: Failure) -> Problem:
    """Turn a failure into a problem of its video."""
    if failure.problem is not None:
        return failure.problem
    [failed] = [each for each in task.videos if each.id == video]
    return Problem(_path(failed), failure.reason)
