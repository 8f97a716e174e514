"""Small tasks for tests, written as "verb noun; verb noun"."""

from howsteps.task import Caption, Mention, Sentence, Task, Video, Word


def task(*narrations: str, name: str = "wash a cat") -> Task:
    """One video per narration, "fill tub; catch cat; dry cat": a mention every ten seconds."""
    return Task(name, tuple(_video(f"v{n}", text) for n, text in enumerate(narrations)))


def _video(identity: str, text: str) -> Video:
    sentences, mentions = [], []
    for index, act in enumerate(part for part in text.split(";") if part.strip()):
        words = act.split()
        negated = words[0] == "not"
        verb, *particle, noun = words[negated:]
        start = 10.0 * index
        spoken = (verb, *particle, "the", noun)
        sentences.append(Sentence(tuple(Word(word, start, start + 2) for word in spoken)))
        mentions.append(
            Mention(
                identity,
                verb,
                noun,
                " ".join(spoken),
                start,
                start + 2,
                particle=" ".join(particle),
                negated=negated,
                sentence=index,
            )
        )
    captions = (Caption(0.0, 10.0 * len(mentions), text),)
    return Video(identity, captions, sentences=tuple(sentences), mentions=tuple(mentions))
