"""Copies of a narration are one witness."""

from random import Random

import pytest

from howsteps.script.near_duplicates import FEWEST, RUN, Runs, most_by_chance
from howsteps.task import Sentence, Video, Word


def narration(identity: str, text: str) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for word in text.split())
    return Video(identity, sentences=(Sentence(words),))


def originals(videos: list[Video]) -> list[bool]:
    return Runs.of(videos).originals(videos)


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


def test_narrations_of_a_few_lines_say_the_same_and_are_no_copies() -> None:
    parts = ("back", "palm", "wrist", "thumb")
    lines = [f"now you wash the {part} of the left hand" for part in parts]
    mixed = [lines[1], "rinse well", lines[3], "take your time", lines[0], "dry it", lines[2]]
    videos = [narration("a", " ".join(lines)), narration("b", " ".join(mixed))]
    assert originals(videos) == [True, True]
    videos.append(narration("c", " ".join([*lines, "that is all"])))  # all of the first, and more
    assert originals(videos) == [False, True, True]


def runs(video: Video) -> set[tuple[str, ...]]:
    words = [word.text.lower() for sentence in video.sentences for word in sentence.words]
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


def pair_by_pair(videos: list[Video]) -> list[bool]:
    """Every video held against every one that is kept: slow, and obviously right."""
    said = [runs(video) for video in videos]
    kept: list[int] = []
    for n in sorted(range(len(videos)), key=lambda n: -len(said[n])):
        sizes = [(min(len(said[n]), len(said[m])), len(said[n] & said[m])) for m in kept]
        if not any(size >= FEWEST and common > most_by_chance(size) for size, common in sizes):
            kept.append(n)
    return [n in kept for n in range(len(videos))]


@pytest.mark.parametrize("seed", range(8))
def test_the_same_copies_are_found_as_pair_by_pair(seed: int) -> None:
    chance = Random(seed)
    told: list[str] = []
    for _ in range(30):
        words = [chance.choice("abcdefghijklm") for _ in range(chance.randrange(150))]
        if told and chance.random() < 0.7:  # say again a part of what another said
            other = chance.choice(told).split()
            begin = chance.randrange(len(other) + 1)
            words[:0] = other[begin : begin + chance.randrange(200)]
        told.append(" ".join(words).upper() if chance.random() < 0.3 else " ".join(words))
    videos = [narration(str(n), text) for n, text in enumerate(told)]
    runs = Runs.of(videos)
    found = runs.originals(videos)
    assert found == pair_by_pair(videos)
    assert not all(found)
    part = chance.sample(videos, 20)  # whose originals may not be among them
    assert runs.originals(part) == pair_by_pair(part)
