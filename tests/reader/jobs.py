"""A small job in the words of four narrators, with mentions as the narration stage makes them."""

from howsteps.task import Mention, Place, Sentence, Task, Video, Word

LINES = (
    ("boil", "", "water", "boil the water in a kettle", (Place("in", "kettle"),)),
    ("grind", "", "bean", "grind the beans", ()),
    ("pour", "", "water", "pour the hot water over the grounds", (Place("over", "ground"),)),
    ("wait", "", "", "wait four minutes", ()),
    ("push", "down", "plunger", "push down the plunger slowly", ()),
    ("thank", "", "you", "thank you for watching", ()),
)


def narrator(name: str, lines: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> Video:
    """A video in which each line is a sentence of ten seconds."""
    sentences, mentions = [], []
    for index, number in enumerate(lines):
        verb, particle, noun, text, places = LINES[number]
        start = 10.0 * index
        words = tuple(
            Word(word, start + 0.5 * n, start + 0.5 * n + 0.4)
            for n, word in enumerate(text.split())
        )
        sentences.append(Sentence(words))
        mentions.append(
            Mention(
                name,
                verb,
                noun,
                text,
                start,
                words[-1].end,
                particle=particle,
                sentence=index,
                places=places,
                work=0.1 if verb == "thank" else 0.9,
            )
        )
    return Video(
        name,
        title=f"Coffee by {name}",
        duration=60.0,
        sentences=tuple(sentences),
        mentions=tuple(mentions),
    )


def coffee() -> Task:
    """Four narrations of making coffee; the last one never waits."""
    complete = tuple(narrator(name) for name in ("ann", "bob", "cleo"))
    return Task("make_coffee", (*complete, narrator("dan", (0, 1, 2, 4, 5))))
