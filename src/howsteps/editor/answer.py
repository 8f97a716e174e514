"""The answer: JSON that is checked strictly before anything comes of it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from howsteps.editor.question import Question
from howsteps.errors import HowstepsError, shown

FEWEST_STEPS, MOST_STEPS = 3, 20
FEWEST_VIDEOS = 2
LONGEST_NAME = 12  # words
_LARGEST = 1_000_000  # characters of an answer


class AnswerError(HowstepsError):
    """An answer that cannot be used; the message is the reason, for people and models alike."""


@dataclass(frozen=True, slots=True)
class AnsweredStep:
    """One step of an answer: its name, and the ids of its acts."""

    name: str
    acts: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that keeps to the rules. Groups of steps count from 0."""

    steps: tuple[AnsweredStep, ...]
    any_order: tuple[tuple[int, ...], ...] = ()
    alternatives: tuple[tuple[int, ...], ...] = ()
    other_job: tuple[str, ...] = ()


def parse_answer(text: str, question: Question) -> Answer:
    """Read the answer to a question out of a reply, which may have prose around it.

    Raises
    ------
    AnswerError
        There is no answer in it, it is to another question, or it breaks a rule.
    """
    value = _json_object(text)
    if value.get("question") != question.key:
        said = shown(str(value.get("question")))[:40]
        raise AnswerError(f'"question" is {said!r}; this question is "{question.key}"')
    other = _ids(value.get("other_job", []), question.videos, "other_job", "video")
    left = {video.id for video in question.task.videos} - {question.videos[id_] for id_ in other}
    if len(left) < FEWEST_VIDEOS:
        raise AnswerError(f"other_job leaves {len(left)} videos; {FEWEST_VIDEOS} must stay")
    steps = _steps(value.get("steps"), question, left)
    return Answer(
        steps,
        _groups(value.get("any_order", []), len(steps), "any_order"),
        _groups(value.get("alternatives", []), len(steps), "alternatives"),
        tuple(question.videos[id_] for id_ in other),
    )


def _json_object(text: str) -> dict[str, Any]:
    """The last JSON object with steps in a text: models like to think aloud first."""
    if len(text) > _LARGEST:
        raise AnswerError(f"the answer is longer than {_LARGEST:,} characters")
    found = [value for value in _objects(text) if "steps" in value]
    if not found:
        raise AnswerError('there is no whole JSON object with "steps" in the answer')
    return found[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < 1000:  # a page of opening braces must not take for ever
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
    if not FEWEST_STEPS <= len(value) <= MOST_STEPS:
        raise AnswerError(
            f"there are {len(value)} steps; there must be {FEWEST_STEPS} to {MOST_STEPS}"
        )
    steps = []
    owner: dict[str, int] = {}
    for number, entry in enumerate(value, 1):
        where = f"step {number}"
        if not isinstance(entry, dict):
            raise AnswerError(f"{where} is not an object")
        acts = _ids(entry.get("acts"), question.acts, where, "act")
        for act in acts:
            if (first := owner.setdefault(act, number)) != number:
                raise AnswerError(f"{act} stands in step {first} and in step {number}")
        said = {m.video for act in acts for m in question.acts[act].mentions} & videos
        if len(said) < FEWEST_VIDEOS:
            raise AnswerError(
                f"{where} has mentions of {len(said)} videos; at least {FEWEST_VIDEOS} are needed"
            )
        optional = entry.get("optional", False)
        if not isinstance(optional, bool):
            raise AnswerError(f'{where}: "optional" is neither true nor false')
        steps.append(AnsweredStep(_name(entry.get("name"), where), acts, optional))
    return tuple(steps)


def _name(value: object, where: str) -> str:
    if not isinstance(value, str) or not (name := " ".join(value.split())):
        raise AnswerError(f"{where} has no name")
    if len(name.split()) > LONGEST_NAME:
        raise AnswerError(f"the name of {where} has more than {LONGEST_NAME} words")
    return name


def _ids(value: object, known: Any, where: str, kind: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise AnswerError(f"{where}: the {kind} ids are not a list of texts")
    for id_ in value:
        if id_ not in known:
            raise AnswerError(f"{where}: there is no {kind} {shown(id_)[:40]!r}")
    if len(set(value)) < len(value):
        raise AnswerError(f"{where} has the same {kind} twice")
    if kind == "act" and not value:
        raise AnswerError(f"{where} has no acts")
    return tuple(value)


def _groups(value: object, steps: int, name: str) -> tuple[tuple[int, ...], ...]:
    """Groups of step numbers, which count from 1 in the answer."""
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
        raise AnswerError(f'"{name}" has a group that is not two or more numbers of steps')
    return found
