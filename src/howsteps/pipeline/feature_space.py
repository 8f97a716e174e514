"""The features that a model reads, so that new videos can be described in the same way.

Beside ``model.json`` lies ``features.json``, which says whether the model reads words or video
frames. For words it holds them with their weights; for frames, ``codebooks.npz`` has the codewords.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from howsteps.errors import InputError
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.narration.features import Vocabulary as Words
from howsteps.pipeline.features import Features
from howsteps.pipeline.options import RunOptions
from howsteps.task import Mode, Task
from howsteps.vision.codebook import Codebook, read_codebooks, to_bytes
from howsteps.vision.options import MODES

VERSION = 1
FILE, CODEBOOKS = "features.json", "codebooks.npz"
_WORDS, _FRAMES = "words", "frames"


@dataclass(frozen=True)
class FeatureSpace:
    """The words of the narration, or the codebooks of the video frames: one of the two.

    ``mode`` and ``quick`` say how the frames were described.
    """

    words: Words | None = None
    codebooks: dict[str, Codebook] = field(default_factory=dict)
    mode: Mode = "default"
    quick: bool = False


def of(task: Task, features: Features, options: RunOptions) -> FeatureSpace:
    """The space in which a task was described."""
    if features.vectors:
        return FeatureSpace(
            codebooks=dict(features.codebooks), mode=options.mode, quick=options.quick
        )
    return FeatureSpace(words=Words.of(task.videos))


def save(space: FeatureSpace, folder: Path) -> None:
    """Write the space beside its model."""
    content: dict[str, object] = {
        "version": VERSION,
        "reads": _WORDS if space.words else _FRAMES,
    }
    if space.words is not None:
        content["words"] = [
            [word, round(float(weight), 6)]
            for word, weight in zip(space.words.words, space.words.weights, strict=True)
        ]
    else:
        content |= {"mode": space.mode, "quick": space.quick}
        write_atomically(folder / CODEBOOKS, to_bytes(space.codebooks))
    text = json.dumps(content, ensure_ascii=False, indent=1)
    write_atomically(folder / FILE, f"{text}\n".encode())


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
        if value["reads"] == _WORDS:
            words = tuple(str(word) for word, _ in value["words"])
            weights = np.array([float(weight) for _, weight in value["words"]], np.float32)
            return FeatureSpace(words=Words(words, weights))
        mode, quick = value["mode"], bool(value["quick"])
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, f"does not say what the model reads ({error})") from error
    return FeatureSpace(codebooks=read_codebooks(folder / CODEBOOKS), mode=mode, quick=quick)
