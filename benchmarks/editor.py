"""Edit scripts with a real language model: ``python -m benchmarks.editor VIDEOS ADDRESS MODEL``.

VIDEOS is an input of ``howsteps run``, ADDRESS a server with OpenAI's chat completions API. Prints
the script before, the model's reply, what was refused and why, and the script after. A small model
may edit badly, but every mention of the edited script must come from the narrations: this is
checked.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.reader import LanguageModel, LanguageModelError, edit_script, make_question
from howsteps.task import Mention, Script, Task

SHOWN = 400  # characters of a reply


def main() -> None:
    """Run the pipeline and the editor on every task."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("videos", type=Path)
    options.add_argument("address")
    options.add_argument("model")
    options.add_argument("--out", type=Path, help="a work folder whose cache may be used")
    options.add_argument("--timeout", type=float, default=600.0, help="seconds for a reply")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = run(asked.videos, asked.out or Path(folder), RunOptions(vision=False), pages=False)
        editor = LanguageModel(asked.model, asked.address, asked.timeout)
        for result in done.results.values():
            edit(result.task, result.script, editor)


def edit(task: Task, script: Script, editor: LanguageModel) -> None:
    """Edit one script, print the result, and check that no mention was invented."""
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
    except LanguageModelError as error:
        print(f"\nno answer: {error}; the script stays")
        return
    for reason in found.refused:
        print(f"\nrefused: {reason}")
    if found.script is None:
        print("\nthe script stays as it was")
        return
    show("edited", found.script)
    mentions = {mention for video in task.videos for mention in video.mentions}
    assert invented(found.script, mentions) == [], "a step has a mention of no narration"


def invented(script: Script, mentions: set[Mention]) -> list[Mention]:
    """Return the mentions of a script that are not in the narrations."""
    return [m for step in script.steps for m in step.mentions if m not in mentions]


def show(title: str, script: Script) -> None:
    """Print a script."""
    print(f"\n{title}: {len(script.steps)} steps")
    for number, step in enumerate(script.steps, 1):
        print(f"{number:3d}. {step.label} ({step.support} videos)")


if __name__ == "__main__":
    main()
