"""What a language model does in a run: it edits the script, and reads every video.

Its replies are cached, so a second run sends nothing.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path

from howsteps.errors import HowstepsError, Problem
from howsteps.io.files import key_of
from howsteps.pipeline.context import Context
from howsteps.pipeline.events import Sends
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
from howsteps.reader.answer import SCHEMA
from howsteps.reader.dialogue import SECOND_TOKENS
from howsteps.reader.exchange import Recorded, estimated_tokens
from howsteps.reader.reading import Asker, VideoQuestions, VideoReading, most_different
from howsteps.task import Reading, Script, SetAside, Task

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
    question = make_question(task, script, set_aside)
    key = key_of(_EDITOR, question=question.text, model=reader.model)
    known = _known_replies(EDITOR, key, reader, context)
    if not known and reader.address:
        tokens = round(2 * estimated_tokens(question.text)) + SECOND_TOKENS
        context.callback(Sends(task.name, "the script", reader.address, 2, tokens))
    reply = Recorded(partial(reader.reply, schema=SCHEMA), known)
    label_reader = partial(read_labels, task=task.name, options=options, context=context)
    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(question, reply, label_reader)
        except LanguageModelError as error:
            progress.done(task.name, cached=False)
            return task, script, [_problem(task, f"the script was not edited: {error}")]
        if reply.replies != known:
            context.cache.put(EDITOR, key, reply.replies)
        progress.done(task.name, cached=reply.replies == known)
    reasons = "; then: ".join(found.refused)
    if found.script is None:
        return task, script, [_problem(task, f"the script was not edited: {reasons}")]
    other = {*found.other_job}
    reason = f"set aside: of another job, says {reader.model}"
    problems = [Problem(path_of(v), reason, harmless=True) for v in task.videos if v.id in other]
    if reasons:
        unused = f"an answer of {reader.model} was not used: {reasons}"
        problems.append(_problem(task, unused, harmless=True))
    script = replace(found.script, editor=reader.model, changes=found.changes)
    kept = tuple(video for video in task.videos if video.id not in other)
    return replace(task, videos=kept), script, problems


def _problem(task: Task, reason: str, *, harmless: bool = False) -> Problem:
    return Problem(Path(task.name), reason, harmless=harmless)


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
            path_of(video),
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
        Problem(path_of(video), f"read by {reader.model}: {remark}", harmless=True)
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
    return [Problem(path_of(unread), f"not read by {reader.model}: {error}", harmless=harmless)]
