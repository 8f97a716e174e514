"""Damaged cache entries are computed again."""

from pathlib import Path

import pytest

from howsteps.pipeline.events import Event, StageEnded
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from tests.pipeline.jobs import captions, written


@pytest.mark.slow
def test_damaged_entries_are_computed_again(tmp_path: Path) -> None:
    source, out = captions(tmp_path / "job", ("ann", "bob")), tmp_path / "out"
    run(source, out, RunOptions(steps=3), pages=False)
    before = written(out)
    for stage in ("narration", "script", "localise"):
        [entry, *_] = sorted((out / "cache" / stage).glob("*.json"))
        content = entry.read_bytes()
        entry.write_bytes(content[:20] + b"7" + content[21:])
        events: list[Event] = []
        run(source, out, RunOptions(steps=3), pages=False, callback=events.append)
        [ended] = [e for e in events if isinstance(e, StageEnded) and e.stage == stage]
        assert ended.total - ended.cached == 1
        assert entry.read_bytes() == content
        assert written(out) == before
