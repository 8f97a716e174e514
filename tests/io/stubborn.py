"""A worker process that misbehaves on demand; ``tests/io/test_worker_process.py`` runs it."""

import json
import os
import signal
import sys
import time

from howsteps.io.worker_process import limit_memory


def main() -> None:
    job = json.load(sys.stdin)
    print(json.dumps({"seconds": 0.0}), flush=True)
    match job["do"]:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            time.sleep(600)
        case "stroll":
            for _ in range(20):
                time.sleep(0.05)
                print(json.dumps({"seconds": 0.0}), flush=True)
            print(json.dumps({"done": {}}), flush=True)
        case "swell":
            limit_memory(100 * 2**20)
            try:
                bytearray(10**9)
            except MemoryError:
                print(json.dumps({"failed": "needs too much"}), flush=True)
        case "babble":
            print("a library talks", flush=True)
            print("[1, 2]", flush=True)
            print(json.dumps({"done": {"threads": os.environ["OMP_NUM_THREADS"]}}), flush=True)
        case "raise":
            raise ValueError("out of paper")
        case "refuse":
            print(json.dumps({"failed": "is empty"}), flush=True)


if __name__ == "__main__":
    main()
