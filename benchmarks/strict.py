"""Scripts as a strict editor reads them: ``python -m benchmarks.strict ask`` and ``count``.

The other figures ask whether a step names a true one; this one asks whether a person could follow
it. ``ask`` writes the scripts of several versions as a form: for each job the scripts in random
order, without their names, to be judged step by step. A person or a strong language model fills it
in; ``count`` reads it back::

    howsteps run captions/ --out new/                # one work folder per job
    python -m benchmarks.strict ask form.md --key key.json new=new/ old=old/ --counting new
    python -m benchmarks.strict count form.md --key key.json

In the form, every step has a mark before it: ``k`` keep as it is, ``t`` keep after a touch, ``d``
drop; after a bar, the fault. A line ``missing:`` below each script lists the main steps that it
lacks, separated by semicolons.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from howsteps import read_result
from howsteps.evaluate.methods import frequent

FAULTS = ("object", "order", "word", "meaningless", "effect", "repetition", "other")
_STEP = re.compile(r"^([ktd?]) ([A-Z])(\d+)\. .*?(?:\| *([a-z]*).*)?$")
_MISSING = re.compile(r"^missing ([A-Z]): *(.*)$")
INTRODUCTION = """\
You are the strict editor of a how-to magazine. Below are lists of steps that programs wrote for
some jobs. Judge every step as it stands in its list, as a reader who wants to do the job would:
replace the question mark before it by

k  keep: a reader can follow it as it is, it is a step of this job, and it stands where it belongs;
t  touch: it becomes good with a small change (an object or a place added, a word corrected, moved
   by a few lines);
d  drop: it is no step of the job, means nothing, or repeats another.

After t or d write a bar and the fault: object (no object, place or tool), order, word (misheard or
odd), meaningless, effect (a goal, an effect, what things do), repetition, other. After "missing X:"
list the main steps that list X lacks, the acts without which the job is not done, separated by
semicolons; nothing if none. Change nothing else.
"""


def main() -> None:
    """Write a form, or count one."""
    parser = argparse.ArgumentParser(description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    ask_ = actions.add_parser("ask", help="write the form")
    ask_.add_argument("form", type=Path)
    ask_.add_argument("versions", nargs="+", metavar="NAME=FOLDER", help="work folders, one a job")
    ask_.add_argument(
        "--counting", metavar="NAME", help="add the most frequent acts of this version"
    )
    ask_.add_argument("--seed", type=int, default=0)
    count_ = actions.add_parser("count", help="count a form that was filled in")
    count_.add_argument("form", type=Path)
    for action in (ask_, count_):
        action.add_argument("--key", type=Path, required=True, help="which list is whose")
    given = parser.parse_args()
    if given.action == "ask":
        folders = dict(version.split("=", 1) for version in given.versions)
        scripts = read_scripts({name: Path(folder) for name, folder in folders.items()})
        if given.counting:
            add_counting(scripts, Path(folders[given.counting]))
        form, key = ask(scripts, Random(given.seed))  # noqa: S311 - an order, not a secret
        given.form.write_text(form, "utf-8")
        given.key.write_text(json.dumps(key, indent=1), "utf-8")
    else:
        print(count(given.form.read_text("utf-8"), json.loads(given.key.read_text("utf-8"))))


def read_scripts(folders: dict[str, Path]) -> dict[str, dict[str, list[str]]]:
    """The labels of the steps, by job and version; jobs that some version lacks are left out."""
    scripts: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for version, folder in folders.items():
        for path in sorted(folder.glob("*/result.json")):
            value = json.loads(path.read_text("utf-8"))
            scripts[path.parent.name][version] = [step["label"] for step in value["steps"]]
    return {job: found for job, found in scripts.items() if len(found) == len(folders)}


def add_counting(scripts: dict[str, dict[str, list[str]]], folder: Path) -> None:
    """Add the baseline: as many of the most frequent acts as that version has steps."""
    for job, found in scripts.items():
        result = read_result(folder / job)
        script = frequent(result.task, len(result.script.steps))
        found["counting"] = [step.label for step in script.steps]


def ask(
    scripts: dict[str, dict[str, list[str]]], random: Random
) -> tuple[str, dict[str, dict[str, str]]]:
    """The form, and the version of every list by job and letter."""
    lines, key = [INTRODUCTION], {}
    for job, found in scripts.items():
        versions = sorted(found)
        random.shuffle(versions)
        key[job] = {chr(ord("A") + n): version for n, version in enumerate(versions)}
        lines.append(f"# {job}\n")
        for letter, version in key[job].items():
            lines += [f"? {letter}{n}. {label}" for n, label in enumerate(found[version], 1)]
            lines.append(f"missing {letter}:\n")
    return "\n".join(lines) + "\n", key


def count(form: str, key: dict[str, dict[str, str]]) -> str:
    """A table of the answers: shares of the marks, missing steps a job, and faults by version."""
    marks: dict[str, Counter[str]] = defaultdict(Counter)
    faults: dict[str, Counter[str]] = defaultdict(Counter)
    missing: dict[str, list[int]] = defaultdict(list)
    job = ""
    for line in form.splitlines():
        if line.startswith("# "):
            job = line[2:].strip()
        elif step := _STEP.match(line):
            version = key[job][step[2]]
            marks[version][step[1]] += 1
            if step[1] in "td":
                faults[version][step[4] if step[4] in FAULTS else "other"] += 1
        elif lacks := _MISSING.match(line):
            steps = [step.strip(" .").lower() for step in lacks[2].split(";")]
            missing[key[job][lacks[1]]].append(len({*steps} - {"", "nothing", "none"}))
    rows = [f"{'':12} steps  keep touch  drop  missing a job  faults"]
    for version, found in sorted(marks.items()):
        total = found.total()
        if found["?"]:
            raise SystemExit(f"{found['?']} steps of the form are not judged yet")
        shares = "  ".join(f"{found[mark] / total:.2f}" for mark in "ktd")
        lacking = sum(missing[version]) / max(len(missing[version]), 1)
        kinds = ", ".join(f"{fault} {n}" for fault, n in faults[version].most_common())
        rows.append(f"{version:12} {total:5d}  {shares}  {lacking:13.1f}  {kinds}")
    return "\n".join(rows)


if __name__ == "__main__":
    main()
