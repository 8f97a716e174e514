"""How a step is shown: its name, and sentences that say it."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from howsteps.narration.summary import usual_phrase
from howsteps.task import Mention, Step, Task

EXAMPLES = 3
SHORT = 3  # words of a phrase in which nothing is left to chance
EXAMPLE_WORDS = 10  # a sentence of about this length is quick to read
# A page that tells how has "the eggs", whoever's they are in the video.
_THE = frozenset("my our your his her their this that these those".split())


def shown(task: Task, mentions: Sequence[Mention]) -> Step:
    """The step that holds the given mentions, named by its most frequent relation."""
    step = Step(label="", mentions=tuple(mentions))
    usual = step.relations[0][0]
    own = [mention for mention in mentions if mention.relation == usual]
    return replace(step, label=usual_phrase(own), examples=examples(task, own))


def named(task: Task, groups: Sequence[Sequence[Mention]]) -> tuple[Step, ...]:
    """Steps with names as a page that tells how would have them, no two alike.

    A step that would be called like one before it takes its next best name, or is done "again".
    """
    steps = []
    used: set[str] = set()
    for group in groups:
        usual = _usual(group)
        label = plain(usual)
        if label in used:
            rest = [mention for mention in group if mention.relation != usual[0].relation]
            other = plain(_usual(rest)) if 3 * len(rest) >= len(group) else label
            label = _once_more(label, used) if other in used else other
        used.add(label)
        steps.append(Step(label, tuple(group), examples(task, usual)))
    return tuple(steps)


def _once_more(label: str, used: Collection[str]) -> str:
    again = f"{label} again"
    times = 3
    while again in used:
        again, times = f"{label} again ({times})", times + 1
    return again


def _usual(mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions of the most frequent verb and noun, with their particle if they have one.

    "Put on the tire" says more than "put the tire": a third of the mentions is enough for it, but
    not a single one of several.
    """
    step = Step("", tuple(mentions))
    own = [mention for mention in mentions if mention.relation == step.relations[0][0]]
    counts = Counter(mention.particle for mention in own if mention.particle)
    usual = min(counts, key=lambda particle: (-counts[particle], particle), default="")
    enough = max(len(own) / 3, min(2, len(own)))
    return [m for m in own if m.particle == usual] if counts[usual] >= enough else own


def plain(mentions: Sequence[Mention]) -> str:
    """The usual phrase, with "the" in the place of whose it is; by what is named itself if any.

    Where no two say it alike, what comes before the noun is chance ("the giant blue nest").
    """
    spoken = [mention for mention in mentions if not mention.resolved] or mentions
    phrases = [" ".join(_whose(mention.phrase.split())) for mention in spoken]
    usual = usual_phrase(
        replace(mention, phrase=phrase) for mention, phrase in zip(spoken, phrases, strict=True)
    )
    if phrases.count(usual) > 1 or (len(mentions) == 1 and len(usual.split()) <= SHORT):
        return usual
    one = spoken[phrases.index(usual)]
    noun = one.noun if " " in one.particle else usual.split()[-1]
    return " ".join(filter(None, (one.verb, one.particle, "the", noun)))


def _whose(words: Sequence[str]) -> list[str]:
    return [
        "the" if word in _THE and 0 < place < len(words) - 1 else word
        for place, word in enumerate(words)
        if not (word in _THE and place and words[place - 1] in {"all", "both", "half"})
    ]


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
