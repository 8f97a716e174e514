"""A job that comes with howsteps: narrations by the project, and films that it draws itself.

::

    steps.csv, captions ─► film ─► scenes ─► canvas
                             └───► look: colours, layout, speed and camera of one video
"""
