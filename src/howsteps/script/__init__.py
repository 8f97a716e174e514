"""Script discovery: from mentions to the steps of a task, in order.

::

    mentions ─► discovery ─► events ─► act_table ─► step_model ─► clusters          mode default
                    │          └─► step_selection ─► rank_aggregation ─► chains ─► step_names
                    ├─► alignment ─┬─► solver ─┬─► search ─► realign          the paper's problem
                    │              │           └─► frank_wolfe                the paper's solver
                    │              └─► bounds, integer_programme              lower bounds
                    └─► selection, step_count                                 from slots to steps
    a page of text ─► text_form ─► gathering ─► label_match                   a script by hand
"""

from howsteps.script.alignment import Alignment, align, certify, columns
from howsteps.script.discovery import ScriptOptions, discover
from howsteps.script.problem import AlignmentError
from howsteps.script.solver import AlignmentSolver

__all__ = [
    "Alignment",
    "AlignmentError",
    "AlignmentSolver",
    "ScriptOptions",
    "align",
    "certify",
    "columns",
    "discover",
]
