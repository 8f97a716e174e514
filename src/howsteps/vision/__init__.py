"""Frames → local descriptors of motion and appearance → words → one vector per interval.

::

    video ─► frames ─┬─► motion       tracks through dense flow, camera removed, HOF  ─┐
                    └─► appearance   maps of a CNN at several scales                 ─┴─► watching
    descriptors ─► vocabulary ─► words ─► description: a histogram per block, Hellinger
    folders of features made elsewhere ─► precomputed ─► the same grid

Import the rooms themselves: OpenCV, PyAV, Numba and PyTorch are loaded only where they are needed.
"""
