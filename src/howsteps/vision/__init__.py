"""Features of videos: one vector for each interval.

::

    video ─► frames ─┬─► motion       dense trajectories, HOF without camera motion ─┐
                     ├─► appearance   feature maps of a CNN at several scales       ─┼─► descriptors
                     └─► pooled       one vector of a CNN per frame                 ─┘
    descriptors ─► codebook ─► codewords ─► histograms: one per block of intervals, Hellinger
    features computed elsewhere ─► precomputed ─► the same grid

Import the modules themselves: OpenCV, PyAV, Numba and PyTorch are loaded only where needed.
"""
