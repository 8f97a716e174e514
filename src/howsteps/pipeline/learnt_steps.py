"""The script of a model: the name of the job, and the acts by which narrators mention each step.

Stored as ``steps.json`` next to ``model.json``, to recognise the steps in new narrations.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from howsteps.errors import InputError
from howsteps.io.files import write_atomically
from howsteps.script.matching import ActWithContext, acts_of, find_known_steps
from howsteps.script.names import examples
from howsteps.store import ActRecord, LearntStepRecord, LearntStepsRecord, read_record
from howsteps.task import Mention, Place, Script, Step, Task

VERSION: Literal[1] = 1
FILE = "steps.json"


@dataclass(frozen=True)
class LearntStep:
    """A step: how many videos mentioned it, and its most frequent acts."""

    label: str
    support: int
    acts: tuple[ActWithContext, ...]


@dataclass(frozen=True)
class LearntSteps:
    """The name of the job, and its steps in order."""

    job: str
    steps: tuple[LearntStep, ...]

    @staticmethod
    def of(task: Task, script: Script) -> "LearntSteps":
        """Collect what the videos of a task say about its steps."""

        def learnt(step: Step) -> LearntStep:
            # Manual places have no words.
            spoken = [mention for mention in step.mentions if mention.verb]
            return LearntStep(step.label, step.support, tuple(acts_of(spoken)))

        return LearntSteps(task.name, tuple(learnt(step) for step in script.steps))

    def script(self, task: Task) -> Script:
        """The script, with the mentions of its steps in new videos."""
        found = find_known_steps(
            [[_mention(act) for act in step.acts] for step in self.steps], task
        )
        return Script(
            tuple(
                Step(step.label, mentions, examples(task, mentions), learnt_from=step.support)
                for step, mentions in zip(self.steps, found, strict=True)
            )
        )


def save(learnt: LearntSteps, folder: Path) -> None:
    """Write the steps next to their model."""
    content = LearntStepsRecord(
        version=VERSION,
        job=learnt.job,
        steps=[
            LearntStepRecord(
                label=step.label,
                support=step.support,
                acts=[
                    ActRecord(verb=a.verb, particle=a.particle, noun=a.noun, around=list(a.around))
                    for a in step.acts
                ],
            )
            for step in learnt.steps
        ],
    )
    written = json.dumps(msgspec.to_builtins(content), ensure_ascii=False, indent=1)
    write_atomically(folder / FILE, f"{written}\n".encode())


def load(folder: Path, labels: tuple[str, ...]) -> LearntSteps:
    """Read what :func:`save` wrote; for older models without the file, use their ``labels``.

    Raises
    ------
    InputError
        The file is incomplete, or of another model.
    """
    path = folder / FILE
    if not path.is_file():
        return LearntSteps("", tuple(LearntStep(label, 0, ()) for label in labels))
    record = read_record(path, LearntStepsRecord)
    found = LearntSteps(
        record.job,
        tuple(
            LearntStep(
                step.label,
                step.support,
                tuple(
                    ActWithContext(a.verb, a.particle, a.noun, tuple(a.around)) for a in step.acts
                ),
            )
            for step in record.steps
        ),
    )
    if tuple(step.label for step in found.steps) != labels:
        raise InputError(path, "has other steps than the model next to it")
    return found


def _mention(act: ActWithContext) -> Mention:
    """An act as a mention without video, time and phrase."""
    places = tuple(Place("", noun) for noun in act.around)
    return Mention("", act.verb, act.noun, "", 0.0, 0.0, particle=act.particle, places=places)
