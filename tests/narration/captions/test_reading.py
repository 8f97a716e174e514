"""Formats are found by content; what can be mended is mended and said; the rest is refused."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from writers import LINE_FORMATS, WORD_FORMATS, Narration, Spoken, narrations, webvtt

from howsteps.errors import InputError
from howsteps.narration.captions import Reading, mending, read, read_bytes

NARRATION = [
    [Spoken("take", 1000, 1400), Spoken("off", 1400, 1700)],
    [Spoken("the", 1700, 1900), Spoken("wheel", 1900, 2500)],
]
WRITERS = {**LINE_FORMATS, **{f"{name} with words": pair for name, pair in WORD_FORMATS.items()}}


def parse(text: str) -> Reading:
    return read_bytes(text.encode("utf-8", "surrogatepass"), "here.txt")


def problems(text: str) -> list[str]:
    return [str(problem) for problem in parse(text).problems]


def spans(text: str) -> list[tuple[float, float, str]]:
    return [(line.start, line.end, line.text) for line in parse(text).captions]


def subrip(*cues: tuple[str, str]) -> str:
    return "\n".join(f"{i}\n{times}\n{text}\n" for i, (times, text) in enumerate(cues, 1))


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("suffix", [".srt", ".txt", ".json", ""])
def test_the_name_of_a_file_tells_nothing(tmp_path: Path, name: str, suffix: str) -> None:
    expected, write = WRITERS[name]
    path = tmp_path / f"captions{suffix}"
    path.write_text("\ufeff" + write(NARRATION), "utf-8")
    reading = read(path)
    assert reading.format == expected
    assert [line.text.split() for line in reading.captions] == [["take", "off"], ["the", "wheel"]]


class TestTimes:
    def test_a_reversed_cue_keeps_its_words(self) -> None:
        text = subrip(
            ("00:00:05,000 --> 00:00:03,000", "loosen the nuts"),
            ("00:00:09,000 --> 00:00:10,000", "now"),
        )
        assert spans(text) == [(5.0, 6.0, "loosen the nuts"), (9.0, 10.0, "now")]
        assert problems(text) == [f"here.txt:2: {mending.REVERSED}"]

    def test_negative_times_move_to_zero(self) -> None:
        text = subrip(("-00:00:01,000 --> 00:00:02,000", "hello"))
        assert spans(text) == [(0.0, 2.0, "hello")]
        assert problems(text) == [f"here.txt:2: {mending.NEGATIVE}"]

    def test_cues_out_of_order_are_sorted(self) -> None:
        text = subrip(
            ("00:00:05,000 --> 00:00:06,000", "second"),
            ("00:00:01,000 --> 00:00:02,000", "first"),
        )
        assert [span[2] for span in spans(text)] == ["first", "second"]
        assert problems(text) == [f"here.txt:6: {mending.BACKWARDS}"]

    def test_overlap_is_no_problem(self) -> None:
        text = subrip(
            ("00:00:01,000 --> 00:00:06,000", "one"), ("00:00:02,000 --> 00:00:04,000", "two")
        )
        assert spans(text) == [(1.0, 6.0, "one"), (2.0, 4.0, "two")]
        assert problems(text) == []

    def test_words_without_times_stand_between_their_neighbours(self) -> None:
        text = subrip(
            ("00:00:01,000 --> 00:00:02,000", "one"),
            ("00:00:xx,000 --> 00:00:03,000", "two"),
            ("00:00:04,000 --> 00:00:05,000", "three"),
        )
        assert spans(text) == [(1.0, 2.0, "one"), (2.0, 2.5, "two"), (4.0, 5.0, "three")]
        assert problems(text) == [f"here.txt:6: {mending.NO_TIME}"]

    @pytest.mark.parametrize("time", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "9" * 400])
    def test_numbers_that_are_no_times(self, time: str) -> None:
        text = f'[[1, 2, "one"], [{time}, 3, "two"], [3, {time}, "three"]]'
        assert [span[2] for span in spans(text)] == ["one", "two", "three"]
        assert all(0 <= start <= end < 100 for start, end, _ in spans(text))
        assert problems(text)[0] == f"here.txt: entry 2: {mending.NO_TIME}"

    def test_booleans_and_texts_are_no_times(self) -> None:
        assert problems('[[true, 2, "one"], ["soon", 3, "two"]]') == [
            f"here.txt: entry 1: {mending.NO_TIME} (and 1 more like it)"
        ]

    def test_many_flaws_of_a_kind_are_told_once(self) -> None:
        lines = [[5 - i % 2, 3, "word"] for i in range(1000)]
        told = problems(json.dumps(lines))
        assert told[0] == f"here.txt: entry 1: {mending.REVERSED} (and 999 more like it)"
        assert len(told) == 2

    @given(
        st.lists(
            st.tuples(
                st.floats() | st.integers() | st.none() | st.booleans() | st.text(max_size=8),
                st.floats() | st.integers() | st.none(),
                st.text(max_size=20),
            ),
            min_size=1,
            max_size=8,
        )
    )
    def test_any_list_gives_usable_times_and_loses_no_text(self, lines: list) -> None:
        wanted = sorted(text.split() for *_, text in lines if text.strip())
        try:
            reading = read_bytes(json.dumps(lines).encode(), "here")
        except InputError:
            assert not wanted
            return
        starts = [line.start for line in reading.captions]
        assert starts == sorted(starts)
        assert all(0 <= line.start <= line.end < 2e6 for line in reading.captions)
        assert len(reading.captions) == sum(bool(text.strip()) for *_, text in lines)


class TestSubRip:
    def test_missing_blank_lines_and_numbers(self) -> None:
        text = (
            "1\n00:00:01,000 --> 00:00:02,000\none\n2\n00:00:02,000 --> 00:00:03,000\ntwo\n"
            "00:00:03.5 -> 00:00:04.5\nthree\n"
        )
        assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two"), (3.5, 4.5, "three")]

    def test_blank_lines_too_many(self) -> None:
        text = (
            "\n1\n\n00:00:01,000 --> 00:00:02,000\none\n\n\n"
            "2\n\n00:00:02,000 --> 00:00:03,000\ntwo\n"
        )
        assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two")]
        assert problems(text) == []

    def test_numbers_that_are_spoken(self) -> None:
        text = subrip(
            ("00:00:01,000 --> 00:00:02,000", "count:\n1"),
            ("00:00:02,000 --> 00:00:03,000", "2\n3"),
        )
        assert [span[2] for span in spans(text)] == ["count:\n1", "2\n3"]

    def test_a_blank_line_inside_a_cue(self) -> None:
        assert spans("1\n00:00:01,000 --> 00:00:02,000\none\n\ntwo\n") == [(1.0, 2.0, "one\ntwo")]

    def test_a_cue_with_broken_times_among_good_ones(self) -> None:
        text = subrip(
            ("00:00:01,000 --> 00:00:02,000", "one"),
            ("?? --> ??", "two"),
            ("00:00:04,000 --> 00:00:05,000", "three"),
        )
        assert [span[2] for span in spans(text)] == ["one", "two", "three"]
        assert problems(text) == [f"here.txt:6: {mending.NO_TIME}"]

    def test_text_before_the_first_times(self) -> None:
        text = "made by me\n\n1\n00:00:01,000 --> 00:00:02,000\none\n"
        assert spans(text) == [(1.0, 2.0, "one")]
        assert problems(text) == ["here.txt:1: text before the first times was left out"]

    def test_an_arrow_in_the_text(self) -> None:
        text = "1\n00:00:01,000 --> 00:00:02,000\nleft --> right\n"
        assert spans(text) == [(1.0, 2.0, "left --> right")]


class TestWebVTT:
    def test_headings_notes_styles_and_labels_are_not_speech(self) -> None:
        text = (
            "WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE\nby me\n\n"
            "intro\n00:01.000 --> 00:02.000 line:90%\none\n\nNOTE two\n\n"
            "2\n01:00:03.000 --> 01:00:04.000\ntwo\n"
        )
        assert spans(text) == [(1.0, 2.0, "one"), (3603.0, 3604.0, "two")]
        assert problems(text) == []

    def test_missing_blank_lines(self) -> None:
        text = "WEBVTT\n00:01.000 --> 00:02.000\none\n00:02.000 --> 00:03.000\ntwo\n"
        assert spans(text) == [(1.0, 2.0, "one"), (2.0, 3.0, "two")]

    def test_text_without_times(self) -> None:
        text = webvtt(NARRATION) + "\nlost words\n"
        assert problems(text) == ["here.txt:9: text without times was left out"]

    def test_word_times_belong_to_the_last_line(self) -> None:
        text = (
            "WEBVTT\n\n00:02.000 --> 00:04.000\ntake off\n"
            "the<00:00:02.500><c.colorE5E5E5> hub</c><00:00:03.000><c>cap</c>\n"
        )
        (line,) = parse(text).captions
        assert line.text == "take off\nthe hubcap"
        assert [(w.text, w.start, w.end) for w in line.words] == [
            ("the", 2.0, 2.5),
            ("hubcap", 2.5, 4.0),
        ]


class TestXML:
    def test_entities_of_the_file_are_refused(self) -> None:
        bomb = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tt><p begin="1s">&b;</p></tt>'
        with pytest.raises(InputError, match=r"here\.txt:1: XML with a document type"):
            parse(bomb)

    def test_what_stands_before_a_fault_is_kept(self) -> None:
        text = '<tt><body><div>\n<p begin="1s" end="2s">one</p>\n<p begin="2s" end="3s">two</q>'
        assert [span[2] for span in spans(text)] == ["one", "two"]
        assert problems(text) == [
            "here.txt:3: the XML is broken here (mismatched tag); what follows is lost"
        ]

    def test_deep_nesting_is_refused(self) -> None:
        with pytest.raises(InputError, match="nested too deeply"):
            parse("<tt>" + "<p>" * 100_000)

    def test_other_xml(self) -> None:
        with pytest.raises(InputError, match=r"is XML \(<svg>\), but not captions"):
            parse("<svg/>")
        with pytest.raises(InputError, match="the XML is broken here"):
            parse("<<<")

    def test_ttml_times(self) -> None:
        text = (
            '<?xml version="1.0" encoding="utf-16"?><tt xmlns="http://www.w3.org/ns/ttml" '
            'xmlns:ttp="http://www.w3.org/ns/ttml#parameter" ttp:frameRate="25" ttp:tickRate="10">'
            '<body begin="1s"><div>'
            '<p begin="0.5s" dur="500ms">a</p><p begin="50f" end="30t">b</p>'
            '<p begin="00:00:04:05" end="00:00:05.000">c<br/>d\n  e</p>'
            '<p begin="1m" end="0.02h">f</p></div></body></tt>'
        )
        assert spans(text) == [
            (1.5, 2.0, "a"),
            (3.0, 4.0, "b"),
            (5.2, 6.0, "c\nd e"),
            (61.0, 73.0, "f"),
        ]

    def test_spans_of_ttml_timed_from_zero(self) -> None:
        text = (
            '<tt><body><div><p begin="10s" end="12s"><span begin="10s">one</span> '
            '<span begin="11s">two</span></p></div></body></tt>'
        )
        (line,) = parse(text).captions
        assert [(w.text, w.start, w.end) for w in line.words] == [
            ("one", 10.0, 11.0),
            ("two", 11.0, 12.0),
        ]

    def test_frame_rates_that_are_not_whole(self) -> None:
        text = (
            '<tt frameRate="30" frameRateMultiplier="1000 1001"><p begin="30f" end="2s">a</p></tt>'
        )
        assert spans(text) == [(pytest.approx(1.001), 2.0, "a")]

    def test_a_paragraph_of_which_only_the_spans_are_timed(self) -> None:
        text = '<tt><p><span begin="1s">one</span> <span begin="2s" end="3s">two</span></p></tt>'
        assert spans(text) == [(1.0, 3.0, "one two")]

    def test_srv1_has_seconds(self) -> None:
        text = '<transcript><text start="1.5" dur="2">it&amp;#39;s on</text></transcript>'
        assert spans(text) == [(1.5, 3.5, "it&#39;s on")]


class TestJSON:
    def test_words_of_whisperx_without_times_get_a_share(self) -> None:
        words = [
            {"word": "use", "start": 0.0, "end": 0.5},
            {"word": "20"},
            {"word": "nuts", "start": 1.0, "end": 2.0},
        ]
        text = json.dumps({"segments": [{"start": 0.0, "end": 2.0, "words": words}]})
        (line,) = parse(text).captions
        assert [(w.text, w.start, w.end) for w in line.words] == [
            ("use", 0.0, 0.5),
            ("20", 0.5, 1.0),
            ("nuts", 1.0, 2.0),
        ]

    def test_parts_of_a_word_are_joined(self) -> None:
        words = [
            {"word": " take", "start": 0.0, "end": 0.5},
            {"word": "-off", "start": 0.5, "end": 1.0},
        ]
        text = json.dumps({"segments": [{"start": 0.0, "end": 1.0, "words": words}]})
        (line,) = parse(text).captions
        assert [(w.text, w.start, w.end) for w in line.words] == [("take-off", 0.0, 1.0)]

    def test_lines_given_by_their_keys(self) -> None:
        text = '[{"from": "0:01", "to": "0:02,5", "caption": "one"}, {"begin": 3, "line": "two"}]'
        assert spans(text) == [(1.0, 2.5, "one"), (3.0, 3.5, "two")]

    def test_an_entry_that_is_no_line(self) -> None:
        assert problems('[[1, 2, "one"], 7, {"start": 2, "text": "two"}]') == [
            "here.txt: entry 2: is not a timed line; left out"
        ]
        assert problems('{"events": [3, {"tStartMs": 1, "segs": [{"utf8": "a"}]}]}') == [
            "here.txt: entry 1: is not an event; left out"
        ]
        assert problems(
            '{"transcription": [3, {"offsets": {"from": 0, "to": 1}, "text": "a"}]}'
        ) == ["here.txt: entry 1: is not a segment; left out"]
        assert problems('{"segments": [3, {"start": 1, "end": 2, "text": "a"}]}') == [
            "here.txt: entry 1: is not a segment; left out"
        ]

    def test_half_characters_are_replaced(self) -> None:
        assert spans(r'[[1, 2, "a \ud800 b"]]') == [(1.0, 2.0, "a \ufffd b")]

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ('[[1, 2, "a"],\n[2, 3', r"here\.txt:2: the JSON is broken here"),
            ("[" * 200_000, "nested too deeply"),
            ('{"a": ' * 200_000, "nested too deeply"),
            ("[" + "9" * 5000 + "]", "a number of thousands of digits"),
            ("[]", "is JSON, but not of captions"),
            ('{"a": 1}', "is JSON, but not of captions"),
            ('{"events": []}', "is YouTube json3, but holds no captions"),
        ],
    )
    def test_json_that_cannot_be_used(self, text: str, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            parse(text)


def test_one_endless_cue() -> None:
    endless = "word " * 100_000
    for text in (f'[[0, 1, "{endless}"]]', f'<tt><p begin="1s">{endless}</p></tt>'):
        with pytest.raises(InputError, match=r"holds no captions: .*is too long to be a caption"):
            parse(text)
    assert spans(f'[[0, 1, "{endless}"], [1, 2, "lift it"]]') == [(1.0, 2.0, "lift it")]


class TestTables:
    def test_whisper_writes_milliseconds_and_does_not_quote(self) -> None:
        text = 'start\tend\ttext\n0\t2000\t"Stop," she said\n2000\t3500\tand went\n'
        assert spans(text) == [(0.0, 2.0, '"Stop," she said'), (2.0, 3.5, "and went")]

    def test_whole_seconds_stay_seconds(self) -> None:
        assert spans("start,end,text\n0,4,lift the car\n4,9,remove the wheel\n") == [
            (0.0, 4.0, "lift the car"),
            (4.0, 9.0, "remove the wheel"),
        ]

    def test_the_heading_can_name_the_unit(self) -> None:
        assert spans("text;start_ms;end_ms\nhi;1000;2000\n") == [(1.0, 2.0, "hi")]
        assert spans("start (s),duration (s),text\n1,20,hi\n") == [(1.0, 21.0, "hi")]

    def test_clocks_and_commas_that_nobody_quoted(self) -> None:
        assert spans("00:01.5,00:02,now, lift it\n") == [(1.5, 2.0, "now, lift it")]

    def test_other_columns_are_left_alone(self) -> None:
        assert spans("id,start,end,text,score\n7,1,2,hi,0.5\n") == [(1.0, 2.0, "hi")]

    def test_rows_without_all_columns(self) -> None:
        text = "start,end,text\n0,4,lift the car\n4\n"
        assert problems(text) == ["here.txt:3: the row has too few columns; left out"]

    def test_a_quotation_mark_that_is_never_closed(self) -> None:
        rows = [f"{i}.0,{i}.9,word{i}" for i in range(40)]
        rows[3] = '3.0,3.9,"word3'
        text = "start,end,text\n" + "\n".join(rows) + "\n"
        assert len(spans(text)) == 40
        assert len(problems(text)) == 1


@pytest.mark.parametrize("text", ["just some prose", "{not json", "a,b,c\n1,2,3\n", "WEBVTT\n"])
def test_files_that_hold_no_captions(text: str) -> None:
    with pytest.raises(InputError, match=r"^here\.txt"):
        parse(text)


def test_ten_thousand_cues() -> None:
    narration = [[Spoken("word", i * 1000, i * 1000 + 900)] for i in range(10_000)]
    for _, write in WRITERS.values():
        assert len(parse(write(narration)).captions) == 10_000


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_anything_is_read_or_refused(data: bytes) -> None:
    try:
        read_bytes(data, "here")
    except InputError as error:
        refused = str(error)
        assert refused.startswith("here")


@given(
    narration=narrations(),
    name=st.sampled_from(sorted(WRITERS)),
    start=st.integers(0, 2000),
    length=st.integers(0, 30),
    noise=st.binary(max_size=10) | st.sampled_from([b"\n\n", b"-->", b"<", b'"', b"\0", b"{}"]),
)
def test_a_damaged_file_is_read_or_refused(
    narration: Narration, name: str, start: int, length: int, noise: bytes
) -> None:
    data = WRITERS[name][1](narration).encode()
    damaged = data[:start] + noise + data[start + length :]
    try:
        reading = read_bytes(damaged, "here")
    except InputError:
        return
    assert all(0 <= line.start <= line.end for line in reading.captions)
