"""The feature space of a model, so that the same features can be computed for new videos.

``features.json``, next to ``model.json``, says whether the features are words or video frames. For
words it holds the vocabulary with weights; for frames, how they were described, with the codewords,
if any, in ``codebooks.npz``.
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
    """Either the vocabulary of the narration, or the codebooks of the video frames.

    ``mode`` and ``quick`` tell how the frames were described.
    """

    words: Words | None = None
    codebooks: dict[str, Codebook] = field(default_factory=dict)
    mode: Mode = "default"
    quick: bool = False


def of(task: Task, features: Features, options: RunOptions) -> FeatureSpace:
    """The feature space of a task: video frames if it has them, else words."""
    if features.vectors:
        return FeatureSpace(
            codebooks=dict(features.codebooks), mode=options.mode, quick=options.quick
        )
    return FeatureSpace(words=Words.of(task.videos))


def save(space: FeatureSpace, folder: Path) -> None:
    """Write the feature space next to its model."""
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
        It is missing or incomplete.
    """
    path = folder / FILE
    value = read_json(path)
    try:
        if value["version"] != VERSION:
            raise InputError(path, f"is version {value['version']!r}, not {VERSION}")
        if value["reads"] == _WORDS:
            words = tuple(str(word) for word, _ in value["words"])
            weights = np.array([float(weight) for _, weight in value["words"]])
            # Written so that NaN fails too.
            if not (np.abs(weights) <= _LARGEST_WEIGHT).all():
                raise ValueError("a word has an impossible weight")
            return FeatureSpace(words=Words(words, weights.astype(np.float32)))
        mode, quick = value["mode"], bool(value["quick"])
        if mode not in MODES:
            raise ValueError(f"there is no mode {mode!r}")
        made_by = value["origins"]
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(path, f"is not a valid description of the features ({error})") from error
    wanted = vision_options(mode, quick=quick).watch
    if made_by != origins(wanted):
        raise InputError(path, "the model uses features that this version does not compute")
    quantised = wanted.motion is not None or wanted.appearance is not None
    codebooks = read_codebooks(folder / CODEBOOKS) if quantised else {}
    return FeatureSpace(codebooks=codebooks, mode=mode, quick=quick)
