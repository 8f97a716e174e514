"""The ordered profile: likeness, the ordered profile, copies, names, what the order leaves open."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from howsteps.script import ScriptOptions, background, discover
from howsteps.script.agreement import LASTING
from howsteps.script.labels import named
from howsteps.script.near_duplicates import originals
from howsteps.script.partial_order import Swap, freedom
from howsteps.script.profile import NOBODY, Gathered, Narrations, place, profile
from howsteps.script.similarity import Phrase, similarity, tells
from howsteps.task import Mention, Script, Sentence, Step, Video, Word
from howsteps.wordnet import WordNet
from tests.script import spoken

PROFILE = ScriptOptions(model="profile", negated=False, chatter=False)


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet.load()


def alike(wordnet: WordNet, one: str, two: str, title: str = "") -> float:
    def saying(text: str) -> Phrase:
        verb, *particle, noun = text.split()
        return Phrase(verb, " ".join(particle), noun)

    matrix = similarity([saying(one), saying(two)], wordnet, title.split()).toarray()
    assert np.allclose(matrix, matrix.T)
    assert np.allclose(matrix.diagonal(), 1)
    return float(matrix[0, 1])


def test_synonyms_are_alike_and_opposites_are_not(wordnet: WordNet) -> None:
    assert alike(wordnet, "raise car", "lift car") == pytest.approx(0.6)
    assert alike(wordnet, "raise car", "lower car") == 0
    assert alike(wordnet, "tighten nut", "loosen nut") == 0


def test_a_particle_makes_another_verb(wordnet: WordNet) -> None:
    assert alike(wordnet, "take off tire", "take out tire") == 0
    assert alike(wordnet, "take off tire", "take tire") == pytest.approx(0.5)


def test_a_telling_verb_needs_no_equal_noun(wordnet: WordNet) -> None:
    assert alike(wordnet, "torque nut", "torque wheel") > 0.5
    assert alike(wordnet, "put nut", "put wheel") == 0
    assert alike(wordnet, "torque nut", "torque wheel", title="torque wheel") == 0


def test_what_many_how_to_videos_say_tells_little() -> None:
    assert background.share("put") > background.share("pour") > background.share("torque")
    assert tells("put") == 0
    assert tells("nosuchverb") == 1


def naive_worth(first: np.ndarray, gain: np.ndarray) -> float:
    """Try every increasing choice of mentions and steps."""
    total = 0.0
    for begin, end in pairwise(first):
        best = 0.0
        for many in range(1, min(end - begin, len(gain)) + 1):
            for mentions in combinations(range(begin, end), many):
                for steps in combinations(range(len(gain)), many):
                    best = max(best, float(sum(gain[steps, mentions])))
        total += best
    return total


@given(arrays(np.float64, (3, 7), elements=st.floats(-1, 1, width=32)), st.integers(0, 7))
def test_a_narration_is_placed_as_well_as_can_be(gain: np.ndarray, cut: int) -> None:
    first = np.array([0, cut, 7])
    narrations = Narrations(np.zeros(7, np.int64), np.zeros(7), first, csr_array(np.eye(1)))
    steps = [Gathered(NOBODY, np.ones(1, np.int64), 0.0, 1.0, row) for row in gain]
    worth, belongs = place(narrations, steps)
    assert worth == pytest.approx(naive_worth(first, gain))
    assert worth == pytest.approx(sum(gain[k, s] for s, k in enumerate(belongs) if k >= 0))
    for part in (belongs[:cut], belongs[cut:]):
        used = [k for k in part if k >= 0]
        assert used == sorted(set(used))


def test_a_hidden_order_is_found_among_chatter() -> None:
    generator = np.random.default_rng(0)
    rows = []
    for _ in range(20):
        said = [step for step in range(6) if generator.random() < 0.8]
        for _ in range(4):
            said.insert(int(generator.integers(len(said) + 1)), int(generator.integers(6, 300)))
        rows.append(said)
    narrations = Narrations(
        np.concatenate(rows).astype(np.int64),
        np.concatenate([np.arange(len(row)) / len(row) for row in rows]),
        np.cumsum([0, *map(len, rows)]).astype(np.int64),
        csr_array(np.eye(300)),
    )
    found = profile(narrations, 6)
    assert [int(step.counts.argmax()) for step in found] == list(range(6))
    assert len(profile(narrations, 3)) == 3


def test_words_that_are_not_even_like_themselves_make_no_step() -> None:
    narrations = Narrations(
        np.array([0, 1, 0, 1]), np.zeros(4), np.array([0, 2, 4]), csr_array(np.diag([0.0, 1.0]))
    )
    assert [int(step.counts.argmax()) for step in profile(narrations, 5)] == [1]


def labels(script: Script) -> list[str]:
    return [step.label for step in script.steps]


def test_different_nouns_of_a_telling_verb_are_one_step() -> None:
    task = spoken.task("torque nut; put bag", "torque nut; put bag", "put bag", "torque wheel")
    script = discover(task, steps=5, options=PROFILE)
    assert [step.support for step in script.steps] == [3, 3]


def test_one_narration_is_its_own_script() -> None:
    script = discover(spoken.task("fill tub; dry cat"), options=PROFILE)
    assert labels(script) == ["fill the tub", "dry the cat"]


def test_how_often_a_step_comes_back_is_told_and_decides_how_many_there_are() -> None:
    generator = np.random.default_rng(0)
    rare = ("comb dog", "cut nail", "feed bird", "paint wall", "close window", "open door")
    told = []
    for _ in range(12):
        said = ["fill tub", "add soap", "dry cat"]
        for one in generator.choice(rare, 2, replace=False):
            said.insert(int(generator.integers(len(said) + 1)), str(one))
        told.append("; ".join(said))
    asked = discover(spoken.task(*told), steps=9, options=PROFILE).steps
    chosen = discover(spoken.task(*told), options=PROFILE).steps
    assert all(step.stability is not None for step in asked)
    assert set(labels(Script(chosen))) < set(labels(Script(asked)))
    assert all(step.stability is not None and step.stability >= LASTING for step in chosen)
    assert {"fill the tub", "add the soap", "dry the cat"} <= set(labels(Script(chosen)))


def test_nothing_shared_is_no_script() -> None:
    assert discover(spoken.task("fill tub", "dry cat"), options=PROFILE).steps == ()


def test_the_objective_is_not_below_its_bound() -> None:
    script = discover(spoken.task("fill tub; dry cat", "fill tub; dry cat"), options=PROFILE)
    assert script.bound < script.objective < 0


def saying_aloud(identity: str, text: str) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for word in text.split())
    return Video(identity, sentences=(Sentence(words),))


def test_copies_are_one_witness() -> None:
    text = " ".join(f"w{n}" for n in range(60))
    other = " ".join(f"x{n}" for n in range(60))
    videos = [
        saying_aloud("part", " ".join(text.split()[:40])),
        saying_aloud("whole", text),
        saying_aloud("other", other),
        saying_aloud("short", "w0 w1 w2 w3 w4 w5"),
        saying_aloud("silent", ""),
    ]
    assert originals(videos) == [False, True, True, True, True]
    assert originals([]) == []


def said(*phrases: str) -> list[Mention]:
    found = []
    for n, phrase in enumerate(phrases):
        verb, *_, noun = phrase.split()
        found.append(Mention(f"v{n}", verb, noun, phrase, 0.0, 1.0, sentence=9))
    return found


def test_names_say_what_is_done_not_whose_it_is() -> None:
    task = spoken.task("", "", "")
    groups = [
        said("dip your bread", "dip my bread", "dip some bread"),
        said("spray the big nest", "spray a grey nest"),
        said("dip the bread", "dip the bread"),
        said("dip the bread", "dip our bread"),
    ]
    steps = named(task, groups)
    assert [step.label for step in steps] == [
        "dip the bread",
        "spray the nest",
        "dip the bread again",
        "dip the bread again (3)",
    ]


def test_a_particle_of_a_third_is_part_of_the_name() -> None:
    mentions = said("put the tire", "put the tire", "put on the tire", "put on the tire")
    mentions = [replace(m, particle="on" if " on " in m.phrase else "") for m in mentions]
    assert named(spoken.task("", "", "", ""), [mentions])[0].label == "put on the tire"
    assert named(spoken.task("", "", ""), [mentions[:3]])[0].label == "put the tire"


def test_what_one_narrator_alone_says_is_kept_short() -> None:
    task = spoken.task("")
    assert named(task, [said("scrub instead sealed tile floors")])[0].label == "scrub the floors"
    assert named(task, [said("pour some milk")])[0].label == "pour some milk"


def test_steps_that_narrators_swap_are_named_with_counts() -> None:
    task = spoken.task(
        "fill tub; catch cat; dry cat",
        "catch cat; fill tub; dry cat",
        "catch cat; fill tub; dry cat",
        "fill tub; catch cat; dry cat",
    )
    groups = [
        [m for video in task.videos for m in video.mentions if (m.verb, m.noun) == act]
        for act in (("fill", "tub"), ("catch", "cat"), ("dry", "cat"))
    ]
    script = Script(tuple(Step("", tuple(group)) for group in groups))
    assert freedom(task, script).swaps == (Swap(0, 1, 2, 2),)
    assert freedom(task, script).optional == ()
    rare = replace(script, steps=(*script.steps, Step("", script.steps[0].mentions[:1])))
    assert freedom(task, rare).optional == (3,)
