"""The folder in which the examples of the docs run: captions of the demo, and a run on them."""

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from howsteps import datasets
from howsteps.demo.job import NAME, true_steps
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run


@pytest.fixture(scope="session")
def made_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``videos/`` has captions, ``steps/`` a run on them, ``data/`` captions with ground truth.

    ``tire.json`` is the same job as one task file, ``new.vtt`` a narration of it that is new.
    """
    folder = tmp_path_factory.mktemp("docs")
    with as_file(files("howsteps.demo")) as demo:
        shutil.copytree(demo / NAME, folder / "videos")
        shutil.copytree(demo / NAME, folder / "data")
        shutil.copy(demo / "steps.csv", folder / "data" / "steps.csv")
        shutil.copy(demo / "steps.csv", folder / "steps.csv")
        shutil.copy(demo / "judgement.json", folder / "judgement.json")
        shutil.copy(demo / NAME / "dee.en.vtt", folder / "new.vtt")
    (folder / "videos" / "ines.es.srt").unlink()
    (folder / "data" / "ines.es.srt").unlink()
    (folder / "tire.json").write_text(json.dumps(_task_file(folder / "videos")), "utf-8")
    run(folder / "videos", folder / "steps", RunOptions(vision=False))
    return folder


def _task_file(captions: Path) -> dict[str, object]:
    """The captions and the true steps of the demo, as one task file."""
    [task] = datasets.read_tasks(captions).tasks
    truth = true_steps()
    return {
        "task": "fix a flat bike tire",
        "step_names": list(truth.steps),
        "videos": {
            video.id: {
                "duration": video.captions[-1].end + 2,
                "asr": [[c.start, c.end, c.text] for c in video.captions],
                "steps": [
                    [each.step + 1, each.start, each.end]
                    for each in truth.annotations
                    if each.video == video.id
                ],
            }
            for video in task.videos
        },
    }


@pytest.fixture
def workplace(made_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the folder as the current folder."""
    place = tmp_path / "work"
    shutil.copytree(made_folder, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return place
