"""Hypothesis without deadlines: machines are noisy, and timing is not what tests are for."""

from hypothesis import settings

settings.register_profile("howsteps", deadline=None)
settings.load_profile("howsteps")
