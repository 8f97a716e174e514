"""Time to read ground truth: ``python -m benchmarks.ground_truth [ROWS]``."""

import sys
import tempfile
import time
from pathlib import Path

from howsteps.datasets import registry
from howsteps.evaluate import statistics


def main(rows: int) -> None:
    """Write a table of ``rows`` rows, read it, and compute its statistics."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "steps.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write("video,step,start,end\n")
            for n in range(rows):
                file.write(f"v{n // 10},s{n % 10},{n % 10}.5,{n % 10}.9\n")
        started = time.process_time()
        [job] = registry.read_truth(path)
        read = time.process_time()
        statistics(job)
        print(f"{rows:,} rows: read in {read - started:.1f} s, ", end="")
        print(f"statistics in {time.process_time() - read:.1f} s of processor time")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
