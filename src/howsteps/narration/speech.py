"""Speech recognition: captions with word times from the audio of a video.

The recogniser is Whisper, run by faster-whisper (extra ``asr``), with beam search at temperature 0,
so the same audio gives the same captions.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.io.files import sha256_of_file
from howsteps.task import Caption, Word

if TYPE_CHECKING:
    from howsteps.io.media import Sound

# A compromise between tiny.en, which misrecognises important words, and models that need a GPU.
# Chosen by size; measurements are in docs/guide/input.md.
DEFAULT_MODEL = "small.en"

# Temperature 0 is deterministic. Each window is decoded independently, so that an error does not
# propagate to the next one.
_DECODING = {
    "language": "en",
    "beam_size": 5,
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "word_timestamps": True,
}

# Text with a higher zlib compression ratio is a loop ("and take a look at it, and take a look at
# it, ..."), which Whisper produces over noise. The threshold is Whisper's own.
_MAX_COMPRESSION = 2.4

_VERSION = 2  # increment when the same options give other captions

SpeechProgress = Callable[[float, float], None]


def transcribe(
    media: Path,
    *,
    model: str | Path = DEFAULT_MODEL,
    device: str = "auto",
    vad: bool = True,
    progress: SpeechProgress | None = None,
) -> tuple[Caption, ...]:
    """Transcribe the English speech of the first audio stream of a file.

    Parameters
    ----------
    model
        A Whisper model: a name, which faster-whisper downloads on first use, or a folder with a
        CTranslate2 Whisper model.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"`` for a GPU if there is one.
    vad
        Skip what is not speech (music, silence, noise). Times still refer to the file.
    progress
        Called with (seconds done, total seconds); in the last call the two are equal.

    Returns
    -------
    tuple of Caption
        Sorted by time, with ``words``. Empty if there is no speech.
    """
    try:
        import av  # noqa: F401, PLC0415 - part of an extra
        import faster_whisper  # noqa: F401, PLC0415 - slow
    except ModuleNotFoundError as missing:
        raise MissingExtra("asr", "speech recognition") from missing
    from howsteps.io.media import decoded  # noqa: PLC0415 - loads NumPy

    report = progress or (lambda done, total: None)
    with decoded(media) as sound:
        duration = sound.duration
        segments = _with_progress(_segments(sound, model, device, vad), duration, report)
        return tuple(captions_of(segments, duration))


def captions_of(segments: Iterable[Any], duration: float) -> Iterator[Caption]:
    """Convert segments of faster-whisper to captions.

    The text of a caption is its words joined by spaces. Times are in seconds, rounded to
    milliseconds, within [0, duration], and the starts of words never decrease. Segments in which
    Whisper repeats itself are dropped.
    """
    latest = 0.0

    def clipped(time: float, earliest: float) -> float:
        return min(max(round(float(time), 3), earliest), duration)

    for segment in segments:
        if segment.compression_ratio > _MAX_COMPRESSION:
            continue
        words: list[Word] = []
        for spoken in segment.words or ():
            text = spoken.word.strip()
            if not text:
                continue
            latest = clipped(spoken.start, latest)
            word = Word(text, latest, clipped(spoken.end, latest))
            if words and not spoken.word[0].isspace():
                # "lug" + "-nut": Whisper splits words at punctuation.
                last = words.pop()
                word = Word(last.text + text, last.start, word.end)
            words.append(word)
        if words:
            yield Caption(
                words[0].start, words[-1].end, " ".join(word.text for word in words), tuple(words)
            )
        elif text := " ".join(segment.text.split()):
            latest = clipped(segment.start, latest)
            yield Caption(latest, clipped(segment.end, latest), text)


def cache_key(media: Path, model: str | Path, vad: bool) -> str:
    """Return a hash of everything that a transcript depends on, for the cache of the pipeline.

    The device is not part of it, so that a transcript made on a GPU can be used on a laptop.
    """
    parts = {
        "version": _VERSION,
        "media": sha256_of_file(media),
        "model": _identity(model),
        "vad": vad,
        "decoding": _DECODING | {"looping": _MAX_COMPRESSION},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _segments(sound: "Sound", model: str | Path, device: str, vad: bool) -> Iterator[Any]:
    """Run the model on the chunks of a recording; yield segments as they are recognised."""
    from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra, and slow to load

    folder = _model_folder(model)
    try:
        whisper = WhisperModel(str(folder), device=device, compute_type="auto")
        for start, chunk in sound.chunks():
            segments, _ = whisper.transcribe(chunk, vad_filter=vad, **_DECODING)
            yield from (_shifted(segment, start) for segment in segments)
    except (RuntimeError, ValueError) as error:
        # Raised by CTranslate2: a broken model file, an unknown device, a missing CUDA library.
        reason = f"speech model {model} cannot run on device {device!r}: {error}"
        raise HowstepsError(reason) from error


def _shifted(segment: Any, seconds: float) -> Any:
    """Return a segment with ``seconds`` added to its times."""
    if not seconds:
        return segment
    words = [replace(w, start=w.start + seconds, end=w.end + seconds) for w in segment.words or ()]
    start, end = segment.start + seconds, segment.end + seconds
    return replace(segment, start=start, end=end, words=words)


def _with_progress(
    segments: Iterable[Any], duration: float, report: SpeechProgress
) -> Iterator[Any]:
    """Yield the segments, and report the end of each one."""
    done = 0.0
    report(done, duration)
    for segment in segments:
        yield segment
        done = min(max(done, float(segment.end)), duration)
        report(done, duration)
    report(duration, duration)


def _model_folder(model: str | Path) -> Path:
    """Return the folder of a model; a model given by name is downloaded if necessary."""
    from faster_whisper.utils import available_models, download_model  # noqa: PLC0415

    folder = Path(model)
    if _is_folder(model):
        # Without a tokeniser file, faster-whisper would try to download one.
        for part in ("config.json", "model.bin", "tokenizer.json"):
            if not (folder / part).is_file():
                raise InputError(folder, f"not a CTranslate2 Whisper model: {part} is missing")
        return folder
    if isinstance(model, Path):
        raise InputError(model, "no such model folder")
    try:
        return Path(download_model(model))
    except ValueError as error:
        names = ", ".join(available_models())
        raise HowstepsError(
            f"speech model {model!r} is neither a folder nor a known name ({names})"
        ) from error
    except OSError as error:
        raise HowstepsError(
            f"speech model {model!r} is not on this machine and cannot be downloaded; without a "
            "network, give the folder of a CTranslate2 Whisper model instead of a name"
        ) from error


def _is_folder(model: str | Path) -> bool:
    """Whether a model is a folder, which somebody else may have given the name of a model."""
    return (isinstance(model, Path) or "/" in model or os.sep in model) and Path(model).is_dir()


def _identity(model: str | Path) -> str:
    """Identify a model by the content of its folder, or by its name."""
    if not _is_folder(model):
        return f"name {model}"
    files = sorted(path for path in Path(model).iterdir() if path.is_file())
    contents = [[path.name, sha256_of_file(path)] for path in files]
    return f"folder {hashlib.sha256(json.dumps(contents).encode()).hexdigest()}"
