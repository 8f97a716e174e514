"""Names of steps, read by the parser."""

from howsteps.narration.labels import acts_of_labels


def test_labels_are_read_as_what_is_to_be_done() -> None:
    labels = ["Jack up the car", "water the plants", "rinse and cook the rice", "the end"]
    found = [[(m.verb, m.particle, m.noun) for m in acts] for acts in acts_of_labels(labels)]
    assert found[:3] == [
        [("jack", "up", "car")],
        [("water", "", "plant")],
        [("rinse", "", "rice"), ("cook", "", "rice")],
    ]


def test_no_label_no_acts() -> None:
    assert acts_of_labels([]) == []
