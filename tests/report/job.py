"""A synthetic job with any number of videos and steps, reproducible."""

from dataclasses import replace
from pathlib import Path
from random import Random

from howsteps.task import (
    BETWEEN,
    SAID,
    Localisation,
    Mention,
    Result,
    Script,
    Sentence,
    Step,
    Task,
    Video,
    Word,
)
from tests.films import film

# What is done to make a pot of tea: label, lemmas, what is said, another way to say it.
TEA = (
    ("fill the kettle", "fill", "kettle", "first fill the kettle with fresh water"),
    ("boil the water", "boil", "water", "then boil the water until it rolls"),
    ("warm the pot", "warm", "pot", "meanwhile warm the pot with a splash of it"),
    ("measure the leaves", "measure", "leaf", "measure the leaves one spoon for each cup"),
    ("add the leaves", "add", "leaf", "now add the leaves to the pot"),
    ("pour the water", "pour", "water", "pour the water over them slowly"),
    ("cover the pot", "cover", "pot", "cover the pot so it keeps its heat"),
    ("wait four minutes", "wait", "minute", "and wait four minutes no more"),
    ("strain the tea", "strain", "tea", "strain the tea into the cups"),
    ("add the milk", "add", "milk", "you can add the milk if you like it"),
    ("stir the cup", "stir", "cup", "give it a stir and"),
    ("serve the tea", "serve", "tea", "serve the tea while it is hot"),
    ("rinse the pot", "rinse", "pot", "rinse the pot when you are done"),
    ("dry the cups", "dry", "cup", "dry the cups with a towel"),
    ("store the leaves", "store", "leaf", "store the leaves in a tin"),
)
NAMES = "Ada Bo Cleo Dov Ema Finn Gus Hana Ivo June Kai Lena Milo Nia Omar Pia".split()
SECONDS = 12.0  # from one step to the next
SAID_BEFORE = 3.0  # narrators speak first, then act


def tea(
    videos: int = 4, steps: int = 5, *, media: dict[str, Path] | None = None, seed: int = 0
) -> Result:
    """Videos of making tea; in every third, one step is absent; some steps are never mentioned."""
    chance = Random(seed)
    people = [_name(n) for n in range(videos)]
    filmed = []
    found: list[Localisation] = []
    said: list[list[Mention]] = [[] for _ in range(steps)]
    for n, person in enumerate(people):
        sentences, mentions = [], []
        left_out = {chance.randrange(steps)} if n % 3 == 2 else set()
        for k, (_, verb, noun, text) in enumerate(TEA[:steps]):
            time = 6.0 + SECONDS * k + chance.uniform(-1.5, 1.5)
            if k in left_out:
                found.append(Localisation(person, k, None))
                continue
            named = chance.random() < 0.85
            if named:
                start = time - SAID_BEFORE
                mention = Mention(
                    person, verb, noun, TEA[k][0], start, start + 1.2, sentence=len(sentences)
                )
                sentences.append(_sentence(text, start))
                mentions.append(mention)
                said[k].append(mention)
            sure = round(chance.uniform(0.3, 1.0), 2)
            evidence = SAID if named else BETWEEN
            found.append(
                Localisation(person, k, time, time - 2.0, time + 4.0, sure, evidence, 0.95)
            )
        filmed.append(
            Video(
                person,
                title=f"{person} makes tea",
                duration=SECONDS * steps + 4.0,
                media=(media or {}).get(person),
                sentences=tuple(sentences),
                mentions=tuple(mentions),
            )
        )
    script = tuple(
        Step(TEA[k][0], tuple(mentions), (TEA[k][3],)) for k, mentions in enumerate(said)
    )
    return Result(Task("Make a pot of tea", tuple(filmed)), Script(script), tuple(found))


def make_films(folder: Path, videos: int, steps: int) -> dict[str, Path]:
    """The video files of such a job, by video id; another scene every second."""
    return {
        video.id: film(folder / f"{video.id}.mp4", video.duration or 0.0)
        for video in tea(videos, steps).task.videos
    }


def with_video(result: Result, number: int, **changes: object) -> Result:
    """The same result with one video changed."""
    videos = list(result.task.videos)
    videos[number] = replace(videos[number], **changes)  # type: ignore[arg-type]
    return replace(result, task=replace(result.task, videos=tuple(videos)))


def _name(n: int) -> str:
    person = NAMES[n % len(NAMES)]
    return person if n < len(NAMES) else f"{person} {n // len(NAMES) + 1}"


def _sentence(text: str, start: float) -> Sentence:
    words = text.split()
    return Sentence(
        tuple(
            Word(word, start + 0.4 * place, start + 0.4 * (place + 1))
            for place, word in enumerate(words)
        )
    )
