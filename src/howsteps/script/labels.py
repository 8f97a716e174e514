"""How a step is shown: its name, and sentences that say it."""

from collections.abc import Sequence
from dataclasses import replace

from howsteps.narration.summary import usual_phrase
from howsteps.task import Mention, Step, Task

EXAMPLES = 3
EXAMPLE_WORDS = 10  # a sentence of about this length is quick to read


def shown(task: Task, mentions: Sequence[Mention]) -> Step:
    """The step that holds the given mentions, named by its most frequent relation."""
    step = Step(label="", mentions=tuple(mentions))
    usual = step.relations[0][0]
    own = [mention for mention in mentions if mention.relation == usual]
    return replace(step, label=usual_phrase(own), examples=examples(task, own))


def examples(task: Task, mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Sentences of different videos, the easiest to read first.

    A sentence that names the thing itself, as what is done, goes before "take it off" and "it is
    taken off"; then a length that is quick to read counts.
    """
    sentences = {video.id: video.sentences for video in task.videos}
    found: list[tuple[bool, bool, int, str, str]] = []
    for mention in mentions:
        if mention.sentence < len(sentences[mention.video]):
            text = sentences[mention.video][mention.sentence].text
            length = abs(len(text.split()) - EXAMPLE_WORDS)
            found.append((mention.resolved, mention.passive, length, text, mention.video))
    chosen: dict[str, str] = {}
    for *_, text, video in sorted(found):
        if text not in chosen and video not in chosen.values():
            chosen[text] = video
    return tuple(chosen)[:EXAMPLES]
