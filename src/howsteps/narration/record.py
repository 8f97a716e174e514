"""What was heard, as JSON that people and programs read.

One task::

    {"version": 1, "task": …, "videos": {id: {"title", "sentences": […], "relations": […]}}}

Several tasks::

    {"version": 1, "tasks": {name: {"videos": …}}}
"""

from collections.abc import Sequence
from typing import Any

from howsteps.task import Mention, Sentence, Task, Video

VERSION = 1


def record(tasks: Sequence[Task]) -> dict[str, Any]:
    """Everything that was heard in one or more tasks, as plain values."""
    if len(tasks) == 1:
        return {"version": VERSION, "task": tasks[0].name, "videos": _videos(tasks[0])}
    return {"version": VERSION, "tasks": {task.name: {"videos": _videos(task)} for task in tasks}}


def _videos(task: Task) -> dict[str, Any]:
    return {video.id: _video(video) for video in task.videos}


def _video(video: Video) -> dict[str, Any]:
    return {
        "title": video.title,
        "sentences": [_sentence(sentence) for sentence in video.sentences],
        "relations": [_relation(mention) for mention in video.mentions],
    }


def _sentence(sentence: Sentence) -> dict[str, Any]:
    return {
        "start": round(sentence.start, 3),
        "end": round(sentence.end, 3),
        "text": sentence.text,
    }


def _relation(mention: Mention) -> dict[str, Any]:
    return {
        "verb": mention.verb,
        "particle": mention.particle,
        "noun": mention.noun,
        "phrase": mention.phrase,
        "start": round(mention.start, 3),
        "end": round(mention.end, 3),
        "negated": mention.negated,
        "resolved": mention.resolved,
        "passive": mention.passive,
        "modal": mention.modal,
        "sentence": mention.sentence,
    }
