"""The readers of untrusted files that are fuzzed, with small valid files as seeds.

For any bytes, a reader must return valid values or raise a ``HowstepsError``. Any other exception
from :meth:`Reader.check` is a fault.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import fuzz_samples as samples
from howsteps import captions, datasets
from howsteps.datasets import authors, fetch, registry
from howsteps.datasets.collection import with_details
from howsteps.datasets.task_file import read_judgements
from howsteps.errors import HowstepsError, InputError
from howsteps.io import mat_files
from howsteps.io.cache import Cache
from howsteps.io.text import read_text
from howsteps.localise.model import Model
from howsteps.pipeline.options import read_project
from howsteps.pipeline.work_folder import load_steps, read_decisions, script_of_learnt
from howsteps.reader import make_question
from howsteps.reader.answer import parse_answer, script_of_answer
from howsteps.reader.reading import parse_reading
from howsteps.script.text_form import parse_script_text
from howsteps.serve.edits import Journal
from howsteps.store import read_result, text_of
from howsteps.task import Caption, Mention, Task, Truth, Video

# Tokens that are inserted into files: invalid numbers, lone surrogates, quotes, markup.
NASTY = (
    *(b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[31m"),
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"1e308", b"9" * 40, b"9" * 400, b"0", b"null"),
    *(b"true", b"[]", b"{}", b'""', b"[[", b"{", b'"', b"<", b">", b"&", b"&#0;", b"-->", b","),
    *(b"\n", b"\n\n", b"\r", b"\x85", "\u2028".encode(), "٣".encode(), "²".encode(), b"../", b"\t"),
)


NARRATED, SCRIPT = samples.narrated_task(), samples.script()


@dataclass(frozen=True)
class Reader:
    """One reader: the name of its file, valid contents, and the other files of its folder."""

    name: str
    file: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], None]
    beside: Mapping[str, bytes]

    def check(self, data: bytes, folder: Path) -> bool:
        """Read ``data`` as the file; return whether it was read, not refused.

        ``folder`` must not be shared with another reader; it is filled at the first call.
        """
        path = folder / self.file
        if not path.exists():
            for name in (self.file, *self.beside):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(self.beside.get(name, b""))
        path.write_bytes(data)
        try:
            self.read(folder)
        except HowstepsError as error:
            str(error).encode("utf-8")
            return False
        return True


def check_captions(lines: tuple[Caption, ...]) -> None:
    """Check that times are finite and sorted, and that the text can be encoded."""
    previous = 0.0
    for line in lines:
        assert previous <= line.start <= line.end < math.inf
        previous = line.start
        line.text.encode("utf-8")
        for word in line.words:
            assert line.start <= word.start <= word.end <= line.end
            word.text.encode("utf-8")


def _captions(folder: Path) -> None:
    check_captions(captions.read_captions(folder / "captions").captions)


def _tasks(folder: Path) -> None:
    collection = datasets.read_tasks(folder / "task.json")
    for problem in collection.problems:
        str(problem).encode("utf-8")
    for task in collection.tasks:
        task.name.encode("utf-8")
        for video in task.videos:
            (video.id + video.title).encode("utf-8")
            assert video.duration is None or 0 <= video.duration < math.inf
            check_captions(video.captions)


def _script(folder: Path) -> None:
    path = folder / "script.md"
    for step in parse_script_text(read_text(path), path):
        assert step.label == " ".join(step.label.split()) != ""
        step.label.encode("utf-8")


def _info(folder: Path) -> None:
    found, remarks = with_details(Video("a"), "a", folder / "a.info.json")
    if remarks:  # the file is reported, and the video is used without it
        raise InputError(remarks[0].path, remarks[0].reason)
    assert found.youtube is None or len(found.youtube) == 11
    assert found.duration is None or 0 < found.duration < math.inf
    for text in (found.title, found.language, *(chapter.title for chapter in found.chapters)):
        text.encode("utf-8")


def _result(folder: Path) -> None:
    found = read_result(folder)
    text_of(found, folder).encode("utf-8")


def _answer(folder: Path) -> None:
    question = make_question(NARRATED, SCRIPT)
    text = (folder / "answer.txt").read_bytes().decode("utf-8", "replace")
    answer, _ = parse_answer(text)
    script_of_answer(question, answer, lambda labels: [()] * len(labels))


def _reading(folder: Path) -> None:
    text = (folder / "reading.txt").read_bytes().decode("utf-8", "replace")
    found, wrong = parse_reading(text, range(1, 5), 2)
    assert all(1 <= r.step <= 2 and 1 <= r.first <= r.last <= 4 for r in found)
    "; ".join(wrong).encode("utf-8", "backslashreplace")


def _project(folder: Path) -> None:
    read_project(folder)


def _decisions(folder: Path) -> None:
    read_decisions(folder)


def _journal(folder: Path) -> None:
    for path in folder.glob("edits-*.jsonl"):  # a journal that cannot be used is kept
        path.unlink()
    journal = Journal.resume(folder, read_result(folder))
    assert 0 <= journal.history.placed <= journal.history.revision
    for step in journal.history.draft.steps:
        step.label.encode("utf-8")


def _truth_file(folder: Path) -> None:
    _check_truths(folder / "truth.json")


def _table(folder: Path) -> None:
    _check_truths(folder / "truth.csv")


def _check_truths(path: Path) -> None:
    for found in registry.read_truth(path):
        _check_truth(found)


def _check_truth(found: Truth) -> None:
    for duration in found.durations.values():
        assert duration is None or 0 < duration < math.inf
    for annotation in found.annotations:
        assert 0 <= annotation.start < annotation.end < math.inf
        assert 0 <= annotation.step < len(found.steps)
    for name in (found.task, *found.steps, *found.durations):
        name.encode("utf-8")


def _release(folder: Path) -> None:
    """Read a release; its ``.mat`` files are valid, so no process of their own is needed."""
    with (
        patch.object(authors, "run_in_worker", lambda _, job, threads: mat_files.convert(job)),
        patch.object(mat_files, "limit_memory"),
    ):
        _check_truths(folder)
        for found in registry.read_labelled(folder):
            _check_truth(found.truth)


def _features(folder: Path) -> None:
    [read] = registry.read_labelled(folder)
    _check_truth(read.truth)
    assert read.features.keys() == read.truth.durations.keys()


def _judgement(folder: Path) -> None:
    read_judgements(folder / "judgement.json", ("boil water", "pour tea"))


def _model(folder: Path) -> None:
    model = Model.load(folder)
    "".join(model.steps).encode("utf-8")
    features = np.zeros((12, len(model.weights.matrix)), np.float32)
    assert model.localise([features]).intervals.shape == (1, len(model.steps))


def _learnt_steps(folder: Path) -> None:
    learnt = load_steps(folder, ("boil", "pour"))
    mention = Mention("v", "boil", "water", "boil the water", 1.0, 2.0)
    task = Task("tea", (Video("v", mentions=(mention,), duration=9.0),))
    script = script_of_learnt(learnt, task)
    assert len(script.steps) == 2
    learnt.job.encode("utf-8")


def _unpacked(folder: Path) -> None:
    fetch.unpack(folder / "archive", folder / "in" / "deep")
    assert sorted(path.name for path in folder.iterdir()) == ["archive", "in"]
    assert [path.name for path in (folder / "in").iterdir()] == ["deep"]


def _store(folder: Path) -> None:
    """Check that a cache entry is returned unchanged or not at all."""
    cache = Cache(folder)
    assert cache.get("stage", "key", Any) in (None, {"a": [1, "b"]})
    arrays = cache.arrays("stage", "key")
    assert arrays is None or arrays["x"].tolist() == [0, 1, 2, 3]


def readers() -> Iterator[Reader]:
    """Yield all readers of untrusted files, and of the cache."""
    yield Reader("captions", "captions", samples.CAPTIONS, _captions, {})
    tasks = samples.as_json(samples.TASK), samples.as_json(samples.TASK_LIST)
    yield Reader("task file", "task.json", tasks, _tasks, {})
    yield Reader("script.md", "script.md", samples.SCRIPT, _script, {})
    yield Reader("info.json", "a.info.json", (samples.as_json(samples.INFO),), _info, {})
    yield Reader("result.json", "result.json", (samples.result(),), _result, {})
    yield Reader("editor's answer", "answer.txt", (samples.answer(),), _answer, {})
    yield Reader("answer on a video", "reading.txt", (samples.READING,), _reading, {})
    yield Reader("howsteps.toml", "howsteps.toml", (samples.PROJECT,), _project, {})
    wanted = {"vtt": {"guesses": True, "shows": "0"}}
    decisions = samples.as_json({"videos": {"u": "keep"}, "exports": wanted})
    yield Reader("decisions.json", "decisions.json", (decisions,), _decisions, {})
    files = samples.journal()
    edits = files.pop("edits.jsonl")
    yield Reader("edits.jsonl", "edits.jsonl", (edits,), _journal, files)
    for name in ("TASK", "COIN"):
        good = samples.as_json(getattr(samples, name))
        yield Reader(f"truth of {name.lower()}", "truth.json", (good,), _truth_file, {})
    yield Reader("steps table", "truth.csv", samples.STEPS, _table, {})
    judged = samples.as_json(samples.JUDGEMENT)
    yield Reader("judgement", "judgement.json", (judged,), _judgement, {})
    yield from _each("crosstask", samples.CROSSTASK, _check_truths)
    yield from _each("feature folder", samples.feature_folder(), _features)
    release = _each("release", samples.release(), _release)
    yield from (reader for reader in release if not reader.file.endswith(".mat"))
    yield from _each("model", samples.model(), _model)
    yield Reader("steps.json", "steps.json", (samples.learnt(),), _learnt_steps, {})
    yield Reader("archive", "archive", samples.archives(), _unpacked, {})
    yield from _each("store", samples.store_entry("json"), _store)
    yield from _each("store", samples.store_entry("npz"), _store)


def _each(name: str, files: Mapping[str, bytes], read: Callable[[Path], None]) -> Iterator[Reader]:
    """Yield a reader for every file of a folder; the other files stay valid."""
    for file, good in files.items():
        beside = {other: content for other, content in files.items() if other != file}
        yield Reader(f"{name}: {Path(file).name}", file, (good,), read, beside)
