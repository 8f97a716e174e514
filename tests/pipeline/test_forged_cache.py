"""Forged cache entries with correct checksums are reported and computed again."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from howsteps.pipeline import stages
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.descriptors import _chunk, _record
from howsteps.pipeline.events import Event, Noted, StageEnded
from howsteps.pipeline.features import _are_codewords
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from tests.engine.jobs import captions, written

STAGES = ("narration", "script", "localise")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("forged")
    run(captions(folder / "job", ("ann", "bob")), folder / "out", RunOptions(steps=3), pages=False)
    return folder / "job", folder / "out"


def changed(value: Any, name: str, to: object) -> Any:
    """Replace every entry of a given name, at any depth of a value."""
    if isinstance(value, dict):
        return {k: to if k == name else changed(v, name, to) for k, v in value.items()}
    return [changed(v, name, to) for v in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_forged_entries_are_computed_again(stage: str, job: tuple[Path, Path]) -> None:
    source, out = job
    before, cache = written(out), Cache(out / "cache")
    [entry, *_] = sorted((out / "cache" / stage).glob("*.json"))
    value = json.loads(entry.read_bytes())
    forgeries: dict[str, list[Any]] = {
        "narration": [
            *(changed(value, "sentence", n) for n in (-1, 10**9, "x")),
            changed(value, "words", [["a", 1e999, None]]),
            changed(value, "verb", "\ud800"),
            *(changed(value, "end", n) for n in (10**30, 1e308, True)),
            changed(value, "work", 1e308),
        ],
        "script": [
            changed(value, "mention", 10**6),
            *(changed(value, "label", label) for label in (3, "\ud800")),
        ],
        "localise": [
            changed(value, "step", 99),
            changed(value, "video", "nobody"),
            *(changed(value, name, 1e308) for name in ("time", "confidence")),
            {**value, "relaxed": [[99, 0]]},
            {**value, "model": 3},
        ],
    }
    for forged in [[], {}, 3, "x", *forgeries[stage]]:
        text = json.dumps(forged).replace("Infinity", "1e999").encode()
        cache._write(entry, text)
        events: list[Event] = []
        run(source, out, RunOptions(steps=3), pages=False, callback=events.append)
        named = [e.problem.path for e in events if isinstance(e, Noted)]
        [ended] = [e for e in events if isinstance(e, StageEnded) and e.stage == stage]
        assert (named, ended.total - ended.cached) == ([entry], 1)
        assert written(out) == before


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 10**5, b"\xff", b"1" * 5000])
def test_invalid_json_and_arrays_count_as_missing(tmp_path: Path, content: bytes) -> None:
    cache = Cache(tmp_path)
    for kind in ("json", "npz"):
        cache._write(cache.path("stage", "key", kind), content)
    assert cache.json("stage", "key") is None
    assert cache.arrays("stage", "key") is None
    refused = cache.pop_refused()
    assert [problem.path.suffix for problem in refused] == [".json", ".npz"]
    assert all("computed again" in problem.reason for problem in refused)
    assert cache.pop_refused() == []


@pytest.mark.parametrize(
    "value",
    [
        *([[]], [1, 2, 3], [[1.0, 2.0, 3, []]], [[1.0, float("nan"), "a", []]]),
        *(
            [[-1.0, 2.0, "a", []]],
            [[1e7, 2e7, "a", []]],
            [[1.0, 2.0, "\ud800", []]],
            [[1.0, 2.0, "a", [["b", 1.0]]]],
            [["1", 2.0, "a", []]],
        ),
    ],
    ids=str,
)
def test_forged_transcripts(value: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        stages._captions("ann", value)


RECORD = {"intervals": 9, "seconds": 3.0, "chunks": 1, "flaws": []}


@pytest.mark.parametrize(
    "change",
    [{"chunks": "x"}, {"chunks": 10**12}, {"intervals": 1.5}, {"seconds": None}, {"flaws": [1]}],
    ids=str,
)
def test_forged_records_of_a_video(tmp_path: Path, change: dict[str, object]) -> None:
    cache = Cache(tmp_path)
    cache.put_json("descriptors", "key", RECORD)
    assert _record("key", cache) == RECORD
    path = cache.put_json("descriptors", "key", {**RECORD, **change})
    assert _record("key", cache) is None
    assert [problem.path for problem in cache.pop_refused()] == [path]


def test_descriptors_and_codewords_of_missing_intervals(tmp_path: Path) -> None:
    cache, places = Cache(tmp_path), np.array([0, 8], np.int32)
    cache.put_arrays("chunks", "key", {"intervals": places, "values": np.ones((2, 3), np.int8)})
    assert _chunk("key", 9, cache) is not None
    assert cache.pop_refused() == []
    assert _chunk("key", 8, cache) is None
    assert len(cache.pop_refused()) == 1
    cache.put_arrays("chunks", "key", {"intervals": places, "values": np.ones((3, 3), np.int8)})
    assert _chunk("key", 9, cache) is None
    assert len(cache.pop_refused()) == 1
    for values in (np.full((2, 3), 1e38, np.float32), np.full((2, 3), np.inf, np.float16)):
        cache.put_arrays("chunks", "key", {"intervals": places, "values": values})
        assert _chunk("key", 9, cache) is None
        assert len(cache.pop_refused()) == 1
    assert _are_codewords({"intervals": places, "codewords": places}, 9, 9)
    assert not _are_codewords({"intervals": places, "codewords": places}, 9, 8)
    assert not _are_codewords({"intervals": places, "codewords": places - 1}, 9, 9)
    assert not _are_codewords({"intervals": places}, 9, 9)
