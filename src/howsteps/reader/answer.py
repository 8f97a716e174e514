"""From an answer about the script to the script.

A step of the answer has the mentions of the ids that it names, and those that match the words to
look for; of these it keeps the ones that follow the order. What cannot be used (an unknown id, a
step that one narrator says) is left out with a remark.

What narrators say is quoted as data, and a model that obeys them can do little: names are plain
text (:mod:`howsteps.reader.names`), a video that shows the steps as others do is never set aside,
and a script that contradicts the narrators is not used.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from howsteps.errors import shown
from howsteps.reader.act_groups import MIN_VIDEOS, relative_positions
from howsteps.reader.exchange import (
    AnswerError,
    LanguageModelError,
    Schema,
    clean,
    json_objects,
    list_schema,
    object_schema,
)
from howsteps.reader.names import (
    MAX_CHARACTERS,
    SaidWords,
    named_by_label,
    plain_name,
    words_of_step,
)
from howsteps.reader.question import MIN_STEPS, Question
from howsteps.script.names import Namer, examples
from howsteps.script.order import keep_in_order, precedence
from howsteps.script.text_mentions import LabelReader, add_matches, in_order_of_time
from howsteps.store import converted
from howsteps.task import Mention, Reading, Script, Step, Task

MAX_STEPS = 20
_MAX_LOOK_FOR = 8  # phrases
# A script is not used if its steps have less than this share of the work that the steps of the
# script found without a model have, or if less than this share of the pairs of mentions follows its
# order. That is .67 to .86 for scripts found without a model (seven jobs), .5 ± .1 by chance.
MIN_WORK, MIN_IN_ORDER = 1 / 3, 0.55
_MIN_VOTES = 5.0  # pairs of steps in videos
_NEAR = 4.0  # seconds from a reading to a mention of its step: a sentence begins before its lines


class AnsweredStep(Struct, frozen=True):
    """One step of an answer: its name, ids of its acts, and words to look for."""

    name: str
    acts: tuple[str, ...] = ()
    look_for: tuple[str, ...] = ()
    optional: bool = False


class Answer(Struct, frozen=True):
    """An answer in form.

    Attributes
    ----------
    steps
        In order.
    any_order, alternatives
        Groups of numbers of steps, from 1.
    other_job
        Ids of videos, as in the question.
    wrong
        Ids of mentions in the second question that do not belong to their step.
    """

    steps: Annotated[tuple[AnsweredStep, ...], Meta(min_length=MIN_STEPS, max_length=MAX_STEPS)]
    any_order: tuple[tuple[int, ...], ...] = ()
    alternatives: tuple[tuple[int, ...], ...] = ()
    other_job: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


_TEXT, _TEXTS = {"type": "string"}, list_schema({"type": "string"})
_NUMBERS = list_schema(list_schema({"type": "integer"}))
_STEP = object_schema(name=_TEXT, acts=_TEXTS, look_for=_TEXTS, optional={"type": "boolean"})
SCHEMA: Schema = object_schema(
    steps=list_schema(_STEP, MIN_STEPS, MAX_STEPS),
    any_order=_NUMBERS,
    alternatives=_NUMBERS,
    other_job=_TEXTS,
    wrong=_TEXTS,
)


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of an edit.

    Attributes
    ----------
    script
        The script of the model. Steps that hardly anybody says have no mentions: they may be found
        by reading.
    other_job
        Ids of the videos that the answer says are of another job.
    changes, remarks
        What was changed in the script, and what of the answer was not used; one line each.
    answer, mentions
        The answer, and the mentions that were found for each of its steps.
    failure
        Why there is no answer after this one.
    """

    script: Script
    other_job: tuple[str, ...]
    changes: tuple[str, ...]
    remarks: tuple[str, ...]
    answer: Answer = field(repr=False)
    mentions: tuple[tuple[Mention, ...], ...] = field(repr=False)
    failure: AnswerError | LanguageModelError | None = None


def parse_answer(text: str) -> tuple[Answer, tuple[str, ...]]:
    """Parse the answer in a reply, which may contain prose too; it is in form as a whole.

    Raises
    ------
    AnswerError
        There is no answer, or it is not in form.
    """
    found = [value for value in json_objects(text) if "steps" in value]
    if not found:
        raise AnswerError('there is no complete JSON object with "steps" in the answer')
    try:
        return converted(found[-1], Answer), ()  # the last: models reason before they answer
    except ValueError as error:
        raise AnswerError(shown(str(error))) from None


def script_of_answer(
    question: Question,
    answer: Answer,
    read_labels: LabelReader,
    wrong: Collection[Mention] = (),
) -> Edit:
    """Make the script of an answer, without the mentions that are ``wrong``.

    Raises ``AnswerError`` if it contradicts the narrators.
    """
    assigned, remarks = _assigned(question, answer, wrong)
    _look_up(question.task, assigned, answer, read_labels, wrong)
    other, kept = _other_job(question, answer, assigned)
    videos = tuple(video for video in question.task.videos if video.id not in other)
    task = replace(question.task, videos=videos)
    assigned = [[m for m in own if m.video not in other] for own in assigned]
    free = [*_groups(answer.any_order, answer), *_groups(answer.alternatives, answer)]
    mentions = _in_order(assigned, free, task)
    if reason := contradiction(question.script, task, assigned, mentions, free):
        raise AnswerError(reason)
    steps, unsaid = _named_steps(question, answer, task, mentions)
    script = Script(tuple(steps))
    changes = (*script_changes(question.script, script), *kept)
    return Edit(script, other, changes, (*remarks, *unsaid), answer, tuple(map(tuple, mentions)))


def _assigned(
    question: Question, answer: Answer, wrong: Collection[Mention]
) -> tuple[list[list[Mention]], list[str]]:
    """The mentions of every step, in order of time, and remarks on ids that cannot be used.

    A group has precedence over its act, an act over a step of the first script.
    """
    remarks: list[str] = []
    owner: dict[str, int] = {}
    for index, step in enumerate(answer.steps):
        for id_ in ids_of(step):
            if id_ not in question.mentions:
                remarks.append(f"there is no {shown(id_)[:20]!r} for step {index + 1}")
            elif owner.setdefault(id_, index) != index:
                remarks.append(f"{id_} is in step {owner[id_] + 1}, so not in step {index + 1}")
    step_of: dict[Mention, int] = {}
    for id_ in sorted(owner, key=lambda id_: (id_.startswith("a"), "." in id_)):
        step_of.update(dict.fromkeys(question.mentions[id_], owner[id_]))
    assigned: list[list[Mention]] = [[] for _ in answer.steps]
    for mention in (m for video in question.task.videos for m in video.mentions):
        if mention in step_of and not mention.negated and mention not in wrong:
            assigned[step_of[mention]].append(mention)
    return assigned, remarks


def ids_of(step: AnsweredStep) -> list[str]:
    """The ids of its acts, without the words that a model may repeat after them."""
    return [id_.split()[0] for id_ in step.acts if id_.strip()]


def _look_up(
    task: Task,
    assigned: list[list[Mention]],
    answer: Answer,
    read_labels: LabelReader,
    wrong: Collection[Mention],
) -> None:
    """Add to steps without mentions those that match its words to look for or its name, in place.

    Steps that have acts get no others: what is merely similar is too often of another step (P/R of
    steps with most mentions right .46/.48 with it, .68/.72 without; first answers of a large model,
    five jobs).
    """
    phrases: list[list[str]] = []
    for step, mentions in zip(answer.steps, assigned, strict=True):
        words = [plain_name(step.name), *map(clean, step.look_for[:_MAX_LOOK_FOR])]
        phrases.append([word[:MAX_CHARACTERS] for word in words if word and not mentions])
    if texts := sorted(set().union(*phrases)):
        acts = dict(zip(texts, read_labels(texts), strict=True))
        labels = [[act for word in own for act in acts[word]] for own in phrases]
        add_matches(task, assigned, labels, wrong)


def _other_job(
    question: Question, answer: Answer, assigned: Sequence[Sequence[Mention]]
) -> tuple[tuple[str, ...], list[str]]:
    """The videos of another job, and remarks on those that mention the steps as others do."""
    videos = [video.id for video in question.task.videos]
    steps = Counter(video for own in assigned for video in {m.video for m in own})
    usual = max(statistics.median(steps[video] for video in videos), 1)
    named = [question.videos[v] for v in dict.fromkeys(answer.other_job) if v in question.videos]
    other = tuple(video for video in named if steps[video] < usual)
    remarks = [
        f"{clean(video)} was not set aside: it mentions {steps[video]} of the steps"
        for video in named
        if video not in other
    ]
    if len(other) > len(videos) / 2:
        many = f"{len(other)} videos of another job are too many: none was set aside"
        return (), [*remarks, many]
    return other, remarks


def _groups(groups: Sequence[Sequence[int]], answer: Answer) -> list[list[int]]:
    """Groups of two or more steps as indices, without numbers that are not of a step."""
    found = [[n - 1 for n in group if 1 <= n <= len(answer.steps)] for group in groups]
    return [group for group in found if len(set(group)) > 1]


def _arrays(
    steps: Sequence[Sequence[Mention]], task: Task
) -> tuple[list[NDArray[np.int64]], NDArray[np.int64], NDArray[np.float64], list[Mention]]:
    """The mentions of the steps as indices, with the video and position of each."""
    mentions = [mention for step in steps for mention in step]
    position = relative_positions(task)
    bounds = np.cumsum([len(step) for step in steps])[:-1]
    return (
        np.split(np.arange(len(mentions)), bounds),
        np.unique([m.video for m in mentions], return_inverse=True)[1],
        np.array([position[m] for m in mentions], dtype=np.float64),
        mentions,
    )


def _in_order(
    steps: Sequence[Sequence[Mention]], free: Sequence[Sequence[int]], task: Task
) -> list[list[Mention]]:
    """The mentions that follow the order in their video.

    Others are previews, recaps, and other uses of the same words: unless fewer than two videos are
    left of a step, which then keeps all. A step that fewer than two videos mention has none.
    """
    groups, videos, positions, mentions = _arrays(steps, task)
    if not mentions:
        return [[] for _ in steps]
    work = np.array([mention.work for mention in mentions])
    kept = keep_in_order(groups, videos, positions, free, work)
    least = min(MIN_VIDEOS, len({m.video for m in mentions}))
    found = []
    for in_order, group in zip(kept, groups, strict=True):
        own: tuple[Mention, ...] = ()
        for some in (in_order, group):
            if len({m.video for m in own}) < least:
                own = in_order_of_time([mentions[i] for i in some], task)
        found.append([*own] if len({m.video for m in own}) >= least else [])
    return found


def contradiction(
    before: Script,
    task: Task,
    assigned: Sequence[Sequence[Mention]],
    in_order: Sequence[Sequence[Mention]],
    free: Sequence[Sequence[int]],
) -> str:
    """How the steps of an answer contradict the narrators; empty if they do not.

    Each step has all its ``assigned`` mentions, and those that follow the order of the steps. The
    steps of a ``free`` group may come in any order.
    """
    if sum(map(bool, in_order)) < MIN_STEPS:
        return f"fewer than {MIN_STEPS} of its steps are said in {MIN_VIDEOS} videos"
    videos = {video.id for video in task.videos}
    usual = sum(m.work for step in before.steps for m in step.mentions if m.video in videos)
    own = sum(m.work for step in in_order for m in step)
    if own < MIN_WORK * usual:
        return f"its steps have {own / usual:.0%} of the work of the steps found without it"
    groups, video, position, _ = _arrays(assigned, task)
    votes = precedence(groups, video, position)
    for group in free:
        votes[np.ix_(group, group)] = 0.0
    total = float(votes.sum())
    share = float(np.triu(votes).sum()) / max(total, 1e-9)
    if total >= _MIN_VOTES and share < MIN_IN_ORDER:
        return f"its order contradicts the narrators: {share:.0%} of what they say follows it"
    return ""


def _named_steps(
    question: Question, answer: Answer, task: Task, mentions: Sequence[Sequence[Mention]]
) -> tuple[list[Step], list[str]]:
    """The steps of an answer with their names, and remarks on names."""
    steps: list[Step] = []
    remarks: list[str] = []
    said = SaidWords(task)
    alternatives = _groups(answer.alternatives, answer)
    last = -1
    for index, (given, own) in enumerate(zip(answer.steps, mentions, strict=True)):
        name = plain_name(given.name)
        of_one = not name or said.by_one_narrator(name, own)
        if of_one and not own:
            remarks.append(f"step {index + 1} is left out: its name is that of one narrator")
            continue
        if of_one:
            usual = Namer(task).name_or_phrase(own)
            if name:
                remarks.append(f'"{name}" is called "{usual.label}": only one narrator says so')
            name = usual.label
        elif own and (unsaid := said.by_nobody(name, own)):
            words = ", ".join(f'"{word}"' for word in unsaid)
            remarks.append(
                f'"{name}" has words of the model, which no narrator of it says: {words}'
            )
        while any(step.label == name for step in steps):
            name += " again"
        step = Step(
            name,
            tuple(own),
            examples(task, own),
            optional=given.optional,
            # Only adjacent alternatives can be shown as such.
            alternative=any({last, index} <= {*group} for group in alternatives),
        )
        steps.append(named_by_label(step))
        last = index
    return steps, remarks


def as_read(
    script: Script, task: Task, readings: Sequence[Reading], read_videos: Collection[str]
) -> Script:
    """The script with the mentions and videos that the readings of its steps leave and add.

    In a video that was read, a mention outside the readings of its step is a preview, a recap or
    another use of the words. A step that was read where no mention of it is left gets the work
    there that has most words of the step, if it has one. All of the work there would add nothing
    but talk: P/R of the steps by time is .87/.77 either way, by their words .59/.54 or .52/.48
    (readings of a large model, five jobs).
    """
    of_video: dict[str, list[Reading]] = {video: [] for video in read_videos}
    for reading in readings:
        of_video[reading.video].append(reading)

    def steps_at(mention: Mention) -> list[int]:
        """The steps that were read near something that is mentioned, the shortest reading first."""
        found = [r for r in of_video[mention.video] if r.has(mention, _NEAR)]
        return [r.step for r in sorted(found, key=lambda r: r.end - r.start)]

    mentions = [
        [m for m in step.mentions if m.video not in of_video or k in steps_at(m)]
        for k, step in enumerate(script.steps)
    ]
    words = [words_of_step(step) for step in script.steps]
    taken = {mention for own in mentions for mention in own}
    said = {(mention.video, k) for k, own in enumerate(mentions) for mention in own}
    there: dict[tuple[str, int], list[Mention]] = defaultdict(list)
    for video in task.videos:
        for m in video.mentions if video.id in of_video else ():
            if m.is_work and not m.negated and m not in taken:
                for k in steps_at(m)[:1]:
                    there[video.id, k].append(m)

    def fit(mention: Mention, step: int) -> tuple[int, bool, float]:
        own = {mention.verb, mention.noun} & words[step]
        return len(own), bool(mention.noun), mention.work

    for (id_, k), own in there.items():
        best = max(own, key=lambda m: fit(m, k))
        if fit(best, k)[0] and (id_, k) not in said:
            mentions[k].append(best)
    steps = []
    for step, own in zip(script.steps, mentions, strict=True):
        if {*own} == {*step.mentions}:
            steps.append(step)
        else:
            found = in_order_of_time(own, task)
            new = replace(step, mentions=found, examples=examples(task, found))
            steps.append(named_by_label(new))
    return replace(script, steps=tuple(steps)).read(readings)


def without_unsaid(
    script: Script, readings: Sequence[Reading]
) -> tuple[Script, tuple[Reading, ...]]:
    """Leave out the steps that fewer than two videos say, by mentions or by readings.

    Returns
    -------
    The script, whose ``changes`` say what was left out, and the readings of its steps.
    """
    videos = {m.video for step in script.steps for m in step.mentions}
    least = min(MIN_VIDEOS, len(videos.union(*(step.read_in for step in script.steps))))
    kept = [k for k, step in enumerate(script.steps) if step.support >= least]
    left = [step.label for k, step in enumerate(script.steps) if k not in kept]
    added = {f'added "{label}"' for label in left}
    changes = [line for line in script.changes if line not in added]
    changes += [f'"{label}" is left out: fewer than {MIN_VIDEOS} videos say it' for label in left]
    index = {old: new for new, old in enumerate(kept)}
    steps = (  # an alternative to what is left out is none
        replace(script.steps[k], alternative=script.steps[k].alternative and k - 1 in index)
        for k in kept
    )
    return (
        replace(script, steps=tuple(steps), changes=tuple(changes)),
        tuple(replace(each, step=index[each.step]) for each in readings if each.step in index),
    )


def script_changes(before: Script, after: Script) -> list[str]:
    """What happened to the steps, one line each: dropped, added, joined or renamed."""
    owner = {mention: step.label for step in after.steps for mention in step.mentions}
    sources: dict[str, list[str]] = defaultdict(list)
    lines = []
    for step in before.steps:
        counts = Counter(owner[m] for m in step.mentions if m in owner)
        if counts:
            sources[max(counts, key=lambda label: counts[label])].append(step.label)
        else:
            lines.append(f'dropped "{step.label}"')
    for step in after.steps:
        old = sources[step.label]
        if not old:
            lines.append(f'added "{step.label}"')
        elif len(old) > 1:
            joined = ", ".join(f'"{label}"' for label in old)
            lines.append(f'joined {joined} as "{step.label}"')
        elif old != [step.label]:
            lines.append(f'renamed "{old[0]}" to "{step.label}"')
    return lines
