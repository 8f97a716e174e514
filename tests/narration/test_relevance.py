"""Videos of another job are found, with the reason."""

import numpy as np
import pytest

from howsteps.narration.relevance import (
    JobWords,
    job_words,
    names_the_job,
    relevance,
    similarity,
    stem,
)
from howsteps.task import Mention, Sentence, Task, Video, Word


def video(name: str, title: str, *acts: str, talk: str = "") -> Video:
    """A video whose narrator mentions acts ("boil egg") and says ``talk``."""
    text = f"{' '.join(acts)} {talk} {'and so on ' * 10}"
    sentence = Sentence((Word(text, 0.0, 60.0),))
    mentions = tuple(
        Mention(name, *act.split(), phrase=act, start=float(n), end=n + 1.0)
        for n, act in enumerate(acts)
    )
    return Video(name, title=title, sentences=(sentence,), mentions=mentions)


def boiling(n: int, title: str = "How to boil eggs") -> Video:
    return video(f"boil {n}", title, "boil egg", "peel egg", "salt egg", talk="boil the eggs")


ACTS = ("lift wheel", "remove tube", "pump tire")
JOB = [boiling(n) for n in range(8)]


class TestJobWords:
    @pytest.mark.parametrize(
        ("name", "core", "qualifiers"),
        [
            ("how to boil eggs", ("boil", "egg"), ()),
            ("how_to_make_caramel_apples", ("appl",), ("caramel",)),
            ("make scrambled eggs in a microwave", ("egg", "microwav"), ("scrambl",)),
            ("How to Make a Milkshake Without Ice Cream", ("milkshak",), ()),
            ("wrap your hands for boxing", ("wrap", "hand"), ("box",)),
            ("", (), ()),
        ],
    )
    def test_core_and_qualifiers(
        self, name: str, core: tuple[str, ...], qualifiers: tuple[str, ...]
    ) -> None:
        found = job_words(name)
        assert (found.core, found.qualifiers) == (core, qualifiers)

    def test_the_noun_the_job_is_done_to(self) -> None:
        assert job_words("how to make caramel apples").head == "appl"
        assert JobWords((), ()).head == ""

    def test_forms_of_a_word_have_one_stem(self) -> None:
        assert {stem(word) for word in ("grill", "grilled", "grilling", "grills")} == {"gril"}


class TestRelevance:
    def test_videos_of_the_job_are_kept(self) -> None:
        assert relevance(Task("how to boil eggs", tuple(JOB))).aside == {}

    def test_a_video_without_the_keyword_is_set_aside(self) -> None:
        other = video("other", "How to boil potatoes", "boil potato", "mash potato", "add butter")
        found = relevance(Task("how to boil eggs", (*JOB, other)))
        assert found.aside == {"other": "hardly says 'egg', unlike the others"}
        assert found.probability == {"other": 0.65}  # nothing but its words says so

    def test_a_similar_video_is_kept_without_the_keyword(self) -> None:
        quiet = Video(
            "quiet",
            title="Breakfast",
            sentences=(Sentence((Word("eggs " * 5 + "cook them now " * 15, 0.0, 9.0),)),),
            mentions=tuple(Mention("quiet", m.verb, m.noun, "", 0, 1) for m in JOB[0].mentions),
        )
        assert relevance(Task("how to boil eggs", (*JOB, quiet))).aside == {}

    def test_a_title_that_names_the_job_keeps_a_video_without_the_keyword(self) -> None:
        silent = video("silent", "How to boil eggs", "peel it", "salt it")
        assert "silent" not in relevance(Task("how to boil eggs", (*JOB, silent))).aside

    def test_a_title_that_names_another_product(self) -> None:
        salad = video("salad", "How to boil egg salad", "boil egg", "mix salad", talk="salad egg")
        found = relevance(Task("how to boil eggs", (*JOB, salad)))
        assert found.aside == {"salad": "its title names another thing: 'egg salad'"}
        assert found.probability == {"salad": 0.9}

    def test_many_videos_without_the_keyword_are_a_group(self) -> None:
        fried = [
            video(f"fry {n}", "Eggs", "fry egg", "heat pan", "flip egg", talk="egg egg")
            for n in range(6)
        ]
        found = relevance(Task("how to boil eggs", (*JOB, *fried)))
        assert set(found.aside) == {v.id for v in fried}
        assert set(found.probability.values()) == {0.9}
        [way] = found.ways
        assert way.sentence(14).startswith("6 of 14 videos hardly say 'boil': another way")

    def test_a_word_that_separates_counts_without_titles(self) -> None:
        fried = [
            video(f"fry {n}", "", "fry egg", "heat pan", "flip egg", talk="egg egg")
            for n in range(6)
        ]
        untitled = [boiling(n, title="") for n in range(8)]
        found = relevance(Task("how to boil eggs", (*untitled, *fried)))
        assert set(found.aside) == {v.id for v in fried}

    def test_another_word_for_the_same_acts_does_not_separate(self) -> None:
        cooked = [
            video(f"cook {n}", "", "boil egg", "peel egg", "salt egg", talk="the eggs egg")
            for n in range(6)
        ]
        mended = [video(f"fix {n}", "", *ACTS, talk="fix fix tire tire") for n in range(8)]
        repaired = [video(f"repair {n}", "", *ACTS, talk="repair tire tire") for n in range(6)]
        assert relevance(Task("fix a tire", (*mended, *repaired))).aside == {}
        assert set(relevance(Task("fix a tire", (*mended, *cooked))).aside) == {
            v.id for v in cooked
        }

    def test_another_word_for_the_noun_beside_all_other_words_of_the_job_is_kept(self) -> None:
        stoves = [
            video(f"{n}", "Clean a glass top stove", *ACTS, talk="clean the stove clean the stove")
            for n in range(8)
        ]
        cooktop = video("cooktop", "Clean a glass cooktop", *ACTS, talk="clean")
        tables = [video(f"table {n}", "Clean a glass table", *ACTS, talk="clean") for n in range(5)]
        found = relevance(Task("clean a glass top stove", (*stoves, cooktop, *tables)))
        assert set(found.aside) == {table.id for table in tables}

    @pytest.mark.parametrize("title", ["Fried eggs in three minutes", ""])
    def test_another_kind_of_the_noun_is_another_thing(self, title: str) -> None:
        scrambled = [
            video(f"{n}", "Scrambled eggs", *ACTS, talk="the eggs then eggs and eggs")
            for n in range(8)
        ]
        fried = video("fried", title, *ACTS, talk="fried eggs " * 4)
        plain = video("plain", "", *ACTS, talk="fried eggs the eggs the eggs the eggs")
        task = Task("how to make scrambled eggs", (*scrambled, fried, plain))
        assert relevance(task).aside == {"fried": "is about another thing: 'fried eggs'"}

    def test_a_title_that_also_names_the_noun_alone_names_no_other_thing(self) -> None:
        acts = ("boil egg", "peel egg", "salt egg")
        pans = video("pans", "Egg pans, and how to boil eggs", *acts, talk="boil pans " * 9)
        cake = video("cake", "Boil egg cakes", *acts, talk="boil cakes " * 9)
        found = relevance(Task("how to boil eggs", (*JOB, pans, cake)))
        assert found.aside == {"cake": "its title names another thing: 'egg cakes'"}

    def test_few_videos_are_all_kept(self) -> None:
        odd = video("odd", "Knots", "tie knot")
        assert relevance(Task("how to boil eggs", (*JOB[:3], odd))).aside == {}

    def test_a_name_without_keywords_sets_nothing_aside(self) -> None:
        assert relevance(Task("videos", tuple(JOB))).aside == {}


class TestNamesTheJob:
    def test_a_name_that_narrators_use(self) -> None:
        assert names_the_job(Task("how to boil eggs", tuple(JOB)))

    @pytest.mark.parametrize("name", ["videos", "my folder", "fry bacon"])
    def test_a_name_that_nobody_uses(self, name: str) -> None:
        assert not names_the_job(Task(name, tuple(JOB)))


class TestSimilarity:
    def test_is_the_mean_cosine_with_the_others(self) -> None:
        videos = [*JOB[:6], video("odd", "", "tie knot", "peel egg")]
        found = similarity(videos, np.ones(7, dtype=bool))
        assert found[:6] == pytest.approx(1.0)
        assert found[6] < 0.8

    def test_no_shared_terms(self) -> None:
        videos = [video(str(n), "", f"verb{'abcdefg'[n]} noun{'abcdefg'[n]}") for n in range(6)]
        assert similarity(videos, np.ones(6, dtype=bool)).tolist() == [1.0] * 6
