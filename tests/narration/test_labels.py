"""Labels of steps are parsed into acts."""

from howsteps.narration.mentions import acts_of_labels


def test_acts_of_labels() -> None:
    labels = ["Jack up the car", "water the plants", "rinse and cook the rice", "the end"]
    found = [[(m.verb, m.particle, m.noun) for m in acts] for acts in acts_of_labels(labels)]
    assert found[:3] == [
        [("jack", "up", "car")],
        [("water", "", "plant")],
        [("rinse", "", "rice"), ("cook", "", "rice")],
    ]
