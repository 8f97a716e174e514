"""``python -m howsteps.pipeline.describe_video``: extract the descriptors of one video.

The worker process of :mod:`howsteps.pipeline.descriptors`: reads a job from stdin, writes
descriptors into the cache, and reports progress on stdout.
"""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from howsteps.io.files import check_unchanged
from howsteps.io.worker_process import answer, limit_memory, serve
from howsteps.pipeline.cache import Cache
from howsteps.vision.options import APPEARANCE, POOLED, AppearanceOptions, watch_options

VIDEOS, CHUNKS = "descriptors", "chunks"  # stages of the cache


def describe(job: dict[str, Any]) -> dict[str, object]:
    """Write the descriptors of a video in chunks, and finally one record per kind."""
    # Imported here, so that a missing library is reported as an answer.
    from howsteps.vision.descriptors import DescriptorExtractor  # noqa: PLC0415
    from howsteps.vision.frames import VideoReader, plan_decoding  # noqa: PLC0415
    from howsteps.vision.network import load  # noqa: PLC0415

    options = watch_options(job["options"])
    media, threads, device = Path(job["media"]), job["threads"], job["device"]
    networks, decoding = {}, None
    if options.motion is not None:
        import cv2  # noqa: PLC0415

        cv2.setNumThreads(threads)  # PyTorch and Numba read the environment
    if options.appearance is not None:
        networks[APPEARANCE] = load(options.appearance, device, threads)
    if (pooled := options.pooled) is not None:
        look = AppearanceOptions(pooled.network, pooled.weights)
        networks[POOLED] = load(look, device, threads)
        if options.motion is None and options.appearance is None:
            every = pooled.every * options.seconds
            decoding = plan_decoding(media, every, sparing=pooled.sparing)
    if device == "cpu":  # a GPU driver reserves far more address space than there is memory
        limit_memory(job["memory"])
    keys: dict[str, str] = job["keys"]  # by kind
    cache, count = Cache(Path(job["cache"])), 0
    with VideoReader(media, threads, decoding) as video:
        answer({"seconds": 0.0, "total": video.stated_duration})
        extractor = DescriptorExtractor(video, options, networks)
        for chunk in extractor.chunks(lambda time: answer({"seconds": time})):
            for kind, local in chunk.items():
                arrays: dict[str, NDArray[Any]] = {
                    "values": local.values,
                    "intervals": local.intervals,
                }
                cache.put_arrays(CHUNKS, f"{keys[kind]}-{count:05d}", arrays)
            count += 1
        record = {
            "intervals": extractor.intervals,
            "seconds": video.end,
            "chunks": count,
            "flaws": video.warnings(),
        }
    size, changed = job["fingerprint"]
    check_unchanged(media, (size, changed))  # or another video would be cached under this hash
    for key in keys.values():
        cache.put_json(VIDEOS, key, record)
    return {**record, "spent": dict(extractor.timings)}


if __name__ == "__main__":
    serve(describe)
