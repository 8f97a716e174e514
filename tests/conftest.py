"""Hypothesis without deadlines: machines are noisy, and timing is not what tests are for.

CI tries every property on a hundred examples, a run between two edits on forty.
"""

import os

from hypothesis import settings

settings.register_profile("howsteps", deadline=None, max_examples=100 if "CI" in os.environ else 40)
settings.load_profile("howsteps")
