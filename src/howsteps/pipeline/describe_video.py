"""``python -m howsteps.pipeline.describe_video``: watch one film, in a process of its own.

Reads a job from stdin (:func:`howsteps.pipeline.descriptors.extract_descriptors`), keeps what it
finds in the cache, and says on stdout how far it is.
"""

import json
import sys
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from howsteps.engine.cache import Cache
from howsteps.engine.worker_process import limit_memory
from howsteps.errors import CannotWrite, HowstepsError, InputError
from howsteps.vision.options import watch_options

WATCHED, STRETCHES = "watched", "stretches"


def main() -> None:
    """Do the job and answer."""
    job = json.load(sys.stdin)
    try:
        say({"done": watch(job)})
    except InputError as error:
        say({"failed": error.problem.reason})
    except CannotWrite as error:
        say({"unwritable": str(error)})
    except HowstepsError as error:
        say({"failed": str(error)})
    except MemoryError:
        say({"failed": f"needs more than {job['memory'] / 2**30:.1f} GiB of memory"})


def say(answer: dict[str, object]) -> None:
    """One line of JSON, at once."""
    print(json.dumps(answer), flush=True)


def watch(job: dict[str, Any]) -> dict[str, object]:
    """Watch the film of a job and keep its stretches; the record of each kind is kept last."""
    import cv2  # noqa: PLC0415 - what is imported here may be missing, and that is an answer too

    from howsteps.vision.descriptors import DescriptorExtractor  # noqa: PLC0415
    from howsteps.vision.frames import VideoReader  # noqa: PLC0415

    cv2.setNumThreads(job["threads"])  # PyTorch and Numba are told by the environment
    options = watch_options(job["options"])
    network = None
    if options.appearance is not None:
        from howsteps.vision.appearance import load  # noqa: PLC0415 - PyTorch

        network = load(options.appearance, job["device"])
    if job["device"] == "cpu":  # a GPU's driver reserves more addresses than any machine has
        limit_memory(job["memory"])
    keys: dict[str, str] = job["keys"]  # by kind
    cache, count = Cache(Path(job["store"])), 0
    with VideoReader(Path(job["media"]), job["threads"]) as film:
        say({"seconds": 0.0, "total": film.stated})
        watching = DescriptorExtractor(film, options, network)
        for stretch in watching.stretches(lambda time: say({"seconds": time})):
            for kind, local in stretch.items():
                arrays: dict[str, NDArray[Any]] = {
                    "values": local.values,
                    "intervals": local.intervals,
                }
                cache.put_arrays(STRETCHES, f"{keys[kind]}-{count:05d}", arrays)
            count += 1
        record = {
            "intervals": watching.intervals,
            "seconds": film.end,
            "stretches": count,
            "flaws": film.flaws(),
        }
    for key in keys.values():
        cache.put_json(WATCHED, key, record)
    return {**record, "spent": dict(watching.spent)}


if __name__ == "__main__":
    main()
