"""The stages of a run, from a path to a work folder."""
