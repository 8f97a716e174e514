"""A demo job that ships with howsteps: narrations, and code that renders the videos.

::

    steps.csv, captions ─► video ─► scenes ─► canvas (with the look of each video)
"""
