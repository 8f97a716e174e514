"""Tests of the localisation of steps in videos."""
