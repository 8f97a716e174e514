"""Which steps can be swapped, and which are optional."""

from dataclasses import replace

from howsteps.script.partial_order import Swap, freedom
from howsteps.task import Script, Step
from tests.script import spoken


def test_swaps_have_counts_and_rare_steps_are_optional() -> None:
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
