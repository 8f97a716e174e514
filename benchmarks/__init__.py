"""Measurements: side by side, as ratios, on paths given as arguments."""
