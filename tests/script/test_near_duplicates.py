"""Near-duplicates of a narration are left out."""

from random import Random

import pytest

from howsteps.script.near_duplicates import MIN_SHINGLES, SHINGLE_WORDS, Shingles, max_by_chance
from howsteps.task import Sentence, Video, Word


def narration(identity: str, text: str) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for word in text.split())
    return Video(identity, sentences=(Sentence(words),))


def originals(videos: list[Video]) -> list[bool]:
    return Shingles.of(videos).originals(videos)


def test_of_near_duplicates_one_is_the_original() -> None:
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


def test_short_narrations_share_shingles_without_being_copies() -> None:
    parts = ("back", "palm", "wrist", "thumb")
    lines = [f"now you wash the {part} of the left hand" for part in parts]
    mixed = [lines[1], "rinse well", lines[3], "take your time", lines[0], "dry it", lines[2]]
    videos = [narration("a", " ".join(lines)), narration("b", " ".join(mixed))]
    assert originals(videos) == [True, True]
    videos.append(narration("c", " ".join([*lines, "that is all"])))  # all of the first, and more
    assert originals(videos) == [False, True, True]


def spoken(identity: str, lines: list[str], times: list[float], pace: float = 0.3) -> Video:
    """A narration of lines that begin at some times; ``pace`` is seconds per word."""
    sentences = []
    for line, start in zip(lines, times, strict=True):
        words = enumerate(line.split())
        sentences.append(
            Sentence(tuple(Word(w, start + pace * i, start + pace * (i + 1)) for i, w in words))
        )
    return Video(identity, sentences=tuple(sentences))


SOUP = [
    "now peel the onion and cut it",
    "now wash the carrots in cold water",
    "now put the butter into the pot",
    "now fry the onion until it is soft",
    "now pour the stock over the carrots",
]


def test_people_who_name_the_same_steps_of_a_recipe_in_few_words_are_no_copies() -> None:
    times = [
        [4.0, 31.0, 58.0, 71.0, 120.0],
        [9.0, 22.0, 80.0, 131.0, 150.0],
        [2.0, 60.0, 66.0, 90.0, 101.0],
        [12.0, 40.0, 49.0, 117.0, 180.0],
    ]
    assert all(originals([spoken(str(n), SOUP, row) for n, row in enumerate(times)]))


def test_a_short_narration_that_is_uploaded_again_is_a_copy() -> None:
    times = [4.0, 31.0, 58.0, 71.0, 120.0]
    later = spoken("later", SOUP, [t + 5.5 for t in times])
    faster = spoken("faster", SOUP, [0.8 * t for t in times], pace=0.24)
    assert originals([spoken("one", SOUP, times), later, faster]) == [True, False, False]


def shingles(video: Video) -> set[tuple[str, ...]]:
    words = [word.text.lower() for sentence in video.sentences for word in sentence.words]
    return {tuple(words[i : i + SHINGLE_WORDS]) for i in range(len(words) - SHINGLE_WORDS + 1)}


def pair_by_pair(videos: list[Video]) -> list[bool]:
    """Every video compared with every original so far: slow, and obviously right."""
    sets = [shingles(video) for video in videos]
    kept: list[int] = []
    for n in sorted(range(len(videos)), key=lambda n: -len(sets[n])):
        sizes = [(min(len(sets[n]), len(sets[m])), len(sets[n] & sets[m])) for m in kept]
        if not any(size >= MIN_SHINGLES and common > max_by_chance(size) for size, common in sizes):
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
    index = Shingles.of(videos)
    found = index.originals(videos)
    assert found == pair_by_pair(videos)
    assert not all(found)
    part = chance.sample(videos, 20)  # may lack the originals of some
    assert index.originals(part) == pair_by_pair(part)
