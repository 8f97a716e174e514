"""How sure a script is: what parts of the videos give again."""

from howsteps.script.agreement import DRAWS, FEWEST_VIDEOS, with_stability
from howsteps.task import Mention, Script, Step, Task, Video


def said(video: str, noun: str, at: float) -> Mention:
    return Mention(video, "fill", noun, f"fill the {noun}", at, at + 1)


VIDEOS = tuple(
    Video(f"v{n}", mentions=(said(f"v{n}", "tub", 1.0), said(f"v{n}", "cup", 5.0)))
    for n in range(8)
)
TASK = Task("bath", VIDEOS)


def step(task: Task, noun: str) -> Step:
    return Step(noun, tuple(m for v in task.videos for m in v.mentions if m.noun == noun))


def test_a_step_that_every_part_gives_is_sure_and_one_that_none_gives_is_not() -> None:
    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    sure = with_stability(script, TASK, lambda part: Script((step(part, "tub"),)))
    assert [each.stability for each in sure.steps] == [1.0, 0.0]
    assert [each.label for each in sure.steps] == ["tub", "cup"]


def test_parts_are_three_quarters_and_as_many_as_said() -> None:
    sizes = []

    def again(part: Task) -> Script:
        sizes.append(len(part.videos))
        return Script(())

    with_stability(Script((step(TASK, "tub"),)), TASK, again)
    assert sizes == [6] * DRAWS


def test_a_step_joined_with_another_is_found_again_only_if_it_is_half_of_it() -> None:
    def joined(part: Task) -> Script:
        return Script((Step("all", tuple(m for v in part.videos for m in v.mentions)),))

    script = Script((step(TASK, "tub"),))
    assert with_stability(script, TASK, joined).steps[0].stability == 1.0
    small = Script((Step("tub", step(TASK, "tub").mentions[:2]),))
    assert with_stability(small, TASK, joined).steps[0].stability == 0.0


def test_a_step_that_a_part_gives_in_two_is_found_again() -> None:
    def parted(part: Task) -> Script:
        mentions = step(part, "tub").mentions
        return Script((Step("some", mentions[:3]), Step("others", mentions[3:])))

    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    assert [s.stability for s in with_stability(script, TASK, parted).steps] == [1.0, 0.0]


def test_a_step_that_nobody_names_and_a_handful_of_videos_say_nothing() -> None:
    assert (
        with_stability(Script((Step("x", ()),)), TASK, lambda _: Script(())).steps[0].stability
        is None
    )
    few = Task("bath", VIDEOS[: FEWEST_VIDEOS - 1])
    script = Script((step(few, "tub"),))
    assert with_stability(script, few, lambda part: Script(())) == script
