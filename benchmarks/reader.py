"""Scripts by a language model: ``python -m benchmarks.reader WORK… --references R --tool SPOKEN``.

WORK are work folders of ``howsteps run``, with ``--llm`` or with the answers of a model in files
(``--ask``, ``--answer``). Prints P/R of their scripts by label, by most of the mentions and by time
against the references ``R/[spoken_]JOB.json`` or ``R/judge_JOB.json``; SPOKEN is the file of the
functions that score. :mod:`benchmarks.places_read` scores the places.
"""

import argparse
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np

from howsteps.store import read_result, script_record
from howsteps.task import Result

SCORES = ("label", "most", "time")


def main() -> None:
    """Print the scripts and their scores."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("work", type=Path, nargs="+")
    options.add_argument("--references", type=Path, required=True)
    options.add_argument("--tool", type=Path, required=True)
    asked = options.parse_args()
    tool, rows = module_of(asked.tool), []
    for work in asked.work:
        result = read_result(work)
        print(f"\n{work.name}: without {len(result.set_aside)} videos, by {result.script.editor}")
        for number, step in enumerate(result.steps, 1):
            marks = " (optional)" * step.optional + " (or)" * step.alternative
            print(f"{number:3d}. {step.label}{marks} ({step.support}; {step.relations[0][0]})")
        for line in result.script.changes:
            print(f"     {line}")
        if reference := reference_of(asked.references, work.name):
            rows.append(scores(tool, result, reference))
            print(f"P/R: {shown(rows[-1])}")
    print(f"\nmean of {len(rows)}, P/R: {shown(np.nanmean(rows, axis=0).tolist())}")


def scores(tool: ModuleType, result: Result, reference: dict[str, Any]) -> list[float]:
    """P and R by label, by most of the mentions, and by time; NaN if there are no spans."""
    steps = msgspec.to_builtins(script_record(result.script, result.task))["steps"]
    starts = {video.id: [m.start for m in video.mentions] for video in result.task.videos}
    sets = [
        [tool.by_words(step, reference, step["relations"][:1]) for step in steps],
        [tool.by_words(step, reference, step["relations"]) for step in steps],
    ]
    if reference["spans"]:
        sets.append([tool.by_time(step, reference, starts) for step in steps])
    found = [tool.script_scores(each, reference) for each in sets]
    values = [float(score[key]) for score in found for key in ("P", "R")]
    return values + [np.nan] * (2 * len(SCORES) - len(values))


def reference_of(folder: Path, job: str) -> dict[str, Any] | None:
    """The reference of a job, if there is one; ``judge_JOB.json`` has rules and no spans."""
    for path in (folder / f"{kind}{job}.json" for kind in ("spoken_", "", "judge_")):
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            steps = [{"name": name, "rules": own} for name, own in found.get("rules", {}).items()]
            return {"steps": steps, "swaps": [], "spans": {}, **found}
    return None


def shown(values: list[float]) -> str:
    """Pairs of P and R by name."""
    pairs = zip(SCORES, values[::2], values[1::2], strict=True)
    return ", ".join(f"{name} {p:.2f}/{r:.2f}" for name, p, r in pairs)


def module_of(path: Path) -> ModuleType:
    """Load a Python file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
