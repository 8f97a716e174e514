"""Acts in a parse → mentions: lemmas, times, and a phrase that people can read."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from spacy.tokens import Token

from howsteps.narration import grammar, parser, work
from howsteps.narration.acts import Act, Memory, find
from howsteps.narration.complements import Complement, particle
from howsteps.narration.signs import place_signs, signs
from howsteps.task import Mention, Place, Sentence, Video, Word


class ActMentions(NamedTuple):
    """What is said in one video: its sentences, and its acts both as mentions and in the parse."""

    sentences: list[Sentence]
    mentions: list[Mention]
    acts: list[Act]


def video_acts(video: Video, passages: Sequence[parser.Passage]) -> Video:
    """Fill in the sentences and mentions of a video, each with how likely it is work."""
    found = act_mentions(video, passages)
    likely = work.probabilities(act_signs(video, found), [m.start for m in found.mentions])
    mentions = tuple(
        replace(mention, work=round(chance, 3))
        for mention, chance in zip(found.mentions, likely, strict=True)
    )
    return replace(video, sentences=tuple(found.sentences), mentions=mentions)


def act_mentions(video: Video, passages: Sequence[parser.Passage]) -> ActMentions:
    """The acts of a video, not yet told from talk."""
    sentences: list[Sentence] = []
    mentions: list[Mention] = []
    acts: list[Act] = []
    memory = Memory()
    for words, doc in passages:
        places = parser.word_places(doc)
        starts = parser.sentence_starts(doc, places)
        before = len(sentences) - 1
        sentences += (
            Sentence(tuple(words[start:end])) for start, end in pairwise([*starts, len(words)])
        )
        for act in find(doc, memory):
            place = before + bisect(starts, places[act.verb.i])
            mentions.append(mention(video.id, act, words, places, place))
            acts.append(act)
    return ActMentions(sentences, mentions, acts)


def act_signs(video: Video, found: ActMentions) -> list[set[str]]:
    """The signs of work and talk of every act of a video."""
    said = found.sentences[-1].end if found.sentences else 0.0
    duration = max(said, video.duration or 0.0)
    return [
        signs(act, negated=mention.negated) | set(place_signs(mention.start, mention.end, duration))
        for mention, act in zip(found.mentions, found.acts, strict=True)
    ]


def mention(
    video: str, act: Act, words: Sequence[Word], places: Sequence[int], sentence: int
) -> Mention:
    """Give an act its time span and a phrase; ``places`` are those of the tokens in ``words``."""
    off_token = None if act.said else particle(act.verb)
    off = "" if off_token is None else grammar.particle_text(off_token)
    if any(place.preposition == off for place in act.places):
        off = ""  # the parser read "over the top" twice
    said = [act.verb, act.spoken, off_token, act.opening]
    if not act.resolved:
        said.append(act.noun)  # "add a cup of *flour*" ends with the flour
    spans = [words[places[token.i]] for token in said if token is not None]
    return Mention(
        video=video,
        verb=act.lemma,
        noun="" if act.noun is None else act.noun.lemma_,
        phrase=phrase(act, off),
        start=min(word.start for word in spans),
        end=max(word.end for word in spans),
        particle=off,
        modal=grammar.modal(act.verb),
        negated=grammar.is_negated(act.verb) or (act.noun is not None and forbids(act.noun)),
        resolved=act.resolved,
        passive=act.passive,
        sentence=sentence,
        places=tuple(Place(place.preposition, place.word.lemma_) for place in act.places),
        tools=tuple(dict.fromkeys(tool.lemma_ for tool in act.tools)),
        modifiers=act.modifiers,
    )


def phrase(act: Act, off: str) -> str:
    """What is done, as people say it: "take off the lug nuts", "put the bread in the pan"."""
    verb = act.lemma
    thing = "" if act.noun is None else _text(act.noun)
    if act.lets:
        parts = ["let", thing or "it", verb, off]
    elif " " in off:
        parts = [verb, thing, off]
    else:
        parts = [verb, off, thing]
    return " ".join(filter(None, [*parts, *map(_where, act.places)]))


def _where(place: Complement) -> str:
    return f"{place.preposition} {_text(place.word)}"


def _text(noun: Token) -> str:
    return "".join(t.text_with_ws for t in grammar.noun_phrase(noun)).strip().lower()


def forbids(noun: Token) -> bool:
    """Whether the object itself is denied: "use *no* soap"."""
    return any(child.lower_ == "no" for child in grammar.children(noun, {"det", "neg"}))
