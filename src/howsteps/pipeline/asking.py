"""What a language model does in a run: it edits the script, and reads every video.

Its replies are cached, so a second run sends nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from howsteps.errors import Problem
from howsteps.io.files import key_of
from howsteps.pipeline.context import Context, Sends
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.placing import read_labels, still_read
from howsteps.pipeline.stages import path_of
from howsteps.reader import (
    AnswerError,
    AnswerFolder,
    LanguageModelError,
    Reader,
    Remembered,
    Unanswered,
    edit_script,
    make_question,
)
from howsteps.reader.answer import SCHEMA, as_read, in_order_of, without_unsaid
from howsteps.reader.dialogue import SECOND_TOKENS
from howsteps.reader.exchange import Recorded, estimated_tokens
from howsteps.reader.reading import (
    Asker,
    VideoQuestions,
    VideoReading,
    agreement,
    most_different,
)
from howsteps.script.matching import find_known_steps
from howsteps.task import Reading, Result, Script, SetAside, Task, Video

_EDITOR = _READING = 1  # versions of the cache entries
EDITOR, READING = "editor", "reading"
_MAX_NAMED = 5  # videos in a message


class Asked(NamedTuple):
    """What became of a task and its script, what was read in which videos, and problems."""

    task: Task
    script: Script
    set_aside: tuple[SetAside, ...] = ()
    readings: tuple[Reading, ...] = ()
    read_videos: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


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
        The result of an earlier run. If the reader edited its script, that is kept where other
        videos or options change the question, and only new videos are read.
    """
    found, kept = Asked(task, script), None
    if set_aside is None and before is not None and isinstance(reader, Remembered):
        return _remembered(found, reader, before)
    if set_aside is not None:
        kept = _kept(task, reader, options, context, before)
        found = _edit(task, script, reader, options, context, set_aside, kept)
    is_kept = before is not None and found is kept
    if options.mode == "default":
        found = _read_videos(found, reader, context)
    if before is not None and is_kept:
        new = {video.id for video in found.task.videos} - _unchanged(task, before)
        found = found._replace(script=_with_mentions_in(new, found.script, found.task))
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
    if set_aside is None:
        return found._replace(script=read)
    said, readings = without_unsaid(read, found.readings)
    return found._replace(script=said, readings=readings)


def tidied(reader: Reader | None) -> list[Problem]:
    """Tidy up the folder of questions after a run, if there is one; return remarks."""
    return reader.tidy() if isinstance(reader, AnswerFolder) else []


def _remembered(asked: Asked, reader: Reader, before: Result) -> Asked:
    """What was read in an earlier run, for the steps that a person kept."""
    task, script = asked.task, asked.script
    read = before.read_videos & _unchanged(task, before)
    readings = tuple(r for r in still_read(before, script) if r.video in read)
    known = {reading.step for reading in readings}
    pairs = zip(script.steps, as_read(script, task, readings, read).steps, strict=True)
    steps = tuple(new if k in known else old for k, (old, new) in enumerate(pairs))
    reason = (
        f"what {reader.model} read before stays, but no video is read for new steps; to read them: "
        "`llm`"
    )
    problems = (_problem(task, reason, harmless=True),) if len(known) < len(steps) else ()
    return Asked(task, replace(script, steps=steps), (), readings, read, problems)


def _unchanged(task: Task, before: Result) -> set[str]:
    """The videos that say what they said in an earlier run."""
    known = {video.id: (video.sentences, video.mentions) for video in before.task.videos}
    return {v.id for v in task.videos if known.get(v.id) == (v.sentences, v.mentions)}


def _kept(
    task: Task, reader: Reader, options: RunOptions, context: Context, before: Result | None
) -> Asked | None:
    """What a reader made of the script in an earlier run, if videos and options still allow it."""
    if before is None or before.script.editor != reader.model or EDITOR in context.redo:
        return None
    same, most = _unchanged(task, before), options.steps or len(before.steps)
    if not same or options.mode != "default" or len(before.steps) > most:
        return None
    said = _of_another_job(reader)
    other = tuple(
        each
        for each in before.set_aside
        if each.reason == said and not options.keep_all and each.video not in options.keep
    )
    ids = {each.video for each in other}
    task = replace(task, videos=tuple(video for video in task.videos if video.id not in ids))
    reason = (
        f"the script that {reader.model} wrote before is kept, as the question has changed since; "
        "to ask again: `force` editor"
    )
    script = before.script.within(same)
    kept = Asked(task, script, other, problems=(_problem(task, reason, harmless=True),))
    if READING in context.redo:  # what another reading took from the steps may come back
        return kept._replace(script=_with_mentions_in(before.read_videos & same, script, task))
    read = before.read_videos & same
    readings = tuple(reading for reading in before.readings if reading.video in read)
    return kept._replace(readings=readings, read_videos=read)


def _with_mentions_in(videos: Collection[str], script: Script, task: Task) -> Script:
    """The script with the mentions of its steps in some videos."""
    new = replace(task, videos=tuple(video for video in task.videos if video.id in videos))
    found = find_known_steps([step.mentions for step in script.steps], new)
    taken = {mention for step in script.steps for mention in step.mentions}
    steps = (
        replace(step, mentions=in_order_of(task, {*step.mentions, *({*own} - taken)}))
        for step, own in zip(script.steps, found, strict=True)
    )
    return replace(script, steps=tuple(steps))


def _edit(
    task: Task,
    script: Script,
    reader: Reader,
    options: RunOptions,
    context: Context,
    set_aside: Sequence[SetAside],
    kept: Asked | None,
) -> Asked:
    """Let a language model write the script; if that fails, the script is unchanged.

    Replies are cached under the question, so a second run sends no request. To another question
    the script that was ``kept`` is the answer, unless there is one in a file.
    """
    keep = [video.id for video in task.videos] if options.keep_all else options.keep
    question = make_question(task, script, set_aside, steps=options.steps, keep=keep)
    key = key_of(_EDITOR, question=question.text, model=reader.model)
    known = _known_replies(EDITOR, key, reader, context)
    if kept and not known and not isinstance(reader, AnswerFolder):
        return kept
    if not known and reader.address:
        tokens = round(2 * estimated_tokens(question.text)) + SECOND_TOKENS
        context.callback(Sends(task.name, "the script", reader.address, 2, tokens))
    reply = Recorded(partial(reader.reply, schema=SCHEMA), known)
    label_reader = partial(read_labels, parser=options.parser, context=context)
    with context.stage(EDITOR, task.name, 1) as progress:
        try:
            found = edit_script(question, reply, label_reader)
        except LanguageModelError as error:
            progress.done(task.name, cached=False)
            if kept:
                return kept
            missing = isinstance(error, Unanswered)  # of which nothing is lost
            if missing and isinstance(reader, AnswerFolder):  # which says so
                return Asked(task, script)
            problem = _problem(task, f"the script was not edited: {error}", harmless=missing)
            return Asked(task, script, problems=(problem,))
        if reply.replies != known and (found.script or reader.address):  # not what has a fault
            context.cache.put(EDITOR, key, reply.replies)
        progress.done(task.name, cached=reply.replies == known)
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
    return Asked(
        replace(task, videos=tuple(video for video in task.videos if video not in other)),
        replace(found.script, editor=reader.model, changes=found.changes),
        tuple(SetAside(video.id, video.title, said) for video in other),
        problems=tuple(problems),
    )


def _of_another_job(reader: Reader) -> str:
    return f"of another job, says {reader.model}"


def _problem(task: Task, reason: str, *, harmless: bool = False) -> Problem:
    return Problem(Path(task.name), reason, harmless=harmless)


def _known_replies(stage: str, key: str, reader: Reader, context: Context) -> list[str]:
    """The replies of an earlier run; files are read again, as they may have been corrected."""
    known = None if isinstance(reader, AnswerFolder) else context.cached(stage, key, list[str])
    return known or []


def _read_videos(asked: Asked, reader: Reader, context: Context) -> Asked:
    """Let a language model read where the steps are done, each video by itself.

    Replies are cached for each video, so a run can be interrupted, repeated and extended. What
    fails costs that video alone. If not all videos can be read for the tokens that may be sent,
    the most different ones are.
    """
    task, script = asked.task, asked.script
    questions = {
        video.id: VideoQuestions(task, script, video)
        for video in task.videos
        if video.sentences and video.id not in asked.read_videos
    }
    keys = {
        video: key_of(_READING, questions=own.texts, model=reader.model)
        for video, own in questions.items()
    }
    known = {video: _known_replies(READING, keys[video], reader, context) for video in questions}
    tokens = {video: 0 if known[video] else own.tokens for video, own in questions.items()}
    chosen = most_different([own.video for own in questions.values()], tokens, reader.tokens)
    unread: dict[tuple[str, bool], list[Video]] = defaultdict(list)  # by reason, and if harmless
    too_many = (
        f"all videos take {sum(tokens.values()):,} tokens, and at most {reader.tokens:,} may be "
        "sent (`llm_tokens`)"
    )
    for own in questions.values():
        if own.video.id not in chosen:
            unread[too_many, True].append(own.video)
    if (sent := sum(tokens[video] for video in chosen)) and reader.address:
        requests = sum(len(questions[video].pieces) for video in chosen if not known[video])
        context.callback(Sends(task.name, "transcripts", reader.address, requests, sent))
    found: dict[str, VideoReading] = {}
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
                    found[video], replies = job.result()
                    if replies != known[video]:
                        context.cache.put(READING, keys[video], replies)
                except (LanguageModelError, AnswerError) as error:
                    is_unanswered = isinstance(error, Unanswered)
                    if not (is_unanswered and isinstance(reader, AnswerFolder)):
                        unread[str(error), is_unanswered].append(questions[video].video)
                progress.done(video, cached=bool(known[video]))
        except BaseException:  # such as Ctrl-C, after which nothing more is sent
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    in_order = [video for video in questions if video in found]
    problems = [
        *asked.problems,
        *(_not_read(task, *reason, own) for reason, own in unread.items()),
    ]
    problems += [
        Problem(path_of(questions[video].video), f"read by {reader.model}: {remark}", harmless=True)
        for video in in_order
        for remark in _remarks(found[video])
    ]
    readings = [*asked.readings, *(r for video in in_order for r in found[video].readings)]
    order = {video.id: n for n, video in enumerate(task.videos)}
    return asked._replace(
        readings=tuple(sorted(readings, key=lambda reading: order[reading.video])),
        read_videos=asked.read_videos.union(found),
        problems=tuple(problems),
    )


def _remarks(reading: VideoReading) -> list[str]:
    none = [] if reading.readings else ["no step is done in it"]
    return [*none, *(f"a part of the answer was not used: {remark}" for remark in reading.remarks)]


def _not_read(task: Task, reason: str, harmless: bool, videos: Sequence[Video]) -> Problem:
    """The problem of videos that were not read for the same reason."""
    if len(videos) == 1:
        return Problem(path_of(videos[0]), f"not read: {reason}", harmless=harmless)
    names = [video.id for video in sorted(videos, key=lambda video: video.id)]
    named = ", ".join(names[:_MAX_NAMED]) + (" …" if len(names) > _MAX_NAMED else "")
    text = f"{len(names)} videos were not read: {reason}: {named}"
    return Problem(Path(task.name), text, harmless=harmless)
