"""Tools, ingredients and durations that narrators agree on."""

from dataclasses import replace

import pytest

from howsteps.report.agreed import duration, things_needed
from howsteps.task import Mention, Result, Script, Sentence, Step, Task, Video, Word


def video(name: str, text: str, *mentions: Mention) -> Video:
    words = tuple(Word(word, 0.4 * n, 0.4 * n + 0.3) for n, word in enumerate(text.split()))
    own = tuple(replace(mention, video=name) for mention in mentions)
    return Video(name, sentences=(Sentence(words),), mentions=own)


def result(*videos: Video) -> Result:
    mentions = tuple(m for v in videos for m in v.mentions)
    return Result(Task("job", videos), Script((Step("cook", mentions),)), ())


NEED = Mention("", "need", "whisk", "need a whisk", 0.0, 1.0)
STIR = Mention("", "stir", "egg", "stir the eggs", 0.0, 1.0, tools=("fork",))


def takes(*texts: str) -> str:
    found = result(*(video(f"v{n}", text, STIR) for n, text in enumerate(texts)))
    sentences = {v.id: v.sentences for v in found.task.videos}
    return duration(found.script.steps[0], sentences)


def test_tools_and_needed_things_are_listed() -> None:
    videos = [video(f"v{n}", "you need a whisk", NEED, STIR) for n in range(2)]
    assert things_needed(result(*videos)) == ["fork", "whisk"]


def test_things_of_one_narrator_are_not_listed() -> None:
    assert things_needed(result(video("a", "x", NEED), video("b", "x", STIR))) == []


@pytest.mark.parametrize(
    ("nouns", "listed"),
    [
        ("jack wrench towel bowl scissors glue microwave", True),
        ("salt water soil butter onion vinegar fertilizer cloth", True),
        ("air room sun time way effort fun flavor heat question corner", False),
        ("finger knuckle friend car breakfast video", False),
        ("tool thing stuff product ingredient material", False),
        ("flibbertigadget", False),
    ],
)
def test_only_tools_and_ingredients_are_listed(nouns: str, listed: bool) -> None:
    for noun in nouns.split():
        need = replace(NEED, noun=noun)
        found = things_needed(result(*(video(f"v{n}", "x", need) for n in range(2))))
        assert found == [noun] * listed


def test_the_object_of_the_job_is_not_listed() -> None:
    need = [replace(NEED, noun=noun) for noun in ("egg", "microwave")]
    made = result(*(video(f"v{n}", "x", *need) for n in range(2)))
    named = replace(made, task=replace(made.task, name="how to scramble eggs in a microwave"))
    assert things_needed(made) == ["egg", "microwave"]
    assert things_needed(named) == ["microwave"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (("for 30 to 60 seconds", "thirty to sixty seconds"), "30 to 60 seconds"),
        (("about two minutes", "like 2 minutes or so"), "2 minutes"),
        (("one minute", "one minute"), "1 minute"),
        (("for one or two minutes", "2 minutes", "1 to 2 minutes"), "1 to 2 minutes"),
        (("30 seconds", "two minutes"), ""),
        (("two minutes", "until it is done"), ""),
        (("two eggs", "two eggs"), ""),
        (("60 to 30 seconds", "60 to 30 seconds"), ""),
    ],
)
def test_a_duration_is_what_narrators_agree_on(texts: tuple[str, ...], said: str) -> None:
    assert takes(*texts) == said


def test_distant_durations_are_ignored() -> None:
    text = "two minutes " + "and then " * 20
    late = replace(STIR, start=14.0, end=15.0)
    found = result(video("a", text, late), video("b", text, late))
    sentences = {v.id: v.sentences for v in found.task.videos}
    assert duration(found.script.steps[0], sentences) == ""
