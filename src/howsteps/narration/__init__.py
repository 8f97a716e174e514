"""From captions to mentions: the acts that narrators mention, with times.

``extract_relations(task)`` fills in the sentences and mentions of a task's videos::

    captions ─► words ─► parser ─► relations ─► acts ─► mentions ─► relevance
    (or speech)                    pronouns     helpers  cues, work
                                                complements, fragments
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howsteps.narration.mentions import extract_relations as extract_relations

__all__ = ["extract_relations"]


def __getattr__(name: str) -> Any:
    """Load ``extract_relations``, and spaCy with it, when it is first used."""
    if name == "extract_relations":
        from howsteps.narration.mentions import extract_relations  # noqa: PLC0415

        return extract_relations
    raise AttributeError(f"module 'howsteps.narration' has no attribute {name!r}")
