"""Acts with their objects, places and tools, one construction at a time."""

import pytest

from howsteps.narration import parser
from howsteps.narration.mentions import act_mentions
from howsteps.task import Mention, Place, Video, Word


def mentions_in(text: str) -> list[Mention]:
    """The mentions in a text with a word every half second."""
    words = [Word(word, n / 2, n / 2 + 0.5) for n, word in enumerate(text.split())]
    [passages] = parser.parse_narrations(parser.load_parser(), [words])
    return act_mentions(Video("v"), passages).mentions


def pairs(text: str) -> list[str]:
    return [f"{m.verb} {m.noun}".strip() for m in mentions_in(text)]


class TestObjects:
    def test_a_verb_without_an_object_is_an_act(self) -> None:
        [go] = [m for m in mentions_in("then go around the thumb three times") if m.verb == "go"]
        assert (go.noun, go.places) == ("", (Place("around", "thumb"),))

    def test_objects_in_a_list_are_acts_of_their_own(self) -> None:
        assert pairs("remove the nuts and the wheel") == ["remove nut", "remove wheel"]

    def test_a_pronoun_is_resolved(self) -> None:
        assert pairs("wash the potatoes then peel them") == ["wash potato", "peel potato"]

    def test_a_duration_is_not_an_object(self) -> None:
        assert [m.noun for m in mentions_in("cook ten minutes") if m.verb == "cook"] == [""]

    def test_a_verb_of_opinion_is_not_an_act(self) -> None:
        assert pairs("i think so") == []

    def test_everything_is_an_object(self) -> None:
        assert pairs("mix everything together") == ["mix everything"]


class TestHelpers:
    @pytest.mark.parametrize(
        "text",
        [
            "go ahead and loosen the nuts",
            "you want to loosen the nuts",
            "make sure you loosen the nuts",
            "start loosening the nuts",
            "let's loosen the nuts",
        ],
    )
    def test_a_helper_verb_is_not_an_act(self, text: str) -> None:
        assert pairs(text) == ["loosen nut"]

    def test_the_object_of_use_is_the_tool(self) -> None:
        [cut] = mentions_in("use a knife to cut the apple")
        assert (cut.verb, cut.noun, cut.tools) == ("cut", "apple", ("knife",))

    def test_an_implement_that_is_fetched_is_the_tool(self) -> None:
        acts = mentions_in("wash the plate then take a towel and dry the plate")
        assert [(m.verb, m.noun, m.tools) for m in acts][-1] == ("dry", "plate", ("towel",))

    def test_anything_else_that_is_fetched_is_the_object(self) -> None:
        [fold] = mentions_in("take the paper and fold it in half")
        assert (fold.verb, fold.noun, fold.places) == ("fold", "paper", (Place("in", "half"),))

    def test_taking_off_is_an_act(self) -> None:
        assert pairs("take off the lid and stir the soup") == ["take lid", "stir soup"]

    def test_the_object_of_let_is_the_object_of_the_act(self) -> None:
        [rest] = mentions_in("let the steak rest for five minutes")
        assert (rest.verb, rest.noun, rest.phrase) == ("rest", "steak", "let the steak rest")

    def test_giving_it_a_stir_is_stirring(self) -> None:
        assert pairs("give the soup a good stir") == ["stir soup"]

    def test_the_act_begins_with_its_helper(self) -> None:
        [fold] = mentions_in("take the paper and fold it")
        assert fold.start == 0.0


class TestPlaces:
    def test_prepositional_phrases(self) -> None:
        [put] = mentions_in("put the bread in the pan")
        assert put.places == (Place("in", "pan"),)
        assert put.phrase == "put the bread in the pan"

    def test_before_the_verb(self) -> None:
        [mix] = [m for m in mentions_in("in a large bowl you mix the flour") if m.verb == "mix"]
        assert mix.places == (Place("in", "bowl"),)

    def test_on_top_of(self) -> None:
        [put] = mentions_in("put the cheese on top of the rice")
        assert put.places == (Place("on top of", "rice"),)

    def test_times_are_not_places(self) -> None:
        assert all(not m.places for m in mentions_in("flip the steak in ten minutes"))

    def test_there_is_resolved_to_the_last_place(self) -> None:
        acts = mentions_in("put the butter in the pan and put the onions in there")
        assert acts[-1].places == (Place("in", "pan"),)

    def test_what_is_whisked_in_is_the_object(self) -> None:
        [whisk] = mentions_in("now whisk in the sugar")
        assert (whisk.noun, whisk.places) == ("sugar", ())


class TestToolsAndModifiers:
    def test_with(self) -> None:
        [loosen] = mentions_in("loosen the lug nuts with the wrench")
        assert (loosen.tools, loosen.modifiers) == (("wrench",), ("lug",))

    def test_using(self) -> None:
        [loosen] = [m for m in mentions_in("loosen the nuts using a wrench") if m.verb == "loosen"]
        assert loosen.tools == ("wrench",)

    def test_modifiers_of_the_object(self) -> None:
        [wash] = mentions_in("wash the left thumb")
        assert wash.modifiers == ("left",)

    def test_uninformative_modifiers_are_dropped(self) -> None:
        [wash] = mentions_in("wash the nice thumb")
        assert wash.modifiers == ()


class TestFragments:
    def test_an_amount_without_a_verb_is_added(self) -> None:
        assert pairs("then a cup of flour") == ["add flour"]

    def test_a_list_continues_the_last_act_of_adding(self) -> None:
        assert pairs("pour in a cup of milk. then some sugar.")[-1] == "pour sugar"

    def test_a_noun_without_a_verb_is_not_an_act(self) -> None:
        assert pairs("some people") == []
