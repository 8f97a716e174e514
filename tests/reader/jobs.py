"""A small job in the words of four narrators, with mentions as the narration stage makes them."""

import json
from collections.abc import Mapping, Sequence

from howsteps.narration.mentions import acts_of_labels
from howsteps.reader import make_question
from howsteps.reader.answer import Edit, parse_answer, script_of_answer
from howsteps.reader.question import Question
from howsteps.task import Mention, Place, Script, Sentence, Step, Task, Video, Word

LINES = (
    ("boil", "", "water", "boil the water in a kettle", (Place("in", "kettle"),)),
    ("grind", "", "bean", "grind the beans", ()),
    ("pour", "", "water", "pour the hot water over the grounds", (Place("over", "ground"),)),
    ("wait", "", "", "wait four minutes", ()),
    ("push", "down", "plunger", "push down the plunger slowly", ()),
    ("thank", "", "you", "thank you for watching", ()),
)


def narrator(name: str, lines: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> Video:
    """A video in which each line is a sentence of ten seconds; all of them end with the name."""
    sentences, mentions = [], []
    for index, number in enumerate(lines):
        verb, particle, noun, text, places = LINES[number]
        start = 10.0 * index
        words = tuple(
            Word(word, start + 0.5 * n, start + 0.5 * n + 0.4)
            for n, word in enumerate(f"{text} {name}".split())
        )
        sentences.append(Sentence(words))
        mentions.append(
            Mention(
                name,
                verb,
                noun,
                text,
                start,
                words[-1].end,
                particle=particle,
                sentence=index,
                places=places,
                work=0.1 if verb == "thank" else 0.9,
            )
        )
    return Video(
        name,
        title=f"Coffee by {name}",
        duration=60.0,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
    )


def coffee() -> Task:
    """Four narrations of making coffee; the last one never waits."""
    complete = tuple(narrator(name) for name in ("ann", "bob", "cleo"))
    return Task("make_coffee", (*complete, narrator("dan", (0, 1, 2, 4, 5))))


def found(task: Task) -> Script:
    """A script of the first three videos: boil, grind, push and thank, as steps of their own."""
    rows = [[video.mentions[i] for video in task.videos[:3]] for i in (0, 1, 4, 5)]
    return Script(tuple(Step(row[0].phrase, tuple(row)) for row in rows))


TASK = coffee()
QUESTION = make_question(TASK, found(TASK))


def answer(*changes: dict[str, object], **others: object) -> dict[str, object]:
    """An answer with four steps, of which the first ones are changed."""
    steps: list[dict[str, object]] = [
        {"name": "boil the water", "acts": ["a1"]},
        {"name": "grind the beans", "acts": ["a2"], "optional": True},
        {"name": "pour the water over the grounds", "acts": ["a3", "a4"]},
        {"name": "push the plunger down", "acts": ["a5"]},
    ]
    steps[: len(changes)] = [
        {**step, **change} for step, change in zip(steps, changes, strict=False)
    ]
    return {"steps": steps, **others}


def read_labels(labels: Sequence[str]) -> list[list[Mention]]:
    """The acts of labels."""
    return [[*acts] for acts in acts_of_labels(labels)]


def made(value: Mapping[str, object], question: Question = QUESTION) -> Edit:
    """The script of an answer."""
    return script_of_answer(question, parse_answer(json.dumps(value))[0], read_labels)


def labels(edit: Edit) -> list[str]:
    """The labels of the steps of an edit."""
    return [step.label for step in edit.script.steps]
