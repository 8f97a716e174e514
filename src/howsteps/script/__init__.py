"""From relations to the script: what the narrations have in common, in order.

::

    mentions ─► discovery ─► gathering ─┬─► copies, likeness            the default
                    │                   └─► profile ─► labels
                    ├─► alignment ─┬─► solver ─┬─► search ─► realign    the paper's problem
                    │              │           └─► frank_wolfe          the paper's solver
                    │              └─► bound, triples, programme        how good it is
                    └─► selection, stability                            which slots are steps
"""

from howsteps.script.alignment import Alignment, align, certify
from howsteps.script.columns import columns
from howsteps.script.discovery import ScriptOptions, discover
from howsteps.script.solver import Solver

__all__ = ["Alignment", "ScriptOptions", "Solver", "align", "certify", "columns", "discover"]
