"""Reading a video: the question, the check of its answer, and what may be sent."""

import json
from collections.abc import Sequence

import pytest

from howsteps.reader import AnswerError, LanguageModel, LanguageModelError
from howsteps.reader import reading as module
from howsteps.reader.question import most_different
from howsteps.reader.reading import (
    Asker,
    Range,
    VideoQuestions,
    contradiction,
    lines_of,
    parse_reading,
    read_video,
)
from howsteps.task import Mention, Reading, Script, Sentence, Step, Task, Video, Word
from tests.reader.server import fails, says, serving

Messages = Sequence[dict[str, str]]


def spoken(*sentences: str, video: str = "v") -> Video:
    """A video with a word every second and two seconds between sentences."""
    at, found = 0.0, []
    for sentence in sentences:
        words = []
        for text in sentence.split():
            words.append(Word(text, at, at + 1))
            at += 1
        found.append(Sentence(tuple(words)))
        at += 2
    return Video(video, sentences=tuple(found))


SCRIPT = Script((Step("boil the water", ()), Step("stir the tea", ())))
TEA = spoken("boil the water", "then stir the tea", "and enjoy it")


def questions(video: Video = TEA) -> VideoQuestions:
    return VideoQuestions(Task("make_tea", (video,)), SCRIPT, video)


def done(*ranges: Sequence[object], **more: object) -> str:
    return json.dumps({"done": ranges, **more})


def read(*replies: str, video: Video = TEA) -> tuple[module.VideoReading, list[Messages]]:
    """What is read from these replies, and the conversations."""
    left, asked = list(replies), []

    def ask(messages: Messages, name: str) -> str:
        asked.append(messages)
        return left.pop(0)

    return read_video(questions(video), ask), asked


def test_a_line_has_a_few_words_and_ends_at_a_pause_or_with_a_sentence() -> None:
    long = " ".join(f"w{n}" for n in range(20))
    lines = lines_of(spoken(long, "one two"))
    assert [len(line.text.split()) for line in lines] == [8, 8, 4, 2]
    assert (lines[1].start, lines[1].end) == (8.0, 16.0)
    assert lines_of(Video("silent")) == []


def test_the_question_has_the_steps_and_the_numbered_lines_with_times() -> None:
    [text] = questions().texts
    assert text.startswith("Job: make tea. Steps:\n1 boil water\n2 stir tea\n")
    assert text.endswith(
        "\nVideo:\n1 [0:00] boil the water\n2 [0:05] then stir the tea\n3 [0:11] and enjoy it\n"
    )


def test_readings_have_the_times_of_their_lines() -> None:
    found, _ = read(done([1, 1, 1], [2, 2, 3]))
    assert found.readings == (Reading("v", 0, 0, 3, 1, 1), Reading("v", 1, 5, 14, 2, 3))
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ([3, 1, 1], "there is no step 3"),
        ([0, 1, 1], "there is no step 0"),
        ([1, 3, 9], "3 to 9 is not a range in the lines 1 to 3"),
        ([1, 3, 2], "3 to 2 is not a range"),
        ([1, 0, 1], "0 to 1 is not a range"),
        ([1, 1], "[1, 1] is not [step, first line, last line]"),
        ([1, 1.5, 2], "is not [step"),
        (["v2", 1, 2], "is not [step"),
        ([True, 1, 1], "is not [step"),
    ],
)
def test_what_is_wrong_is_said_once_and_then_left_out(entry: list[object], reason: str) -> None:
    corrected, asked = read(done([2, 2, 2], entry), done([2, 2, 2]))
    assert reason in asked[1][-1]["content"]
    assert corrected.remarks == ()
    kept, _ = read(done([2, 2, 2], entry), done([2, 2, 2], entry))
    assert [r.step for r in kept.readings] == [1]
    assert reason in kept.remarks[0]


def test_a_step_has_a_few_ranges_and_those_that_touch_are_one() -> None:
    video = spoken(*["say it again now please sir"] * 30)
    piece = range(1, 31)
    parsed, wrong = parse_reading(done(*([1, n, n] for n in range(1, 20, 2))), piece, 2)
    assert len(parsed) == module.MAX_RANGES
    assert "step 1 has 10 ranges" in wrong[0]
    parsed, _ = parse_reading(done([1, 4, 6], [1, 7, 8], [1, 5, 5]), piece, 2)
    assert parsed == [Range(1, 4, 8)]
    assert len(lines_of(video)) == 30


def test_without_any_answer_the_video_is_not_read() -> None:
    with pytest.raises(AnswerError, match=r"no complete JSON object.* then: .*no complete"):
        read("I would rather not.", "No.")
    found, _ = read("Well…", f"Sure: {done([1, 1, 1])}")
    assert len(found.readings) == 1


def test_a_long_transcript_goes_in_pieces_with_what_was_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    video = spoken(*(f"line number {n} says some words" for n in range(1, 21)))
    monkeypatch.setattr(module, "MAX_PIECE", 150)
    pieces = questions(video).pieces
    assert len(pieces) > 1
    assert [n for piece in pieces for n in piece] == list(range(1, 21))
    last = pieces[0].stop - 1
    answers = [done([1, last, last]), done([1, last + 1, last + 1])]
    found, asked = read(*answers, *[done()] * 9, video=video)
    assert f"Found before line {last + 1}: 1: {last}-{last}. " in asked[1][0]["content"]
    assert f"\n{last} " not in asked[1][0]["content"]
    assert [(r.first_line, r.last_line) for r in found.readings] == [(last, last + 1)]


def test_the_most_different_videos_are_read_first() -> None:
    def video(name: str, *acts: str) -> Video:
        return Video(name, mentions=tuple(Mention(name, a, "x", a, 0, 1) for a in acts))

    videos = [video("a", "p", "q"), video("b", "p", "q", "r"), video("c", "s"), video("d", "s")]
    cost = dict.fromkeys("abcd", 10)
    assert most_different(videos, cost, 40) == ["a", "b", "c", "d"]
    assert most_different(videos, cost, 35) == ["b", "c", "a"]
    assert most_different(videos, cost, 25) == ["b", "c"]
    assert most_different(videos, cost | {"a": 0}, 10) == ["a", "c"]
    assert most_different(videos, cost, 0) == []


def test_readings_that_agree_with_mentions_as_chance_would_are_poor() -> None:
    said = [
        tuple(Mention(f"v{n}", "do", "it", "do it", 100.0 * k + 5, 100.0 * k + 6) for n in range(9))
        for k in range(3)
    ]
    script = Script(tuple(Step(f"step {k}", said[k]) for k in range(3)))

    def read(*steps: int, videos: int = 9) -> list[Reading]:
        """A reading around each mention, called one of these steps."""
        return [
            Reading(f"v{n}", step, 100.0 * k, 100.0 * k + 9, 1, 1)
            for n in range(videos)
            for k, step in enumerate(steps)
        ]

    def of(readings: list[Reading], videos: int = 9) -> str:
        return contradiction(script, readings, {f"v{n}" for n in range(videos)})

    assert of(read(0, 1, 2)) == ""
    poor = "0% of the mentions of a step are where it read that step, 50% where it read another one"
    assert of(read(1, 2, 0)) == poor
    assert of(read(1, 2, 0, videos=3)) == poor
    assert of(read(1, 2, 0, videos=1), videos=1) == ""  # too few to tell
    assert of(read(1, 2, 0, videos=2)) == "it read 6 of 27 steps that are mentioned"
    assert of([]) == "it read 0 of 27 steps that are mentioned"
    assert of([], videos=0) == ""


def test_a_ceiling_is_kept_whatever_the_model_says() -> None:
    with serving(says("nonsense")) as served:
        asker = Asker(LanguageModel("small", served.url, tokens=questions().tokens))
        with pytest.raises(AnswerError):  # the second question would pass it
            asker.read(questions(), [])
        assert len(served.requests) == 1
        with pytest.raises(LanguageModelError, match="ceiling"):
            asker.read(questions(), [])


def test_a_server_that_fails_again_and_again_is_left_alone() -> None:
    with serving(fails(404, 99, says(""))) as served:
        asker = Asker(LanguageModel("small", served.url))
        for _ in range(9):
            with pytest.raises(LanguageModelError):
                asker.read(questions(), [])
    assert len(served.requests) == 5


def test_an_answer_that_counts_up_steps_that_do_not_exist_is_not_used() -> None:
    def counted(most: int) -> str:
        return json.dumps({"done": [[n, n, n] for n in range(1, most + 1)]})

    assert len(parse_reading(counted(3), range(1, 9), 2)[0]) == 2
    with pytest.raises(AnswerError, match="cannot be true: there is no step 3"):
        parse_reading(counted(4), range(1, 9), 2)
    with pytest.raises(AnswerError, match="5 to 2 is not a range"):  # it says nothing else
        parse_reading('{"done": [[1, 5, 2]]}', range(1, 9), 2)
