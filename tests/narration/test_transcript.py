"""A cached transcript is loaded unchanged, or not at all."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.narration import speech
from howsteps.narration.speech import Transcript, load_transcript, save_transcript
from howsteps.task import Caption, Word

TRANSCRIPT = Transcript(
    (
        Caption(0.5, 1.25, "Café doors", (Word("Café", 0.5, 0.75), Word("doors", 0.75, 1.25))),
        Caption(2.0, 3.0, "no words here"),
    ),
    duration=4.0,
)

seconds = st.floats(0, 1e5, allow_nan=False).map(lambda value: round(value, 3))
words = st.builds(Word, st.text(min_size=1), seconds, seconds)
captions = st.builds(Caption, seconds, seconds, st.text(), st.lists(words, max_size=4).map(tuple))
transcripts = st.builds(Transcript, st.lists(captions, max_size=4).map(tuple), seconds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("transcripts")


@given(transcript=transcripts)
def test_round_trip(folder: Path, transcript: Transcript) -> None:
    save_transcript(transcript, folder / "any.json")
    assert load_transcript(folder / "any.json") == transcript


def test_the_file_has_the_layout_of_whisper(tmp_path: Path) -> None:
    save_transcript(TRANSCRIPT, tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["text"] == "Café doors no words here"
    first = document["segments"][0]
    assert (first["id"], first["start"], first["end"], first["text"]) == (
        0,
        0.5,
        1.25,
        "Café doors",
    )
    assert first["words"][1] == {"word": "doors", "start": 0.75, "end": 1.25}


def test_saving_leaves_no_temporary_file(tmp_path: Path) -> None:
    save_transcript(TRANSCRIPT, tmp_path / "a.json")
    save_transcript(TRANSCRIPT, tmp_path / "a.json")
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    save_transcript(TRANSCRIPT, tmp_path / "a.json")
    unwritable = Transcript((Caption(0, 1, object()),), 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        save_transcript(unwritable, tmp_path / "a.json")
    assert os.listdir(tmp_path) == ["a.json"]
    assert load_transcript(tmp_path / "a.json") == TRANSCRIPT


def test_a_missing_file(tmp_path: Path) -> None:
    assert load_transcript(tmp_path / "absent.json") is None
    assert load_transcript(tmp_path) is None


@given(data=st.data())
def test_a_truncated_file_is_rejected(folder: Path, data: st.DataObject) -> None:
    path = folder / "cut.json"
    save_transcript(TRANSCRIPT, path)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    assert load_transcript(path) is None


@given(data=st.data())
def test_a_changed_byte_is_detected_or_harmless(folder: Path, data: st.DataObject) -> None:
    path = folder / "changed.json"
    save_transcript(TRANSCRIPT, path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    assert load_transcript(path) in (None, TRANSCRIPT)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff\xfe\x00",
        b"[" * 200_000,
        b'{"version": 1, "sha256": "", "duration": 1.0, "segments": 7}',
    ],
)
def test_other_content_is_rejected(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert load_transcript(tmp_path / "a.json") is None


def test_another_version_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    save_transcript(TRANSCRIPT, path)
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps(document | {"version": speech.TRANSCRIPT_VERSION + 1}))
    assert load_transcript(path) is None
