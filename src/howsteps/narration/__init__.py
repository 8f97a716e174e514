"""From captions to mentions: the acts that narrators mention, with times.

``extract_relations(task)`` fills in the sentences and mentions of a task's videos::

    captions ─► words ─► parser ─► relations ─► acts ─► mentions ─► relevance
    (or speech)                    grammar      work
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from howsteps.narration.mentions import extract_relations as extract_relations

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submod_attrs={"mentions": ["extract_relations"]}
)
