from howsteps.script.echoes import ECHO_WEIGHT, MIN_PROBABILITY, echoes, spoken_by_video
from howsteps.task import Script, Step
from tests.script.spoken import task


def script_of(job, *acts):
    """Steps of the given (verb, noun), with their mentions in the first video that has them."""
    steps = []
    for verb, noun in acts:
        found = [m for v in job.videos for m in v.mentions if (m.verb, m.noun) == (verb, noun)]
        steps.append(Step(f"{verb} {noun}", tuple(m for m in found if m.video == found[0].video)))
    return Script(tuple(steps))


def test_the_same_act_in_another_video_echoes_the_step():
    job = task("fill tub; wash cat; dry cat", "fill tub; dry cat", "wash cat; dry cat")
    script = script_of(job, ("fill", "tub"), ("dry", "cat"))
    found = {(e.mention.video, e.step): e.weight for e in echoes(job, script)}
    assert found["v1", 0] == found["v1", 1] == found["v2", 1] == ECHO_WEIGHT
    assert ("v0", 0) not in found  # the script has that one


def test_an_act_of_another_step_is_not_an_echo():
    job = task(*["fill tub; rinse cat; open door"] * 3)
    found = echoes(job, script_of(job, ("fill", "tub")))
    assert "door" not in {e.mention.noun for e in found}
    assert all(MIN_PROBABILITY <= e.weight <= ECHO_WEIGHT for e in found)


def test_steps_that_nobody_names_have_no_echo():
    job = task("fill tub; dry cat", "fill tub; dry cat")
    assert echoes(job, Script((Step("fill tub", ()),))) == []


def test_rows_are_sorted_by_time_and_weighted_by_work():
    job = task("fill tub; dry cat", "dry cat")
    mentions = [m for video in job.videos for m in video.mentions]
    first, second = spoken_by_video(job, [(mentions[1], 1, 0.5), (mentions[0], 0, 1.0)])
    assert first.tolist() == [[0.0, 2.0, 0.0, 1.0], [10.0, 12.0, 1.0, 0.5]]
    assert second.shape == (0, 4)
