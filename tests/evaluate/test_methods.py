"""The baselines for scripts."""

from howsteps.evaluate.methods import frequent, text_free
from tests.script import spoken

WASH = (
    "fill tub; catch cat; rub in soap; rinse cat; dry cat",
    "fill tub; catch cat; rub in soap; dry off cat",
    "catch cat; fill tub; rub in soap; rinse cat; dry off cat",
    "fill tub; rub in soap; rinse cat; dry off cat; feed dog",
)


def test_the_frequency_baseline_sorts_by_median_time() -> None:
    script = frequent(spoken.task(*WASH), 3)
    assert [step.label for step in script.steps] == ["fill tub", "rub soap", "dry cat"]


def test_the_text_free_baseline_puts_one_time_in_every_part() -> None:
    task = spoken.task(*WASH)
    null = text_free(task, 4, seed=1)
    assert len(null) == 4 * len(task.videos)
    for found in null:
        length = next(video for video in task.videos if video.id == found.video).length
        assert found.time is not None
        assert found.step <= found.time / length * 4 <= found.step + 1
    assert null == text_free(task, 4, seed=1)
