"""From relations to the script: align the narrations, keep the best supported slots as steps."""

from howsteps.script.alignment import Alignment, align, certify

__all__ = ["Alignment", "align", "certify"]
