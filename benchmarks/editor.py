"""A real model as editor: ``python -m benchmarks.editor VIDEOS ADDRESS MODEL``.

VIDEOS is what ``howsteps run`` takes, ADDRESS a server that speaks OpenAI's chat completions.
Prints the script as it was, what the model answered, what was refused and why, and the script as it
is. A small model may edit badly; what it may not do is break anything, which is checked.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from howsteps.editor import Editor, EditorError, edit_script, make_question
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.task import Mention, Script, Task

SHOWN = 400  # characters of a reply


def main() -> None:
    """Ask, and compare."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("videos", type=Path)
    options.add_argument("address")
    options.add_argument("model")
    options.add_argument("--out", type=Path, help="a work folder whose cache may be used")
    options.add_argument("--timeout", type=float, default=600.0, help="seconds for a reply")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = run(asked.videos, asked.out or Path(folder), RunOptions(vision=False), pages=False)
        editor = Editor(asked.address, asked.model, asked.timeout)
        for result in done.results.values():
            edit(result.task, result.script, editor)


def edit(task: Task, script: Script, editor: Editor) -> None:
    """Let the model edit one script, print what came of it, and check that it made nothing up."""
    letters = len(make_question(task).text)
    print(f"\n{task.name}: {len(task.videos)} videos, question of {letters:,} characters")
    show("as it was", script)
    began = time.perf_counter()

    def reply(messages: Sequence[dict[str, str]]) -> str:
        found = editor.reply(messages)
        print(f"\nreply of {len(found):,} characters after {time.perf_counter() - began:.0f} s:")
        print(found[:SHOWN])
        return found

    try:
        found = edit_script(task, script, reply)
    except EditorError as error:
        print(f"\nno answer: {error}; the script stays")
        return
    for reason in found.refused:
        print(f"\nrefused: {reason}")
    if found.script is None:
        print("\nthe script stays as it was")
        return
    show("edited", found.script)
    said = {mention for video in task.videos for mention in video.mentions}
    assert invented(found.script, said) == [], "a step holds what nobody said"


def invented(script: Script, said: set[Mention]) -> list[Mention]:
    """Mentions of a script that no narrator said."""
    return [mention for step in script.steps for mention in step.mentions if mention not in said]


def show(title: str, script: Script) -> None:
    """Print a script."""
    print(f"\n{title}: {len(script.steps)} steps")
    for number, step in enumerate(script.steps, 1):
        print(f"{number:3d}. {step.label} ({step.support} videos)")


if __name__ == "__main__":
    main()
