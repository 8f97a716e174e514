"""All executors give the same results, and leave no process behind."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from howsteps.pipeline.context import ItemDone
from howsteps.pipeline.executor import (
    LocalExecutor,
    Outcome,
    map_in_threads,
    workers_that_fit,
)
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from tests.films import film
from tests.pipeline.jobs import captions
from tests.pipeline.work import die_always, die_once, half, process, threads

SMALL = 1 << 20  # bytes that these workers need


def test_gpu_items_run_one_after_another() -> None:
    outcomes = LocalExecutor(2, SMALL).map(process, range(3), device="cuda")
    assert {outcome.value for outcome in outcomes} == {os.getpid()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "map_items",
    [LocalExecutor().map, LocalExecutor(2, SMALL).map, partial(map_in_threads, workers=2)],
    ids=["here", "processes", "threads"],
)
def test_a_failure_does_not_affect_other_items(map_items) -> None:
    outcomes = sorted(map_items(half, range(10)), key=lambda outcome: outcome.index)
    assert [o.index for o in outcomes] == list(range(10))
    failed = {o.index: o.failure for o in outcomes if o.failure is not None}
    assert set(failed) == {3, 5, 7, 9}
    assert failed[3].reason == "is odd"
    assert failed[5].reason == "no halves today"
    assert "ZeroDivisionError: oops" in failed[7].reason
    assert failed[9].reason == "not enough memory"
    assert [o.value for o in outcomes if o.failure is None] == [0, 0.5, 1, 2, 3, 4]


@pytest.mark.slow
def test_items_whose_process_died_are_retried(tmp_path: Path) -> None:
    markers = [str(tmp_path / "same")] * 3  # the first call dies
    outcomes = list(LocalExecutor(2, SMALL).map(die_once, markers))
    assert sorted(outcome.index for outcome in outcomes) == [0, 1, 2]
    assert {outcome.value for outcome in outcomes} == {"alive"}


@pytest.mark.slow
def test_an_item_that_always_dies_fails_with_a_reason() -> None:
    outcomes = {o.index: o for o in LocalExecutor(2, SMALL).map(die_always, ["a", "deadly", "c"])}
    assert outcomes[1].failure is not None
    assert "dies every time" in outcomes[1].failure.reason
    assert outcomes[0] == Outcome(0, "alive")
    assert outcomes[2] == Outcome(2, "alive")


@pytest.mark.slow
def test_workers_share_the_cores_and_the_environment_is_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("howsteps.pipeline.executor.cores", lambda: 6)
    monkeypatch.setenv("OMP_NUM_THREADS", "17")
    assert {o.value for o in LocalExecutor(2, SMALL).map(threads, [0, 1])} == {"3"}
    assert os.environ["OMP_NUM_THREADS"] == "17"


SINGLE = """
from howsteps.pipeline.executor import single_threaded
with single_threaded():
    import scipy.linalg
    from threadpoolctl import threadpool_info
    print({library["num_threads"] for library in threadpool_info()})
"""


def test_a_library_that_is_loaded_later_has_one_thread_too() -> None:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "2")
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", SINGLE], check=True, env=os.environ | threads, capture_output=True
    )
    assert done.stdout == b"{1}\n"


def test_memory_limits_the_number_of_workers() -> None:
    assert workers_that_fit(8, 2, 9) == 4
    assert workers_that_fit(8, 2, 1) == 1
    assert workers_that_fit(8, 2, None) == 8


# What a shell starts in the background is deaf to Ctrl-C, and so are the tests that it starts.
WAITING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from howsteps.pipeline.executor import LocalExecutor
from tests.pipeline.work import wait
if __name__ == "__main__":
    for _ in LocalExecutor(2, 1).map(wait, [sys.argv[1]] * 4): pass
"""


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    # A process that ended and that nobody has asked about yet is gone too.
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_is_left_behind(tmp_path: Path, how: signal.Signals) -> None:
    program = tmp_path / "waiting.py"
    program.write_text(WAITING)
    notes = tmp_path / "notes"
    notes.mkdir()
    root = Path(__file__).parents[2]
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, str(program), str(notes)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])},
        stderr=subprocess.DEVNULL,
    ) as parent:
        until = time.monotonic() + 60
        while len(list(notes.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        workers = [int(note.name) for note in notes.iterdir()]
        parent.send_signal(how)
        assert parent.wait(30) != 0
    assert len(workers) == 2
    until = time.monotonic() + 30
    while not all(map(gone, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(map(gone, workers))


@dataclass(frozen=True)
class Elsewhere:
    """An executor that is not local, like a cluster, and records its items."""

    given: list[tuple[str, str]] = field(default_factory=list)

    def map(self, function, items, *, device="cpu"):
        self.given.append((getattr(function, "func", function).__name__, device))
        return LocalExecutor().map(function, items, device=device)


@pytest.mark.slow
def test_videos_are_described_on_the_cluster(tmp_path: Path) -> None:
    folder = captions(tmp_path / "job", ("ann", "bob"))
    film(folder / "ann.mp4", 46.0)
    executor, events = Elsewhere(), []
    run(folder, tmp_path / "out", RunOptions(quick=True), executor=executor, callback=events.append)
    assert executor.given == [("describe_video", "cpu")]
    looked = [e for e in events if isinstance(e, ItemDone) and e.stage == "features"]
    assert [(e.item, e.cached) for e in looked] == [("ann", False)]
