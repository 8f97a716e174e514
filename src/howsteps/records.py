"""Narrations, scripts and localisations as JSON values, and back.

``result.json`` contains them in this form, and stages cache them in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from sys import intern
from typing import Any

from howsteps.io.checked import (
    Malformed,
    build,
    each,
    field,
    optional,
    part,
    probability,
    seconds,
    text,
)
from howsteps.task import (
    Localisation,
    Mention,
    Place,
    Relation,
    Script,
    Sentence,
    Step,
    Task,
    Video,
    Word,
)

_MENTION = tuple(f.name for f in fields(Mention) if f.name != "video")


def narration_record(video: Video) -> dict[str, Any]:
    """Convert the sentences and mentions of one video to JSON values."""
    return {
        "sentences": [
            {
                "start": stored_time(sentence.start),
                "end": stored_time(sentence.end),
                "text": sentence.text,
                "words": [
                    [w.text, stored_time(w.start), stored_time(w.end)] for w in sentence.words
                ],
            }
            for sentence in video.sentences
        ],
        "mentions": [_mention_record(mention) for mention in video.mentions],
    }


def _mention_record(mention: Mention) -> dict[str, Any]:
    # Not by ``asdict``: its deep copies would take most of the time of writing a result.
    values: dict[str, Any] = {name: getattr(mention, name) for name in _MENTION}
    return values | {
        "start": stored_time(mention.start),
        "end": stored_time(mention.end),
        "places": [{"preposition": p.preposition, "noun": p.noun} for p in mention.places],
        "tools": list(mention.tools),
        "modifiers": list(mention.modifiers),
    }


def with_narration(video: Video, value: Mapping[str, Any]) -> Video:
    """Return the video with the narration from :func:`narration_record`."""

    def mention(entry: Mapping[str, Any]) -> Mention:
        parts = {
            "places": each({"places": [], **entry}, "places", lambda place: build(Place, **place)),
            "tools": tuple(map(text, entry.get("tools", ()))),
            "modifiers": tuple(map(text, entry.get("modifiers", ()))),
            "start": field(entry, "start", seconds),
            "end": field(entry, "end", seconds),
            "work": field({"work": 1.0, **entry}, "work", probability),
        }
        return build(Mention, video=video.id, **{**entry, **parts})

    sentences = each(value, "sentences", _sentence)
    mentions = each(value, "mentions", mention)
    return replace(video, sentences=sentences, mentions=mentions)


def _sentence(entry: Mapping[str, Any]) -> Sentence:
    words = tuple(
        # Interned to save memory: narrations repeat the same few thousand words.
        Word(intern(text(word)), seconds(start), seconds(end))
        for word, start, end in entry["words"]
    )
    if not words:
        raise Malformed("has no words")
    return Sentence(words)


def checked_narration(video: Video) -> Video:
    """Return the video; raise ``Malformed`` if a mention refers to a missing sentence."""
    for i, mention in enumerate(video.mentions):
        if not 0 <= mention.sentence < len(video.sentences):
            raise Malformed(f"mentions[{i}]: there is no sentence {mention.sentence}")
    return video


def script_record(script: Script, task: Task) -> dict[str, Any]:
    """Convert a script to JSON values; mentions are indices into those of the task's videos.

    The run time of the alignment is left out: the same input must give the same bytes.
    """
    # Reversed, so that equal mentions get the index of the first.
    indices = {
        video.id: {mention: index for index, mention in reversed([*enumerate(video.mentions)])}
        for video in task.videos
    }
    return {
        "steps": [
            {
                "label": step.label,
                "support": step.support,
                "stability": step.stability,
                "optional": step.optional,
                "alternative": step.alternative,
                **({"learnt_from": step.learnt_from} if step.learnt_from else {}),
                "relations": [
                    {"verb": relation.verb, "noun": relation.noun, "count": count}
                    for relation, count in step.relations
                ],
                "examples": list(step.examples),
                "mentions": [
                    {"video": mention.video, "mention": indices[mention.video][mention]}
                    for mention in step.mentions
                ],
            }
            for step in script.steps
        ],
        "alignment": {
            "objective": script.objective,
            "objective_per_token": script.objective_per_token,
            "bound": script.bound,
        },
        **_edit_record(script),
    }


def _edit_record(script: Script) -> dict[str, Any]:
    if not script.editor:
        return {}
    return {"edit": {"editor": script.editor, "changes": list(script.changes)}}


def script_from(value: Mapping[str, Any], task: Task) -> Script:
    """Rebuild a script of this task from :func:`script_record`."""
    mentions = {video.id: video.mentions for video in task.videos}

    def step(entry: Mapping[str, Any]) -> Step:
        found: Step = build(
            Step,
            label=entry["label"],
            mentions=tuple(
                _mention_at(mentions, at["video"], at["mention"]) for at in entry["mentions"]
            ),
            examples=tuple(text(example) for example in entry["examples"]),
            stability=field(entry, "stability", optional(probability)),
            optional=entry.get("optional", False),
            alternative=entry.get("alternative", False),
            learnt_from=entry.get("learnt_from", 0),
        )
        first = next(iter(entry["relations"]), None)
        return found.led_by(Relation(first["verb"], first["noun"])) if first else found

    steps = each(value, "steps", step)
    script = part("alignment", lambda: build(Script, steps=steps, **value["alignment"]))
    return part("edit", lambda: _edited(script, value["edit"])) if "edit" in value else script


def _mention_at(mentions: Mapping[str, Sequence[Mention]], video: str, index: int) -> Mention:
    if video not in mentions:
        raise Malformed(f"there is no video {video!r}")
    if not 0 <= index < len(mentions[video]):
        raise Malformed(f"video {video!r} has no mention {index}")
    return mentions[video][index]


def _edited(script: Script, value: Mapping[str, Any]) -> Script:
    changes = tuple(text(change) for change in value["changes"])
    return replace(script, editor=text(value["editor"]), changes=changes)


def localisation_records(localisations: Iterable[Localisation]) -> list[dict[str, Any]]:
    """Convert localisations to JSON values, one object per video and step."""
    return [
        {
            **asdict(found),
            **{
                name: None if time is None else stored_time(time)
                for name, time in (
                    ("time", found.time),
                    ("start", found.start),
                    ("end", found.end),
                )
            },
            "confidence": round(found.confidence, 4),
            "presence": round(found.presence, 4),
        }
        for found in localisations
    ]


def localisations_from(value: Mapping[str, Any]) -> tuple[Localisation, ...]:
    """Rebuild localisations from :func:`localisation_records`, under the key ``localisations``."""
    return each(value, "localisations", _localisation)


def _localisation(entry: Mapping[str, Any]) -> Localisation:
    whole = {"start": None, "end": None, "confidence": 0.0, "presence": 0.0, **entry}
    times = {name: field(whole, name, optional(seconds)) for name in ("time", "start", "end")}
    shares = {name: field(whole, name, probability) for name in ("confidence", "presence")}
    return build(Localisation, **{**whole, **times, **shares})


def check_localisations(found: Sequence[Localisation], task: Task, script: Script) -> None:
    """Raise ``Malformed`` if a localisation refers to a video or step that does not exist."""
    ids = {video.id for video in task.videos}
    for i, localisation in enumerate(found):
        if localisation.video not in ids:
            raise Malformed(f"localisations[{i}]: there is no video {localisation.video!r}")
        if not 0 <= localisation.step < len(script.steps):
            raise Malformed(f"localisations[{i}]: there is no step {localisation.step}")


def stored_time(seconds: float) -> float:
    """Round a time to milliseconds, as files contain it."""
    return round(seconds, 3)
