"""The features that a model reads, so that new videos can be described in the same way.

Beside ``model.json`` lies ``features.json``, which says whether the model reads words or video
frames. For words it holds them with their weights; for frames, what they were described by, and
``codebooks.npz`` the codewords where there are any.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from howsteps.errors import InputError
from howsteps.io.files import write_atomically
from howsteps.io.text import read_json
from howsteps.narration.features import Vocabulary as Words
from howsteps.pipeline.descriptors import origins
from howsteps.pipeline.features import Features
from howsteps.pipeline.options import RunOptions
from howsteps.task import Mode, Task
from howsteps.vision.codebook import Codebook, read_codebooks, to_bytes
from howsteps.vision.options import MODES, vision_options

VERSION = 2
FILE, CODEBOOKS = "features.json", "codebooks.npz"
_WORDS, _FRAMES = "words", "frames"
_LARGEST_WEIGHT = 1e6  # the logarithm of a number of videos is far smaller


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
        made_by = origins(vision_options(space.mode, quick=space.quick).watch)
        content |= {"mode": space.mode, "quick": space.quick, "origins": made_by}
        if space.codebooks:  # pooled frames need none
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
            weights = np.array([float(weight) for _, weight in value["words"]])
            # A NaN is not at most anything.
            if not (np.abs(weights) <= _LARGEST_WEIGHT).all():
                raise ValueError("a word has a weight beyond all that are learnt")
            return FeatureSpace(words=Words(words, weights.astype(np.float32)))
        mode, quick = value["mode"], bool(value["quick"])
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}")
        made_by = value["origins"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(path, f"does not say what the model reads ({error})") from error
    wanted = vision_options(mode, quick=quick).watch
    if made_by != origins(wanted):
        raise InputError(path, "the model reads features that this version does not compute")
    quantised = wanted.motion is not None or wanted.appearance is not None
    codebooks = read_codebooks(folder / CODEBOOKS) if quantised else {}
    return FeatureSpace(codebooks=codebooks, mode=mode, quick=quick)
