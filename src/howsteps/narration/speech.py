"""Speech recognition: captions with word times from the audio of a video.

The recogniser is Whisper, run by faster-whisper (extra ``asr``), with beam search at temperature 0,
so the same audio gives the same captions. Cached transcripts are JSON in Whisper's own layout with
a version and a checksum; damaged or outdated ones are ignored.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.io.files import read_bounded, sha256_of_file, write_atomically
from howsteps.task import Caption, Word

if TYPE_CHECKING:
    from howsteps.io.media import Sound

# A compromise between tiny.en, which misrecognises important words, and models that need a GPU.
# Chosen by size; measurements are in docs/guide/speech.md.
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

TRANSCRIPT_VERSION = 2
_MAX_BYTES = 2**26  # of a transcript file
_MAX_TIME = 1e6  # seconds

SpeechProgress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The captions of a recording of ``duration`` seconds."""

    captions: tuple[Caption, ...]
    duration: float


class WhisperWord(Protocol):
    """A word of Whisper's output; ``word`` starts with a space unless it continues the last one."""

    word: str
    start: float
    end: float


class WhisperSegment(Protocol):
    """A segment of Whisper's output."""

    text: str
    start: float
    end: float
    words: Sequence[WhisperWord] | None
    compression_ratio: float


def transcribe(
    media: Path,
    *,
    model: str | Path = DEFAULT_MODEL,
    device: str = "auto",
    vad: bool = True,
    cache: Path | None = None,
    progress: SpeechProgress | None = None,
) -> tuple[Caption, ...]:
    """Transcribe the speech in an audio or video file.

    Parameters
    ----------
    media
        A file in a container that FFmpeg reads. Its first audio stream is transcribed as English.
    model
        A Whisper model: a name, which faster-whisper downloads on first use, or a folder with a
        CTranslate2 Whisper model.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"`` for a GPU if there is one.
    vad
        Skip what is not speech (music, silence, noise). Times still refer to the file.
    cache
        A folder for transcripts, keyed by the content of the file, the model and the options. With
        a cached transcript neither the model nor the extra is needed.
    progress
        Called with (seconds done, total seconds); in the last call the two are equal.

    Returns
    -------
    tuple of Caption
        Sorted by time, with ``words``. Empty if there is no speech.

    Raises
    ------
    InputError
        The media file, the model folder or the cache folder cannot be used.
    MissingExtra
        The extra ``asr`` is not installed.
    HowstepsError
        The model cannot be downloaded or run.
    """
    report = progress or _no_progress
    if cache is None:
        return _recognise(media, model, device, vad, report).captions
    entry = _prepare(cache) / f"{cache_key(media, model, vad)}.json"
    transcript = load_transcript(entry)
    if transcript is None:
        transcript = _recognise(media, model, device, vad, report)
        save_transcript(transcript, entry)
    else:
        report(transcript.duration, transcript.duration)
    return transcript.captions


def captions_of(segments: Iterable[WhisperSegment], duration: float) -> Iterator[Caption]:
    """Convert segments of Whisper to captions.

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
    """Return the cache key of a transcript: a hash of everything it depends on.

    The device is not part of it, so that a transcript made on a GPU can be used on a laptop.
    """
    parts = {
        "version": TRANSCRIPT_VERSION,
        "media": sha256_of_file(media),
        "model": _identity(model),
        "vad": vad,
        "decoding": _DECODING | {"looping": _MAX_COMPRESSION},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save_transcript(transcript: Transcript, path: Path) -> None:
    """Write a transcript atomically."""
    segments = [_segment(index, caption) for index, caption in enumerate(transcript.captions)]
    document = {
        "version": TRANSCRIPT_VERSION,
        "sha256": _checksum(transcript.duration, segments),
        "language": "en",
        "duration": transcript.duration,
        "text": " ".join(caption.text for caption in transcript.captions),
        "segments": segments,
    }
    write_atomically(path, json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8"))


def load_transcript(path: Path) -> Transcript | None:
    """Read a transcript; return None if it is missing, damaged or of another version."""
    try:
        document = json.loads(read_bounded(path, _MAX_BYTES, "a transcript"))
        duration, segments = document["duration"], document["segments"]
        if document["version"] != TRANSCRIPT_VERSION:
            return None
        if document["sha256"] != _checksum(duration, segments):
            return None
        return Transcript(tuple(_caption(segment) for segment in segments), _time(duration))
    except (InputError, ValueError, KeyError, TypeError, RecursionError):
        # No file, not UTF-8, not JSON, or other JSON.
        return None


def _recognise(
    media: Path, model: str | Path, device: str, vad: bool, report: SpeechProgress
) -> Transcript:
    """Transcribe a file, chunk by chunk."""
    try:
        import av  # noqa: F401, PLC0415 - part of an extra
        import faster_whisper  # noqa: F401, PLC0415 - slow
    except ModuleNotFoundError as missing:
        raise MissingExtra("asr", "speech recognition") from missing
    from howsteps.io.media import decoded  # noqa: PLC0415 - loads NumPy

    with decoded(media) as sound:
        duration = sound.duration
        segments = _with_progress(_segments(sound, model, device, vad), duration, report)
        captions = tuple(captions_of(segments, duration))
    report(duration, duration)
    return Transcript(captions, duration)


def _segments(
    sound: "Sound", model: str | Path, device: str, vad: bool
) -> Iterator[WhisperSegment]:
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


@dataclass(slots=True)
class _Segment:
    """A segment with times relative to the start of the file."""

    text: str
    start: float
    end: float
    words: Sequence[WhisperWord] | None
    compression_ratio: float


@dataclass(slots=True)
class _Word:
    word: str
    start: float
    end: float


def _shifted(segment: WhisperSegment, seconds: float) -> WhisperSegment:
    """Return a segment with ``seconds`` added to its times."""
    if not seconds:
        return segment
    words: list[WhisperWord] = [
        _Word(w.word, float(w.start) + seconds, float(w.end) + seconds) for w in segment.words or ()
    ]
    start, end = float(segment.start) + seconds, float(segment.end) + seconds
    return _Segment(segment.text, start, end, words, segment.compression_ratio)


def _with_progress(
    segments: Iterable[WhisperSegment], duration: float, report: SpeechProgress
) -> Iterator[WhisperSegment]:
    """Yield the segments, and report the end of each one."""
    done = 0.0
    report(done, duration)
    for segment in segments:
        yield segment
        done = min(max(done, float(segment.end)), duration)
        report(done, duration)


def _model_folder(model: str | Path) -> Path:
    """Return the folder of a model; a model given by name is downloaded if necessary."""
    from faster_whisper.utils import available_models, download_model  # noqa: PLC0415

    folder = Path(model)
    if folder.is_dir():
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


def _identity(model: str | Path) -> str:
    """Identify a model by the content of its folder, or by its name."""
    folder = Path(model)
    if not folder.is_dir():
        return f"name {model}"
    files = sorted(path for path in folder.iterdir() if path.is_file())
    contents = [[path.name, sha256_of_file(path)] for path in files]
    return f"folder {hashlib.sha256(json.dumps(contents).encode()).hexdigest()}"


def _prepare(cache: Path) -> Path:
    """Create the cache folder; done before recognition, so that an error costs no time."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(cache, f"cannot be used as a cache folder ({error.strerror})") from error
    return cache


def _no_progress(done: float, total: float) -> None:
    """Ignore progress."""


def _segment(index: int, caption: Caption) -> dict[str, Any]:
    words = [{"word": word.text, "start": word.start, "end": word.end} for word in caption.words]
    return {
        "id": index,
        "start": caption.start,
        "end": caption.end,
        "text": caption.text,
        "words": words,
    }


def _caption(segment: dict[str, Any]) -> Caption:
    words = tuple(_word(word["word"], word["start"], word["end"]) for word in segment["words"])
    line = _word(segment["text"], segment["start"], segment["end"])
    return Caption(line.start, line.end, line.text, words)


def _word(text: object, start: object, end: object) -> Word:
    if not isinstance(text, str):
        raise TypeError("a text is not a string")
    return Word(text, _time(start), _time(end))


def _time(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= _MAX_TIME:
        raise ValueError("a time is not a number of seconds")
    return float(value)


def _checksum(duration: float, segments: list[dict[str, Any]]) -> str:
    # Sorted keys and default separators: equal values give equal bytes.
    return hashlib.sha256(json.dumps([duration, segments], sort_keys=True).encode()).hexdigest()
