"""From captions to what the narrators say they do, with times.

``hear(task)`` fills in the sentences and mentions of a task's videos. The way of the data::

    captions/ ─► words ─► parser ─► relations ─► hearing
    (or speech)                     pronouns      (lemmas from wordnet/)
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howsteps.narration.hearing import hear as hear

__all__ = ["hear"]


def __getattr__(name: str) -> Any:
    """Load ``hear``, and spaCy with it, when it is first used."""
    if name == "hear":
        from howsteps.narration.hearing import hear  # noqa: PLC0415

        return hear
    raise AttributeError(f"module 'howsteps.narration' has no attribute {name!r}")
