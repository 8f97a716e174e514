"""Parse the labels of steps that a person wrote into acts, as narrations are parsed."""

from collections.abc import Sequence

from howsteps.narration.mentions import extract_relations
from howsteps.task import Caption, Mention, Task, Video

# The parser is trained on speech; without context it may take "water the plants" for a noun phrase.
_CONTEXT = "now you can"
_SECONDS = 10.0


def acts_of_labels(labels: Sequence[str], *, model: str | None = None) -> list[tuple[Mention, ...]]:
    """Return the acts of every label; empty for a label without a verb.

    ``model`` is the name or folder of a spaCy pipeline other than the one that ships.
    """
    videos = tuple(
        Video(str(index), (Caption(0.0, _SECONDS, f"{_CONTEXT} {label.lower()}"),))
        for index, label in enumerate(labels)
    )
    return [video.mentions for video in extract_relations(Task("", videos), model=model).videos]
