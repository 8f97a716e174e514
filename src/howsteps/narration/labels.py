"""The acts that the name of a step speaks of: a line that a person wrote, read by the parser."""

from collections.abc import Sequence

from howsteps.narration.extraction import extract_relations
from howsteps.task import Caption, Mention, Task, Video

# The parser knows speech. Alone, "water the plants" might be some water.
_SPOKEN = "now you can"
_SECONDS = 10.0


def acts_of_labels(labels: Sequence[str], *, model: str | None = None) -> list[tuple[Mention, ...]]:
    """The acts of every label; none where no verb is found in it.

    Parameters
    ----------
    model
        A spaCy pipeline by name or folder instead of the one that ships with howsteps.
    """
    videos = tuple(
        Video(str(place), (Caption(0.0, _SECONDS, f"{_SPOKEN} {label.lower()}"),))
        for place, label in enumerate(labels)
    )
    return [video.mentions for video in extract_relations(Task("", videos), model=model).videos]
