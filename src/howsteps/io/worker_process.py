"""Process one file in a worker process, which may crash, hang or run out of memory.

The job is JSON on stdin and the answers are lines of JSON on stdout; nothing of the output is
executed. The worker is killed if it is too slow, and when this process ends.
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

# Environment variables that limit the number of threads of libraries.
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)
# Import nothing from the current folder, which may contain a ``json.py``.
ISOLATED = {"PYTHONSAFEPATH": "1"}

_POLL_SECONDS = 0.5
_GRACE = 120.0  # seconds for a process to load its libraries and start
_SLOWEST = 30.0  # seconds of work per second of video


def run_in_worker(
    module: str,
    job: Mapping[str, object],
    *,
    threads: int,
    on_progress: Callable[[dict[str, Any]], None] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Run ``python -m module`` on a job, whose file is ``media``, and return its result.

    An answer ``{"seconds": s}`` reports progress, ``{"done": …}`` is the result, ``{"failed":
    reason}`` an error, and ``{"unwritable": reason}`` an error in writing. The process is killed
    when ``stop`` is set.

    Raises ``InputError`` with the file if the work failed, the process crashed, or it was too slow.
    Raises ``CannotWrite`` if results cannot be written.
    """
    # Otherwise each library starts a thread per core in each process.
    environment = {**os.environ, **ISOLATED, **dict.fromkeys(THREADS, str(threads))}
    # Threads that wait actively would take cores from other processes.
    environment["OMP_WAIT_POLICY"] = "PASSIVE"
    media = Path(str(job["media"]))
    with TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,  # Ctrl-C reaches only this process, which kills the worker
        )
        try:
            _send(process, job)
            for answer in _answers(process, media, stop):
                if "done" in answer:
                    done: dict[str, Any] = answer["done"]
                    return done
                if "failed" in answer:
                    raise InputError(media, str(answer["failed"]))
                if "unwritable" in answer:
                    raise CannotWrite(str(answer["unwritable"]))
                if on_progress is not None:
                    on_progress(answer)
            raise InputError(media, _failure_reason(process, errors))
        finally:
            process.kill()
            process.wait()


def _send(process: subprocess.Popen[bytes], job: Mapping[str, object]) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    try:
        with process.stdin as pipe:
            pipe.write(json.dumps(job).encode())
    except BrokenPipeError:
        pass  # the process has died; its exit code is reported later


def _answers(
    process: subprocess.Popen[bytes], media: Path, stop: threading.Event | None
) -> Iterator[dict[str, Any]]:
    """Yield answers until the process ends; raise if it is too slow or ``stop`` is set."""
    lines: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_read, args=(process.stdout, lines), daemon=True).start()
    last, work, seconds = monotonic(), 0.0, 0.0
    while True:
        if stop is not None and stop.is_set():
            raise InputError(media, "was stopped")
        if work > _GRACE + _SLOWEST * seconds:
            raise InputError(media, f"takes too long: given up after {work:.0f} s of work")
        try:
            line = lines.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            line = b""
        # While this process is stopped (Ctrl-Z) or gets no processor, nobody reads the answers of
        # the worker: such time is not the worker's.
        now = monotonic()
        work += min(now - last, 2 * _POLL_SECONDS)
        last = now
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


def _failure_reason(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    code = process.wait()
    if code < 0:
        name = signal.Signals(-code).name
        return f"crashed the program that decodes it ({name})"
    errors.seek(0)
    last = errors.read()[-2000:].decode(errors="replace").strip().rpartition("\n")[2]
    return f"the program that decodes it ended with code {code}: {last or 'no reason given'}"


def serve(work: Callable[[dict[str, Any]], Mapping[str, object]]) -> None:
    """Run ``work`` on the job from stdin and write the answer; for worker processes."""
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
    """Write one line of JSON to stdout, and flush it."""
    print(json.dumps(content), flush=True)


def limit_memory(extra: int) -> None:
    """Limit the address space of this process to ``extra`` more bytes than now (Linux only)."""
    try:
        import resource  # noqa: PLC0415 - not on Windows

        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (ImportError, OSError):
        return
    limit = pages * os.sysconf("SC_PAGE_SIZE") + extra
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    if hard_limit == resource.RLIM_INFINITY or limit < hard_limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard_limit))
