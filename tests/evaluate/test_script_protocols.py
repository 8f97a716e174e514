"""``script``: precision and recall in order, judged or by time."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.evaluate import by_time, judged, script_score
from howsteps.evaluate.methods import text_free
from howsteps.evaluate.script_protocols import longest_chain, poisson_binomial_tail
from howsteps.task import Mention, Rule, Step
from tests.evaluate.truths import truth


def mention(verb: str, noun: str, video: str = "u", start: float = 0.0) -> Mention:
    return Mention(video, verb, noun, f"{verb} {noun}", start, start + 1)


class TestChain:
    def test_worked_example(self):
        # True order 0 1 2 3. Discovered: 1, nothing, 0, 2, 2, 3.
        # The longest chain is 1 2 3 (or 0 2 3): 3 of 6 discovered, 3 of 4 true steps.
        score = script_score([{1}, set(), {0}, {2}, {2}, {3}], [0, 1, 2, 3])
        assert score.precision == pytest.approx(3 / 6)
        assert score.recall == pytest.approx(3 / 4)
        assert score.f1 == pytest.approx(2 * 0.5 * 0.75 / 1.25)
        assert sum(step is not None for step in score.matching) == 3

    def test_the_global_order_counts_not_that_of_the_list(self):
        assert script_score([{1}, {0}], [1, 0]).recall == 1
        assert script_score([{1}, {0}], [0, 1]).recall == 1 / 2

    def test_a_discovered_step_counts_once(self):
        # One discovered step that may be 0 or 1 cannot recover both.
        assert script_score([{0, 1}], [0, 1]).recall == 1 / 2
        assert longest_chain([{0, 1}, {0, 1}], [0, 1]) == (0, 1)

    @given(st.lists(st.sets(st.integers(0, 3)), max_size=5), st.permutations(range(4)))
    def test_no_chain_is_longer(self, options, order):
        def is_chain(choice):
            places = [order.index(step) for step in choice if step is not None]
            return places == sorted(set(places))

        choices = product(*([None, *allowed] for allowed in options))
        longest = max(sum(s is not None for s in c) for c in choices if is_chain(c))
        counts = longest_chain(options, order)
        assert is_chain(counts)
        assert sum(step is not None for step in counts) == longest
        assert all(step is None or step in options[k] for k, step in enumerate(counts))


RULES = {
    "loosen": (Rule(frozenset({"loosen", "break"}), frozenset({"nut", "lug"})),),
    "lift": (
        Rule(frozenset({"jack"}), frozenset({"car"})),
        Rule(frozenset({"put"}), frozenset({"jack"})),
    ),
}


class TestJudgement:
    def test_half_of_the_mentions_must_be_allowed(self):
        half = Step("loosen nut", (mention("loosen", "nut"), mention("see", "nut")))
        third = Step("see nut", (*half.mentions, mention("see", "car")))
        assert judged([half, third], RULES, ["lift", "loosen"]) == [{1}, set()]

    def test_one_rule_suffices_but_verb_and_noun_must_both_match(self):
        steps = [
            Step("put jack", (mention("put", "jack"), mention("jack", "car"))),
            Step("put car", (mention("put", "car"),)),
        ]
        assert judged(steps, RULES, ["lift", "loosen"]) == [{0}, set()]

    def test_a_step_without_rules_or_mentions_is_never_recovered(self):
        steps = [Step("nothing", ()), Step("lift", (mention("jack", "car"),))]
        assert judged(steps, {}, ["lift"]) == [set(), set()]


def job(videos: int, seed: int):
    """True steps of 10 s at different times in every video."""
    rng = np.random.default_rng(seed)
    begins = {f"v{n}": np.sort(rng.uniform(0, 190, 3)) for n in range(videos)}
    rows = {v: [(k, b, b + 10) for k, b in enumerate(found)] for v, found in begins.items()}
    return truth(rows, 3, dict.fromkeys(rows, 200.0)), begins


def at(*times: dict[str, float]) -> list[Step]:
    """Steps that are mentioned at one time in each video."""
    return [
        Step("", tuple(mention("", "", video, start) for video, start in step.items()))
        for step in times
    ]


class TestByTime:
    def test_steps_that_coincide_in_all_videos_are_matched(self):
        true, begins = job(12, seed=1)
        found = at(*({video: b[step] + 5 for video, b in begins.items()} for step in (2, 0)))
        assert by_time([*found, Step("", ())], true) == [{2}, {0}, set()]

    def test_the_lead_of_the_narration_need_not_be_known(self):
        true, begins = job(12, seed=2)
        for early in (1.5, 4.0, 8.0):
            found = at({video: b[1] - early for video, b in begins.items()})
            assert by_time(found, true, leads=(2.0, 5.0, 10.0)) == [{1}]
            assert by_time(found, true) != [{1}]

    @pytest.mark.parametrize("leads", [(0.0,), (2.0, 5.0, 10.0)])
    def test_times_that_depend_on_the_position_only_match_no_step(self, leads):
        # The text-free control: one random time in each of ten bins. At most one in twenty of
        # its steps may be taken for a true one.
        taken = 0
        for seed in range(12):
            true, _ = job(30, seed)
            control = text_free(true.durations, 10, 100 + seed)
            taken += sum(map(bool, by_time(control.steps, true, leads=leads)))
        assert taken <= 0.05 * 120

    def test_several_mentions_in_a_video_are_one_hit(self):
        # 1 video has 5 hits, the other none: with 2 videos nothing is significant.
        true = truth({"u": [(0, 0, 10)], "v": [(0, 90, 100)]}, 1, {"u": 100.0, "v": 100.0})
        mentions = [mention("", "", "u", t) for t in range(5)] + [mention("", "", "v", 5)]
        assert by_time([Step("", tuple(mentions))], true) == [set()]

    def test_one_video_matches_no_step(self):
        true = truth({"u": [(0, 0, 10)]}, 1)
        assert by_time(at({"u": 5.0}, {"elsewhere": 5.0}), true) == [set(), set()]

    def test_poisson_binomial_tail_worked_example(self):
        # Two events with probabilities ½ and ¼: P(≥1) = 1 − ½·¾ = ⅝, P(≥2) = ⅛, P(≥0) = 1.
        probabilities = np.array([0.5, 0.25])
        assert [poisson_binomial_tail(k, probabilities) for k in range(3)] == pytest.approx(
            [1, 5 / 8, 1 / 8]
        )
