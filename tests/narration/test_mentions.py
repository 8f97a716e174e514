"""Extraction of sentences and mentions from captions, with the shipped pipeline."""

from importlib.resources import files
from itertools import accumulate
from pathlib import Path

import pytest

from howsteps import datasets
from howsteps.captions.words import words_of
from howsteps.errors import HowstepsError
from howsteps.narration import extract_relations
from howsteps.narration.mentions import acts_of_labels
from howsteps.narration.parser import sentence_starts
from howsteps.store import stored_time
from howsteps.task import Caption, Mention, Task, Video, Word
from tests.narration.trees import tree
from training.demo_captions import read_source, spoken_sentences

DEMO = Path(str(files("howsteps.demo") / "fix_a_flat_bike_tire"))


def mentions_in(text: str, **options: str) -> tuple[Mention, ...]:
    """The mentions in one line of captions, ten seconds long."""
    task = Task("job", (Video("v", (Caption(0.0, 10.0, text),)),))
    return extract_relations(task, **options).videos[0].mentions


@pytest.fixture(scope="module")
def demo() -> Task:
    [task] = datasets.read_tasks(DEMO).tasks
    return extract_relations(task)


@pytest.mark.slow
def test_sentences_contain_every_word_once(demo: Task) -> None:
    for video in demo.videos:
        words = [word for sentence in video.sentences for word in sentence.words]
        spoken = words_of(video.captions)
        times = (map(stored_time, (word.start, word.end)) for word in spoken)
        assert words == [Word(w.text, *at) for w, at in zip(spoken, times, strict=True)]


def test_most_sentence_ends_are_restored(demo: Task) -> None:
    source = {n.id: n for n in read_source(DEMO.parent / "narrations.toml") if ".es." not in n.file}
    n_right = n_found = n_true = 0
    for video in demo.videos:
        spoken = [
            [word for word in words if not word.text.startswith("[")]
            for _, words in spoken_sentences(source[video.id])
        ]
        true = set(accumulate(map(len, filter(None, spoken))))
        found = set(accumulate(len(sentence.words) for sentence in video.sentences))
        assert max(true) == max(found)
        n_right += len(true & found)
        n_found += len(found)
        n_true += len(true)
    assert 2 * n_right / (n_found + n_true) > 0.7


def test_mentions_are_in_order_and_lie_in_their_sentence(demo: Task) -> None:
    for video in demo.videos:
        sentences = [mention.sentence for mention in video.mentions]
        assert sentences == sorted(sentences)
        for mention in video.mentions:
            sentence = video.sentences[mention.sentence]
            assert sentence.start <= mention.start <= mention.end <= sentence.end
            assert mention.video == video.id


def test_narrators_of_the_demo_mention_the_same_relations(demo: Task) -> None:
    def videos(*relations: str) -> int:
        wanted = {tuple(relation.split()) for relation in relations}
        return sum(any(m.relation in wanted for m in v.mentions) for v in demo.videos)

    assert videos("take wheel", "remove wheel", "pull wheel") >= 9
    assert videos("let air", "release air") >= 8
    assert videos("pull tube", "remove tube", "take tube") >= 9
    assert videos("put wheel", "slide wheel") >= 8


def test_phrase_and_time_of_a_mention() -> None:
    [mention] = mentions_in("now take the lug nuts off")
    assert mention.relation == ("take", "nut")
    assert mention.phrase == "take off the lug nuts"
    assert mention.particle == "off"
    assert 0 < mention.start < mention.end == 10.0


def test_an_object_that_the_parser_takes_for_no_noun_stays_in_the_phrase() -> None:
    [mention] = acts_of_labels(["scrub the left back"])[0]
    assert mention.phrase == "scrub the left back"


def test_upside_down_follows_the_object() -> None:
    [mention] = mentions_in("turn the bike upside down")
    assert (mention.particle, mention.phrase) == ("upside down", "turn the bike upside down")


def test_the_time_of_a_measure_includes_the_measured_noun() -> None:
    [mention] = mentions_in("then add a cup of flour")
    assert (mention.relation, mention.end) == (("add", "flour"), 10.0)


def test_an_unknown_mode_is_an_error() -> None:
    with pytest.raises(HowstepsError, match="unknown mode 'best'"):
        extract_relations(Task("job", ()), mode="best")


def test_pronouns_are_resolved_except_in_paper_mode() -> None:
    text = "loosen the nuts and then remove them"
    assert [(str(m.relation), m.resolved) for m in mentions_in(text)] == [
        ("loosen nut", False),
        ("remove nut", True),
    ]
    assert [str(m.relation) for m in mentions_in(text, mode="paper")] == ["loosen nut"]


def test_a_sentence_never_ends_inside_a_word() -> None:
    doc = tree("tire NN 0 root; . . 0 root; start VB 0 root; ! . 3 punct")
    assert sentence_starts(doc, [0, 0, 1, 1]) == [0, 1]
    assert sentence_starts(doc, [0, 0, 0, 0]) == [0]
