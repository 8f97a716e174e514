"""What a model knows of its script: the name of the job, and how narrators name each step.

It lies beside ``model.json`` as ``steps.json``, so that steps are recognised in new narrations.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howsteps.errors import InputError
from howsteps.io.checked import Malformed, build, each, text
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.script.known_steps import find_known_steps
from howsteps.script.label_match import ActWithContext, acts_of
from howsteps.script.labels import examples
from howsteps.task import Mention, Place, Script, Step, Task

VERSION = 1
FILE = "steps.json"


@dataclass(frozen=True)
class LearntStep:
    """A step: how many videos named it, and the acts by which most of them did."""

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
        """What the videos of a task say about its steps."""

        def learnt(step: Step) -> LearntStep:
            own = [mention for mention in step.mentions if mention.verb]  # placed by hand: no words
            return LearntStep(step.label, step.support, tuple(acts_of(own)))

        return LearntSteps(task.name, tuple(learnt(step) for step in script.steps))

    def script(self, task: Task) -> Script:
        """The script with the mentions that new videos have of its steps."""
        found = find_known_steps(
            [[_mention(act) for act in step.acts] for step in self.steps], task
        )
        return Script(
            tuple(
                Step(step.label, own, examples(task, own), learnt_from=step.support)
                for step, own in zip(self.steps, found, strict=True)
            )
        )


def save(learnt: LearntSteps, folder: Path) -> None:
    """Write the steps beside their model."""
    content = {
        "version": VERSION,
        "job": learnt.job,
        "steps": [
            {
                "label": step.label,
                "support": step.support,
                "acts": [{**act._asdict(), "around": list(act.around)} for act in step.acts],
            }
            for step in learnt.steps
        ],
    }
    written = json.dumps(content, ensure_ascii=False, indent=1)
    write_atomically(folder / FILE, f"{written}\n".encode())


def load(folder: Path, labels: tuple[str, ...]) -> LearntSteps:
    """Read what :func:`save` wrote; of an older model, its ``labels`` are all that is known.

    Raises
    ------
    InputError
        The file is not whole, or of another model.
    """
    path = folder / FILE
    if not path.is_file():
        return LearntSteps("", tuple(LearntStep(label, 0, ()) for label in labels))
    value = read_json(path)
    try:
        if value["version"] != VERSION:
            raise InputError(path, f"is version {value['version']!r}, not {VERSION}")
        found = LearntSteps(text(value["job"]), each(value, "steps", _step))
    except (Malformed, KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"does not say how the steps are named ({error})") from error
    if tuple(step.label for step in found.steps) != labels:
        raise InputError(path, "has other steps than the model beside it")
    return found


def _step(entry: Mapping[str, Any]) -> LearntStep:
    return build(
        LearntStep,
        label=entry["label"],
        support=entry["support"],
        acts=each(entry, "acts", _act),
    )


def _act(entry: Mapping[str, Any]) -> ActWithContext:
    verb, particle, noun = (text(entry[name]) for name in ("verb", "particle", "noun"))
    return ActWithContext(verb, particle, noun, tuple(text(noun) for noun in entry["around"]))


def _mention(act: ActWithContext) -> Mention:
    """An act as if a label named it."""
    places = tuple(Place("", noun) for noun in act.around)
    return Mention("", act.verb, act.noun, "", 0.0, 0.0, particle=act.particle, places=places)
