"""Tables with tabs, commas and semicolons."""

from tests.captions.texts import problems, spans


def test_whisper_writes_milliseconds_and_does_not_quote() -> None:
    text = 'start\tend\ttext\n0\t2000\t"Stop," she said\n2000\t3500\tand went\n'
    assert spans(text) == [(0.0, 2.0, '"Stop," she said'), (2.0, 3.5, "and went")]


def test_integer_seconds() -> None:
    assert spans("start,end,text\n0,4,lift the car\n4,9,remove the wheel\n") == [
        (0.0, 4.0, "lift the car"),
        (4.0, 9.0, "remove the wheel"),
    ]


def test_the_header_can_name_the_unit() -> None:
    assert spans("text;start_ms;end_ms\nhi;1000;2000\n") == [(1.0, 2.0, "hi")]
    assert spans("start (s),duration (s),text\n1,20,hi\n") == [(1.0, 21.0, "hi")]


def test_clock_times_and_unquoted_commas() -> None:
    assert spans("00:01.5,00:02,now, lift it\n") == [(1.5, 2.0, "now, lift it")]


def test_other_columns_are_ignored() -> None:
    assert spans("id,start,end,text,score\n7,1,2,hi,0.5\n") == [(1.0, 2.0, "hi")]


def test_rows_with_too_few_columns() -> None:
    text = "start,end,text\n0,4,lift the car\n4\n"
    assert problems(text) == ["here.txt:3: the row has too few columns; left out"]


def test_an_unclosed_quotation_mark() -> None:
    rows = [f"{i}.0,{i}.9,word{i}" for i in range(40)]
    rows[3] = '3.0,3.9,"word3'
    text = "start,end,text\n" + "\n".join(rows) + "\n"
    assert len(spans(text)) == 40
    assert len(problems(text)) == 1
