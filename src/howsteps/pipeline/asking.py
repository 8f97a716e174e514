"""What a language model does in a run: it writes the script, and reads every video.

What it answered before is not asked again: replies are cached under their questions. Where a
question changed and has no answer, what the same reader made in an earlier run holds.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from howsteps.errors import Problem
from howsteps.io.files import key_of
from howsteps.pipeline.context import Context, Sends
from howsteps.pipeline.earlier import moved, steps_now, unchanged
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import read_labels
from howsteps.pipeline.stages import path_of
from howsteps.reader import (
    AnswerError,
    AnswerFolder,
    LanguageModelError,
    Reader,
    Unanswered,
    edit_script,
    make_question,
)
from howsteps.reader.answer import SCHEMA, as_read, without_unsaid
from howsteps.reader.dialogue import SECOND_TOKENS
from howsteps.reader.exchange import Recorded, estimated_tokens
from howsteps.reader.question import most_different
from howsteps.reader.reading import (
    Asker,
    VideoQuestions,
    VideoReading,
    agreement,
)
from howsteps.script.matching import with_videos_searched
from howsteps.task import Reading, Result, Script, SetAside, Task

_EDITOR = _READING = 1  # versions of the cache entries
EDITOR, READING = "editor", "reading"
ANEW = {"script", EDITOR}  # stages that find the steps: if forced, none of before is kept
_MAX_NAMED = 5  # videos in a message


class Asked(NamedTuple):
    """What became of a task and its script, what was read in which videos, and problems.

    ``unasked`` are the steps about which nobody was asked in some of these videos.
    """

    task: Task
    script: Script
    set_aside: tuple[SetAside, ...] = ()
    readings: tuple[Reading, ...] = ()
    read_videos: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    unasked: frozenset[int] = frozenset()


def ask(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside] | None,
    before: Result | None = None,
) -> Asked:
    """Let a language model write the script, and read every video.

    If what it reads contradicts the narrators, neither is used.

    Parameters
    ----------
    set_aside
        Videos that are not in the task. None: a person wrote the script, which stays.
    before
        The result of an earlier run with this reader.
    """
    found = Asked(task, script)
    if set_aside is not None:
        found = _edit(task, script, reader, options, context, set_aside, before)
    if options.mode == "default":
        found = _read_videos(found, reader, context, before)
    agreed = agreement(found.script, found.readings, found.read_videos)
    if agreed.is_poor:
        reason = (
            f"nothing of {reader.model} is used: it read {agreed.read} of {agreed.mentioned} steps "
            f"that are mentioned, and {agreed.own:.0%} of their mentions are where it read the "
            f"step, {agreed.others:.0%} where it read another one"
        )
        problems = (*found.problems, _problem(task, reason, harmless=True))
        return Asked(task, script, problems=problems)
    read = as_read(found.script, found.task, found.readings, found.read_videos)
    steps = enumerate(zip(found.script.steps, read.steps, strict=True))
    read = replace(read, steps=tuple(old if k in found.unasked else new for k, (old, new) in steps))
    if set_aside is None:
        return found._replace(script=read)
    said, readings = without_unsaid(read, found.readings)
    return found._replace(script=said, readings=readings)


def tidied(reader: Reader | None) -> list[Problem]:
    """Tidy up the folder of questions after a run, if there is one; return remarks."""
    return reader.tidy() if isinstance(reader, AnswerFolder) else []


# The script


def _edit(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside],
    before: Result | None,
) -> Asked:
    """Let a language model write the script; if that fails, the script is unchanged.

    If it wrote one before and the question has changed since, that one stays, unless there is an
    answer to the new question.
    """
    keep = [video.id for video in task.videos] if options.keep_all else options.keep
    question = make_question(task, script, set_aside, steps=options.steps, keep=keep)
    key = key_of(_EDITOR, question=question.text, model=reader.model)
    known = _known_replies(EDITOR, key, reader, context)
    kept = _kept(task, reader, options, context, before)
    if kept and not known and not isinstance(reader, AnswerFolder):
        return kept
    if not known and reader.address:
        tokens = round(2 * estimated_tokens(question.text)) + SECOND_TOKENS
        context.callback(Sends(task.name, "the script", reader.address, 2, tokens))
    reply = Recorded(partial(reader.reply, schema=SCHEMA), known)
    label_reader = partial(read_labels, parser=options.parser)
    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(question, reply, label_reader)
        except LanguageModelError as error:
            missing = isinstance(error, Unanswered)  # of which nothing is lost
            says_so = missing and isinstance(reader, AnswerFolder)
            problem = _problem(task, f"the script was not edited: {error}", harmless=missing)
            return kept or Asked(task, script, problems=() if says_so else (problem,))
        finally:
            progress.done(task.name, cached=bool(known) and reply.replies == known)
        if reply.replies != known and (found.script or reader.address):  # not what has a fault
            context.cache.put(EDITOR, key, reply.replies)
    reasons = "; then: ".join(found.refused)
    if found.script is None:
        problem = _problem(task, f"the script was not edited: {reasons}")
        return Asked(task, script, problems=(problem,))
    said = _of_another_job(reader)
    other = [video for video in task.videos if video.id in found.other_job]
    problems = [Problem(path_of(v), f"set aside: {said}", harmless=True) for v in other]
    if reasons:
        unused = f"an answer of {reader.model} was not used: {reasons}"
        problems.append(_problem(task, unused, harmless=True))
    changes = (*found.changes, *found.remarks)
    return Asked(
        replace(task, videos=tuple(video for video in task.videos if video not in other)),
        replace(found.script, editor=reader.model, changes=changes),
        tuple(SetAside(video.id, video.title, said) for video in other),
        problems=tuple(problems),
    )


def _kept(
    task: Task, reader: Reader, options: RunOptions, context: Context, before: Result | None
) -> Asked | None:
    """What a reader made of the script in an earlier run, if videos and options still allow it.

    Its steps are looked for in the videos that are new, and in those that are to be read anew.
    """
    if before is None or before.script.editor != reader.model or context.redo & ANEW:
        return None
    same, most = unchanged(task, before), options.steps or len(before.steps)
    if not same or options.mode != "default" or len(before.steps) > most:
        return None
    said, ids = _of_another_job(reader), {video.id for video in task.videos}
    other = tuple(
        each
        for each in before.set_aside
        if each.reason == said and each.video in ids  # others are set aside already
        if not options.keep_all and each.video not in options.keep
    )
    out = {each.video for each in other}
    task = replace(task, videos=tuple(video for video in task.videos if video.id not in out))
    reread = before.read_videos if READING in context.redo else ()
    new = {v.id for v in task.videos if v.id not in same or v.id in reread}
    script = with_videos_searched(before.script.within(same), task, new)
    reason = (
        f"the script that {reader.model} wrote before is kept, as the question has changed since; "
        "to ask again: `force` editor"
    )
    problem = _problem(task, reason, harmless=True)
    return Asked(task, script, other, problems=(problem,))


def _of_another_job(reader: Reader) -> str:
    return f"of another job, says {reader.model}"


def _problem(task: Task, reason: str, *, harmless: bool = False) -> Problem:
    return Problem(Path(task.name), reason, harmless=harmless)


def _known_replies(stage: str, key: str, reader: Reader, context: Context) -> list[str]:
    """The replies of an earlier run; files are read again, as they may have been corrected."""
    known = None if isinstance(reader, AnswerFolder) else context.cached(stage, key, list[str])
    return known or []


# The videos


def _read_videos(asked: Asked, reader: Reader, context: Context, before: Result | None) -> Asked:
    """Let a language model read where the steps are done, each video by itself.

    If not all videos can be read for the tokens that may be sent, the most different ones are. What
    was read before in a video that is not read now stays.
    """
    task, script = asked.task, asked.script
    questions = {v.id: VideoQuestions(task, script, v) for v in task.videos if v.sentences}
    read, failed = _answers(task, questions, reader, context)
    readings = [reading for own in read.values() for reading in own.readings]
    problems = [
        Problem(path_of(questions[video].video), f"read by {reader.model}: {remark}", harmless=True)
        for video in questions
        if video in read
        for remark in _remarks(read[video])
    ]
    stay: set[str] = set()
    unasked: set[int] = set()
    if before is not None and (stay := (unchanged(task, before) & before.read_videos) - {*read}):
        still = moved(before.within(stay).readings, steps_now(before.script, script))
        readings += still
        old = {step.label for step in before.steps}
        unasked = {k for k, step in enumerate(script.steps) if step.label not in old}
        unasked -= {reading.step for reading in still}
    if unasked:
        reason = (
            f"what {reader.model} read before stays, but no video is read for new steps; to read "
            "them: `llm`"
        )
        problems.append(_problem(task, reason, harmless=True))
    missed = {v: why for v, why in failed.items() if not (v in stay and why.harmless)}
    order = {video.id: n for n, video in enumerate(task.videos)}
    return asked._replace(
        readings=tuple(sorted(readings, key=lambda reading: order[reading.video])),
        read_videos=frozenset({*read, *stay}),
        problems=(*asked.problems, *_not_read(task, missed), *problems),
        unasked=frozenset(unasked),
    )


class _Failure(NamedTuple):
    """Why a video was not read, and whether nothing is lost by it."""

    reason: str
    harmless: bool


def _answers(
    task: Task, questions: Mapping[str, VideoQuestions], reader: Reader, context: Context
) -> tuple[dict[str, VideoReading], dict[str, _Failure]]:
    """What was read in which videos, and why nothing was read in others.

    Replies are cached for each video, so a run can be interrupted, repeated and extended. What
    fails costs that video alone.
    """
    keys = {
        video: key_of(_READING, questions=own.texts, model=reader.model)
        for video, own in questions.items()
    }
    known = {video: _known_replies(READING, keys[video], reader, context) for video in questions}
    tokens = {video: 0 if known[video] else own.tokens for video, own in questions.items()}
    chosen = most_different([own.video for own in questions.values()], tokens, reader.tokens)
    too_many = (
        f"all videos take {sum(tokens.values()):,} tokens, and at most {reader.tokens:,} may be "
        "sent (`llm_tokens`)"
    )
    failed = {video: _Failure(too_many, True) for video in questions.keys() - {*chosen}}
    if (sent := sum(tokens[video] for video in chosen)) and reader.address:
        requests = sum(len(questions[video].pieces) for video in chosen if not known[video])
        context.callback(Sends(task.name, "transcripts", reader.address, requests, sent))
    read: dict[str, VideoReading] = {}
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
                    read[video], replies = job.result()
                    if replies != known[video]:
                        context.cache.put(READING, keys[video], replies)
                except (LanguageModelError, AnswerError) as error:
                    is_unanswered = isinstance(error, Unanswered)
                    if not (is_unanswered and isinstance(reader, AnswerFolder)):  # which says so
                        failed[video] = _Failure(str(error), is_unanswered)
                progress.done(video, cached=bool(known[video]))
        except BaseException:  # such as Ctrl-C, after which nothing more is sent
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return read, failed


def _remarks(reading: VideoReading) -> list[str]:
    none = [] if reading.readings else ["no step is done in it"]
    return [*none, *(f"a part of the answer was not used: {remark}" for remark in reading.remarks)]


def _not_read(task: Task, failed: Mapping[str, _Failure]) -> list[Problem]:
    """The problems of videos that were not read, one for each reason."""
    by_failure: dict[_Failure, list[str]] = defaultdict(list)
    for video in sorted(failed):
        by_failure[failed[video]].append(video)
    paths = {video.id: path_of(video) for video in task.videos}
    problems = []
    for (reason, harmless), videos in by_failure.items():
        path, text = paths[videos[0]], f"not read: {reason}"
        if len(videos) > 1:
            named = ", ".join(videos[:_MAX_NAMED]) + " …" * (len(videos) > _MAX_NAMED)
            path, text = Path(task.name), f"{len(videos)} videos were {text}: {named}"
        problems.append(Problem(path, text, harmless=harmless))
    return problems
