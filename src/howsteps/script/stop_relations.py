"""Mentions that are not of steps: talk, not work.

Three kinds take slots away from steps on real captions: light verbs ("have a look", "want one"),
talk about the video itself ("hit the bell", "leave a comment"), and the title of the job ("change a
tyre" is what all of the steps are).
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
# Of these a particle makes work: "let the air out", "get out the jack".
MADE_WORK = frozenset("let get keep leave give use make".split())
VAGUE_NOUNS = frozenset(
    "video channel comment subscriber subscription link tutorial guy folk people friend "
    "viewer thing something anything everything nothing stuff way lot bit kind sort time minute "
    "second hour day job question problem idea point reason example look chance fun luck fact case "
    "demonstration rest one other money care difference try shot go tip step process camera "
    "room life trick method version result number amount technique effect size recipe "
    "information".split()
)
# What viewers are asked for, and things of many jobs all the same: "twist the left thumb".
CHANNEL_NOUNS = frozenset("thumb bell button".split())
CHANNEL_VERBS = frozenset("click give hit leave ring smash tap".split())


def title_words(title: str) -> frozenset[str]:
    """The words of a title, and what they are without an s at the end."""
    words = set(re.findall(r"[a-z]+", title.lower().replace("_", " ")))
    return frozenset(words | {word.removesuffix("s") for word in words})


def talk(title: str) -> Callable[[Mention], bool]:
    """Return a test for mentions that are talk in videos of the job ``title``.

    Some light verbs with a particle are light no more: "let the air *out*".
    """
    words = title_words(title)

    def is_talk(mention: Mention) -> bool:
        return (
            (mention.verb in LIGHT_VERBS and not (mention.particle and mention.verb in MADE_WORK))
            or mention.noun in VAGUE_NOUNS
            or (mention.noun in CHANNEL_NOUNS and mention.verb in CHANNEL_VERBS)
            or (mention.verb in words and mention.noun in words)
        )

    return is_talk
