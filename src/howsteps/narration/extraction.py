"""Extract sentences and mentions from captions."""

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from spacy.tokens import Token

from howsteps.captions.words import words_of
from howsteps.narration import grammar, parser, relations
from howsteps.narration.mentions import is_denied, noun_phrase_text, video_acts
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
        ``default``, ``paper`` or ``authors``: which constructions count (see
        :class:`howsteps.narration.relations.RelationOptions`).
    model
        Name or folder of a spaCy pipeline to use instead of the one that ships with howsteps.
    progress
        Called with every video when it is done.

    Returns
    -------
    The task, its videos with ``sentences`` and ``mentions``.
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
    """Extract in several modes, parsing every caption only once; returns a task for each mode."""
    options = {mode: relations.relation_options(mode) for mode in modes}
    videos: dict[str, list[Video]] = {mode: [] for mode in modes}
    narrations = (words_of(video.captions) for video in task.videos)
    parsed = parser.parse_narrations(parser.load_parser(model), narrations)
    for video, passages in zip(task.videos, parsed, strict=True):
        for mode, mode_options in options.items():
            videos[mode].append(
                video_acts(video, passages)
                if mode_options.acts
                else video_relations(video, passages, mode_options)
            )
        if progress is not None:
            progress(video)
    return {mode: replace(task, videos=tuple(extracted)) for mode, extracted in videos.items()}


def video_relations(
    video: Video, passages: Sequence[parser.Passage], options: relations.RelationOptions
) -> Video:
    """Return the video with its sentences and verb–object pairs as mentions."""
    sentences: list[Sentence] = []
    mentions: list[Mention] = []
    antecedents = Antecedents()
    for words, doc in passages:
        word_indices = parser.word_indices(doc)
        starts = sentence_starts(doc, word_indices)
        first_sentence = len(sentences)
        sentences += (
            Sentence(tuple(words[start:end])) for start, end in pairwise([*starts, len(words)])
        )
        for pair in relations.find_relations(doc, options, antecedents):
            sentence = first_sentence + bisect(starts, word_indices[pair.verb.i]) - 1
            mentions.append(mention_of_pair(video.id, pair, words, word_indices, sentence))
    return replace(video, sentences=tuple(sentences), mentions=tuple(mentions))


def mention_of_pair(
    video: str,
    pair: relations.Pair,
    words: Sequence[Word],
    word_indices: Sequence[int],
    sentence: int,
) -> Mention:
    """Convert a verb–object pair to a mention; parameters as of ``mentions.mention_of_act``."""
    particle = grammar.particle(pair.verb)
    verb = pair.verb.lemma_
    particle_text = "" if particle is None else grammar.particle_text(particle)
    tokens = [pair.verb, pair.spoken, *([particle] if particle is not None else [])]
    if not pair.resolved:
        tokens.append(pair.noun)  # "add a cup of *flour*" ends with the flour
    spoken_words = [words[word_indices[token.i]] for token in tokens]
    return Mention(
        video=video,
        verb=verb,
        noun=pair.noun.lemma_,
        phrase=phrase_of_pair(verb, particle_text, pair.noun),
        start=min(word.start for word in spoken_words),
        end=max(word.end for word in spoken_words),
        particle=particle_text,
        modal=grammar.modal(pair.verb),
        negated=grammar.is_negated(pair.verb) or is_denied(pair.noun),
        resolved=pair.resolved,
        passive=pair.passive,
        sentence=sentence,
    )


def phrase_of_pair(verb: str, particle: str, noun: Token) -> str:
    """Return a pair as a phrase: "take off the lug nuts", "turn the bike upside down"."""
    text = noun_phrase_text(noun)
    parts = (verb, text, particle) if " " in particle else (verb, particle, text)
    return " ".join(filter(None, parts))
