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
    lengths = {"u": 40.0, "v": 100.0}
    null = text_free(lengths, 4, seed=1)
    for k, step in enumerate(null.steps):
        assert [mention.video for mention in step.mentions] == list(lengths)
        for mention in step.mentions:
            assert k <= mention.start / lengths[mention.video] * 4 <= k + 1
    assert null == text_free(lengths, 4, seed=1)
