"""From relations to the script: align the narrations, keep the best supported slots as steps.

::

    mentions ─► discovery ─► alignment ─┬─► search ─► realign     the default solver
                    │                   ├─► frank_wolfe           the paper's
                    │                   └─► bound, triples, programme   how good it is
                    └─► selection, stability                      which slots are steps
"""

from howsteps.script.alignment import Alignment, align, certify
from howsteps.script.columns import columns
from howsteps.script.discovery import Options, discover

__all__ = ["Alignment", "Options", "align", "certify", "columns", "discover"]
