"""Copies of a narration are one witness."""

from howsteps.script.near_duplicates import originals
from howsteps.task import Sentence, Video, Word


def narration(identity: str, text: str) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for word in text.split())
    return Video(identity, sentences=(Sentence(words),))


def test_copies_are_one_witness() -> None:
    text = " ".join(f"w{n}" for n in range(60))
    other = " ".join(f"x{n}" for n in range(60))
    videos = [
        narration("part", " ".join(text.split()[:40])),
        narration("whole", text),
        narration("other", other),
        narration("short", "w0 w1 w2 w3 w4 w5"),
        narration("silent", ""),
    ]
    assert originals(videos) == [False, True, True, True, True]
    assert originals([]) == []
