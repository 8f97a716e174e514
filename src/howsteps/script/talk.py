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
VAGUE_NOUNS = frozenset(
    "video channel comment thumb subscriber subscription link tutorial bell guy folk people friend "
    "viewer thing something anything everything nothing stuff way lot bit kind sort time minute "
    "second hour day job question problem idea point reason example look chance fun luck fact case "
    "demonstration rest one other money care difference try shot go".split()
)


def talk(title: str) -> Callable[[Mention], bool]:
    """Return a test for mentions that are talk in videos of the job ``title``.

    A light verb with a particle is light no more: "let the air *out*".
    """
    words = set(re.findall(r"[a-z]+", title.lower().replace("_", " ")))
    words |= {word.removesuffix("s") for word in words}

    def is_talk(mention: Mention) -> bool:
        return (
            (mention.verb in LIGHT_VERBS and not mention.particle)
            or mention.noun in VAGUE_NOUNS
            or (mention.verb in words and mention.noun in words)
        )

    return is_talk
