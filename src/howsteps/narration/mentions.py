"""From captions to mentions: sentences, acts, their lemmas, times and readable phrases."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from howsteps.captions.words import words_of
from howsteps.errors import HowstepsError, unknown_name
from howsteps.narration import grammar, parser, work
from howsteps.narration.acts import Act, Complement, find_acts
from howsteps.narration.grammar import Antecedents
from howsteps.narration.relations import MODES, find_direct_objects
from howsteps.narration.work import act_features, position_features
from howsteps.store import narration_record, with_narration
from howsteps.task import Caption, Mention, Place, Sentence, Task, Video, Word

if TYPE_CHECKING:
    from spacy.tokens import Token


# The parser is trained on speech; without context it may take "water the plants" for a noun phrase.
_CONTEXT = "now you can"
_LABEL_SECONDS = 10.0
# What the parser takes the object for in "scrub the *left* back".
_MISTAGGED_NOUNS = frozenset({"ADJ", "ADV", "INTJ", "NUM"})


class ActMentions(NamedTuple):
    """The sentences of a video, and its acts as mentions and as tokens, in the same order."""

    sentences: list[Sentence]
    mentions: list[Mention]
    acts: list[Act]


def extract_video(
    video: Video,
    passages: Sequence[parser.Passage],
    mode: str = "default",
) -> Video:
    """Return the video with its sentences and mentions; acts have their probability of work.

    It is 0 for what things and others do.
    """
    found = act_mentions(video, passages, mode)
    mentions = found.mentions
    if mode == "default":
        starts = [mention.start for mention in mentions]
        features = mention_features(video, found)
        probabilities = work.probabilities(features, starts)
        mentions = [
            replace(mention, work=0.0 if work.done_by_others(own) else max(0.001, round(p, 3)))
            for mention, own, p in zip(mentions, features, probabilities, strict=True)
        ]
    whole = replace(video, sentences=tuple(found.sentences), mentions=tuple(mentions))
    # With times as files have them, or results would differ a little from those of a run.
    return with_narration(video, narration_record(whole))


def act_mentions(
    video: Video,
    passages: Sequence[parser.Passage],
    mode: str = "default",
) -> ActMentions:
    """Find the sentences and acts of a video, or its verb–object pairs in another mode.

    The probability of work is left out.
    """
    is_pair = mode != "default"
    found = ActMentions([], [], [])
    antecedents = Antecedents()
    for words, doc in passages:
        word_indices = parser.word_indices(doc)
        starts = parser.sentence_starts(doc, word_indices)
        last_sentence = len(found.sentences) - 1
        found.sentences.extend(
            Sentence(tuple(words[start:end])) for start, end in pairwise([*starts, len(words)])
        )
        if is_pair:
            acts = [Act(pair.verb, pair.noun, pair.spoken) for pair in find_direct_objects(doc)]
        else:
            acts = find_acts(doc, antecedents)
        for act in acts:
            sentence = last_sentence + bisect(starts, word_indices[act.verb.i])
            found.mentions.append(
                mention_of_act(video.id, act, words, word_indices, sentence, is_pair=is_pair)
            )
        found.acts.extend(acts)
    return found


def mention_features(video: Video, found: ActMentions) -> list[set[str]]:
    """Return the features of work and talk of every act of a video."""
    return [
        act_features(act, negated=mention.negated)
        | set(position_features(mention.start, mention.end, video.length))
        for mention, act in zip(found.mentions, found.acts, strict=True)
    ]


def mention_of_act(
    video: str,
    act: Act,
    words: Sequence[Word],
    word_indices: Sequence[int],
    sentence: int,
    *,
    is_pair: bool = False,
) -> Mention:
    """Convert an act to a mention.

    Parameters
    ----------
    video, sentence
        The id of the video, and the index of the sentence in it.
    words
        The words of the passage, with times.
    word_indices
        For every token of the passage, its index in ``words``.
    is_pair
        Leave out what an act has and a verb–object pair has not: modifiers.
    """
    particle_token = grammar.particle(act.verb)
    particle_text = "" if particle_token is None else grammar.particle_text(particle_token)
    if any(place.preposition == particle_text for place in act.places):
        particle_text = ""  # "over" in "over the top" is not a particle as well
    tokens = [act.verb, act.spoken, particle_token, act.opening]
    if not act.resolved:
        tokens.append(act.noun)  # "add a cup of *flour*" ends with the flour
    spoken_words = [words[word_indices[token.i]] for token in tokens if token is not None]
    return Mention(
        video=video,
        verb=act.verb.lemma_,
        noun="" if act.noun is None else act.noun.lemma_,
        phrase=phrase_of_act(act, particle_text),
        start=min(word.start for word in spoken_words),
        end=max(word.end for word in spoken_words),
        particle=particle_text,
        negated=grammar.is_negated(act.verb) or (act.noun is not None and is_denied(act.noun)),
        resolved=act.resolved,
        passive=act.passive,
        sentence=sentence,
        places=tuple(Place(place.preposition, place.word.lemma_) for place in act.places),
        tools=tuple(dict.fromkeys(tool.lemma_ for tool in act.tools)),
        modifiers=() if is_pair else act.modifiers,
    )


def phrase_of_act(act: Act, particle_text: str) -> str:
    """Return an act as a phrase: "take off the lug nuts", "put the bread in the pan"."""
    noun_phrase = "" if act.noun is None else noun_phrase_text(act.noun)
    if act.noun is None and act.spoken is not None and act.spoken.pos_ in _MISTAGGED_NOUNS:
        parts = [act.verb.lemma_, noun_phrase_text(act.spoken), particle_text]
    elif act.lets:
        parts = ["let", noun_phrase or "it", act.verb.lemma_, particle_text]
    elif " " in particle_text:
        parts = [act.verb.lemma_, noun_phrase, particle_text]
    else:
        parts = [act.verb.lemma_, particle_text, noun_phrase]
    return " ".join(filter(None, [*parts, *map(_place_text, act.places)]))


def _place_text(place: Complement) -> str:
    return f"{place.preposition} {noun_phrase_text(place.word)}"


def noun_phrase_text(noun: Token) -> str:
    """Return a noun with its premodifiers in lower case: "the rusty lug nuts"."""
    return "".join(t.text_with_ws for t in grammar.noun_phrase(noun)).strip().lower()


def is_denied(noun: Token) -> bool:
    """Whether a noun is negated by its determiner: "use *no* soap"."""
    return any(child.lower_ == "no" for child in grammar.children(noun, {"det", "neg"}))


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
        ``default``, ``paper`` or ``authors``: acts, or verb–object pairs only.
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
    if unknown := [mode for mode in modes if mode not in MODES]:
        raise HowstepsError(unknown_name("mode", unknown[0], MODES))
    videos: dict[str, list[Video]] = {mode: [] for mode in modes}
    narrations = (words_of(video.captions) for video in task.videos)
    parsed = parser.parse_narrations(parser.load_parser(model), narrations)
    for video, passages in zip(task.videos, parsed, strict=True):
        for mode in modes:
            videos[mode].append(extract_video(video, passages, mode))
        if progress is not None:
            progress(video)
    return {mode: replace(task, videos=tuple(extracted)) for mode, extracted in videos.items()}


def acts_of_labels(labels: Sequence[str], *, model: str | None = None) -> list[tuple[Mention, ...]]:
    """Return the acts of labels of steps, parsed as narrations are; none without a verb.

    ``model`` is the name or folder of a spaCy pipeline other than the one that ships.
    """
    videos = tuple(
        Video(str(index), (Caption(0.0, _LABEL_SECONDS, f"{_CONTEXT} {label.lower()}"),))
        for index, label in enumerate(labels)
    )
    return [video.mentions for video in extract_relations(Task("", videos), model=model).videos]
