"""The stages of a run, one function each: from transcribe to script, editor, reading, localise.

(The stage ``features`` is in :mod:`howsteps.pipeline.features`.) Each stage looks up its result in
the cache, under the hash of its inputs (:mod:`howsteps.pipeline.cache`), and computes it if it is
missing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from howsteps.errors import SPEECH, HowstepsError, InputError, Problem, problem_of
from howsteps.io.files import Folder, check_unchanged, fingerprint, key_of, sha256_of_file
from howsteps.io.text import read_text
from howsteps.narration.labels import plain_act
from howsteps.pipeline.cache import narration_key, parser_identity, stage_key
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Sends
from howsteps.pipeline.executor import Failure, single_threaded
from howsteps.pipeline.features import feature_space, method_of
from howsteps.pipeline.options import INTERVAL, RunOptions
from howsteps.pipeline.work_folder import (
    SCRIPT,
    SCRIPT_TEXT,
    STEPS_VERSION,
    LearntSteps,
    save_steps,
)
from howsteps.reader import (
    AnswerError,
    AnswerFolder,
    Edit,
    LanguageModelError,
    Reader,
    Unanswered,
    edit_script,
    make_question,
)
from howsteps.reader.dialogue import SECOND_TOKENS
from howsteps.reader.question import estimated_tokens
from howsteps.reader.reading import Asker, VideoQuestions, VideoReading, most_different
from howsteps.script.text_form import parse_choices, parse_script_text
from howsteps.script.text_mentions import script_of_text, with_matches
from howsteps.store import (
    NarrationRecord,
    PlacesRecord,
    ScriptRecord,
    check_script,
    narration_record,
    read_script,
    rounded,
    script_of,
    script_record,
    with_narration,
)
from howsteps.task import (
    Caption,
    Localisation,
    Mention,
    Mode,
    Reading,
    Script,
    SetAside,
    Task,
    Video,
)
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
    readings: Sequence[Reading] = (),
    read_videos: Collection[str] = (),
) -> LocalisedTask:
    """Find the place of every step in every video; ``readings`` are of the ``read_videos``.

    Raises
    ------
    HowstepsError
        No video is long enough for the steps.
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
    folder = Folder(context.cache.folder) / "localise" / f"{key}.model"
    model = folder.path
    with context.stage("localise", task.name, 1) as progress:
        found = context.cached("localise", key, PlacesRecord)
        if missing := found is None or found.model != _digests(model):
            with single_threaded():
                placement = _place(task, script, features, options, readings, read_videos)
            placement.model.save(folder)
            feature_space(task, features, options).save(folder, method_of)
            save_steps(LearntSteps.of(task, script), folder)
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
    task: Task,
    script: Script,
    features: Features,
    options: RunOptions,
    readings: Sequence[Reading],
    read_videos: Collection[str],
) -> "TaskLocalisation | ClusteredTask":
    """Localise by the method of the mode; both load Numba."""
    if options.mode == "default":
        from howsteps.localise.method import localise as by_default  # noqa: PLC0415

        return by_default(
            task,
            script,
            features.vectors,
            seconds=INTERVAL,
            readings=readings,
            read_videos=read_videos,
        )
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


LABELS = "labels"


def is_text(path: Path) -> bool:
    """Whether a script file is text: anything but JSON."""
    return path.suffix.lower() != ".json"


def check_given_script(path: Path, task: Task) -> None:
    """Check the syntax of a script, before the narrations are processed.

    Raises
    ------
    InputError
        The file is not a script; the message says where.
    """
    if is_text(path):
        parse_script_text(read_text(path), path)
    else:
        check_script(path, task)


def read_given_script(
    given: Path | str,
    task: Task,
    known: Script,
    options: RunOptions,
    context: Context,
) -> tuple[Script, list[Problem]]:
    """Read a script from a file or a string.

    Parameters
    ----------
    given
        The path of a file (``.json``, else text), or the text itself.
    task
        The task, with mentions.
    known
        The script that the text was made from (:func:`known_script`).

    Raises
    ------
    InputError
        It cannot be used; the message gives the line.
    """
    if isinstance(given, Path) and not is_text(given):
        return read_script(given, task), []
    path = given if isinstance(given, Path) else Path(SCRIPT_TEXT)
    text = read_text(given) if isinstance(given, Path) else given
    steps = parse_script_text(text, path)
    reader = partial(_read_labels, task=task.name, options=options, context=context)
    return script_of_text(steps, task, known, reader, path)


def with_choices(options: RunOptions, script: Path) -> RunOptions:
    """The options with the videos that the lines ``keep:`` and ``drop:`` of a script name.

    An option wins over a line about the same video.
    """
    keep, drop = parse_choices(read_text(script))
    more = tuple(v for v in dict.fromkeys(keep) if v not in {*options.keep, *options.drop})
    less = tuple(v for v in dict.fromkeys(drop) if v not in {*options.keep, *options.drop, *more})
    return replace(options, keep=(*options.keep, *more), drop=(*options.drop, *less))


def checked_options(script: Path, task: Task, options: RunOptions) -> RunOptions:
    """Check the syntax of a script; return the options with what it says about videos."""
    check_given_script(script, task)
    return with_choices(options, script) if is_text(script) else options


def match_unmentioned_steps(
    script: Script, task: Task, options: RunOptions, context: Context
) -> Script:
    """Match the steps that have no mentions with what is said."""
    reader = partial(_read_labels, task=task.name, options=options, context=context)
    return with_matches(script, task, reader)


def known_script(folders: Iterable[Path], task: Task) -> Script:
    """The first script of this task in some work folders; an empty one if there is none."""
    for folder in folders:
        with suppress(InputError):
            return read_script(folder / SCRIPT, task)
    return Script(())


def _read_labels(
    labels: Sequence[str], task: str, options: RunOptions, context: Context
) -> list[Sequence[Mention]]:
    plain = {label: (act,) for label in labels if (act := plain_act(label)) is not None}
    jobs = [
        (label, stage_key("narration", label=label, parser=options.parser), (label, options.parser))
        for label in labels
        if label not in plain
    ]
    parsed, _ = context.compute_each(
        LABELS,
        task,
        jobs,
        _read_label,
        tuple[Mention, ...],
        lambda _, acts: acts,
        max_serial=len(jobs),
    )
    return [plain.get(label) or parsed.get(label, ()) for label in labels]


def _read_label(job: tuple[str, str | None]) -> tuple[Mention, ...]:
    from howsteps.narration.labels import acts_of_labels  # noqa: PLC0415 - loads spaCy

    label, parser = job
    [acts] = acts_of_labels([label], model=parser)
    return tuple(acts)


_EDITOR = _READING = 1  # versions of the cache entries
EDITOR, READING = "editor", "reading"


def edit(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside] = (),
) -> tuple[Task, Script, list[Problem]]:
    """Let a language model write the script; if that fails, the script is unchanged.

    Replies are cached under the question, so a second run sends no request.

    Returns
    -------
    The task without the videos of another job, the script, and problems.
    """
    question = make_question(task, script, set_aside).text
    key = key_of(_EDITOR, question=question, model=reader.model)
    cached = _known_replies(EDITOR, key, reader, context)
    replies: list[str] = []
    if not cached and reader.address:
        tokens = round(2 * estimated_tokens(question)) + SECOND_TOKENS
        context.callback(Sends(task.name, "the script", reader.address, 2, tokens))

    def reply(messages: Sequence[dict[str, str]], schema: Mapping[str, Any]) -> str:
        turn = len(replies)
        replies.append(cached[turn] if turn < len(cached) else reader.reply(messages, schema))
        return replies[-1]

    read_labels = partial(_read_labels, task=task.name, options=options, context=context)

    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(task, script, reply, read_labels, set_aside)
        except LanguageModelError as error:
            progress.done(task.name, cached=False)
            return task, script, [_problem(task, f"the script was not edited: {error}")]
        if replies != cached:
            context.cache.put(EDITOR, key, replies)
        progress.done(task.name, cached=replies == cached)
    if found.script is None:
        reasons = "; then: ".join(found.refused)
        return task, script, [_problem(task, f"the script was not edited: {reasons}")]
    task, script, problems = apply_edit(task, found, reader.model)
    reasons = "; then: ".join(found.refused)
    unused = f"an answer of {reader.model} was not used: {reasons}"
    return task, script, problems + [_problem(task, unused, harmless=True)] * bool(reasons)


def _known_replies(stage: str, key: str, reader: Reader, context: Context) -> list[str]:
    """The replies of an earlier run; files are read again, as they may have been corrected."""
    known = None if isinstance(reader, AnswerFolder) else context.cached(stage, key, list[str])
    return known or []


def read_videos(
    task: Task, script: Script, reader: Reader, context: Context
) -> tuple[tuple[Reading, ...], frozenset[str], list[Problem]]:
    """Let a language model read where the steps are done, each video by itself.

    Replies are cached for each video, so a run can be interrupted, repeated and extended. What
    fails costs that video alone. If not all videos can be read for the tokens that may be sent,
    the most different ones are.

    Returns
    -------
    What was read, the ids of the videos that were, and problems.
    """
    questions = {v.id: VideoQuestions(task, script, v) for v in task.videos if v.sentences}
    keys = {
        video: key_of(_READING, questions=asked.texts, model=reader.model)
        for video, asked in questions.items()
    }
    known = {video: _known_replies(READING, keys[video], reader, context) for video in questions}
    tokens = {video: 0 if known[video] else asked.tokens for video, asked in questions.items()}
    videos = [video for video in task.videos if video.id in questions]
    chosen = most_different(videos, tokens, reader.tokens)
    problems = [
        Problem(
            _path(video),
            f"not read: all videos take {sum(tokens.values()):,} tokens, and at most "
            f"{reader.tokens:,} may be sent (`llm_tokens`)",
            harmless=True,
        )
        for video in videos
        if video.id not in chosen
    ]
    if (sent := sum(tokens[video] for video in chosen)) and reader.address:
        requests = sum(len(questions[video].pieces) for video in chosen if not known[video])
        context.callback(Sends(task.name, "transcripts", reader.address, requests, sent))
    readings: dict[str, VideoReading] = {}
    asker = Asker(reader)
    with (
        context.stage(READING, task.name, len(chosen)) as progress,
        ThreadPoolExecutor(reader.parallel) as pool,
    ):
        jobs = {pool.submit(asker.read, questions[v], known[v]): v for v in chosen}
        try:
            for job in as_completed(jobs):
                video = jobs[job]
                try:
                    readings[video], replies = job.result()
                    if replies != known[video]:
                        context.cache.put(READING, keys[video], replies)
                except (LanguageModelError, AnswerError) as error:
                    problems += _unread(task, video, reader, error)
                progress.done(video, cached=bool(known[video]))
        except BaseException:  # such as Ctrl-C, after which nothing more is sent
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    problems += [
        Problem(_path(video), f"read by {reader.model}: {remark}", harmless=True)
        for video in videos
        if video.id in readings
        for remark in _remarks(readings[video.id])
    ]
    found = tuple(r for v in videos if v.id in readings for r in readings[v.id].readings)
    return found, frozenset(readings), problems


def _remarks(reading: VideoReading) -> list[str]:
    other = ["it is of another job, so no step is done in it"] if reading.other_job else []
    return [*other, *(f"in part of no use ({remark})" for remark in reading.remarks)]


def _unread(task: Task, video: str, reader: Reader, error: HowstepsError) -> list[Problem]:
    """The problem of a video that was not read; none if its question was written to be answered."""
    if isinstance(error, Unanswered) and isinstance(reader, AnswerFolder) and reader.ask:
        return []
    [unread] = [each for each in task.videos if each.id == video]
    harmless = isinstance(error, Unanswered)
    return [Problem(_path(unread), f"not read by {reader.model}: {error}", harmless=harmless)]


def apply_edit(task: Task, found: Edit, name: str) -> tuple[Task, Script, list[Problem]]:
    """Return a task and its script after an edit, with remarks on the videos of another job."""
    script = replace(found.script or Script(()), editor=name, changes=found.changes)
    other = set(found.other_job)
    problems = [
        Problem(
            video.media or Path(video.id), f"set aside: of another job, says {name}", harmless=True
        )
        for video in task.videos
        if video.id in other
    ]
    return (
        replace(task, videos=tuple(v for v in task.videos if v.id not in other)),
        script,
        problems,
    )


def _problem(task: Task, reason: str, *, harmless: bool = False) -> Problem:
    return Problem(Path(task.name), reason, harmless=harmless)
