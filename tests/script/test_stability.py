"""Stability: which steps subsamples of the videos recover."""

from howsteps.script.stability import MIN_VIDEOS, SUBSAMPLES, with_stability
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


def test_a_step_that_every_subsample_recovers_is_stable() -> None:
    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    sure = with_stability(script, TASK, lambda subsample: Script((step(subsample, "tub"),)))
    assert [each.stability for each in sure.steps] == [1.0, 0.0]
    assert [each.label for each in sure.steps] == ["tub", "cup"]


def test_subsamples_are_three_quarters_of_the_videos() -> None:
    sizes = []

    def again(subsample: Task) -> Script:
        sizes.append(len(subsample.videos))
        return Script(())

    with_stability(Script((step(TASK, "tub"),)), TASK, again)
    assert sizes == [6] * SUBSAMPLES


def test_a_step_merged_with_another_is_recovered_if_it_is_half_of_it() -> None:
    def joined(subsample: Task) -> Script:
        return Script((Step("all", tuple(m for v in subsample.videos for m in v.mentions)),))

    script = Script((step(TASK, "tub"),))
    assert with_stability(script, TASK, joined).steps[0].stability == 1.0
    small = Script((Step("tub", step(TASK, "tub").mentions[:2]),))
    assert with_stability(small, TASK, joined).steps[0].stability == 0.0


def test_a_step_that_a_subsample_splits_is_recovered() -> None:
    def split(subsample: Task) -> Script:
        mentions = step(subsample, "tub").mentions
        return Script((Step("some", mentions[:3]), Step("others", mentions[3:])))

    script = Script((step(TASK, "tub"), step(TASK, "cup")))
    assert [s.stability for s in with_stability(script, TASK, split).steps] == [1.0, 0.0]


def test_unnamed_steps_and_few_videos_have_no_stability() -> None:
    assert (
        with_stability(Script((Step("x", ()),)), TASK, lambda _: Script(())).steps[0].stability
        is None
    )
    few = Task("bath", VIDEOS[: MIN_VIDEOS - 1])
    script = Script((step(few, "tub"),))
    assert with_stability(script, few, lambda subsample: Script(())) == script
