"""Speech recognition: from the audio of a video to captions with a time for every word.

The recogniser is Whisper, run by faster-whisper (extra ``asr``), with beam search at temperature 0,
so the same audio gives the same captions. Cached transcripts are JSON in Whisper's own layout with
a version and a checksum: a damaged or outdated one is ignored.
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
    from howsteps.io.sound import Sound

# A compromise between tiny.en, which misrecognises the words that matter, and models that need a
# GPU. Chosen by size; docs/guide/speech.md says what was measured.
DEFAULT_MODEL = "small.en"

# How Whisper decodes. Higher temperatures would sample at random. Each window is decoded alone, so
# that a passage that went wrong does not mislead the next one.
_DECODING = {
    "language": "en",
    "beam_size": 5,
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "word_timestamps": True,
}

# Text that zlib compresses by more than this is a loop ("and take a look at it, and take a look at
# it, ..."), which Whisper produces over noise. It is Whisper's own measure of a failure.
_LOOPING = 2.4

TRANSCRIPT_VERSION = 2
_LARGEST = 2**26  # bytes of a transcript
_LATEST = 1e6  # seconds

SpeechProgress = Callable[[float, float], None]


@dataclass(frozen=True, slots=True)
class Transcript:
    """The captions of a recording of ``duration`` seconds."""

    captions: tuple[Caption, ...]
    duration: float


class WhisperWord(Protocol):
    """A word of Whisper; ``word`` begins with a space unless it continues the last one."""

    word: str
    start: float
    end: float


class WhisperSegment(Protocol):
    """A segment of Whisper."""

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
        Anything that FFmpeg reads. The first audio stream is used, as English.
    model
        A Whisper model: a name, which faster-whisper downloads on first use, or a folder with a
        CTranslate2 Whisper model.
    device
        ``"cpu"``, ``"cuda"``, or ``"auto"`` for a GPU if there is one.
    vad
        Remove what is not speech (music, silence, noise) first. Times stay those of the file.
    cache
        A folder for transcripts, by the content of the file, the model and the options. A cached
        recording needs neither the model nor the extra.
    progress
        Called with (seconds done, seconds in all); the last call has both equal.

    Returns
    -------
    tuple of Caption
        In order of time, with ``words``. Empty if nobody speaks.

    Raises
    ------
    InputError
        The media file, the model folder or the cache folder cannot be used.
    MissingExtra
        The extra ``asr`` is not installed.
    HowstepsError
        The model cannot be downloaded or run.
    """
    report = progress or _silent
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
    """Convert the segments of Whisper to captions.

    The words of a caption, with spaces between them, are its text. Times are in milliseconds,
    within [0, duration], and the starts of words never decrease. Segments in which Whisper only
    repeats itself are dropped.
    """
    clock = 0.0

    def placed(time: float, earliest: float) -> float:
        return min(max(round(float(time), 3), earliest), duration)

    for segment in segments:
        if segment.compression_ratio > _LOOPING:
            continue
        words: list[Word] = []
        for spoken in segment.words or ():
            text = spoken.word.strip()
            if not text:
                continue
            clock = placed(spoken.start, clock)
            word = Word(text, clock, placed(spoken.end, clock))
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
            clock = placed(segment.start, clock)
            yield Caption(clock, placed(segment.end, clock), text)


def cache_key(media: Path, model: str | Path, vad: bool) -> str:
    """The name under which a transcript is cached: a hash of everything it depends on.

    The device is left out on purpose: the transcript of a GPU can be used on a laptop.
    """
    parts = {
        "version": TRANSCRIPT_VERSION,
        "media": sha256_of_file(media),
        "model": _identity(model),
        "vad": vad,
        "decoding": _DECODING | {"looping": _LOOPING},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def save_transcript(transcript: Transcript, path: Path) -> None:
    """Write a transcript, completely or not at all."""
    segments = [_segment(number, caption) for number, caption in enumerate(transcript.captions)]
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
    """Read a transcript; None if there is none, or it is damaged or of another version."""
    try:
        document = json.loads(read_bounded(path, _LARGEST, "a transcript"))
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
    """Recognise the speech of a whole file, chunk by chunk."""
    try:
        import av  # noqa: F401, PLC0415 - both are of an extra
        import faster_whisper  # noqa: F401, PLC0415 - slow
    except ModuleNotFoundError as missing:
        raise MissingExtra("asr", "speech recognition") from missing
    from howsteps.io.sound import decoded  # noqa: PLC0415 - loads NumPy

    with decoded(media) as sound:
        duration = sound.duration
        segments = _reported(_segments(sound, model, device, vad), duration, report)
        captions = tuple(captions_of(segments, duration))
    report(duration, duration)
    return Transcript(captions, duration)


def _segments(
    sound: "Sound", model: str | Path, device: str, vad: bool
) -> Iterator[WhisperSegment]:
    """Run the model over the chunks of a sound; yield segments as they are recognised."""
    from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra, and slow to load

    folder = _model_folder(model)
    try:
        whisper = WhisperModel(str(folder), device=device, compute_type="auto")
        for start, chunk in sound.chunks():
            segments, _ = whisper.transcribe(chunk, vad_filter=vad, **_DECODING)
            yield from (_later(segment, start) for segment in segments)
    except (RuntimeError, ValueError) as error:
        # From CTranslate2: a broken model file, an unknown device, a missing CUDA library.
        reason = f"speech model {model} cannot run on device {device!r}: {error}"
        raise HowstepsError(reason) from error


@dataclass(slots=True)
class _Segment:
    """A segment of a later chunk, on the clock of the file."""

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


def _later(segment: WhisperSegment, seconds: float) -> WhisperSegment:
    """A segment so many seconds later."""
    if not seconds:
        return segment
    words: list[WhisperWord] = [
        _Word(w.word, float(w.start) + seconds, float(w.end) + seconds) for w in segment.words or ()
    ]
    start, end = float(segment.start) + seconds, float(segment.end) + seconds
    return _Segment(segment.text, start, end, words, segment.compression_ratio)


def _reported(
    segments: Iterable[WhisperSegment], duration: float, report: SpeechProgress
) -> Iterator[WhisperSegment]:
    """Pass segments on, and report the end of each one."""
    done = 0.0
    report(done, duration)
    for segment in segments:
        yield segment
        done = min(max(done, float(segment.end)), duration)
        report(done, duration)


def _model_folder(model: str | Path) -> Path:
    """The folder of a model; a model given by name is downloaded if necessary."""
    from faster_whisper.utils import available_models, download_model  # noqa: PLC0415

    folder = Path(model)
    if folder.is_dir():
        # Without a tokeniser faster-whisper would look for one on the network.
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
    """What identifies a model: the content of its folder, or its name."""
    folder = Path(model)
    if not folder.is_dir():
        return f"name {model}"
    files = sorted(path for path in folder.iterdir() if path.is_file())
    contents = [[path.name, sha256_of_file(path)] for path in files]
    return f"folder {hashlib.sha256(json.dumps(contents).encode()).hexdigest()}"


def _prepare(cache: Path) -> Path:
    """Create the cache folder first: failing after an hour of work would lose the hour."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(cache, f"cannot be used as a cache folder ({error.strerror})") from error
    return cache


def _silent(done: float, total: float) -> None:
    """Report nothing."""


def _segment(number: int, caption: Caption) -> dict[str, Any]:
    words = [{"word": word.text, "start": word.start, "end": word.end} for word in caption.words]
    return {
        "id": number,
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
        raise TypeError("a text is not a text")
    return Word(text, _time(start), _time(end))


def _time(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value <= _LATEST:
        raise ValueError("a time is not a time")
    return float(value)


def _checksum(duration: float, segments: list[dict[str, Any]]) -> str:
    # Sorted keys and default separators: equal values give equal bytes.
    return hashlib.sha256(json.dumps([duration, segments], sort_keys=True).encode()).hexdigest()
