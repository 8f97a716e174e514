"""Speed of speech recognition: seconds of audio per second.

``OMP_NUM_THREADS=1 python -m benchmarks.speech VIDEO [--model NAME_OR_FOLDER] [--device DEVICE]``
"""

import argparse
import resource
import time
from pathlib import Path

from howsteps.narration.speech import DEFAULT_MODEL, transcribe


def main() -> None:
    """Transcribe one file; the time includes opening it and loading the model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("video", type=Path)
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()

    lengths: list[float] = []
    started, processor = time.perf_counter(), time.process_time()
    captions = transcribe(
        options.video,
        model=options.model,
        device=options.device,
        progress=lambda _, total: lengths.append(total),
    )
    spent, processor = time.perf_counter() - started, time.process_time() - processor
    words = sum(len(caption.words) for caption in captions)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{lengths[-1]:.1f} s of sound, {words} words, at most {memory:.0f} MiB of memory")
    # CPU time depends less on other load of the machine.
    for clock, seconds in (("by the clock", spent), ("of processor time", processor)):
        print(f"{seconds:.1f} s {clock}: {lengths[-1] / seconds:.1f} seconds of sound for each")


if __name__ == "__main__":
    main()
