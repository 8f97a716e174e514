"""From captions to sentences and mentions: the acts that narrators name, and when."""

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from spacy.tokens import Token

from howsteps.captions.words import words_of
from howsteps.narration import grammar, parser, relations
from howsteps.narration.mentions import forbids, video_acts
from howsteps.narration.parser import sentence_starts
from howsteps.narration.pronouns import Antecedents
from howsteps.task import Mention, Sentence, Task, Video, Word


def extract_relations(
    task: Task,
    *,
    mode: str = "default",
    model: str | None = None,
    progress: Callable[[Video], None] | None = None,
) -> Task:
    """Extract the sentences and mentions of every video of a task from its captions.

    Parameters
    ----------
    task
        Videos with captions.
    mode
        ``default``, ``paper`` or ``authors``: which ways of naming an object count (see
        :class:`howsteps.narration.relations.RelationOptions`).
    model
        A spaCy pipeline by name or folder instead of the one that ships with howsteps.
    progress
        Called with every video when it is done.
    """
    [task] = extract_relations_by_mode(task, (mode,), model=model, progress=progress).values()
    return task


def extract_relations_by_mode(
    task: Task,
    modes: Sequence[str],
    *,
    model: str | None = None,
    progress: Callable[[Video], None] | None = None,
) -> dict[str, Task]:
    """Extract in several modes; every caption is parsed only once."""
    options = {mode: relations.relation_options(mode) for mode in modes}
    videos: dict[str, list[Video]] = {mode: [] for mode in modes}
    narrations = (words_of(video.captions) for video in task.videos)
    parsed = parser.parse_narrations(parser.load_parser(model), narrations)
    for video, passages in zip(task.videos, parsed, strict=True):
        for mode, switches in options.items():
            videos[mode].append(
                video_acts(video, passages)
                if switches.acts
                else video_relations(video, passages, switches)
            )
        if progress is not None:
            progress(video)
    return {mode: replace(task, videos=tuple(found)) for mode, found in videos.items()}


def video_relations(
    video: Video, passages: Sequence[parser.Passage], options: relations.RelationOptions
) -> Video:
    """Fill in the sentences and mentions of a video from its parsed passages."""
    sentences: list[Sentence] = []
    mentions: list[Mention] = []
    antecedents = Antecedents()
    for words, doc in passages:
        places = parser.word_places(doc)
        starts = sentence_starts(doc, places)
        before = len(sentences)
        sentences += (
            Sentence(tuple(words[start:end])) for start, end in pairwise([*starts, len(words)])
        )
        mentions += (
            mention(video.id, pair, words, places, before + bisect(starts, place) - 1)
            for pair in relations.find_relations(doc, options, antecedents)
            for place in [places[pair.verb.i]]
        )
    return replace(video, sentences=tuple(sentences), mentions=tuple(mentions))


def mention(
    video: str,
    pair: relations.Pair,
    words: Sequence[Word],
    places: Sequence[int],
    sentence: int,
) -> Mention:
    """Give a pair its time span and a phrase that people can read."""
    particle = grammar.particle(pair.verb)
    verb = pair.verb.lemma_
    off = "" if particle is None else grammar.particle_text(particle)
    said = [pair.verb, pair.spoken, *([particle] if particle is not None else [])]
    if not pair.resolved:
        said.append(pair.noun)  # "add a cup of *flour*" ends with the flour
    spans = [words[places[token.i]] for token in said]
    return Mention(
        video=video,
        verb=verb,
        noun=pair.noun.lemma_,
        phrase=phrase(verb, off, pair.noun),
        start=min(word.start for word in spans),
        end=max(word.end for word in spans),
        particle=off,
        modal=grammar.modal(pair.verb),
        negated=grammar.is_negated(pair.verb) or forbids(pair.noun),
        resolved=pair.resolved,
        passive=pair.passive,
        sentence=sentence,
    )


def phrase(verb: str, particle: str, noun: Token) -> str:
    """What is done, as people say it: "take off the lug nuts", "turn the bike upside down"."""
    thing = "".join(t.text_with_ws for t in grammar.noun_phrase(noun)).strip().lower()
    order = (verb, thing, particle) if " " in particle else (verb, particle, thing)
    return " ".join(filter(None, order))
