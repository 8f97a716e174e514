"""What a model's numbers stand for, so that new videos can be described by the same numbers.

Beside ``model.json`` lies ``features.json``, which says whether the model reads pictures or words.
For words it holds them with their weights; for pictures the words are in ``vocabularies.npz``.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from howsteps.errors import InputError
from howsteps.io.text import read_json
from howsteps.narration.features import Vocabulary as Words
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.vision import VisualFeatures
from howsteps.task import Mode, Task
from howsteps.vision.options import MODES

if TYPE_CHECKING:
    from howsteps.vision.codebook import Codebook

    pass

VERSION = 1
FILE, VOCABULARIES = "features.json", "vocabularies.npz"


@dataclass(frozen=True)
class FeatureSpace:
    """The words that are heard, or the vocabularies of what is seen; one of the two is there.

    ``mode`` and ``quick`` say how the videos were looked at.
    """

    words: Words | None = None
    vocabularies: "dict[str, Codebook]" = field(default_factory=dict)
    mode: Mode = "default"
    quick: bool = False


def of(task: Task, seen: VisualFeatures, options: RunOptions) -> FeatureSpace:
    """The space in which a task was described."""
    if seen.vectors:
        return FeatureSpace(
            vocabularies=dict(seen.vocabularies), mode=options.mode, quick=options.quick
        )
    return FeatureSpace(words=Words.of(task.videos))


def save(space: FeatureSpace, folder: Path) -> None:
    """Write the space beside its model."""
    content: dict[str, object] = {
        "version": VERSION,
        "reads": "words" if space.words else "pictures",
    }
    if space.words is not None:
        content["words"] = [
            [word, round(float(weight), 6)]
            for word, weight in zip(space.words.words, space.words.weights, strict=True)
        ]
    else:
        from howsteps.vision.codebook import to_bytes  # noqa: PLC0415 - only with pictures

        content |= {"mode": space.mode, "quick": space.quick}
        (folder / VOCABULARIES).write_bytes(to_bytes(space.vocabularies))
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / FILE).write_text(f"{text}\n", encoding="utf-8")


def load(folder: Path) -> FeatureSpace:
    """Read what :func:`save` wrote.

    Raises
    ------
    InputError
        It is not there, or not whole.
    """
    path = folder / FILE
    value = read_json(path)
    try:
        if value["version"] != VERSION:
            raise InputError(path, f"is version {value['version']!r}, not {VERSION}")
        if value["reads"] == "words":
            words = tuple(str(word) for word, _ in value["words"])
            weights = np.array([float(weight) for _, weight in value["words"]], np.float32)
            return FeatureSpace(words=Words(words, weights))
        mode, quick = value["mode"], bool(value["quick"])
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"does not say what the model reads ({error})") from error
    from howsteps.vision.codebook import read_codebooks  # noqa: PLC0415 - only with pictures

    return FeatureSpace(vocabularies=read_codebooks(folder / VOCABULARIES), mode=mode, quick=quick)
