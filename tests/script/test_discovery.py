"""Script discovery: clusters of acts, ordered afterwards."""

from collections.abc import Sequence
from dataclasses import replace
from time import process_time

import numpy as np
import pytest

from howsteps.errors import HowstepsError
from howsteps.narration.wordnet import WordNet
from howsteps.script import discover
from howsteps.script.acts import (
    Act,
    ActTable,
    build_act_table,
    candidate_mentions,
    done_by_others,
    talk_detector,
)
from howsteps.script.discovery import implied_objects, misheard_objects
from howsteps.script.names import Namer
from howsteps.script.step_model import shipped
from howsteps.task import Caption, Mention, Place, Sentence, Task, Video, Word
from tests.script import spoken

TIRE = "loosen nut; jack up car; remove wheel; mount wheel; tighten nut; lower car"
OTHER = "loosen bolt; raise car; remove wheel; mount wheel; tighten bolt; lower jack"
ODD = "paint wall;sing song;feed dog;write letter;bake cake;plant seed;climb hill;buy hat".split(
    ";"
)


def tire(n_videos: int = 8) -> Task:
    texts = [TIRE if n % 2 else OTHER for n in range(n_videos)]
    texts = [f"{text}; {ODD[n]}" for n, text in enumerate(texts)]  # too short to be copies
    return spoken.task(*texts, name="change a tire")


def labels(task: Task, steps: int | None = None) -> list[str]:
    return [step.label for step in discover(task, steps=steps).steps]


@pytest.mark.slow
def test_synonyms_are_one_step_and_opposites_are_two() -> None:
    found = labels(tire())
    assert sum(label.startswith(("loosen", "tighten")) for label in found) == 2
    assert len([label for label in found if label.split()[0] in {"jack", "raise", "lift"}]) == 1


@pytest.mark.slow
def test_steps_are_in_the_order_of_the_narrations() -> None:
    found = [label.split()[0] for label in labels(tire())]
    assert found.index("loosen") < found.index("mount") < found.index("tighten")
    assert found[-1] == "lower" or found[-2] == "lower"


@pytest.mark.slow
def test_an_act_of_one_narrator_is_not_a_step() -> None:
    said_once = {text.split()[0] for text in ODD}
    assert not said_once & {label.split()[0] for label in labels(tire())}


@pytest.mark.slow
def test_no_more_steps_than_asked_for() -> None:
    assert len(labels(tire(), steps=3)) == 3


def test_the_same_narrations_give_the_same_script() -> None:
    assert discover(tire()).steps == discover(tire()).steps


def test_the_order_of_the_videos_changes_nothing() -> None:
    task = tire()
    shuffled = np.random.default_rng(3).permutation(len(task.videos))
    other = replace(task, videos=tuple(task.videos[n] for n in shuffled))
    assert other.videos != task.videos
    assert discover(other).steps == discover(task).steps


def test_names_are_distinct_and_no_mention_is_in_two_steps() -> None:
    steps = discover(tire()).steps
    assert len({step.label for step in steps}) == len(steps)
    mentions = [mention for step in steps for mention in step.mentions]
    assert len(set(mentions)) == len(mentions)


def test_without_candidates_there_are_no_steps() -> None:
    assert discover(spoken.task("see video", "not fill tub")).steps == ()


def test_the_verb_of_the_job_without_an_object_is_the_whole_job() -> None:
    task = spoken.task("clean stove")
    bare = tuple(replace(mention, noun="") for mention in task.videos[0].mentions)
    task = replace(task, videos=(replace(task.videos[0], mentions=bare),))
    assert candidate_mentions(replace(task, name="how to clean a grill")) == [[]]
    assert candidate_mentions(replace(task, name="how to grill")) == [list(bare)]


def test_what_the_job_is_done_without_is_no_part_of_it() -> None:
    task = spoken.task("add cream; add milk", name="how_to_make_a_milkshake_without_ice_cream")
    [row] = candidate_mentions(task)
    assert [str(mention.relation) for mention in row] == ["add milk"]


def test_negated_acts_and_talk_are_not_candidates() -> None:
    rows = candidate_mentions(spoken.task("not fill tub; see video; dry cat"))
    assert [[str(mention.relation) for mention in row] for row in rows] == [["dry cat"]]


def test_the_table_counts_co_occurrences() -> None:
    task = spoken.task("fill tub; dry cat", "fill tub; wet cat; dry cat")
    table = build_act_table(candidate_mentions(task), [20.0, 30.0])
    fill, dry = ([act.verb for act in table.acts].index(verb) for verb in ("fill", "dry"))
    assert table.video_counts[fill] == 2
    assert table.near[fill, dry] == 1  # 10 s apart in one video, 20 s in the other
    assert np.array_equal(table.near, table.near.T)


def test_thousands_of_mentions_at_the_same_time_take_linear_time() -> None:
    """As in a line of captions that says the same a thousand times."""
    many = 8_000
    acts = np.arange(many) % 3 - 1
    table = ActTable(
        (Act("fill", "", "tub"), Act("dry", "", "cat")),
        *(acts, np.zeros(many, np.int64), np.zeros(many), np.zeros(many), np.array([60.0])),
    )
    began = process_time()
    assert table.near.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert process_time() - began < 2


def test_probabilities_are_between_zero_and_one() -> None:
    task = tire(4)
    rows = candidate_mentions(task)
    table = build_act_table(rows, [80.0] * 4)
    mentions = [mention for row in rows for mention in row]
    same = shipped().same_step(table, mentions, WordNet.load())
    step = shipped().is_step(table, mentions, task.name)
    assert np.allclose(same, same.T)
    assert ((same >= 0) & (same <= 1)).all()
    assert ((step > 0) & (step < 1)).all()


def mention_of(phrase: str, video: str, places: tuple[Place, ...] = (), **more: object) -> Mention:
    verb, *_ = phrase.split()
    start = Mention(video, verb, "apple", phrase, 0.0, 1.0, places=places)
    return replace(start, **more)


def label_of(naming: Sequence[Mention], mentions: Sequence[Mention] = ()) -> str | None:
    return Namer(Task("wash a cat", ())).label(naming, mentions or naming)


def name_of(mentions: Sequence[Mention], *narrations: str, name: str = "wash a cat") -> str | None:
    named = Namer(spoken.task(*narrations, name=name)).name(mentions)
    return None if named is None else named[0]


CARAMEL = (Place("in", "caramel"),)


def test_a_name_has_object_and_place_as_most_narrators_say_them() -> None:
    mentions = [
        mention_of("dip your apples in the caramel", "a", CARAMEL),
        mention_of("dip the apples into the caramel", "b", (Place("into", "caramel"),)),
        mention_of("dip my apple in caramel", "c", CARAMEL),
    ]
    assert label_of(mentions) == "dip the apples in the caramel"


def test_a_place_of_one_narrator_is_left_out() -> None:
    mentions = [
        mention_of("dip the apples", "a"),
        mention_of("dip the apples in the caramel", "b", CARAMEL),
    ]
    assert label_of(mentions) == "dip the apples"


def test_the_name_of_an_act_without_object_has_its_place() -> None:
    place = (Place("around", "wrist"),)
    mentions = [mention_of("go around the wrist", video, place, noun="") for video in "ab"]
    assert label_of(mentions) == "go around the wrist"
    assert str(mentions[0].relation) == "go wrist"


def test_a_tool_is_named_where_narrators_agree() -> None:
    mentions = [mention_of("wipe the apples", video, tools=("cloth",)) for video in "ab"]
    assert label_of(mentions) == "wipe the apples with the cloth"


def test_letting_something_out_is_an_act_of_its_own() -> None:
    let_out = [mention_of("let the apples out", video, particle="out") for video in "ab"]
    assert label_of(let_out) == "let out the apples"


def test_an_error_of_one_narrator_is_not_a_name() -> None:
    slip = [mention_of("deep the apples", "a")] * 3
    task = spoken.task("dip apple", "dip apple")
    own = [mention_of("dip the apples", video) for video in ("v0", "v1")]
    slip = [replace(mention, video="v0") for mention in slip]
    assert Namer(task).name_or_phrase([*slip, *own]).label == "dip the apples"


def test_a_verb_without_its_place_gives_way_to_a_complete_one() -> None:
    task = spoken.task(*["put apple; add apple"] * 5)
    put = [mention_of("put the apples", f"v{n}") for n in range(5)]
    dip = [mention_of("dip the apples", f"v{n}") for n in range(3)]
    assert Namer(task).name_or_phrase([*put[:3], *dip]).label == "dip the apples"
    assert Namer(task).name_or_phrase([*put, *dip[:1]]).label == "add the apples"
    in_pot = [replace(mention, places=(Place("in", "pot"),)) for mention in put[:2]]
    assert (
        Namer(task).name_or_phrase([*put[2:] * 4, *in_pot, *dip]).label
        == "put the apples in the pot"
    )


def test_amounts_are_not_part_of_a_name() -> None:
    mentions = [mention_of("add 2 cups of sliced apples", video) for video in "ab"]
    assert label_of(mentions) == "add the sliced apples"


def test_a_relation_that_is_mostly_talk_does_not_name_the_step() -> None:
    task = spoken.task(*["eat apple"] * 5)
    eat = [replace(mention_of("eat the apples", f"v{n}"), work=0.1) for n in range(5)]
    cut = [replace(mention_of("cut the apples", f"v{n}"), work=0.6) for n in range(3)]
    assert Namer(task).name_or_phrase([*eat, *cut]).label == "cut the apples"


def test_a_narrator_who_repeats_a_relation_counts_once() -> None:
    task = spoken.task(*["peel apple"] * 3)
    peel = [mention_of("peel the apples", "v0")] * 5 + [mention_of("peel the apples", "v1")]
    core = [mention_of("core the apples", f"v{n}") for n in range(3)]
    assert Namer(task).name_or_phrase([*peel, *core]).label == "core the apples"


def test_talk_is_light_verbs_vague_nouns_and_the_title() -> None:
    said = spoken.task("change tire; want jack; let out air; like video; change oil; loosen nut")
    is_talk = talk_detector("change_a_tire")
    work = [str(m.relation) for m in said.videos[0].mentions if not is_talk(m)]
    assert work == ["let air", "change oil", "loosen nut"]


def test_a_place_may_come_from_a_similar_verb() -> None:
    placed = [mention_of("place the apples on the tray", v, (Place("on", "tray"),)) for v in "ab"]
    put = [mention_of("put the apples", v) for v in "cdef"]
    assert label_of(put, [*put, *placed]) == "put the apples on the tray"


def test_a_name_that_cannot_be_followed_is_none() -> None:
    assert name_of([mention_of("put the chair", v, noun="chair") for v in "ab"]) is None
    assert name_of([mention_of("grow", v, noun="") for v in "ab"]) is None
    assert name_of([mention_of("add the cup", v, noun="cup") for v in "ab"]) is None

    put = [mention_of("put the sugar", v, noun="sugar") for v in "ab"]
    assert name_of(put, *["dry cat"] * 2) is None
    assert name_of(put, *["stir milk"] * 2) == "add the sugar"


def test_the_object_of_a_name_is_said_and_not_only_what_it_may_be() -> None:
    meant = [mention_of("fill the apples", video, resolved=True) for video in "ab"]
    assert name_of(meant) is None
    assert name_of([*meant, mention_of("fill the apples", "c")]) is None
    said = [mention_of("fill the apples", video) for video in "cd"]
    assert name_of([*meant, *said]) == "fill the apples"


def test_what_others_often_do_is_no_step() -> None:
    task = spoken.task(*["build nest; spray nest"] * 5)
    theirs = [
        replace(v, mentions=(replace(v.mentions[0], work=0.0), v.mentions[1]))
        for v in task.videos[:2]
    ]
    [relation] = done_by_others([*theirs, *task.videos[2:]])
    assert str(relation) == "build nest"
    assert not done_by_others([theirs[0], *task.videos[1:]])
    steps = discover(replace(task, videos=(*theirs, *task.videos[2:]))).steps
    assert [step.label for step in steps] == ["spray the nest"]


def test_a_step_named_after_a_place_is_where_it_is_done_there() -> None:
    said = "take apple; wash apple; peel apple; core apple; take apple; eat lunch; take apple"
    task = spoken.task(*[said] * 4)
    out_of = (Place("out of", "bag"),)
    videos = [
        replace(v, mentions=(replace(v.mentions[0], places=out_of), *v.mentions[1:]))
        for v in task.videos
    ]
    steps = discover(replace(task, videos=tuple(videos))).steps
    assert steps[0].label == "take the apple out of the bag"
    assert {mention.start for mention in steps[0].mentions} == {0.0}


def test_a_place_may_come_from_the_rest_of_the_job() -> None:
    task = spoken.task("place ham", "place ham")
    on_bread = (Place("on", "bread"),)
    videos = [replace(v, mentions=(replace(v.mentions[0], places=on_bread),)) for v in task.videos]
    put = [mention_of("put the ham", v, noun="ham") for v in ("v0", "v1")]
    name, _ = Namer(replace(task, videos=tuple(videos))).name(put)
    assert name == "put the ham on the bread"


def test_a_place_of_one_kind_has_the_name_that_most_narrators_of_the_job_use() -> None:
    job = spoken.task("plant cutting", "cover cutting", "water cutting")
    pot = (Place("in", "pot"),)
    videos = [
        replace(v, mentions=tuple(replace(m, places=pot) for m in v.mentions)) for v in job.videos
    ]
    namer = Namer(replace(job, videos=tuple(videos)))
    stick = [
        mention_of("stick the cuttings in the pot", "v0", pot, noun="cutting"),
        mention_of(
            "stick the cuttings into the soil", "v1", (Place("into", "soil"),), noun="cutting"
        ),
    ]
    assert namer.name(stick)[0] == "stick the cuttings in the pot"


def test_who_put_the_same_thing_somewhere_in_other_words_agree() -> None:
    said = ("put cutting; water plant; cut leaf", "stick cutting; water plant; cut leaf")
    task = spoken.task(*said, *said, "fill pot; dig hole")
    places = [Place("in", "pot"), Place("into", "soil"), Place("in", "pot"), Place("in", "hole")]
    videos = [
        replace(v, mentions=(replace(v.mentions[0], places=(place,)), *v.mentions[1:]))
        for v, place in zip(task.videos, places, strict=False)
    ]
    labels = [s.label for s in discover(replace(task, videos=(*videos, task.videos[-1]))).steps]
    assert "put the cutting in the pot" in labels


def test_a_helper_names_a_step_only_if_many_narrators_say_it() -> None:
    take = [mention_of("take the cutting", v, noun="cutting") for v in ("v0", "v1")]
    assert name_of(take, *["take cutting"] * 4) == "take the cutting"
    assert name_of(take, *["take cutting"] * 7) is None


def test_an_aim_is_no_step_and_with_a_tool_it_is() -> None:
    scrub = [mention_of("remove the stains", v, noun="stain") for v in "ab"]
    assert name_of(scrub) is None
    with_brush = [replace(mention, tools=("brush",)) for mention in scrub]
    assert name_of(with_brush) == "remove the stains with the brush"


def test_the_object_of_a_verb_that_most_say_without_one_is_said_in_the_step() -> None:
    bare = [mention_of("scrub", f"v{n}", noun="") for n in range(4)]
    it = [mention_of("scrub the stove", v, noun="stove", resolved=True) for v in ("v4", "v5")]
    assert name_of([*bare, *it]) == "scrub the stove"
    assert name_of([*bare, *it[:1]], *["scrub stove"] * 4) is None


def test_a_place_has_the_number_that_narrators_use() -> None:
    place = (Place("between", "finger"),)
    mentions = [mention_of("go between your fingers", v, place, noun="") for v in "ab"]
    assert label_of(mentions) == "go between the fingers"


class TestImpliedObjects:
    def objects(self, *narrations: str) -> list[str]:
        task = spoken.task(*narrations)
        videos = [
            replace(
                video,
                mentions=tuple(
                    replace(m, noun="") if m.noun == "nothing" else m for m in video.mentions
                ),
            )
            for video in task.videos
        ]
        return list(implied_objects(videos).values())

    def test_an_object_that_was_handled_before_comes_first(self) -> None:
        narrations = ["flip egg", "flip egg", "flip egg", "flip toast", "flip toast"]
        assert self.objects(*narrations, "fry toast; flip nothing") == ["toast"]
        assert self.objects(*narrations, "fry fish; flip nothing") == ["egg"]

    def test_a_verb_of_work_that_nobody_gives_an_object_takes_what_was_handled(self) -> None:
        assert self.objects(*["stir soup; simmer nothing"] * 2) == ["soup", "soup"]

    def test_a_vague_noun_is_not_meant(self) -> None:
        assert self.objects(*["scrub part"] * 3, *["scrub stove"] * 2, "scrub nothing") == ["stove"]

    def test_common_verbs_imply_nothing(self) -> None:
        assert self.objects("take egg", "take egg", "take nothing") == []


class TestJoinedAdditions:
    SOUP = "fill pot; {}; stir soup; serve soup; wash pot; dry pot"

    def labels(self, middle: str) -> list[str]:
        task = spoken.task(*[self.SOUP.format(middle)] * 4, name="cook a soup")
        distinct = [
            replace(
                video,
                sentences=(*video.sentences, Sentence((Word(f"narrator {n}", 99.0, 99.1),))),
            )
            for n, video in enumerate(task.videos)
        ]
        return [step.label for step in discover(replace(task, videos=tuple(distinct))).steps]

    def test_what_is_added_one_after_the_other_is_one_step(self) -> None:
        assert "add the salt and pepper" in self.labels("add salt; add pepper")

    def test_other_acts_stay_apart(self) -> None:
        found = self.labels("add salt; peel onion; add pepper")
        assert {"add the salt", "peel the onion", "add the pepper"} <= set(found)

    def test_the_end_of_the_job_is_not_cut_off(self) -> None:
        acts = "add salt; add pepper; stir soup; serve soup; wash pot; dry pot"
        task = spoken.task(*[acts] * 4, name="cook a soup")
        distinct = [
            replace(v, sentences=(*v.sentences, Sentence((Word(f"narrator {n}", 99.0, 99.1),))))
            for n, v in enumerate(task.videos)
        ]
        task = replace(task, videos=tuple(distinct))
        for steps in range(2, 6):
            assert len(discover(task, steps=steps).steps) == steps
        assert discover(task, steps=6).steps[-1].label == "dry the pot"


def test_another_cluster_takes_the_place_of_one_that_is_lost(monkeypatch) -> None:
    monkeypatch.setattr(
        "howsteps.script.discovery.join_additions", lambda steps, *_: [[s] for s in steps[1:]]
    )
    assert len(labels(tire(), steps=3)) == 3


def test_what_sounds_like_a_common_object_of_the_same_verbs_was_misheard() -> None:
    task = spoken.task(*["steam clam; cook clam"] * 6, "steam clamp", "steam dish", "wash lamp")
    heard = misheard_objects(task.videos)
    assert {mention.noun: noun for mention, noun in heard.items()} == {"clamp": "clam"}
    table = build_act_table(
        [video.mentions for video in task.videos], [60.0] * 9, heard, [("steam", "", "clam")]
    )
    assert table.video_counts[0] == 7


def test_another_word_with_a_modifier_of_its_own_was_not_misheard() -> None:
    task = spoken.task(*["pour sauce; stir sauce"] * 6, "pour source")
    [source] = task.videos[-1].mentions
    gas = replace(source, modifiers=("gas",))
    assert misheard_objects(task.videos) == {source: "sauce"}
    videos = (*task.videos[:-1], replace(task.videos[-1], mentions=(gas,)))
    assert misheard_objects(videos) == {}


def test_captions_that_were_not_read_are_said_with_what_to_call():
    unread = Task("job", (Video("v", (Caption(0, 1, "wash the cat"),)),))
    with pytest.raises(HowstepsError, match=r"first call howsteps\.narration\.extract_relations"):
        discover(unread)
    silent = Task("job", (Video("v", sentences=(Sentence((Word("hello", 0, 1),)),)),))
    with pytest.raises(HowstepsError, match="job: no video has a mention; nobody says"):
        discover(silent)
