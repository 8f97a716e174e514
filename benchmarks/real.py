"""Accuracy on real narrations: ``python -m benchmarks.real PATH``.

Evaluates the default, the paper's method and all baselines on every task with captions and ground
truth under PATH, on subsamples of 30 videos, by ``paper-f1`` and by script precision and recall.
Each score is a line of JSON, appended to a results file with the version, the revision and the
machine, so that ``--plot FILE`` shows the results over time.
"""

import argparse
import json
import platform
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

import howsteps
from howsteps.datasets.registry import survey
from howsteps.evaluate.experiment import Plan, Row, run_plan, with_narrations
from howsteps.evaluate.methods import choose
from howsteps.paper.methods import ALL_METHODS

RESULTS = Path("benchmarks/results.jsonl")


def main() -> None:
    """Evaluate, or plot earlier results."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument(
        "path", type=Path, nargs="?", help="folder of task files with ground truth"
    )
    options.add_argument("--results", type=Path, default=RESULTS)
    options.add_argument("--methods", default=",".join(ALL_METHODS))
    options.add_argument("--steps", type=int, default=10)
    options.add_argument("--videos", type=int, default=30, help="size of a subsample; 0: all")
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--plot", type=Path, help="plot the results so far")
    chosen = options.parse_args()
    if chosen.path:
        plan = Plan(
            methods=choose(chosen.methods.split(","), ALL_METHODS),
            steps=(chosen.steps,),
            protocols=("paper-f1", "script", "script-judged"),
            seeds=chosen.seeds,
            videos=chosen.videos or None,
        )
        for record in records(chosen.path, plan):
            with chosen.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
    if chosen.plot:
        plot(read(chosen.results), chosen.plot)
    if not (chosen.path or chosen.plot):
        options.error("give PATH or --plot FILE")


def records(path: Path, plan: Plan) -> Iterator[dict[str, Any]]:
    """Yield every score with version, revision and machine; print a summary."""
    context = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": howsteps.__version__,
        "revision": revision(),
        "machine": f"{platform.machine()} {platform.system()} Python {platform.python_version()}",
        "videos": plan.videos,
    }
    found = survey(path)
    for labelled in found.tasks:
        narrated = with_narrations(labelled, plan)
        if not narrated:
            continue
        rules = found.judgements.get(labelled.task.name)
        rows = run_plan(labelled, narrated, plan, rules=rules).rows
        yield from ({**context, **asdict(row)} for row in rows)
        show(rows)


def revision() -> str:
    """Return the git revision, marked if files have been changed since."""
    try:
        described = subprocess.run(
            ["git", "describe", "--always", "--dirty"],  # noqa: S607
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return described.stdout.strip()


def show(rows: Sequence[Row]) -> None:
    """Print means over seeds as a Markdown table."""
    print("\n| task | method | protocol | precision | recall | F1 |\n|---|---|---|---|---|---|")
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.method, row.protocol), []).append(row)
    for key, same in sorted(groups.items(), key=lambda item: item[0][2]):
        means = (fmean(getattr(r, what) for r in same) for what in ("precision", "recall", "f1"))
        print("| " + " | ".join((*key, *(f"{mean:.3f}" for mean in means))) + " |", flush=True)


def read(path: Path) -> list[dict[str, Any]]:
    """Read all results so far."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def plot(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Plot the mean F1 of every method over the revisions."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    protocols = list(dict.fromkeys(result["protocol"] for result in results))
    revisions = list(dict.fromkeys(result["revision"] for result in results))
    figure = Figure(figsize=(5 * len(protocols), 4), layout="constrained")
    panels = figure.subplots(1, len(protocols), sharey=True, squeeze=False)[0]
    for axes, protocol in zip(panels, protocols, strict=True):
        scores: dict[str, dict[str, list[float]]] = {}
        for result in results:
            if result["protocol"] == protocol:
                of_method = scores.setdefault(result["method"], {})
                of_method.setdefault(result["revision"], []).append(result["f1"])
        for method, by_revision in scores.items():
            positions = [i for i, name in enumerate(revisions) if name in by_revision]
            means = [fmean(by_revision[revisions[i]]) for i in positions]
            axes.plot(positions, means, marker="o", label=method)
        axes.set_xticks(range(len(revisions)), revisions, rotation=45, ha="right", fontsize=7)
        axes.set_title(protocol, fontsize=9)
        axes.legend(fontsize=7, frameon=False)
    panels[0].set_ylabel("F1")
    figure.savefig(path)


if __name__ == "__main__":
    main()
