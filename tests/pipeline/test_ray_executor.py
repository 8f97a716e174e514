"""A real Ray cluster of two nodes on this machine: the same bytes, even if workers die."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from howsteps import datasets
from howsteps.errors import HowstepsError
from howsteps.io.cache import Cache
from howsteps.pipeline import stages
from howsteps.pipeline.context import Context, Event, ItemDone
from howsteps.pipeline.executor import RAY_TRIES, Outcome, RayExecutor
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from tests.pipeline.jobs import captions, written
from tests.pipeline.work import (
    die_always,
    die_once,
    half,
    halves,
    imported_click,
    note,
    threads_of_libraries,
)

pytestmark = pytest.mark.ray

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def nodes() -> Iterator[object]:
    """A cluster of a head node and a second node, one core each, connected to this process."""
    with pytest.MonkeyPatch.context() as environment:
        # Workers find the functions of these tests.
        environment.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
        environment.setenv("RAY_USAGE_STATS_ENABLED", "0")
        # Ray lets its workers wait for everybody else, as here for the other tests.
        environment.setenv("RAY_worker_niceness", "0")
        import ray
        from ray.cluster_utils import Cluster as Nodes

        room = {"num_cpus": 1, "object_store_memory": 80 << 20}
        found = Nodes(initialize_head=True, head_node_args={**room, "include_dashboard": False})
        found.add_node(**room)
        yield found
        ray.shutdown()
        found.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes) -> RayExecutor:
    return RayExecutor(nodes.address)


def test_a_failure_does_not_affect_other_items(cluster):
    outcomes = sorted(cluster.map(half, range(9)), key=lambda outcome: outcome.index)
    failed = {o.index: o.failure for o in outcomes if o.failure is not None}
    assert set(failed) == {3, 5, 7}
    assert failed[3].reason == "is odd"
    assert failed[5].reason == "no halves today"
    assert [o.value for o in outcomes if o.failure is None] == [0, 0.5, 1, 2, 3, 4]


def test_a_worker_that_died_is_replaced(cluster, tmp_path):
    outcomes = list(cluster.map(die_once, [str(tmp_path / "a"), str(tmp_path / "b")]))
    assert {outcome.value for outcome in outcomes} == {"alive"}


def test_an_item_that_always_dies_fails_with_a_reason(cluster):
    outcomes = {o.index: o for o in cluster.map(die_always, ["a", "deadly"])}
    assert outcomes[0].value == "alive"
    assert "dies every time" in outcomes[1].failure.reason
    assert RAY_TRIES > 1


def test_the_number_of_tasks_in_flight_is_bounded(cluster, tmp_path):
    outcomes = cluster.map(note, [str(tmp_path)] * 20)
    next(outcomes)
    time.sleep(1)  # time enough for all of them, if they had been sent
    assert len(list(tmp_path.iterdir())) <= 1 + 2 * 2
    assert len(list(outcomes)) == 19
    assert len(list(tmp_path.iterdir())) == 20


def test_items_that_wait_for_items_of_their_own_release_their_cores(cluster):
    found: list[Outcome[list[float]]] = []
    jobs = [cluster] * 4
    # In a thread, as they would wait for each other forever.
    work = Thread(target=lambda: found.extend(cluster.map(halves, jobs)), daemon=True)
    work.start()
    work.join(timeout=120)
    assert [outcome.value for outcome in found] == [[0.5, 1.0]] * 4


def test_libraries_use_one_thread_per_worker(cluster):
    assert {outcome.value for outcome in cluster.map(threads_of_libraries, [0])} == {"11"}


def test_the_videos_of_a_task_are_parsed_on_the_cluster(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("howsteps.pipeline.stages.FEW_NARRATIONS", 1)
    [task] = datasets.read_tasks(captions(tmp_path / "job", ("ann", "bob"))).tasks
    contexts = [Context(Cache(tmp_path / "away"), cluster), Context(Cache(tmp_path / "here"))]
    away, here = (stages.extract_mentions(task, RunOptions(), context) for context in contexts)
    assert away == here
    assert entries(tmp_path / "away") == entries(tmp_path / "here")


def test_without_ray_one_line_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("howsteps.errors.find_spec", lambda name: None)
    with pytest.raises(HowstepsError, match=r"pip install 'howsteps\[ray\]'"):
        next(RayExecutor().map(half, [1]))


@pytest.fixture
def jobs(tmp_path) -> Path:
    """Three jobs, with one unreadable video."""
    for name, people in {"one": "ann bob cyd", "two": "bob dan eve", "three": "ann eve"}.items():
        captions(tmp_path / "jobs" / name, tuple(people.split()))
    (tmp_path / "jobs" / "two" / "broken.srt").write_bytes(b"\0\1 no captions")
    return tmp_path / "jobs"


def test_workers_import_nothing_from_the_current_folder(nodes, tmp_path, monkeypatch):
    import ray

    ray.shutdown()  # connect again, from another folder
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong module')\n")
    monkeypatch.chdir(tmp_path)
    [outcome] = RayExecutor(nodes.address).map(imported_click, [0])
    assert outcome.failure is None
    assert not outcome.value.startswith(str(tmp_path))


# The last, as the node is gone afterwards.
def test_a_node_that_dies_in_the_middle_changes_nothing(nodes, cluster, jobs, tmp_path):
    run(jobs, tmp_path / "here")  # with all threads of this machine
    alive = list(nodes.worker_nodes)

    def callback(event: Event) -> None:
        if isinstance(event, ItemDone) and alive:
            nodes.remove_node(alive.pop(), allow_graceful=False)

    away = run(jobs, tmp_path / "away", executor=cluster, callback=callback)
    assert alive == []
    assert set(away.folders) == {"one", "two", "three"}
    assert [p.path.name for p in away.problems if not p.harmless] == ["broken.srt"]
    assert written(tmp_path / "away") == written(tmp_path / "here")
    assert entries(tmp_path / "away" / "cache") == entries(tmp_path / "here" / "cache")
    before = stamps(tmp_path / "away" / "cache")
    run(jobs, tmp_path / "away", executor=cluster)
    assert stamps(tmp_path / "away" / "cache") == before  # a second run computes nothing


def entries(folder: Path) -> dict[str, bytes]:
    """The entries of a cache by their keys."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(".part")
    }


def stamps(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
