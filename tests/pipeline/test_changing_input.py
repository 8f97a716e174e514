"""Files that change while they are read are reported and set aside, and never mixed up."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from howsteps.datasets import read_tasks
from howsteps.errors import InputError
from howsteps.io import files
from howsteps.io.cache import Cache
from howsteps.pipeline import features as features_stage
from howsteps.pipeline import stages
from howsteps.pipeline.context import Context
from howsteps.pipeline.features import describe_videos, method_of
from howsteps.task import Video
from howsteps.vision import features
from tests.films import film
from tests.pipeline.jobs import captions

Change = Callable[[Path], object]


def to_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def to_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n9\n00:00:50,000 --> 00:00:52,000\nand that is it\n")


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


class TestCaptions:
    @pytest.fixture
    def job(self, tmp_path: Path) -> Path:
        return captions(tmp_path / "wash a cat", ("ann", "bob", "cyd"))

    def set_aside(self, job: Path) -> str:
        """Why the captions of bob, and only those, were set aside."""
        found = read_tasks(job)
        assert [video.id for video in found.tasks[0].videos] == ["ann", "cyd"]
        [problem] = found.problems
        assert problem.path == job / "bob.srt"
        return problem.reason

    def before_it_is_opened(self, monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
        unchanged = ["bob.srt"]

        def opened(path: Path, really=files.open_regular) -> Any:
            if path.name in unchanged:
                unchanged.remove(path.name)
                change(path)
            return really(path)

        monkeypatch.setattr(files, "open_regular", opened)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (Path.unlink, "no such file"),
            (to_a_folder, "is not a file"),
            (to_a_pipe, "is not a file"),
            (lambda path: path.write_bytes(b""), "the file is empty"),
        ],
    )
    def test_between_listing_and_reading(self, job, monkeypatch, change, reason) -> None:
        self.before_it_is_opened(monkeypatch, change)
        assert reason in self.set_aside(job)


class TestFilms:
    SECONDS, OTHER_SECONDS = 2.0, 4.0

    @pytest.fixture
    def ann(self, tmp_path: Path) -> Path:
        return film(tmp_path / "ann.mp4", self.SECONDS)

    def look(self, path: Path, cache: Path) -> tuple[list[float], list[str]]:
        """How long the film is by its descriptors, or why there are none."""
        method, context = method_of("default", quick=True), Context(Cache(cache))
        found, problems = describe_videos([Video("ann", media=path)], method, context)
        return [round(one.record.seconds) for one in found], [str(problem) for problem in problems]

    def worker(self, monkeypatch: pytest.MonkeyPatch, change: Change) -> None:
        """Extract descriptors in this process, so that files can be changed before decoding."""

        def run(module: str, job: Mapping[str, Any], **_: object) -> dict[str, object]:
            change(Path(job["media"]))
            return features_stage._describe(dict(job))

        monkeypatch.setattr(features, "limit_memory", lambda _: None)  # of the tests
        monkeypatch.setattr(features, "answer", lambda _: None)
        monkeypatch.setattr(features, "run_in_worker", run)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (grown, "changed while it was read"),  # what is behind the film, no decoder sees
            (lambda path: film(path, 4.0), "changed while it was read"),
            (cut_off, "is not a readable video file"),
            (Path.unlink, "no such file"),
        ],
    )
    def test_between_hash_and_decoding(self, ann, tmp_path, monkeypatch, change, reason) -> None:
        content = ann.read_bytes()
        with monkeypatch.context() as fault:
            self.worker(fault, change)
            found, [line] = self.look(ann, tmp_path / "cache")
        assert not found
        assert line.startswith(f"{ann}: ")
        assert reason in line
        # Nothing of the other film is kept under the hash of this one.
        ann.write_bytes(content)
        with monkeypatch.context() as patch:
            self.worker(patch, lambda _: None)
            assert self.look(ann, tmp_path / "cache") == ([self.SECONDS], [])

    def test_while_it_is_transcribed(self, ann, monkeypatch) -> None:
        def heard(media: Path, **_: object) -> tuple[()]:
            grown(media)
            return ()

        monkeypatch.setattr("howsteps.narration.speech.transcribe", heard)
        with pytest.raises(InputError, match="changed while it was read"):
            stages._transcribe((ann, "tiny.en", "cpu", files.fingerprint(ann)))
