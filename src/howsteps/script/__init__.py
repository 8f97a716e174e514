"""Script discovery: from mentions to the steps of a task, in order.

::

    mentions ─► acts ─► similarity ─► step_model ─► clusters ─► order ─► names     discovery
                                         near_duplicates ─┘
    a page of text ─► text_form ─► text_mentions ─► matching                  a script by hand
    known steps, new narrations ──────────────────► matching

The script of the 2016 paper, by alignment, is in :mod:`howsteps.paper`.
"""

from howsteps.script.discovery import discover

__all__ = ["discover"]
