"""The stages of a run, one small function each.

Every function looks for its result under the hash of what it depends on, and computes it only where
there is none. A number beside the name of a stage is its version: who changes what a stage
computes raises it, and nothing that was kept before is taken for the new.
"""

from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from howsteps.engine.cache import key_of
from howsteps.engine.context import Context
from howsteps.engine.executor import Failure
from howsteps.errors import HowstepsError, Problem
from howsteps.extras import SPEECH
from howsteps.io.files import sha256_of_file
from howsteps.pipeline import feature_space
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.pipeline.vision import VisualFeatures
from howsteps.result import (
    localisation_records,
    localisations_from,
    narration_record,
    script_from,
    script_record,
    with_narration,
)
from howsteps.script.agreement import with_stability
from howsteps.task import Caption, Localisation, Mode, Script, Task, Video, Word

TRANSCRIBE, NARRATION, SCRIPT, LOCALISE = 1, 2, 5, 6

SECONDS_A_PART = 0.5  # of the search in part of the videos
FEW_NARRATIONS = 32  # are heard in the time that a second parser takes to load


def transcribed(task: Task, options: RunOptions, work: Context) -> tuple[Task, list[Problem]]:
    """The task with the speech of videos that came without captions."""
    uncaptioned = [video for video in task.videos if not video.captions and video.media]
    if not uncaptioned:
        return task, []
    if options.speech is None:
        reason = "has no captions, and speech was not asked for (--speech small.en)"
        return task, [_problem(video, reason) for video in uncaptioned]
    if SPEECH.missing:
        reason = f"has no captions; to transcribe it: {SPEECH.command}"
        return task, [_problem(video, reason) for video in uncaptioned]
    from howsteps.narration import speech  # noqa: PLC0415 - only where there is need of it

    problems, jobs = [], []
    for video in uncaptioned:
        media = Path(video.media or "")
        try:
            key = key_of(TRANSCRIBE, speech=speech.cache_key(media, options.speech, vad=True))
        except HowstepsError as error:
            problems.append(_problem(video, str(error)))
            continue
        jobs.append((video.id, key, (media, options.speech, options.device)))
    heard, failures = work.each("transcribe", task.name, jobs, _transcribe, device=options.device)
    problems += [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        Problem(Path(video.media or ""), "nobody is heard to speak in it", harmless=True)
        for video in uncaptioned
        if heard.get(video.id) == []
    ]
    videos = tuple(
        replace(video, captions=tuple(_caption(*line) for line in heard[video.id]))
        if video.id in heard
        else video
        for video in task.videos
    )
    return replace(task, videos=videos), problems


def _transcribe(job: tuple[Path, str, str]) -> list[Any]:
    from howsteps.narration.speech import transcribe  # noqa: PLC0415

    media, model, device = job
    return [
        [line.start, line.end, line.text, [[w.text, w.start, w.end] for w in line.words]]
        for line in transcribe(media, model=model, device=device)
    ]


def _caption(start: float, end: float, text: str, words: list[tuple[str, float, float]]) -> Caption:
    return Caption(start, end, text, tuple(Word(*word) for word in words))


def narrated(task: Task, options: RunOptions, work: Context) -> tuple[Task, list[Problem]]:
    """The task with the sentences and mentions of every video that has captions."""
    parser = _parser_identity(options.parser)
    jobs = [
        (
            video.id,
            key_of(NARRATION, captions=list(video.captions), mode=options.mode, parser=parser),
            (video, options.mode, options.parser),
        )
        for video in task.videos
        if video.captions
    ]
    heard, failures = work.each("narration", task.name, jobs, _hear, few=FEW_NARRATIONS)
    videos = tuple(
        with_narration(video, heard[video.id]) if video.id in heard else video
        for video in task.videos
    )
    problems = [_failed(task, video, failure) for video, failure in failures.items()]
    problems += [
        _problem(video, "no relation found in its narration")
        for video in videos
        if video.id in heard and not video.mentions
    ]
    return replace(task, videos=videos), problems


def _hear(job: tuple[Video, Mode, str | None]) -> dict[str, Any]:
    from howsteps.narration import extract_relations  # noqa: PLC0415 - loads spaCy

    video, mode, parser = job
    # Alone, so that what is heard in a video never depends on those around it.
    [heard] = extract_relations(Task("", (video,)), mode=mode, model=parser).videos
    return narration_record(heard)


def _parser_identity(parser: str | None) -> str:
    """Tell a parser from others: by the content of its folder, or by its name and version."""
    from howsteps.narration.parser import SHIPPED  # noqa: PLC0415 - loads spaCy

    folder = SHIPPED if parser is None else Path(parser)
    if folder.is_dir():
        # Weights and configuration: a corrected README must not change the cache key.
        texts = {"LICENSE", "README.md", "meta.json"}
        parts = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in texts)
        return key_of(0, files=[[str(p.relative_to(folder)), sha256_of_file(p)] for p in parts])
    try:
        return f"{parser} {version(str(parser))}"
    except PackageNotFoundError:
        return str(parser)


def script_of(task: Task, options: RunOptions, work: Context) -> Script:
    """The steps of the job, each with how often parts of the videos give it again.

    Raises
    ------
    HowstepsError
        No narrator names anything.
    """
    key = key_of(
        SCRIPT,
        task=task.name,
        narrations=[[video.id, narration_record(video)] for video in task.videos],
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
    )
    with work.stage("script", task.name, 1) as progress:
        if missing := (value := work.kept("script", key)) is None:
            from howsteps.script import discover  # noqa: PLC0415 - loads Numba

            script = discover(task, steps=options.steps, mode=options.mode, seed=options.seed)
            if options.mode != "default":  # which tells by itself
                again = partial(
                    discover,
                    steps=len(script.steps),
                    mode=options.mode,
                    seed=options.seed,
                    seconds=SECONDS_A_PART,
                )
                script = with_stability(script, task, again, seed=options.seed)
            value = script_record(script, task)
            work.cache.put_json("script", key, value)
        progress.done(task.name, kept=not missing)
    return script_from(value, task)


class LocalisedTask(NamedTuple):
    """Where the steps are, what is worth saying about it, and the folder of the model."""

    localisations: tuple[Localisation, ...]
    notes: tuple[str, ...]
    model: Path


def located(
    task: Task,
    script: Script,
    seen: VisualFeatures,
    options: RunOptions,
    work: Context,
) -> LocalisedTask:
    """The place of every step in every video.

    Raises
    ------
    HowstepsError
        No video is long enough for the steps.
    """
    key = key_of(
        LOCALISE,
        script=script_record(script, task),
        videos=[[v.id, v.duration, narration_record(v)] for v in task.videos],
        features=dict(seen.keys),
        steps=options.steps,
        mode=options.mode,
        seed=options.seed,
    )
    model = work.cache.folder / "localise" / f"{key}.model"
    with work.stage("localise", task.name, 1) as progress:
        value = work.kept("localise", key)
        if missing := value is None or value["model"] != _digests(model):
            from howsteps.localisation import localise_task  # noqa: PLC0415 - loads Numba

            placement = localise_task(
                task,
                script,
                seen.vectors,
                seconds=INTERVAL,
                mode=options.mode,
                asked=options.steps,
                seed=options.seed,
                device=options.device,
            )
            value = {
                "localisations": localisation_records(placement.localisations),
                "notes": [
                    f"{task.videos[window.video].id}: what is said about step {window.step + 1} "
                    "contradicts the order of the others; it was placed without it"
                    for window in placement.relaxed_windows
                ],
            }
            placement.model.save(model)
            feature_space.save(feature_space.of(task, seen, options), model)
            # After the model, so that who finds this entry finds the model too, as it was.
            value["model"] = _digests(model)
            work.cache.put_json("localise", key, value)
        progress.done(task.name, kept=not missing)
    return LocalisedTask(localisations_from(value), tuple(value["notes"]), model)


def _digests(model: Path) -> dict[str, str]:
    """What the files of a model are by their content."""
    return {path.name: sha256_of_file(path) for path in sorted(model.glob("*"))}


def _problem(video: Video, reason: str) -> Problem:
    return Problem(video.media or Path(video.id), reason)


def _failed(task: Task, video: str, failure: Failure) -> Problem:
    """A failure as a problem of its video."""
    if failure.problem is not None:
        return failure.problem
    [own] = [each for each in task.videos if each.id == video]
    return _problem(own, failure.reason)
