"""A script as a page of text: written, parsed again, and parsed from lists of all kinds."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.errors import InputError
from howsteps.script.text_form import (
    MAX_CHARACTERS,
    MAX_LABEL,
    MAX_STEPS,
    SHOWN_ACTS,
    TextStep,
    VideoChoices,
    parse_choices,
    parse_script_text,
    script_text,
)
from howsteps.task import Mention, Script, SetAside, Step

PAGE = Path("script.md")


def parse(text: str) -> tuple[TextStep, ...]:
    return parse_script_text(text, PAGE)


def labels(text: str) -> list[str]:
    return [step.label for step in parse(text)]


def mention(verb: str, noun: str, *, phrase: str = "", start: float = 0.0) -> Mention:
    return Mention("v", verb, noun, phrase or f"{verb} the {noun}", start, start + 1)


class TestWriting:
    def test_one_step_per_line_with_its_acts_below(self) -> None:
        jack, raise_ = mention("jack", "car", phrase="jack up the car"), mention("raise", "car")
        script = Script(
            (
                Step("loosen the nuts", ()),
                Step("jack up the car", (raise_, jack, jack), optional=True),
                Step("drive onto a ramp", (), alternative=True),
            )
        )
        text = script_text("change a tire", script)
        assert text.splitlines()[:6] == [
            "# change a tire",
            "",
            "1. loosen the nuts",
            "2. jack up the car (optional)",
            "   also: jack up the car, raise the car",
            "3. or drive onto a ramp",
        ]
        assert parse(text) == (
            TextStep("loosen the nuts", line=3),
            TextStep(
                "jack up the car",
                optional=True,
                written="jack up the car, raise the car",
                also=("jack up the car", "raise the car"),
                line=4,
            ),
            TextStep("drive onto a ramp", alternative=True, line=6),
        )

    @pytest.mark.parametrize("also", ["", "raise it, lift my car and 3 more"])
    def test_what_a_person_wrote_is_written_word_for_word(self, also: str) -> None:
        step = Step("jack up the car", (mention("jack", "car"),), also=also)
        [read] = parse(script_text("", Script((step,))))
        assert read.written == also

    def test_the_acts_that_are_not_shown_are_counted(self) -> None:
        mentions = tuple(mention("lift", f"thing{n}") for n in range(SHOWN_ACTS + 3))
        [step] = parse(script_text("lift", Script((Step("lift things", mentions),))))
        assert len(step.also) == SHOWN_ACTS
        assert step.more

    def test_a_label_cannot_end_a_line_or_a_comment(self) -> None:
        script = Script((Step("dry\nthe --> <!-- cat\x1b[31m", ()),))
        assert labels(script_text("a\n1. b", script)) == ["dry the cat [31m"]


class TestReadingAnyList:
    @pytest.mark.parametrize(
        "text",
        [
            "fill the tub\ncatch the cat\n",
            "\ufefffill the tub\r\n\r\ncatch the cat\r\n",
            "1. fill the tub\n2. catch the cat",
            "1) fill the tub\n\n\n2) catch the cat",
            "Step 1: fill the tub\nStep 2: catch the cat",
            "- fill the tub\n- catch the cat",
            "• fill the tub\n• catch the cat",
            "+ fill the tub\n+ catch the cat",
            "   * fill the tub\n   * catch the cat",
            "- [ ] fill the tub\n- [x] catch the cat",
            "> 1. fill the tub\n> 2. catch the cat",
            "# Wash a cat\n\n1. fill the tub\n2. catch the cat\n\n---\n",
            "# Wash a cat\n## fill the tub\nWarm, not hot.\n## catch the cat\nGood luck.",
            "How to wash a cat:\n\n1. **fill the tub**\n2. [catch the cat](https://example.org/cat).",
            "1. fill the tub\n   - warm water is best\n2. catch the cat\n   1. look under the bed",
            "<!-- a\nnote --> \n1. fill the tub\n2. catch the cat",
            "1. fill the tub\ncatch the cat",
            "Part 1: Water\n1. fill the tub\n\nPart 2 of 2: The Cat\n\n2. catch the cat",
            "1. fill the tub.\n2. catch the cat;",
        ],
    )
    def test_the_same_two_steps(self, text: str) -> None:
        assert labels(text) == ["fill the tub", "catch the cat"]

    def test_marks_leave_single_spaces(self) -> None:
        assert labels("1. **pour ** the tea\n2. **stir** **it**") == ["pour the tea", "stir it"]

    def test_the_label_of_a_long_step_is_its_first_sentence_or_its_bold_part(self) -> None:
        more = "Turn them to the left with the wrench until they move, but leave them on."
        assert labels(f"1. Loosen the nuts. {more}\n2. **Raise the car** {more}") == [
            "Loosen the nuts",
            "Raise the car",
        ]

    def test_prose_between_numbered_steps_is_not_a_step(self) -> None:
        prose = "This is the part where most people give up, so take your time and be kind to it."
        assert labels(f"1. fill the tub\n\n{prose}\n\n2. catch the cat") == [
            "fill the tub",
            "catch the cat",
        ]

    def test_optional_and_alternatives_in_several_spellings(self) -> None:
        text = (
            "1. a tub (optional)\n2. Optional: soap\n3. or shampoo\nor: foam\n4. dry it [Optional]."
        )
        found = [(s.label, s.optional, s.alternative) for s in parse(text)]
        assert found == [
            ("a tub", True, False),
            ("soap", True, False),
            ("shampoo", False, True),
            ("foam", False, True),
            ("dry it", True, False),
        ]

    def test_bidi_controls_are_removed(self) -> None:
        assert labels("\u202efill the\u2066 tub\u200b") == ["fill the tub"]

    def test_the_first_step_is_not_an_alternative(self) -> None:
        assert not parse("or fill the tub")[0].alternative

    def test_also_and_plus_lines_belong_to_the_step_above(self) -> None:
        text = (
            "1. fill it\n   also: run the water, , open the tap and 4 more\n   + add soap\n2. dry"
        )
        first, second = parse(text)
        assert first.also == ("run the water", "open the tap")
        assert (first.more, first.joins) == (True, ("add soap",))
        assert (second.also, second.joins) == ((), ())

    def test_a_repeated_label_gets_again(self) -> None:
        assert labels("flip it\nturn\nFlip it\nflip it") == [
            *("flip it", "turn", "Flip it again", "flip it again again")
        ]


class TestRefusing:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("", "has no steps"),
            ("\n\n# Title\n", "has no steps"),
            ("<!-- 1. nothing", "has no steps"),
            ("1. fill\n2. ???", r"script\.md:2: there are no words in the step"),
            ("1. \n2. ", r"script\.md:1: there are no words in the step"),
            ("also: run the water\n1. fill", r"script\.md:1: there is no step above"),
            ("1. " + "x" * (MAX_LABEL + 1), r"script\.md:1: a step of 201 characters"),
            ("\n".join(f"step {n} x" for n in range(MAX_STEPS + 1)), f":{MAX_STEPS + 1}: has"),
            ("1. x\n" + "also: b, c, d\n" * 40, r":35: more than 100 acts below the step 'x'"),
            ("a" * (MAX_CHARACTERS + 1), "is too long"),
            ("\n" + "also:\n" * 20_000, "is too long"),
        ],
    )
    def test_errors_have_the_line_number(self, text: str, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            parse(text)

    @pytest.mark.parametrize("unit", ["[", "**a", "+ ", "> ", "<!--", "a. ", "(optional) ", "or "])
    def test_adversarial_pages_are_parsed_fast(self, unit: str) -> None:
        with suppress(InputError):
            parse(unit * (MAX_CHARACTERS // len(unit)))

    @given(st.text(max_size=300))
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            steps = parse(text)
        except InputError:
            return
        assert all(step.label == " ".join(step.label.split()) != "" for step in steps)
        assert all(min(step.label) >= " " for step in steps)
        assert len({step.label.casefold() for step in steps}) == len(steps)
        # What was read is read again from the page that is written.
        script = Script(
            tuple(Step(s.label, (), optional=s.optional, alternative=s.alternative) for s in steps)
        )
        again = parse(script_text("any", script))
        assert len(again) == len(steps)


def test_videos_that_were_set_aside_are_listed_and_read_back() -> None:
    aside = [SetAside("x1", "A --> title", "hardly says 'egg'"), SetAside("y 2", "", "no")]
    text = script_text("job", Script((Step("boil it", ()),)), VideoChoices(aside, ["z3"]))
    assert "drop: x1 <!-- A title: hardly says 'egg' -->" in text
    assert parse_choices(text) == ({"z3": 7}, {"x1": 8, "y 2": 9})
    known = VideoChoices([SetAside("Tea [x1]", "Tea", "hardly says 'egg'")])  # the id has the title
    assert "drop: Tea [x1] <!-- hardly says 'egg' -->" in script_text("job", Script(()), known)
    assert labels(text) == ["boil it"]
    assert parse_choices(text.replace("drop: x1", "keep: x1")) == ({"z3": 7, "x1": 8}, {"y 2": 9})
