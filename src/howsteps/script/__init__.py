"""From relations to the script: align the narrations, keep the best supported slots as steps.

::

    mentions ─► discovery ─► alignment ─┬─► solver ─┬─► search ─► realign   the default
                    │                   │           └─► frank_wolfe         the paper's
                    │                   └─► bound, triples, programme       how good it is
                    └─► selection, stability                        which slots are steps
"""

from howsteps.script.alignment import Alignment, align, certify
from howsteps.script.columns import columns
from howsteps.script.discovery import Options, discover
from howsteps.script.solver import Solver

__all__ = ["Alignment", "Options", "Solver", "align", "certify", "columns", "discover"]
