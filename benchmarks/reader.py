"""Scripts by a language model, asked and answered in files.

``python -m benchmarks.reader ask WORK… --to FOLDER`` writes ``JOB.question.md`` for work folders of
``howsteps run``. Once somebody has put the answer of a model into ``JOB.answer.md``,
``… score WORK… --to FOLDER --references R --tool SPOKEN`` writes ``JOB.second.md``, and with
``JOB.second.answer.md`` makes the final script. It prints P/R of the scripts by label and by time
against the references ``R/[spoken_]JOB.json`` or ``R/judge_JOB.json``; SPOKEN is the file of the
functions that score.
"""

import argparse
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from howsteps.narration.labels import acts_of_labels
from howsteps.reader import AnswerError, Edit, script_of_answer, second_question
from howsteps.reader.question import Question, estimated_tokens, make_question
from howsteps.store import read_result, script_record
from howsteps.task import Script, Task

SCORES = ("label", "most", "time")


def main() -> None:
    """Write the questions, or score the answers."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("command", choices=("ask", "score"))
    options.add_argument("work", type=Path, nargs="+", help="work folders of `howsteps run`")
    options.add_argument("--to", type=Path, required=True, help="folder of questions and answers")
    options.add_argument("--references", type=Path)
    options.add_argument("--tool", type=Path, help="the file of the functions that score")
    asked = options.parse_args()
    asked.to.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[list[float]]] = {}
    for work in asked.work:
        result = read_result(work)
        question = make_question(result.task, result.script, result.set_aside)
        if asked.command == "ask":
            write(asked.to / f"{work.name}.question.md", question.text)
            continue
        print(f"\n{work.name}")
        reference = asked.references and reference_of(asked.references, work.name)
        tool = asked.tool and module_of(asked.tool)
        for name, edit in answered(asked.to / work.name, question).items():
            if edit.script is None:
                print(f"  {name}: not used: {'; '.join(edit.refused)}")
                continue
            show(name, edit)
            if reference and tool:
                values = scores(tool, edit.script, result.task, reference)
                print(f"  P/R: {show_scores(values)}")
                rows.setdefault(name, []).append(values)
    for name, table in rows.items():
        spoken = [row for row in table if len(row) == 2 * len(SCORES)]
        mean = [sum(column) / len(spoken) for column in zip(*spoken, strict=True)]
        print(f"{name:8} mean of {len(spoken)} with spans, P/R: {show_scores(mean)}")


def answered(path: Path, question: Question) -> dict[str, Edit]:
    """The script before, and after the answers to both questions; the second one is written."""
    edits = {"before": Edit(question.script)}
    first = path.with_name(f"{path.name}.answer.md")
    last = path.with_name(f"{path.name}.second.answer.md")
    try:
        if first.exists():
            edits["first"] = script_of_answer(question, first.read_text("utf-8"), acts_of_labels)
            second = second_question(question, edits["first"])
            turns = (question.text, first.read_text("utf-8"), second.text)
            headed = zip(("Question", "Your answer", "Question"), turns, strict=True)
            text = "\n".join(f"# {head}\n\n{turn}\n" for head, turn in headed)
            write(path.with_name(f"{path.name}.second.md"), text)
            if last.exists():
                text = last.read_text("utf-8")
                edits["final"] = script_of_answer(question, text, acts_of_labels, second)
    except AnswerError as error:
        print(f"  refused: {error}")
    return edits


def scores(tool: ModuleType, script: Script, task: Task, reference: dict[str, Any]) -> list[float]:
    """P and R by label, by most of the mentions, and by time."""
    steps = msgspec.to_builtins(script_record(script, task))["steps"]
    starts = {video.id: [m.start for m in video.mentions] for video in task.videos}
    sets = [
        [tool.by_words(step, reference, step["relations"][:1]) for step in steps],
        [tool.by_words(step, reference, step["relations"]) for step in steps],
    ]
    if reference["spans"]:
        sets.append([tool.by_time(step, reference, starts) for step in steps])
    found = [tool.script_scores(each, reference) for each in sets]
    return [float(score[key]) for score in found for key in ("P", "R")]


def reference_of(folder: Path, job: str) -> dict[str, Any] | None:
    """The reference of a job, if there is one; ``judge_JOB.json`` has rules and no spans."""
    for path in (folder / f"{kind}{job}.json" for kind in ("spoken_", "", "judge_")):
        if path.exists():
            found: dict[str, Any] = json.loads(path.read_text("utf-8"))
            steps = [{"name": name, "rules": own} for name, own in found.get("rules", {}).items()]
            return {"steps": steps, "swaps": [], "spans": {}, **found}
    return None


def show_scores(values: Sequence[float]) -> str:
    """Pairs of P and R by name."""
    pairs = zip(SCORES, values[::2], values[1::2], strict=False)
    return ", ".join(f"{name} {p:.2f}/{r:.2f}" for name, p, r in pairs)


def module_of(path: Path) -> ModuleType:
    """Load a Python file that is no part of a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def show(name: str, edit: Edit) -> None:
    """Print a script and what was changed."""
    assert edit.script is not None
    print(f"  {name}: {len(edit.script.steps)} steps, without {len(edit.other_job)} videos")
    for number, step in enumerate(edit.script.steps, 1):
        marks = " (optional)" * step.optional + " (or)" * step.alternative
        print(f"  {number:3d}. {step.label}{marks} ({step.support}; {step.relations[0][0]})")
    for line in edit.changes:
        print(f"       {line}")


def write(path: Path, text: str) -> None:
    """Write a question, and print its size."""
    path.write_text(text, "utf-8")
    print(f"{path}: at most {estimated_tokens(text):,.0f} tokens")


if __name__ == "__main__":
    main()
