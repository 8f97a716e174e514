"""Near-duplicates of a narration are left out."""

from random import Random

import pytest

from howsteps.script.near_duplicates import (
    SHARED_COUNT,
    SHARED_FRACTION,
    SHINGLE_WORDS,
    originals,
)
from howsteps.task import Sentence, Video, Word


def narration(identity: str, text: str) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for word in text.split())
    return Video(identity, sentences=(Sentence(words),))


def test_of_near_duplicates_one_is_the_original() -> None:
    text = " ".join(f"w{n}" for n in range(99))
    other = " ".join(f"x{n}" for n in range(99))
    videos = [
        narration("part", " ".join(text.split()[:60])),
        narration("whole", text),
        narration("other", other),
        narration("short", "w0 w1 w2 w3 w4 w5"),
        narration("silent", ""),
    ]
    assert originals(videos) == [False, True, True, True, True]
    assert originals([]) == []


def test_people_who_name_the_same_steps_in_few_words_are_no_copies() -> None:
    parts = ("back", "palm", "wrist", "thumb")
    lines = " ".join(f"now you wash the {part} of the left hand" for part in parts)
    assert originals([narration("a", lines), narration("b", lines)]) == [True, True]


def shingles(video: Video) -> set[tuple[str, ...]]:
    words = [word.text.lower() for sentence in video.sentences for word in sentence.words]
    return {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}


def pair_by_pair(videos: list[Video]) -> list[bool]:
    """Every video compared with every original so far: slow, and obviously right."""
    sets = [shingles(video) for video in videos]
    kept: list[int] = []
    for n in sorted(range(len(videos)), key=lambda n: -len(sets[n])):
        sizes = [(min(len(sets[n]), len(sets[m])), len(sets[n] & sets[m])) for m in kept]
        if not any(common > max(SHARED_COUNT, SHARED_FRACTION * size) for size, common in sizes):
            kept.append(n)
    return [n in kept for n in range(len(videos))]


@pytest.mark.parametrize("seed", range(8))
def test_the_same_copies_are_found_as_pair_by_pair(seed: int) -> None:
    chance = Random(seed)
    texts: list[str] = []
    for _ in range(30):
        words = [chance.choice("abcdefghijklm") for _ in range(chance.randrange(150))]
        if texts and chance.random() < 0.7:  # repeat a part of another narration
            other = chance.choice(texts).split()
            begin = chance.randrange(len(other) + 1)
            words[:0] = other[begin : begin + chance.randrange(200)]
        texts.append(" ".join(words).upper() if chance.random() < 0.3 else " ".join(words))
    videos = [narration(str(n), text) for n, text in enumerate(texts)]
    found = originals(videos)
    assert found == pair_by_pair(videos)
    assert not all(found)
