"""From a page of text to a script: which step gets which mentions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from howsteps.errors import InputError, Problem
from howsteps.script.text_form import parse_script_text, script_text
from howsteps.script.text_mentions import script_of_text, unmentioned, with_matches
from howsteps.task import Mention, Script, Step
from tests.script import spoken

PAGE = Path("script.md")
TASK = spoken.task(
    "fill tub; run water; catch cat; add soap; wash cat; dry cat",
    "fill tub; catch cat; grab cat; wash cat; rub cat; dry cat",
    "run water; add soap; wash cat; dry cat; tidy room",
)
MENTIONS = [mention for video in TASK.videos for mention in video.mentions]


def of(*acts: str) -> tuple[Mention, ...]:
    return tuple(m for m in MENTIONS if f"{m.verb} {m.noun}" in acts)


KNOWN = Script(
    (
        Step("fill the tub", of("fill tub", "run water")),
        Step("catch the cat", of("catch cat", "grab cat")),
        Step("wash the cat", of("wash cat", "rub cat")),
        Step("dry the cat", of("dry cat")),
    )
)


def read_labels(labels: Sequence[str]) -> list[tuple[Mention, ...]]:
    """What the parser finds in "verb the noun"."""
    words = [label.lower().split() for label in labels]
    return [(Mention("", w[0], w[-1], " ".join(w), 0, 0),) if len(w) > 1 else () for w in words]


def edited(text: str, known: Script = KNOWN) -> dict[str, list[str]]:
    """The acts of every step."""
    script, _ = gathered(text, known)
    return {s.label: sorted({f"{m.verb} {m.noun}" for m in s.mentions}) for s in script.steps}


def gathered(text: str, known: Script = KNOWN) -> tuple[Script, list[Problem]]:
    return script_of_text(parse_script_text(text, PAGE), TASK, known, read_labels, PAGE)


def no_parser(labels: Sequence[str]) -> list[tuple[Mention, ...]]:
    raise AssertionError(f"{labels} need not be parsed")


class TestKnownSteps:
    def test_a_page_that_nobody_edited_is_the_same_script(self) -> None:
        page = parse_script_text(script_text(TASK.name, KNOWN), PAGE)
        assert script_of_text(page, TASK, KNOWN, no_parser, PAGE) == (
            Script(tuple(s for s in gathered(script_text("", KNOWN))[0].steps)),
            [],
        )
        found = gathered(script_text("", KNOWN))[0].steps
        assert [(s.label, s.mentions) for s in found] == [
            (s.label, s.mentions) for s in KNOWN.steps
        ]

    def test_a_step_without_also_keeps_its_mentions_by_its_label(self) -> None:
        page = parse_script_text("Dry the cat\nfill a tub", PAGE)
        script, remarks = script_of_text(page, TASK, KNOWN, no_parser, PAGE)
        assert [step.mentions for step in script.steps] == [
            KNOWN.steps[3].mentions,
            KNOWN.steps[0].mentions,
        ]
        assert remarks == []

    def test_a_renamed_step_keeps_the_acts_listed_below_it(self) -> None:
        text = script_text("", KNOWN).replace("1. fill the tub", "1. get ready")
        assert edited(text)["get ready"] == ["fill tub", "run water"]

    def test_the_mentions_of_a_deleted_step_are_dropped(self) -> None:
        lines = script_text("", KNOWN).splitlines()
        text = "\n".join(line for line in lines if "wash" not in line)
        found = edited(text)
        assert "wash the cat" not in found
        assert not any("wash cat" in acts or "rub cat" in acts for acts in found.values())

    def test_the_mentions_of_a_deleted_act_are_dropped(self) -> None:
        assert edited(script_text("", KNOWN).replace(", run the water", ""))["fill the tub"] == [
            "fill tub"
        ]

    def test_a_moved_act_takes_its_mentions_along(self) -> None:
        text = (
            "1. fill the tub\n   also: fill the tub\n2. catch the cat\n   also: run the water, "
            "catch the cat\n3. wash the cat"
        )
        assert edited(text) == {
            "fill the tub": ["fill tub"],
            "catch the cat": ["catch cat", "run water"],
            "wash the cat": ["rub cat", "wash cat"],
        }

    def test_an_act_of_no_known_step_can_be_added(self) -> None:
        assert edited("fill the tub\n  also: fill the tub, Add soap")["fill the tub"] == [
            "add soap",
            "fill tub",
        ]

    def test_acts_that_the_page_does_not_show_stay_with_their_step(self) -> None:
        many = spoken.task("; ".join(f"lift box{n}" for n in range(12)))
        known = Script((Step("lift boxes", many.videos[0].mentions), Step("rest", ())))
        text = script_text("", known).replace("1. lift boxes", "1. clear up")
        assert "and 4 more" in text
        page = parse_script_text(text, PAGE)
        script, _ = script_of_text(page, many, known, lambda labels: [() for _ in labels], PAGE)
        assert script.steps[0].mentions == known.steps[0].mentions


class TestJoining:
    def test_a_joined_step_brings_all_of_its_mentions(self) -> None:
        found = edited(
            "fill the tub\nwash the cat\n  + catch the cat\n  + add the soap\ndry the cat"
        )
        assert found["wash the cat"] == ["add soap", "catch cat", "grab cat", "rub cat", "wash cat"]

    def test_acts_listed_below_a_joined_step_belong_to_the_result(self) -> None:
        text = "wash the cat\n  + catch the cat\n    also: catch the cat, grab the cat\ndry the cat"
        assert edited(text)["wash the cat"] == ["catch cat", "grab cat", "rub cat", "wash cat"]

    def test_a_joined_step_must_not_be_listed_too(self) -> None:
        with pytest.raises(InputError, match=r"script\.md:3: 'catch the cat' is joined to 'wash"):
            edited("wash the cat\n + catch the cat\ncatch the cat")


class TestNewSteps:
    def test_a_new_label_is_matched_against_the_mentions(self) -> None:
        found = edited("fill the tub\nadd the shampoo\ntidy the room\nwash the cat")
        assert found["tidy the room"] == ["tidy room"]
        assert found["wash the cat"] == ["rub cat", "wash cat"]

    def test_other_steps_compete(self) -> None:
        """Mentions that belong to another step, or match it better, are not available."""
        found = edited("wash the cat\nwash the floor")
        assert found["wash the floor"] == []

    def test_a_step_that_nobody_names_is_a_remark_with_its_line(self) -> None:
        text = "fill the tub\nbake the bread"
        script, _ = gathered(text)
        assert script.steps[1].mentions == ()
        [remark] = unmentioned(parse_script_text(text, PAGE), script, PAGE)
        assert (remark.line, remark.harmless) == (2, True)
        assert str(remark) == "script.md:2: no narrator mentions the step 'bake the bread'"

    def test_a_phrase_that_nobody_says_is_a_remark(self) -> None:
        _, [remark] = gathered("fill the tub\n   also: ratchet the doohickey")
        assert remark.reason.startswith("nobody says 'ratchet the doohickey'; it counts for 'fill")

    def test_a_phrase_stays_and_takes_only_what_says_it(self) -> None:
        text = "get ready\n  also: fill the bath, run the water\nwash it\n  also: wash the cat"
        script, _ = gathered(text, Script(()))
        assert [step.also for step in script.steps] == [
            "fill the bath, run the water",
            "wash the cat",
        ]
        assert script.steps[0].mentions == of("run water")
        again = with_matches(
            replace(script, steps=(replace(script.steps[0], also="fill the tub"),)),
            TASK,
            no_parser,
        )
        assert {*again.steps[0].mentions} == {*of("run water", "fill tub")}

    def test_a_label_without_also_stays_without(self) -> None:
        script, _ = gathered("tidy the room")
        assert (script.steps[0].mentions, script.steps[0].also) == (of("tidy room"), "")

    def test_one_narrator_of_many_does_not_name_a_new_step(self) -> None:
        def found(videos: int) -> tuple[Mention, ...]:
            task = spoken.task(*["fill tub; wash cat"] * (videos - 1), "fill tub; tidy room")
            text = parse_script_text("fill the tub\ntidy the old room", PAGE)
            return script_of_text(text, task, Script(()), read_labels, PAGE)[0].steps[1].mentions

        assert len(found(5)) == 1
        assert found(9) == ()

    def test_a_join_with_an_unknown_step_is_a_remark(self) -> None:
        _, remarks = gathered("fill the tub\n+ catch the cats\ndry the cat")
        assert [str(one) for one in remarks] == [
            "script.md:1: no step is called 'catch the cats'; mentions that match it are added to "
            "'fill the tub'"
        ]

    def test_the_whole_task_is_not_part_of_a_step(self) -> None:
        """In "fill the tub to wash a cat", washing is the task, although it has a step too."""

        def read(labels: Sequence[str]) -> list[tuple[Mention, ...]]:
            fill, wash = read_labels(["fill the tub", "wash the cat"])
            return [(*fill, *wash) if "to wash" in label else wash for label in labels]

        page = parse_script_text("fill the tub to wash a cat\ndry it", PAGE)
        script, _ = script_of_text(page, TASK, Script(()), read, PAGE)
        assert {m.verb for m in script.steps[0].mentions} == {"fill"}
        assert {m.verb for m in script.steps[1].mentions} >= {"wash"}

    def test_a_script_from_nothing(self) -> None:
        found = edited("1. fill the tub\n2. catch the cat\n3. dry the cat", Script(()))
        assert found["fill the tub"] == ["fill tub"]
        assert "dry cat" in found["dry the cat"]
        every = [
            m for step in gathered("wash the cat\ndry the cat")[0].steps for m in step.mentions
        ]
        assert len(set(every)) == len(every)


BOTH = {
    "wash the left wrist": ["v0 at 0 left", "v1 at 10 left"],
    "wash the right wrist": ["v0 at 20 right", "v1 at 0 right", "v4 at 10 right"],
}


class TestStepsOfTheSameAct:
    """ "Wash the left wrist" beside "wash the right wrist"."""

    TASK = spoken.task(
        "wash left wrist; dry cat; wash right wrist",
        "wash right wrist; wash left wrist; dry cat",
        "wash wrist; dry cat; wash wrist",
        "dry cat; wash wrist",
        "wash wet wrist; wash right wrist",
    )
    VIDEOS = tuple(
        replace(
            v,
            mentions=tuple(
                replace(m, particle="", modifiers=tuple(m.particle.split())) for m in v.mentions
            ),
        )
        for v in TASK.videos
    )

    def shared(self, page: str, known: str = "", way: str = "page") -> dict[str, list[str]]:
        """The mentions of every step, "v0 at 20 says right"; the known step has all of its act."""
        task = replace(self.TASK, videos=self.VIDEOS)
        every = tuple(m for v in self.VIDEOS for m in v.mentions if m.noun == "wrist")
        before = Script((Step(known, every),) if known else ())
        if way == "page":
            script = script_of_text(parse_script_text(page, PAGE), task, before, read_labels, PAGE)[
                0
            ]
        else:
            new = [Step(label, every if label == known else ()) for label in page.splitlines()]
            script = with_matches(Script(tuple(new)), task, read_labels)
        said = [(s.label, m) for s in script.steps for m in s.mentions]
        assert len({m for _, m in said}) == len(said)
        return {
            s.label: [
                f"{m.video} at {m.start:.0f} {' '.join(m.modifiers)}".rstrip() for m in s.mentions
            ]
            for s in script.steps
        }

    def test_words_that_tell_them_apart_share_out_the_mentions(self) -> None:
        assert self.shared("wash the left wrist\nwash the right wrist") == BOTH

    @pytest.mark.parametrize("way", ["page", "steps"])
    def test_a_new_step_takes_its_own_from_a_known_one(self, way: str) -> None:
        """What does not tell stays where it was: a single "wrist", and a wet one."""
        found = self.shared("\n".join(BOTH), "wash the right wrist", way)
        assert found["wash the left wrist"] == BOTH["wash the left wrist"]
        assert {*found["wash the right wrist"]} == {
            *BOTH["wash the right wrist"],
            "v2 at 0",
            "v2 at 20",
            "v3 at 10",
            "v4 at 0 wet",
        }

    @pytest.mark.parametrize("known", ["", "wash the wrist"])
    def test_a_word_that_nobody_says_leaves_all_to_the_plainer_step(self, known: str) -> None:
        found = self.shared("wash the wrist\nwash the sore wrist", known)
        assert {name for name, said in found.items() if said} == {"wash the wrist"}

    def test_a_side_that_nobody_says_does_not_take_the_other(self) -> None:
        left = (
            replace(v, mentions=tuple(m for m in v.mentions if "right" not in m.modifiers))
            for v in self.VIDEOS[:2]
        )
        task = replace(self.TASK, videos=tuple(left))
        page = parse_script_text("wash the right wrist\ndry the cat", PAGE)
        script, _ = script_of_text(page, task, Script(()), read_labels, PAGE)
        assert [len(step.mentions) for step in script.steps] == [0, 2]

    def test_what_is_said_is_found_although_the_parser_takes_it_for_another_act(self) -> None:
        [video] = spoken.task("scrub left back").videos
        misread = replace(video.mentions[0], noun="", particle="back", phrase="scrub back")
        task = replace(TASK, videos=(replace(video, mentions=(misread,)),))
        page = parse_script_text("scrub the right back\nscrub the left back", PAGE)
        script, _ = script_of_text(page, task, Script(()), read_labels, PAGE)
        assert [step.mentions for step in script.steps] == [(), (misread,)]

    def test_listed_below_the_new_step_it_is_the_same(self) -> None:
        page = "wash the left wrist\n  also: wash the left wrist\nwash the right wrist"
        found = self.shared(page, "wash the right wrist")
        assert found["wash the left wrist"] == BOTH["wash the left wrist"]

    def test_what_nobody_says_takes_nothing(self) -> None:
        found = self.shared("wash the right wrist\nwash the sore wrist", "wash the right wrist")
        assert found["wash the sore wrist"] == []
