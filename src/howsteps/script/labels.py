"""How a step is shown: its label, and example sentences."""

from collections.abc import Sequence
from dataclasses import replace

from howsteps.narration.relations import usual_phrase
from howsteps.task import Mention, Step, Task

EXAMPLES = 3
EXAMPLE_WORDS = 10  # the preferred length


def labelled_step(task: Task, mentions: Sequence[Mention]) -> Step:
    """Make a step of mentions, labelled by its most frequent relation."""
    step = Step(label="", mentions=tuple(mentions))
    usual = step.relations[0][0]
    naming = [mention for mention in mentions if mention.relation == usual]
    return replace(step, label=usual_phrase(naming), examples=examples(task, naming))


def examples(task: Task, mentions: Sequence[Mention]) -> tuple[str, ...]:
    """Example sentences, each of another video, easiest to read first.

    Sentences that name the object come before pronouns ("take it off"), active before passive
    ("it is taken off"), then those of a convenient length.
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
