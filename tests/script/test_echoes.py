from howsteps.script.echoes import LEAST, WORTH, echoes, spoken_by_video
from howsteps.task import Script, Step
from tests.script.spoken import task


def script_of(job, *acts):
    """Steps whose mentions are those of some (verb, noun) in the first video that says them."""
    steps = []
    for verb, noun in acts:
        said = [m for v in job.videos for m in v.mentions if (m.verb, m.noun) == (verb, noun)]
        steps.append(Step(f"{verb} {noun}", tuple(m for m in said if m.video == said[0].video)))
    return Script(tuple(steps))


def test_the_same_act_in_another_video_speaks_of_the_step():
    job = task("fill tub; wash cat; dry cat", "fill tub; dry cat", "wash cat; dry cat")
    script = script_of(job, ("fill", "tub"), ("dry", "cat"))
    found = {(e.mention.video, e.step): e.share for e in echoes(job, script)}
    assert found["v1", 0] == found["v1", 1] == found["v2", 1] == WORTH
    assert ("v0", 0) not in found  # the script has that one


def test_an_act_of_another_step_is_no_echo():
    job = task(*["fill tub; rinse cat; open door"] * 3)
    found = echoes(job, script_of(job, ("fill", "tub")))
    assert "door" not in {e.mention.noun for e in found}
    assert all(LEAST <= e.share <= WORTH for e in found)


def test_steps_that_nobody_names_have_no_echo():
    job = task("fill tub; dry cat", "fill tub; dry cat")
    assert echoes(job, Script((Step("fill tub", ()),))) == []


def test_what_is_spoken_is_in_order_of_time_and_weighed_by_its_work():
    job = task("fill tub; dry cat", "dry cat")
    mentions = [m for video in job.videos for m in video.mentions]
    first, second = spoken_by_video(job, [(mentions[1], 1, 0.5), (mentions[0], 0, 1.0)])
    assert first.tolist() == [[0.0, 2.0, 0.0, 1.0], [10.0, 12.0, 1.0, 0.5]]
    assert second.shape == (0, 4)
