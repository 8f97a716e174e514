"""Stages with a cache: what was computed once is not computed again."""
