"""User code that ``tests/test_api.py`` checks with ``mypy --strict``; it is never run."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import howsteps
from howsteps import Caption, Result, Task, Video
from howsteps.evaluate import paper_f1
from howsteps.paper.alignment import align
from howsteps.paper.clustering import cluster
from howsteps.task import Annotation, Truth


def from_a_folder(folder: str) -> list[str]:
    result = howsteps.run(folder, Path("steps"), steps=8, mode="default").result
    for problem in result.problems:
        print(problem.path, problem.reason, problem.harmless)
    print([(place.label, place.time, place.level) for place in result.places])
    return [step.label for step in result.steps]


def from_files(videos: list[Path]) -> Result:
    return howsteps.discover(videos, title="change a tire")


def from_values() -> Result:
    videos = tuple(Video(name, (Caption(0.0, 2.0, "fill the tub"),)) for name in ("ann", "bob"))
    return howsteps.discover(Task("wash a cat", videos))


def onwards(result: Result, model: Path) -> tuple[float, ...]:
    more = howsteps.apply(model, ["new.mp4", Path("other.mp4")], out="applied")
    files = howsteps.export(result, "exports", ["vtt", "csv"])
    page = howsteps.export(more, "page", "page").paths[0]
    print(page.stat().st_size, [path.name for path in files.paths], files.problems)
    return tuple(place.confidence for place in howsteps.read_result("steps").localisations)


def in_parts(task: Task) -> str:
    script = howsteps.script.discover(howsteps.narration.extract_relations(task))
    return howsteps.place("steps", script).to_json()


def many(source: Path) -> dict[str, int]:
    try:
        done = howsteps.run(source, "steps", steps=10, workers=2)
    except howsteps.InputError as error:
        print(error.problem.path)
        return {}
    except howsteps.HowstepsError as error:
        print(error)
        return {}
    return {name: len(result.script.steps) for name, result in done.results.items()}


def solvers(features: list[NDArray[np.float32]], windows: list[list[list[bool]]]) -> float:
    alignment = align([["boil", "pour"], ["boil"]])
    slots: tuple[tuple[int, ...], ...] = alignment.slots
    found = cluster(features, windows, steps=2)
    intervals: NDArray[np.int64] = found.intervals
    weights: NDArray[np.float64] = found.weights.matrix
    print(slots, intervals, weights)
    truth = Truth("tea", ("boil",), (Annotation("u", 0, 0, 2),), {"u": None})
    score = paper_f1({"u": [1.0, None]}, truth)
    return score.f1


def wrong() -> None:
    howsteps.discover(5)  # type: ignore[arg-type]
    howsteps.discover("folder", mode="best")  # type: ignore[arg-type]
    howsteps.no_such_name  # type: ignore[attr-defined] # noqa: B018
    cluster([], [], steps=2.5)  # type: ignore[arg-type]
