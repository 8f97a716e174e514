"""Labels of steps are parsed into acts."""

import pytest

from howsteps.narration.labels import acts_of_labels, plain_act
from howsteps.task import Mention

PLAIN = (
    "Jack up the car",
    "put the tools away",
    "lift the car with the jack",
    "dip the apples in the caramel",
    "Loosen the lug nuts.",
)


def test_acts_of_labels() -> None:
    labels = ["Jack up the car", "water the plants", "rinse and cook the rice", "the end"]
    found = [[(m.verb, m.particle, m.noun) for m in acts] for acts in acts_of_labels(labels)]
    assert found[:3] == [
        [("jack", "up", "car")],
        [("water", "", "plant")],
        [("rinse", "", "rice"), ("cook", "", "rice")],
    ]


def shape(act: Mention) -> tuple[object, ...]:
    return act.verb, act.particle, act.noun, act.places, act.tools


def test_simple_labels_give_the_same_acts_without_the_parser() -> None:
    for label, acts in zip(PLAIN, acts_of_labels(PLAIN), strict=True):
        plain = plain_act(label)
        assert plain is not None
        assert [shape(act) for act in acts] == [shape(plain)], label


@pytest.mark.parametrize(
    "label",
    [
        *("", "brake", "the wheel", "jacks up the car", "rinse and cook the rice", "dry it"),
        *("water the plants well", "stand on the chair", "cut, then fold", "löse die Muttern"),
        *("bake until done", "xyzzy the plugh", "wax the xyzzy", "x" * 10_000, "put in on over"),
    ],
)
def test_complex_labels_are_left_to_the_parser(label: str) -> None:
    assert plain_act(label) is None


def test_a_phrasal_verb_has_no_place() -> None:
    act = plain_act("Put on the parking brake")
    assert act is not None
    assert shape(act) == ("put", "on", "brake", (), ())
