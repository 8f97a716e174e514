"""Features of videos: one vector for each interval.

::

    video ─► frames ─► network ─► descriptors (in a worker process, cached) ─► features

Import the modules themselves: PyAV and ONNX Runtime are loaded only where needed. The
features of the 2016 method are in :mod:`howsteps.paper`.
"""
