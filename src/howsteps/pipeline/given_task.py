"""Check a task that was made in Python, before any work; readers check those from files."""

from collections.abc import Sequence
from functools import partial
from typing import TypeVar

from howsteps.errors import HowstepsError
from howsteps.io.checked import Malformed, optional, part, seconds, text
from howsteps.task import Caption, Task, Video, Word

_T = TypeVar("_T")


def check_task(task: Task) -> None:
    """Check the names, ids, captions and times of a task.

    Raises
    ------
    HowstepsError
        One of them cannot be used; the message says which.
    """
    try:
        part("name", lambda: text(task.name))
        ids: set[str] = set()
        for index, video in enumerate(_listed("videos", task.videos)):
            part(f"videos[{index}]", partial(_check_video, video))
            if video.id in ids:
                raise Malformed(f"videos[{index}]: another video has the id {video.id!r}")
            ids.add(video.id)
    except Malformed as error:
        raise HowstepsError(f"this task cannot be used: {error}") from None


def _check_video(video: object) -> None:
    if not isinstance(video, Video):
        raise Malformed(f"is not a Video but of type {type(video).__name__}")
    part("id", lambda: text(video.id))
    part("duration", lambda: optional(seconds)(video.duration))
    for index, caption in enumerate(_listed("captions", video.captions)):
        part(f"captions[{index}]", partial(_check_caption, caption))


def _check_caption(caption: object) -> None:
    if not isinstance(caption, Caption):
        raise Malformed(f"is not a Caption but of type {type(caption).__name__}")
    _check_spoken(caption)
    for word in _listed("words", caption.words):
        if not isinstance(word, Word):
            raise Malformed(f"words: one is not a Word but of type {type(word).__name__}")
        _check_spoken(word)


def _check_spoken(spoken: Caption | Word) -> None:
    """Check a text with times; half a character in it is repaired later, as in files."""
    if not isinstance(spoken.text, str):
        raise Malformed(f"its text is of type {type(spoken.text).__name__}")
    seconds(spoken.start)
    seconds(spoken.end)


def _listed(name: str, values: Sequence[_T]) -> Sequence[_T]:
    """Return a tuple or list; an iterator would be used up here."""
    if not isinstance(values, tuple | list):
        raise Malformed(f"{name}: is not a tuple but of type {type(values).__name__}")
    return values
