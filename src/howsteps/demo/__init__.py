"""A job that comes with howsteps: narrations of the project, and videos that it draws itself.

::

    steps.csv, captions ─► video ─► scenes ─► canvas (with the look of each video)
"""
