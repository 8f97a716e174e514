"""Faults during a run: one clear message each, nothing lost, the same bytes in the end.

Killed runs are in ``pipeline/test_run.py``, dying processes in ``test_executor.py``, dying machines
in ``test_ray_executor.py``, and files that change while being read in ``test_changing_input.py``.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from howsteps.errors import HowstepsError
from howsteps.pipeline.context import Event, ItemDone
from howsteps.pipeline.run import run
from tests.pipeline.jobs import captions, written

NOBODY = 65534


class TestDisk:
    @pytest.mark.slow
    @pytest.mark.parametrize("after", [0, 3, 9, 20])
    def test_the_disk_is_full_after_some_files(self, job, done, tmp_path, monkeypatch, after):
        writes = count()

        def full(file: int, sync=os.fsync) -> None:
            if next(writes) >= after:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(file)

        with monkeypatch.context() as fault:
            fault.setattr("howsteps.io.files.os.fsync", full)
            with pytest.raises(HowstepsError, match=r"^cannot write .*: No space left on device$"):
                run(job, tmp_path / "out")
        assert not list((tmp_path / "out").rglob("*.part"))
        run(job, tmp_path / "out")
        assert written(tmp_path / "out") == written(done)

    def test_the_disk_is_full_from_the_beginning(self, job, tmp_path, monkeypatch):
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("howsteps.pipeline.work_folder.os.write", full)
        with pytest.raises(HowstepsError, match=r"^cannot write .*: No space left on device$"):
            run(job, tmp_path / "out")

    def test_the_disk_is_full_when_the_model_is_saved(self, job, out, done, monkeypatch):
        shutil.rmtree(out / "cache" / "localise")

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as fault:
            fault.setattr("howsteps.localise.model.np.savez", full)
            with pytest.raises(HowstepsError, match=r"^cannot write .*: No space left on device$"):
                run(job, out)
        run(job, out)
        assert written(out) == written(done)


@contextmanager
def without_rights() -> Iterator[None]:
    """Run as an unprivileged user, because file permissions do not apply to root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


# Modules are loaded on first use, and an unprivileged user may have no access to Python's own: a
# complete run comes first.
@pytest.mark.usefixtures("done")
class TestRights:
    @pytest.fixture
    def open_place(self) -> Iterator[Path]:
        """A folder that other users can access, unlike those of pytest."""
        with tempfile.TemporaryDirectory() as place:
            Path(place).chmod(0o777)
            yield Path(place)

    def test_a_video_without_read_permission(self, open_place):
        folder = captions(open_place / "job", ("ann", "bob", "cyd", "eve"))
        (folder / "cyd.srt").chmod(0)
        with without_rights():
            found = run(folder, open_place / "out")
        assert [video.id for video in found.results["job"].task.videos] == ["ann", "bob", "eve"]
        [problem] = [problem for problem in found.problems if not problem.harmless]
        assert str(problem) == f"{folder / 'cyd.srt'}: cannot be read: Permission denied"

    def test_a_folder_without_write_permission(self, open_place):
        folder = captions(open_place / "job", ("ann", "bob"))
        (open_place / "closed").mkdir(mode=0o555)
        with without_rights(), pytest.raises(HowstepsError, match=r"cannot write .* denied"):
            run(folder, open_place / "closed" / "out")
        assert list((open_place / "closed").iterdir()) == []


class TestCache:
    @pytest.mark.parametrize("stage", ["narration", "script", "localise"])
    def test_damaged_entries_are_recomputed(self, job, out, done, stage):
        entries = [p for p in (out / "cache" / stage).rglob("*") if p.is_file()]
        for entry in entries:
            content = bytearray(entry.read_bytes())
            content[len(content) // 2] ^= 4
            entry.write_bytes(content)
        made: list[Event] = []
        run(job, out, callback=made.append)
        again = {e.stage for e in made if isinstance(e, ItemDone) and not e.cached}
        assert again == {stage}
        assert entries
        assert written(out) == written(done)
