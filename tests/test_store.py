"""``result.json`` follows its schema, and is read back to the same values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.errors import InputError
from howsteps.store import (
    ResultRecord,
    converted,
    read_record,
    read_result,
    result_of,
    schema,
    text_of,
)
from howsteps.task import (
    LIKE_SEEN,
    LONGEST,
    SAID,
    Chapter,
    Localisation,
    Mention,
    Place,
    Result,
    Script,
    Sentence,
    SetAside,
    Step,
    Task,
    Video,
    Word,
)

seconds = st.floats(0, LONGEST)
share = st.none() | st.floats(0, 1)
texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
examples = st.lists(texts, max_size=2)


@st.composite
def results(draw: st.DrawFn) -> Result:
    """Random results: videos without words, steps without mentions, absent steps."""
    names = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    videos = []
    for name in names:
        words = draw(st.lists(st.builds(Word, texts, seconds, seconds), min_size=1, max_size=3))
        sentences = draw(st.lists(st.just(Sentence(tuple(words))), max_size=2))
        mentions = draw(
            st.lists(
                st.builds(
                    Mention,
                    st.just(name),
                    texts,
                    texts,
                    texts,
                    seconds,
                    seconds,
                    negated=st.booleans(),
                    sentence=st.integers(0, 3),
                    places=st.lists(st.builds(Place, texts, texts), max_size=2).map(tuple),
                    tools=st.lists(texts, max_size=2).map(tuple),
                    modifiers=st.lists(texts, max_size=2).map(tuple),
                    work=st.floats(0, 1),
                ),
                max_size=3,
                unique=True,
            )
        )
        media = draw(st.none() | st.just(Path("films") / "a.mp4"))
        videos.append(
            Video(
                name,
                title=draw(texts),
                duration=draw(st.none() | seconds),
                media=media,
                sentences=tuple(sentences),
                mentions=tuple(mentions),
                youtube=draw(st.none() | texts),
                language=draw(st.sampled_from(["", "en"])),
                chapters=tuple(draw(st.lists(st.builds(Chapter, seconds, texts), max_size=2))),
            )
        )
    said = [mention for video in videos for mention in video.mentions]
    chosen = st.lists(st.sampled_from(said), max_size=3, unique=True) if said else st.just([])
    steps = tuple(
        Step(
            draw(texts),
            tuple(draw(chosen)),
            tuple(draw(st.lists(texts, max_size=2))),
            draw(st.booleans()),
            draw(st.booleans()),
        )
        for _ in range(draw(st.integers(0, 3)))
    )
    places = tuple(
        Localisation(video, step, None)
        if draw(st.booleans())
        else Localisation(video, step, draw(seconds), draw(seconds), draw(seconds), 0.5, SAID)
        for video in names
        for step in range(len(steps))
    )
    return Result(
        Task(draw(texts), tuple(videos)),
        Script(steps, -3.0, -1.5, -4.0),
        places,
        tuple(draw(st.lists(st.builds(SetAside, texts, texts, texts), max_size=2))),
    )


def example() -> Result:
    mention = Mention("a", "fill", "tub", "fill the tub", 1.0, 2.0)
    video = Video("a", sentences=(Sentence((Word("fill", 1.0, 2.0),)),), mentions=(mention,))
    steps = (Step("fill the tub", (mention,)), Step("rest", ()))
    places = (Localisation("a", 0, 3.0, 2.5, 4.0, 0.9, LIKE_SEEN, 0.95), Localisation("a", 1, None))
    return Result(Task("bath", (video,)), Script(steps), places)


@pytest.mark.slow
@given(results())
def test_every_result_follows_the_schema_and_is_read_back(result: Result) -> None:
    folder = Path("/any/folder")
    value = json.loads(text_of(result, folder))
    jsonschema.Draft202012Validator(schema()).validate(value)
    back = result_of(converted(value, ResultRecord), folder)
    assert json.loads(text_of(back, folder)) == value
    assert [video.id for video in back.task.videos] == [video.id for video in result.task.videos]


def test_a_video_is_found_again_when_both_folders_move(tmp_path: Path) -> None:
    (tmp_path / "here" / "films").mkdir(parents=True)
    film = tmp_path / "here" / "films" / "a.mp4"
    film.touch()
    result = example()
    video = Video("a", media=film, mentions=result.task.videos[0].mentions)
    out = tmp_path / "here" / "out"
    out.mkdir()
    text = text_of(Result(Task("bath", (video,)), result.script, ()), out)
    (out / "result.json").write_text(text, "utf-8")
    (tmp_path / "here").rename(tmp_path / "there")
    [found] = read_result(tmp_path / "there" / "out").task.videos
    assert found.media == tmp_path / "there" / "films" / "a.mp4"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda v: v.update(version=4), "is version 4, which"),
        (lambda v: v.pop("steps"), "has no 'steps'"),
        (lambda v: v.update(videos={}), "videos: expected array, got object"),
        (lambda v: v["videos"].append(v["videos"][0]), "duplicate id"),
        (lambda v: v["videos"][0]["mentions"][0].update(start="x"), r"mentions\[0\]\.start: exp"),
        (lambda v: v["videos"][0]["mentions"][0].update(color="red"), "unknown field 'color'"),
        (lambda v: v["videos"][0]["sentences"][0].update(words=[]), "words: .* of length >= 1"),
        (lambda v: v["steps"][0].update(label=7), r"steps\[0\]\.label: expected str, got int"),
        (lambda v: v["steps"][0]["mentions"][0].update(mention=5), "has no mention 5"),
        (lambda v: v["steps"][0]["mentions"][0].update(video="b"), "there is no video 'b'"),
        (lambda v: v["localisations"][0].update(step=9), "there is no step 9"),
        (lambda v: v["localisations"][0].update(step=-1), r"step: expected int >= 0"),
        (lambda v: v["localisations"][0].update(video="b"), "there is no video 'b'"),
        (lambda v: v["localisations"][0].update(end=float("nan")), "not valid JSON"),
        (lambda v: v["videos"][0].update(duration=10**400), r"duration: number out of range"),
        (lambda v: v["videos"][0].update(duration=1e308), r"\.duration: expected float <= 86400"),
        (lambda v: v["localisations"][0].update(start=-1.0), "start: expected float >= 0"),
        (lambda v: v["videos"][0].update(chapters=[[1.0]]), r"videos\[0\]\.chapters\[0\]"),
        (lambda v: v.update(task="half \ud800"), "not valid JSON"),
    ],
)
def test_errors_say_what_is_wrong_and_where(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    value = json.loads(text_of(example(), tmp_path))
    change(value)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(value), "utf-8")
    with pytest.raises(InputError, match=reason) as caught:
        read_result(path)
    assert caught.value.problem.path == path
    assert "\n" not in str(caught.value)


def test_a_missing_result_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="is not a work folder of howsteps; run 'howsteps run' first"
    ):
        read_result(tmp_path)


def test_the_size_of_a_file_is_limited(tmp_path) -> None:
    path = tmp_path / "large.json"
    path.write_text("[1, 2, 3]")
    assert read_record(path, list[int], 9) == [1, 2, 3]
    with pytest.raises(InputError, match="too large"):
        read_record(path, list[int], 8)


def test_a_field_with_half_a_character_is_refused(tmp_path) -> None:
    (path := tmp_path / "half.json").write_text('{"l\\ud800l": 1}')
    with pytest.raises(InputError, match="not valid JSON"):
        read_record(path, dict[str, int])
