"""The stages of a run, one function each: transcribe, narration, script, localise.

(``features`` is in :mod:`howsteps.pipeline.features`, and what a language model does in
:mod:`howsteps.pipeline.asking`.) A stage looks up its result in the cache, under the hash of its
inputs, and computes it if it is missing.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from howsteps.errors import SPEECH, HowstepsError, Problem, problem_of
from howsteps.io.files import Folder, check_unchanged, fingerprint, key_of, read_bounded
from howsteps.pipeline.cache import narration_key, parser_identity, stage_key
from howsteps.pipeline.context import Context
from howsteps.pipeline.executor import Failure, single_threaded
from howsteps.pipeline.features import feature_space
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.pipeline.work_folder import STEPS_FILE, STEPS_VERSION, learnt_steps
from howsteps.store import (
    NarrationRecord,
    PlacesRecord,
    ScriptRecord,
    narration_record,
    rounded,
    script_of,
    script_record,
    with_narration,
    write_record,
)
from howsteps.task import Caption, Localisation, Mode, Reading, Script, Step, Task, Video
from howsteps.vision.features import Features

_TRANSCRIBE = 1  # version of the stage's output
USUAL_STEPS = 5  # a script with fewer steps gets a remark
FEW_NARRATIONS = 32  # parsed in less time than a second process needs to load the parser
_LARGEST_MODEL = 2**30  # bytes of a file


def prepare_narration(
    task: Task, options: RunOptions, context: Context
) -> tuple[Task, list[Problem]]:
    """Run the stages before the script: transcribe videos without captions, extract mentions."""
    task, problems = transcribe(task, options, context)
    task, more_problems = extract_mentions(task, options, context)
    return task, problems + more_problems


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
        return task, [Problem(path_of(video), reason, harmless=True) for video in uncaptioned]
    from howsteps.narration import speech  # noqa: PLC0415 - loads an extra

    problems, jobs = [], []
    for video in uncaptioned:
        media = Path(video.media or "")
        try:
            before = fingerprint(media)
            identity = speech.cache_key(media, str(options.speech), vad=True)
        except HowstepsError as error:
            problems.append(problem_of(error, path_of(video)))
            continue
        key = key_of(_TRANSCRIBE, speech=identity)
        jobs.append((video.id, key, (media, str(options.speech), options.device, before)))
    found, failures = context.compute_each(
        "transcribe", task.name, jobs, _transcribe, tuple[Caption, ...], device=options.device
    )
    problems += [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        Problem(path_of(video), "it has no speech", harmless=True)
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
    """Return the task with the sentences and mentions of every video that has captions.

    Those that it has already stay in mode ``default``; other modes have mentions of another kind.
    """
    parser = parser_identity(options.parser)
    jobs = [
        (
            video.id,
            stage_key(
                "narration",
                captions=list(video.captions),
                length=video.length,
                mode=options.mode,
                parser=parser,
            ),
            (video, options.mode, options.parser),
        )
        for video in task.videos
        if video.captions and not (video.sentences and options.mode == "default")
    ]
    found, failures = context.compute_each(
        "narration", task.name, jobs, _extract, NarrationRecord, max_serial=FEW_NARRATIONS
    )
    videos = tuple(
        with_narration(video, found[video.id]) if video.id in found else video
        for video in task.videos
    )
    problems = [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        Problem(path_of(video), "nobody says in it what is done", harmless=True)
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


def discover_script(task: Task, options: RunOptions, context: Context) -> Script:
    """Find the steps of the job.

    Raises ``HowstepsError`` if no video has a mention.
    """
    key = stage_key(
        "script",
        task=task.name,
        videos=_identities(task),
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
    )
    record = context.compute(
        "script",
        task.name,
        key,
        ScriptRecord,
        lambda: script_record(_discover(task, options), task),
    )
    return script_of(record, task)


def find_script(task: Task, options: RunOptions, context: Context) -> Script:
    """Find the script of a task with mentions.

    Raises ``HowstepsError`` if there are no mentions, or no steps; the message says why.
    """
    if not any(video.mentions for video in task.videos):
        captioned = [video for video in task.videos if video.captions]
        if captioned and not any(video.sentences for video in captioned):
            raise HowstepsError("no narration could be processed")
        raise HowstepsError("no narrator says what is being done in the available captions")
    script = discover_script(task, options, context)
    if not script.steps:
        raise HowstepsError(_why_no_steps(task, options.steps))
    return script


def is_silent(task: Task, options: RunOptions) -> bool:
    """Whether nobody says what is done, but the frames can show it."""
    has_frames = options.vision is not False and any(video.media for video in task.videos)
    spoken = any(video.mentions for video in task.videos)
    return options.mode == "default" and has_frames and not spoken


def find_by_sight(
    task: Task, features: Features, steps: int | None, context: Context
) -> tuple[Localisation, ...]:
    """Find steps that silent videos share, and their places; ``steps`` None: choose the number.

    Raises ``HowstepsError`` if fewer than two videos have features and are long enough.
    """
    if not features.vectors:
        raise HowstepsError("nobody says what is being done, and there are no frames to look at")
    key = stage_key("localise", sight=dict(features.keys), steps=steps)

    def find() -> tuple[Localisation, ...]:
        from howsteps.localise.segments import find_steps  # noqa: PLC0415 - loads Numba

        return tuple(map(rounded, find_steps(features.vectors, steps, seconds=INTERVAL)))

    return context.compute("segments", task.name, key, tuple[Localisation, ...], find)


def numbered_script(places: Sequence[Localisation]) -> Script:
    """The script of steps that nobody names."""
    count = max(place.step for place in places) + 1
    return Script(tuple(Step(f"Step {k + 1}", ()) for k in range(count)))


def silent_remark(task: Task, script: Script) -> Problem:
    """A remark that the steps were found by sight."""
    reason = (
        f"nobody says what is being done, so the {len(script.steps)} steps were found by sight "
        "alone: no place is sure, and they have numbers for names; to name them, edit script.md "
        "and place its steps"
    )
    return Problem(Path(task.name), reason, harmless=True)


def script_remarks(task: Task, script: Script, options: RunOptions) -> list[Problem]:
    """Remarks on steps of one narrator, fewer than requested or usual, and misheard words."""
    reasons = [_few_steps(task, script, options.steps)]
    if options.mode == "default":
        reasons.append(_misheard(task, script))
    return [Problem(Path(task.name), reason, harmless=True) for reason in reasons if reason]


def _few_steps(task: Task, script: Script, asked: int | None) -> str:
    from howsteps.script.near_duplicates import originals  # noqa: PLC0415 - loads Numba

    found, narrators = len(script.steps), sum(bool(video.mentions) for video in task.videos)
    if 0 < found < (asked or USUAL_STEPS):
        wanted = f", but {asked} were requested" if asked else ""
        steps = "1 step was" if found == 1 else f"{found} steps were"
        agree = "narrators agree on no more" if narrators != 1 else "its narrator mentions no more"
        if copies := originals(task.videos).count(False):
            agree += f", and {copies} of {narrators} narrations repeat another and do not count"
        return f"only {steps} found{wanted}: {agree}; more videos of the job may help"
    if found and narrators == 1:
        return "the steps come from one narrator alone; more videos show which of them matter"
    return ""


def _misheard(task: Task, script: Script) -> str:
    from howsteps.script.discovery import misheard_objects  # noqa: PLC0415 - loads Numba

    heard = misheard_objects(task.videos)
    mentions = (mention for step in script.steps for mention in step.mentions)
    used = Counter((m.noun, heard[m]) for m in mentions if m in heard)
    words = [f'"{noun}" as "{meant}" ({n}×)' for (noun, meant), n in sorted(used.items())]
    return f"words that were probably misheard count as others: {', '.join(words)}" if used else ""


def _why_no_steps(task: Task, asked: int | None) -> str:
    if asked is not None:
        return (
            f"cannot choose {asked} steps: more than that are mentioned equally often; "
            "ask for more steps, or leave out `steps`"
        )
    if len(task.videos) < 2:
        return "its narrator mentions nothing that could be a step"
    return "too few narrators mention the same acts; more videos may help"


def _identities(task: Task) -> list[list[object]]:
    """The videos of a task for a key: what script and places are computed from."""
    return [[v.id, v.length, narration_key(v)] for v in task.videos]


def _discover(task: Task, options: RunOptions) -> Script:
    if options.mode == "default":
        from howsteps.script import discover  # noqa: PLC0415 - loads Numba

        return discover(task, steps=options.steps)
    from howsteps.paper.script import discover as align_mentions  # noqa: PLC0415 - loads Numba

    return align_mentions(task, steps=options.steps, mode=options.mode, seed=options.seed)


class LocalisedTask(NamedTuple):
    """The localisations, and the files of the model by name; none if none was learnt."""

    localisations: tuple[Localisation, ...]
    model: dict[str, bytes]


def localise(
    task: Task,
    script: Script,
    features: Features,
    options: RunOptions,
    context: Context,
    readings: Sequence[Reading] = (),
    read_videos: Collection[str] = (),
) -> LocalisedTask:
    """Find the place of every step in every video; ``readings`` are of the ``read_videos``.

    Raises ``HowstepsError`` if no video is long enough for the steps.
    """
    key = stage_key(
        "localise",
        job=[STEPS_VERSION, task.name],
        script=msgspec.to_builtins(script_record(script, task)),
        videos=_identities(task),
        features=dict(features.keys),
        readings=[list(readings), sorted(read_videos)],
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
    )

    def find() -> PlacesRecord:
        if options.mode == "default":
            return _localised(task, script, features, options, readings, read_videos)
        from howsteps.paper.localise import localise as by_clustering  # noqa: PLC0415 - Numba

        found = by_clustering(
            task,
            script,
            features.vectors,
            mode=options.mode,
            seconds=INTERVAL,
            requested_steps=options.steps,
            seed=options.seed,
        )
        return PlacesRecord([rounded(place) for place in found.localisations], {})

    record = context.compute("localise", task.name, key, PlacesRecord, find)
    return LocalisedTask(tuple(record.localisations), record.model)


def _localised(
    task: Task,
    script: Script,
    features: Features,
    options: RunOptions,
    readings: Sequence[Reading],
    read_videos: Collection[str],
) -> PlacesRecord:
    """The places by the default method, and the files of the model that it learns."""
    from howsteps.localise.method import localise as by_default  # noqa: PLC0415 - loads Numba

    found = by_default(
        task,
        script,
        features.vectors,
        seconds=INTERVAL,
        readings=readings,
        read_videos=read_videos,
    )
    with TemporaryDirectory(prefix="howsteps-") as name:
        folder = Folder(Path(name))
        found.model.save(folder)
        feature_space(task, features, options).save(folder)
        write_record(folder, STEPS_FILE, learnt_steps(task, script))
        model = {
            name: read_bounded(folder.path / name, _LARGEST_MODEL, "a model")
            for name in folder.names()
        }
    return PlacesRecord([rounded(place) for place in found.localisations], model)


def path_of(video: Video) -> Path:
    """The path that problems of a video refer to."""
    return video.media or Path(video.id)


def _failed(task: Task, video: str, failure: Failure) -> Problem:
    """Turn a failure into a problem of its video."""
    [failed] = [each for each in task.videos if each.id == video]
    return Problem(path_of(failed), failure.reason)
