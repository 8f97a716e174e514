"""Stop relations: mentions that are talk and never a step.

Three kinds would crowd out steps on real captions: light verbs ("have a look", "want one"), talk
about the video itself ("hit the bell", "leave a comment"), and the title of the task ("change a
tyre" is all of the steps together).
"""

import re
from collections.abc import Callable

from howsteps.task import Mention

LIGHT_VERBS = frozenset(
    "be have do go want need let know see say think like love guess hope mean call tell talk thank "
    "watch hear feel seem happen recommend prefer decide try start begin finish enjoy wish care "
    "wonder remember forget notice learn understand appreciate suggest consider expect explain "
    "mention figure depend matter cause require involve include become own believe "
    "use get make keep find show buy give leave".split()
)
# Light verbs that are work if they have a particle: "let the air out", "get out the jack".
WORK_WITH_PARTICLE = frozenset("let get keep leave give use make".split())
VAGUE_NOUNS = frozenset(
    "video channel comment subscriber subscription link tutorial guy folk people friend "
    "viewer thing something anything everything nothing stuff way lot bit kind sort time minute "
    "second hour day job question problem idea point reason example look chance fun luck fact case "
    "demonstration rest one other money care difference try shot go tip step process camera "
    "room life trick method version result number amount technique effect size recipe "
    "information".split()
)
# Talk with one of the verbs below, but objects of work too: "twist the left thumb".
CHANNEL_NOUNS = frozenset("thumb bell button".split())
CHANNEL_VERBS = frozenset("click give hit leave ring smash tap".split())


def title_words(title: str) -> frozenset[str]:
    """The words of a title in lower case, with and without a final s."""
    words = set(re.findall(r"[a-z]+", title.lower().replace("_", " ")))
    return frozenset(words | {word.removesuffix("s") for word in words})


def talk_detector(title: str) -> Callable[[Mention], bool]:
    """Return a predicate: whether a mention is talk in videos of the task called ``title``."""
    words = title_words(title)

    def is_talk(mention: Mention) -> bool:
        is_work = bool(mention.particle) and mention.verb in WORK_WITH_PARTICLE
        return (
            (mention.verb in LIGHT_VERBS and not is_work)
            or mention.noun in VAGUE_NOUNS
            or (mention.noun in CHANNEL_NOUNS and mention.verb in CHANNEL_VERBS)
            or (mention.verb in words and mention.noun in words)
        )

    return is_talk
