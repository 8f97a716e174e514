"""Forged cache entries with correct checksums are reported and computed again."""

import json
from pathlib import Path
from typing import Any

import pytest

from howsteps.pipeline import stages
from howsteps.pipeline.cache import Cache
from howsteps.pipeline.events import Event, Noted, StageEnded
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
