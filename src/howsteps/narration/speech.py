"""Speech recognition: from the sound of a video to captions with a time for every word.

The recogniser is Whisper, run by faster-whisper (extra ``asr``). It is asked for its single best
reading (beam search at temperature 0), so the same sound gives the same captions.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.narration import transcript
from howsteps.narration.transcript import Transcript
from howsteps.task import Caption, Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A middle way between tiny.en, which mishears the words that steps are made of, and models that
# want a GPU. Chosen by size; docs/guide/speech.md says what was measured.
DEFAULT_MODEL = "small.en"

# How Whisper decodes. Later temperatures would draw at random when a passage is hard; a passage
# that went wrong must not mislead the next one, so each window is heard on its own.
_DECODING = {
    "language": "en",
    "beam_size": 5,
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "word_timestamps": True,
}

# Text that zlib shrinks by more than this is Whisper caught in a loop ("and take a look at it, and
# take a look at it, ..."), as it falls into over noise. It is Whisper's own measure of a failure.
_LOOPING = 2.4

Progress = Callable[[float, float], None]


class HeardWord(Protocol):
    """A word as Whisper gives it; ``word`` begins with a space unless it continues the last one."""

    word: str
    start: float
    end: float


class HeardSegment(Protocol):
    """A stretch of speech as Whisper gives it."""

    text: str
    start: float
    end: float
    words: Sequence[HeardWord] | None
    compression_ratio: float


def transcribe(
    media: Path,
    *,
    model: str | Path = DEFAULT_MODEL,
    device: str = "auto",
    vad: bool = True,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> tuple[Caption, ...]:
    """Write down what is said in a sound or video file.

    Parameters
    ----------
    media
        Anything that FFmpeg reads. Its first audio stream is heard, as English.
    model
        A Whisper model: the name of one that faster-whisper downloads when it is first used, or a
        folder with a CTranslate2 Whisper model.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"`` for the GPU where there is one.
    vad
        Cut out what is not speech (music, silence, tools at work) before listening. Times stay
        those of the file.
    cache
        A folder that keeps what was heard, by the content of the file, the model and the options.
        A kept recording is not listened to again and needs neither the model nor the extra.
    progress
        Called with (seconds heard, seconds in all), the first never falling, as speech is written
        down; the last call has both equal.

    Returns
    -------
    tuple of Caption
        In the order of time, with ``words``. Empty when nobody speaks.

    Raises
    ------
    InputError
        The media file, the model folder or the cache folder cannot be used; names it.
    MissingExtra
        The extra ``asr`` is not installed.
    HowstepsError
        The model cannot be downloaded or run.
    """
    report = progress or _silent
    if cache is None:
        return _recognise(media, model, device, vad, report).captions
    entry = _prepare(cache) / f"{cache_key(media, model, vad)}.json"
    heard = transcript.load(entry)
    if heard is None:
        heard = _recognise(media, model, device, vad, report)
        _keep(heard, entry)
    else:
        report(heard.duration, heard.duration)
    return heard.captions


def captions_of(segments: Iterable[HeardSegment], duration: float) -> Iterator[Caption]:
    """Turn what Whisper heard into captions.

    The words of a caption, with spaces between them, are its text. Times are in milliseconds,
    within [0, duration], and the starts of words never run backwards. Where Whisper only repeats
    itself, nothing was said.
    """
    clock = 0.0

    def placed(time: float, earliest: float) -> float:
        return min(max(round(float(time), 3), earliest), duration)

    for segment in segments:
        if segment.compression_ratio > _LOOPING:
            continue
        words: list[Word] = []
        for heard in segment.words or ():
            text = heard.word.strip()
            if not text:
                continue
            clock = placed(heard.start, clock)
            word = Word(text, clock, placed(heard.end, clock))
            if words and not heard.word[0].isspace():
                # "lug" + "-nut": Whisper parts words at punctuation, people do not.
                last = words.pop()
                word = Word(last.text + text, last.start, word.end)
            words.append(word)
        if words:
            yield Caption(
                words[0].start, words[-1].end, " ".join(word.text for word in words), tuple(words)
            )
        elif text := " ".join(segment.text.split()):
            clock = placed(segment.start, clock)
            yield Caption(clock, placed(segment.end, clock), text)


def cache_key(media: Path, model: str | Path, vad: bool) -> str:
    """Return the name under which the speech of a file is kept: a hash of all it depends on.

    The device is left out on purpose: what a GPU heard is good on a laptop.
    """
    parts = {
        "version": transcript.VERSION,
        "media": _digest(media),
        "model": _identity(model),
        "vad": vad,
        "decoding": _DECODING | {"looping": _LOOPING},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _recognise(
    media: Path, model: str | Path, device: str, vad: bool, report: Progress
) -> Transcript:
    """Hear a file from end to end."""
    try:
        from howsteps.narration.sound import RATE, read_sound  # noqa: PLC0415 - an extra, and slow
    except ModuleNotFoundError as missing:
        raise MissingExtra("asr", "speech recognition") from missing

    sound = read_sound(media)
    duration = round(len(sound) / RATE, 3)
    segments = _followed(_listen(sound, model, device, vad), duration, report)
    captions = tuple(captions_of(segments, duration))
    report(duration, duration)
    return Transcript(captions, duration)


def _listen(
    sound: "NDArray[np.float32]", model: str | Path, device: str, vad: bool
) -> Iterator[HeardSegment]:
    """Run the model over the sound; segments come as they are heard."""
    from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra, and slow to load

    folder = _model_folder(model)
    try:
        whisper = WhisperModel(str(folder), device=device, compute_type="auto")
        segments, _ = whisper.transcribe(sound, vad_filter=vad, **_DECODING)
        yield from segments
    except (RuntimeError, ValueError) as error:
        # CTranslate2's own words: a broken model file, an unknown device, a missing CUDA library.
        reason = f"speech model {model} cannot run on device {device!r}: {error}"
        raise HowstepsError(reason) from error


def _followed(
    segments: Iterable[HeardSegment], duration: float, report: Progress
) -> Iterator[HeardSegment]:
    """Pass segments on, and report how far each one reaches."""
    done = 0.0
    report(done, duration)
    for segment in segments:
        yield segment
        done = min(max(done, float(segment.end)), duration)
        report(done, duration)


def _model_folder(model: str | Path) -> Path:
    """Find the folder of a model; a model given by name is downloaded when it is not here yet."""
    from faster_whisper.utils import available_models, download_model  # noqa: PLC0415

    folder = Path(model)
    if folder.is_dir():
        # Without its tokeniser faster-whisper would look for one on the network.
        for part in ("config.json", "model.bin", "tokenizer.json"):
            if not (folder / part).is_file():
                raise InputError(folder, f"not a CTranslate2 Whisper model: {part} is missing")
        return folder
    if isinstance(model, Path):
        raise InputError(model, "there is no such model folder")
    try:
        return Path(download_model(model))
    except ValueError as error:
        names = ", ".join(available_models())
        raise HowstepsError(
            f"speech model {model!r} is neither a folder nor a known name ({names})"
        ) from error
    except OSError as error:
        raise HowstepsError(
            f"speech model {model!r} is not on this machine and cannot be downloaded; where there "
            "is no network, give the folder of a CTranslate2 Whisper model in place of its name"
        ) from error


def _identity(model: str | Path) -> str:
    """Tell a model from others: by the content of its folder, or by its name."""
    folder = Path(model)
    if not folder.is_dir():
        return f"name {model}"
    files = sorted(path for path in folder.iterdir() if path.is_file())
    contents = [[path.name, _digest(path)] for path in files]
    return f"folder {hashlib.sha256(json.dumps(contents).encode()).hexdigest()}"


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error


def _prepare(cache: Path) -> Path:
    """Make the cache folder now: to fail after an hour of listening would lose the hour."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(cache, f"cannot be used as a cache folder ({error.strerror})") from error
    return cache


def _keep(heard: Transcript, entry: Path) -> None:
    try:
        transcript.save(heard, entry)
    except OSError as error:
        raise InputError(entry, f"cannot be written ({error.strerror})") from error


def _silent(done: float, total: float) -> None:
    """Report nothing."""
