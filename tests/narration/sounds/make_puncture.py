"""Speak a short how-to with eSpeak NG: writes puncture.ogg and, beside it, when each word begins.

The two files are committed, so that the tests need neither eSpeak NG nor its voices. To make them
again: ``pip install espeakng-loader && python make_puncture.py`` (with howsteps[asr] installed).
"""

import ctypes
import json
from pathlib import Path

import av
import espeakng_loader
import numpy as np

# Two parts of one narration. The silence between them is long enough for the voice-activity
# filter to cut it out, so that the times after it show whether they were put back.
PARTS = (
    "Turn the bicycle upside down. Remove the front wheel, and pull out the inner tube.",
    "Now find the hole and cover it with a patch. Put the tube back, and pump up the tire.",
)
SILENCE = 4.0
WORDS_PER_MINUTE = 145
RATE = 16_000  # what Whisper listens to

# From espeak-ng/speak_lib.h.
SYNCHRONOUS, CHARACTERS, UTF8, SPEED = 2, 1, 1, 1
END_OF_EVENTS, WORD = 0, 1


class _Event(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event)
)


def speak(espeak: ctypes.CDLL, text: str) -> tuple[np.ndarray, list[tuple[str, float]]]:
    """Return the samples of a text and the words that eSpeak NG announces, with their starts."""
    samples: list[np.ndarray] = []
    words: list[tuple[str, float]] = []

    def extract_relations(wave: ctypes.Array, count: int, events: ctypes.Array) -> int:
        if count > 0:
            samples.append(np.ctypeslib.as_array(wave, (count,)).copy())
        i = 0
        while events[i].type != END_OF_EVENTS:
            if events[i].type == WORD:
                first = events[i].text_position - 1
                word = text[first : first + events[i].length]
                words.append((word, events[i].audio_position / 1000))
            i += 1
        return 0

    callback = _Callback(extract_relations)
    espeak.espeak_SetSynthCallback(callback)
    data = text.encode()
    failed = espeak.espeak_Synth(data, len(data) + 1, 0, CHARACTERS, 0, UTF8, None, None)
    if failed:
        raise RuntimeError(f"eSpeak NG refused the text (code {failed})")
    return np.concatenate(samples), words


def main() -> None:
    """Write both files beside this script."""
    espeak = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = espeak.espeak_Initialize(SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    espeak.espeak_SetVoiceByName(b"en-us")
    espeak.espeak_SetParameter(SPEED, WORDS_PER_MINUTE, 0)

    sound = np.zeros(0, dtype=np.int16)
    starts: list[dict[str, str | float]] = []
    for part in PARTS:
        if sound.size:
            sound = np.append(sound, np.zeros(int(SILENCE * rate), dtype=np.int16))
        begin = sound.size / rate
        samples, words = speak(espeak, part)
        sound = np.append(sound, samples)
        starts += [{"word": word, "start": round(begin + start, 3)} for word, start in words]

    target = Path(__file__).with_name("puncture.ogg")
    with av.open(str(target), "w") as container:
        stream = container.add_stream("libopus", rate=RATE, layout="mono")
        stream.bit_rate = 24_000
        frame = av.AudioFrame.from_ndarray(sound[np.newaxis], format="s16", layout="mono")
        frame.sample_rate = rate
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE, frame_size=320)
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))

    # Written by hand rather than with indent=, so that each word keeps to one line.
    lines = ",\n".join(json.dumps(start) for start in starts)
    target.with_suffix(".json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
