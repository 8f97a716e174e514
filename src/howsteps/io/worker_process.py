"""Work on one file in a process of its own, which may crash, hang or run out of memory.

The job is JSON on stdin and the answers are lines of JSON on stdout; nothing that the process says
is executed here. It is killed when it is too slow, and when this process stops.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any

from howsteps.errors import CannotWrite, HowstepsError, InputError

# Variables that tell libraries how many threads they may start.
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)
# Whoever runs us may stand in a folder with a ``json.py``: nothing is imported from there.
ISOLATED = {"PYTHONSAFEPATH": "1"}

_LOOK = 0.5  # seconds between two looks at a silent process
_GRACE = 120.0  # seconds in which a process must have loaded its libraries and begun
_SLOWEST = 30.0  # seconds of work that one second of video may take


class Failed(HowstepsError):
    """The work on one file did not end well; the message says why, without the file's name."""


def run_in_worker(
    module: str,
    job: Mapping[str, object],
    *,
    threads: int,
    on_progress: Callable[[dict[str, Any]], None] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Run ``python -m module`` on a job and return its last answer.

    An answer ``{"seconds": s}`` says how far the work is, ``{"done": …}`` ends it, ``{"failed":
    reason}`` says why it cannot be done, and ``{"unwritable": reason}`` that nothing can be
    written. The process is killed when ``stop`` is set.

    Raises
    ------
    Failed
        It cannot be done, crashed, or was too slow.
    CannotWrite
        Its results cannot be written.
    """
    # Otherwise each library starts a thread per core in each process.
    environment = {**os.environ, **ISOLATED, **dict.fromkeys(THREADS, str(threads))}
    # Threads that spin while they wait would take cores from others.
    environment["OMP_WAIT_POLICY"] = "PASSIVE"
    with TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches us first, and we end it
        )
        try:
            _send(process, job)
            for answer in _answers(process, stop):
                if "done" in answer:
                    done: dict[str, Any] = answer["done"]
                    return done
                if "failed" in answer:
                    raise Failed(str(answer["failed"]))
                if "unwritable" in answer:
                    raise CannotWrite(str(answer["unwritable"]))
                if on_progress is not None:
                    on_progress(answer)
            raise Failed(_how_it_ended(process, errors))
        finally:
            process.kill()
            process.wait()


def _send(process: subprocess.Popen[bytes], job: Mapping[str, object]) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    try:
        with process.stdin as pipe:
            pipe.write(json.dumps(job).encode())
    except BrokenPipeError:
        pass  # it died at once; its exit code says why


def _answers(
    process: subprocess.Popen[bytes], stop: threading.Event | None
) -> Iterator[dict[str, Any]]:
    """Answers as they come, until the process ends; raises when it is too slow."""
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    began, seconds = monotonic(), 0.0
    while True:
        if stop is not None and stop.is_set():
            raise Failed("was stopped")
        if monotonic() - began > _GRACE + _SLOWEST * seconds:
            raise Failed(f"takes too long: given up after {monotonic() - began:.0f} s of work")
        try:
            line = lines.get(timeout=_LOOK)
        except queue.Empty:
            continue
        if line is None:
            return
        try:
            answer = json.loads(line)
        except ValueError:
            continue  # a library printed something
        if isinstance(answer, dict):
            seconds = float(answer.get("seconds", seconds))
            yield answer


def _read(pipe: IO[bytes], lines: queue.Queue[bytes | None]) -> None:
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(None)


def _how_it_ended(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    code = process.wait()
    if code < 0:
        name = signal.Signals(-code).name
        return f"crashed the program that decodes it ({name})"
    errors.seek(0)
    last = errors.read()[-2000:].decode(errors="replace").strip().rpartition("\n")[2]
    return f"the program that decodes it ended with code {code}: {last or 'no reason given'}"


def serve(work: Callable[[dict[str, Any]], Mapping[str, object]]) -> None:
    """Do the job on stdin and answer, in the worker process."""
    job = json.load(sys.stdin)
    try:
        answer({"done": work(job)})
    except InputError as error:
        answer({"failed": error.problem.reason})
    except CannotWrite as error:
        answer({"unwritable": str(error)})
    except HowstepsError as error:
        answer({"failed": str(error)})
    except MemoryError:
        answer({"failed": f"needs more than {job['memory'] / 2**30:.1f} GiB of memory"})


def answer(content: Mapping[str, object]) -> None:
    """Write one line of JSON, at once."""
    print(json.dumps(content), flush=True)


def limit_memory(extra: int) -> None:
    """Limit this process to so many bytes more than it has now (Linux only)."""
    try:
        import resource  # noqa: PLC0415 - not on Windows

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):
        return
    wanted = pages * os.sysconf("SC_PAGE_SIZE") + extra
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or wanted < most:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, most))
