"""Ask the model, validate its answer, retry once, and make a script of the answer."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.captions.cues import printable
from howsteps.errors import shown
from howsteps.narration.wordnet import PartOfSpeech, WordNet
from howsteps.reader.client import json_objects
from howsteps.reader.question import Act, AnswerError, Question, make_question, video_end
from howsteps.script.names import name_steps
from howsteps.script.order import keep_in_order
from howsteps.script.similarity import noun_similarity, verb_similarity
from howsteps.task import Mention, Relation, Script, Sentence, Step, Task

MIN_STEPS, MAX_STEPS = 3, 20
MIN_VIDEOS = 2
MAX_NAME_WORDS = 12
_MAX_NAME_CHARACTERS = 200
_MAX_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    """One step of an answer: its name, and the ids of its acts."""

    name: str
    acts: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """A valid answer.

    Attributes
    ----------
    steps
        In order.
    any_order, alternatives
        Groups of indices of steps.
    other_job
        Ids of the videos that are of another job.
    """

    steps: tuple[AnsweredStep, ...]
    any_order: tuple[tuple[int, ...], ...] = ()
    alternatives: tuple[tuple[int, ...], ...] = ()
    other_job: tuple[str, ...] = ()


def parse_answer(text: str, question: Question) -> Answer:
    """Parse the answer to a question from a reply, which may contain prose too.

    Raises
    ------
    AnswerError
        There is no answer, it is to another question, or it breaks a rule.
    """
    value = _json_object(text)
    if value.get("question") != question.key:
        key = shown(str(value.get("question")))[:40]
        raise AnswerError(f'"question" is {key!r}; this question is "{question.key}"')
    other = _ids(value.get("other_job", []), question.videos, "other_job", "video")
    on_task = {video.id for video in question.task.videos} - {question.videos[id_] for id_ in other}
    if len(on_task) < MIN_VIDEOS:
        raise AnswerError(
            f"other_job leaves {len(on_task)} videos; at least {MIN_VIDEOS} must remain"
        )
    steps = _steps(value.get("steps"), question, on_task)
    return Answer(
        steps,
        _groups(value.get("any_order", []), len(steps), "any_order"),
        _groups(value.get("alternatives", []), len(steps), "alternatives"),
        tuple(question.videos[id_] for id_ in other),
    )


def _json_object(text: str) -> dict[str, Any]:
    """The last JSON object with steps in a text: models often reason before they answer."""
    if len(text) > _MAX_CHARACTERS:
        raise AnswerError(f"the answer is longer than {_MAX_CHARACTERS:,} characters")
    found = [value for value in json_objects(text) if "steps" in value]
    if not found:
        raise AnswerError('there is no complete JSON object with "steps" in the answer')
    return found[-1]


def _steps(value: object, question: Question, videos: set[str]) -> tuple[AnsweredStep, ...]:
    if not isinstance(value, list):
        raise AnswerError('"steps" is not a list')
    if not MIN_STEPS <= len(value) <= MAX_STEPS:
        raise AnswerError(f"there are {len(value)} steps; there must be {MIN_STEPS} to {MAX_STEPS}")
    steps = []
    owner: dict[str, int] = {}
    for number, entry in enumerate(value, 1):
        where = f"step {number}"
        if not isinstance(entry, dict):
            raise AnswerError(f"{where} is not an object")
        acts = _ids(entry.get("acts"), question.acts, where, "act")
        for act in acts:
            if (first := owner.setdefault(act, number)) != number:
                raise AnswerError(f"{act} is in step {first} and in step {number}")
        support = {m.video for act in acts for m in question.acts[act].mentions} & videos
        if len(support) < MIN_VIDEOS:
            raise AnswerError(
                f"{where} has mentions of {len(support)} videos; at least {MIN_VIDEOS} are needed"
            )
        optional = entry.get("optional", False)
        if not isinstance(optional, bool):
            raise AnswerError(f'{where}: "optional" is neither true nor false')
        steps.append(AnsweredStep(_name(entry.get("name"), where), acts, optional))
    return tuple(steps)


def _name(value: object, where: str) -> str:
    if not isinstance(value, str) or not (name := " ".join(printable(value).split())):
        raise AnswerError(f"{where} has no name")
    if len(name.split()) > MAX_NAME_WORDS:
        raise AnswerError(f"the name of {where} has more than {MAX_NAME_WORDS} words")
    if len(name) > _MAX_NAME_CHARACTERS:
        raise AnswerError(f"the name of {where} has more than {_MAX_NAME_CHARACTERS} characters")
    return name


def _ids(value: object, known: Any, where: str, kind: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise AnswerError(f"{where}: the {kind} ids are not a list of strings")
    for id_ in value:
        if id_ not in known:
            raise AnswerError(f"{where}: there is no {kind} {shown(id_)[:40]!r}")
    if len(set(value)) < len(value):
        raise AnswerError(f"{where} has the same {kind} twice")
    if kind == "act" and not value:
        raise AnswerError(f"{where} has no acts")
    return tuple(value)


def _groups(value: object, steps: int, name: str) -> tuple[tuple[int, ...], ...]:
    """Groups of indices of steps; the answer counts from 1."""
    if not isinstance(value, list):
        raise AnswerError(f'"{name}" is not a list')
    return tuple(_group(group, steps, name) for group in value)


def _group(value: object, steps: int, name: str) -> tuple[int, ...]:
    numbers: Sequence[object] = value if isinstance(value, list) else ()
    found = tuple(
        number - 1
        for number in numbers
        if isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= steps
    )
    if len(found) < len(numbers) or len(set(found)) < max(2, len(found)):
        raise AnswerError(f'"{name}" has a group that is not two or more step numbers')
    return found


# Always allowed.
_FUNCTION_WORDS = frozenset(
    "a an the and or but of to in on at by for from with without into onto over under up down out "
    "off through around about between before after until while as so that this these those it its "
    "them they their your you all both each every any some more most not no if then than back "
    "again together apart away is are be do does".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CONTENT_POS: tuple[PartOfSpeech, ...] = ("noun", "verb", "adj", "adv")


def unsaid_words(
    name: str, mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> list[str]:
    """The words of a name that no narrator of the step uses, in any form or as a synonym."""
    said = said_words(mentions, sentences)
    return [word for word in _words(name) if not _is_said(word, said)]


def said_words(
    mentions: Iterable[Mention], sentences: dict[str, Sequence[Sentence]]
) -> frozenset[str]:
    """The words of the phrases and sentences that mention a step."""
    words: set[str] = set()
    for mention in mentions:
        words.update(_words(mention.phrase))
        of_video = sentences.get(mention.video, ())
        if mention.sentence < len(of_video):
            words.update(_words(of_video[mention.sentence].text))
    return frozenset(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _is_said(word: str, said: frozenset[str]) -> bool:
    if word in said or word in _FUNCTION_WORDS or word.isdigit():
        return True
    return any(_same(word, other) for other in said)


@cache
def _same(one: str, two: str) -> bool:
    """Whether two words share a lemma or a synset."""
    return any(
        not _lemmas(one, part).isdisjoint(_lemmas(two, part))
        or not _synsets(one, part).isdisjoint(_synsets(two, part))
        for part in _CONTENT_POS
    )


@cache
def _lemmas(word: str, part: PartOfSpeech) -> frozenset[str]:
    return frozenset(_wordnet().lemmas(word, part))


@cache
def _synsets(word: str, part: PartOfSpeech) -> frozenset[int]:
    """The synsets of the first three senses; rarer ones give far-fetched synonyms."""
    return frozenset(
        synset
        for lemma in _lemmas(word, part)
        for synset in _wordnet().synset_ids(lemma, part, senses=3).tolist()
    )


@cache
def _wordnet() -> WordNet:
    return WordNet.load()


MIN_SIMILARITY = 0.6  # product of verb and noun: one of them equal, the other a synonym


def nearest_steps(
    rare: Iterable[Act], steps: Sequence[Sequence[Act]], wordnet: WordNet
) -> dict[Act, int]:
    """The step of each rare act that is similar enough to an act of a step.

    The similarity of two acts is that of their verbs times that of their nouns. Acts without an
    object are left out: they say too little.
    """
    others = sorted({act for act in rare if act.noun})
    step_acts = [(act, index) for index, step in enumerate(steps) for act in step if act.noun]
    if not others or not step_acts:
        return {}
    similarity = _similarity(others, [act for act, _ in step_acts], wordnet)
    best = similarity.argmax(axis=1)
    return {
        act: step_acts[i][1]
        for act, i, value in zip(others, best, similarity.max(axis=1), strict=True)
        if value >= MIN_SIMILARITY
    }


def _similarity(
    rows: Sequence[Act], columns: Sequence[Act], wordnet: WordNet
) -> NDArray[np.float32]:
    """Similarity of two lists of acts (rows × columns), from tables of distinct verbs and nouns."""
    verbs = {verb: n for n, verb in enumerate(sorted({a[:2] for a in (*rows, *columns)}))}
    nouns = {noun: n for n, noun in enumerate(sorted({a.noun for a in (*rows, *columns)}))}
    by_verb = verb_similarity(list(verbs), wordnet)
    by_noun = noun_similarity(list(nouns), wordnet)
    pairs = [
        ([verbs[act[:2]] for act in acts], [nouns[act.noun] for act in acts])
        for acts in (rows, columns)
    ]
    (row_verbs, row_nouns), (column_verbs, column_nouns) = pairs
    return by_verb[np.ix_(row_verbs, column_verbs)] * by_noun[np.ix_(row_nouns, column_nouns)]


Reply = Callable[[Sequence[dict[str, str]]], str]
"""From a conversation to the reply of the model."""
MAX_ECHOED = 2000  # characters of an invalid answer in the retry: small models have short contexts


@dataclass(frozen=True, slots=True)
class Edit:
    """The result of an edit.

    Attributes
    ----------
    script
        The edited script; None if there was no valid answer.
    other_job
        Ids of the videos that the answer says are of another job.
    changes
        What was changed in the script, one line each, for people.
    refused
        Why answers were refused, in order.
    """

    script: Script | None
    other_job: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def edit_script(task: Task, script: Script, reply: Reply) -> Edit:
    """Let a model edit the script of a task.

    An invalid answer is refused, and the model is asked once more with the reason.

    Raises
    ------
    LanguageModelError
        The model cannot be reached.
    """
    question = make_question(task)
    conversation = [{"role": "user", "content": question.text}]
    refused: list[str] = []
    for _ in range(2):
        text = reply(conversation)
        try:
            edit = _apply(question, script, parse_answer(text, question))
        except AnswerError as error:
            refused.append(str(error))
            again = f"That cannot be used: {error}. Answer again, with one complete JSON object."
            conversation += [
                {"role": "assistant", "content": text[:MAX_ECHOED]},
                {"role": "user", "content": again},
            ]
        else:
            return replace(edit, refused=tuple(refused))
    return Edit(None, refused=tuple(refused))


def edit_with_answer(task: Task, script: Script, text: str) -> Edit:
    """Edit a script with an answer that a person supplies.

    Raises
    ------
    AnswerError
        It is invalid; the message says why.
    """
    question = make_question(task)
    return _apply(question, script, parse_answer(text, question))


def _apply(question: Question, before: Script, answer: Answer) -> Edit:
    """Make the script of a valid answer, and list the changes."""
    task = _without(question.task, answer.other_job)
    sentences = {video.id: video.sentences for video in task.videos}
    steps: list[Step] = []
    changes: list[str] = []
    for index, mentions in enumerate(_mentions_by_step(question, answer, task)):
        given = answer.steps[index]
        first = question.acts[given.acts[0]].act
        [default] = name_steps(task, [[[m for m in mentions if Act.of(m) == first] or mentions]])
        step = replace(
            default,
            label=given.name,
            mentions=tuple(mentions),
            optional=given.optional,
            # Only adjacent alternatives can be shown as such.
            alternative=any({index - 1, index} <= {*group} for group in answer.alternatives),
        )
        step = step.named_after(_naming_relation(question, given))
        of_acts = [
            m for act in given.acts for m in question.acts[act].mentions if m.video in sentences
        ]
        if unsaid := unsaid_words(given.name, [*mentions, *of_acts], dict(sentences)):
            words = ", ".join(f'"{word}"' for word in unsaid)
            changes.append(
                f'"{given.name}" is called "{default.label}": no narrator of it says {words}'
            )
            step = replace(step, label=default.label)
        steps.append(step)
    script = Script(tuple(steps))
    return Edit(script, answer.other_job, (*_changes(before, script), *changes))


def _naming_relation(question: Question, given: AnsweredStep) -> Relation:
    """The relation that names a step best: the first of its acts that has an object."""
    acts = [question.acts[act].act for act in given.acts]
    best = next((act for act in acts if act.noun), acts[0])
    return Relation(best.verb, best.noun)


def _mentions_by_step(question: Question, answer: Answer, task: Task) -> list[list[Mention]]:
    """The mentions of every step: those of its acts, and of rare acts that are similar to them.

    Mentions that break the order of the answer in their video are left out, as in any script:
    previews, recaps, and other uses of the same words ("put the eggs on the plate").
    """
    in_question = {row.act for row in question.acts.values()}
    steps = [[question.acts[act].act for act in given.acts] for given in answer.steps]
    mentions = [m for video in task.videos for m in video.mentions if not m.negated]
    rare = {Act.of(mention) for mention in mentions} - in_question
    step_of = nearest_steps(rare, steps, WordNet.load())
    step_of |= {act: index for index, step in enumerate(steps) for act in step}
    of_steps = [m for m in sorted(mentions, key=_time_key(task)) if Act.of(m) in step_of]
    step = np.array([step_of[Act.of(mention)] for mention in of_steps])
    ends = {video.id: video_end(video) for video in task.videos}
    groups = [np.flatnonzero(step == index) for index in range(len(steps))]
    kept = keep_in_order(
        groups,
        np.unique([mention.video for mention in of_steps], return_inverse=True)[1],
        np.array([min(1.0, mention.start / ends[mention.video]) for mention in of_steps]),
        (*answer.any_order, *answer.alternatives),
        np.array([mention.work for mention in of_steps]),
    )
    # A step keeps all of its mentions if none follows the order.
    return [
        [of_steps[i] for i in (in_order if len(in_order) else group)]
        for in_order, group in zip(kept, groups, strict=True)
    ]


def _without(task: Task, videos: Sequence[str]) -> Task:
    return replace(task, videos=tuple(v for v in task.videos if v.id not in videos))


def _time_key(task: Task) -> Callable[[Mention], tuple[int, float, float]]:
    order = {video.id: index for index, video in enumerate(task.videos)}
    return lambda mention: (order[mention.video], mention.start, mention.end)


def _changes(before: Script, after: Script) -> list[str]:
    """What happened to the steps, one line each: dropped, added, joined or renamed."""
    owner = {mention: step for step in after.steps for mention in step.mentions}
    sources: dict[str, list[str]] = {}
    lines = []
    for step in before.steps:
        counts: dict[str, int] = {}
        for mention in step.mentions:
            if mention in owner:
                label = owner[mention].label
                counts[label] = counts.get(label, 0) + 1
        if not counts:
            lines.append(f'dropped "{step.label}"')
        else:
            sources.setdefault(max(counts, key=lambda label: counts[label]), []).append(step.label)
    for step in after.steps:
        old = sources.get(step.label, [])
        if not old:
            lines.append(f'added "{step.label}"')
        elif len(old) > 1:
            joined = ", ".join(f'"{label}"' for label in old)
            lines.append(f'joined {joined} as "{step.label}"')
        elif old != [step.label]:
            lines.append(f'renamed "{old[0]}" to "{step.label}"')
    return lines
