"""The answer to a question: JSON, strictly validated."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from howsteps.captions.repair import printable
from howsteps.editor.question import Question
from howsteps.errors import HowstepsError, shown

MIN_STEPS, MAX_STEPS = 3, 20
MIN_VIDEOS = 2
MAX_NAME_WORDS = 12
_MAX_NAME_CHARACTERS = 200
_MAX_CHARACTERS = 1_000_000


class AnswerError(HowstepsError):
    """An invalid answer; the message is shown to people and sent to the model."""


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
    found = [value for value in _objects(text) if "steps" in value]
    if not found:
        raise AnswerError('there is no complete JSON object with "steps" in the answer')
    return found[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < 1000:  # bounds the time for a page of opening braces
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if isinstance(value, dict):
                yield value
        start = text.find("{", end)


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
