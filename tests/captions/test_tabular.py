"""Tables with commas, and with tabs as Whisper writes them."""

import pytest

from howsteps.errors import InputError
from tests.captions.texts import parse, problems, spans


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (  # Whisper writes milliseconds, and quotes nothing
            'start\tend\ttext\n0\t2000\t"Stop," she said\n2000\t3500\tand went\n',
            [(0.0, 2.0, '"Stop," she said'), (2.0, 3.5, "and went")],
        ),
        ("start,end,text\n0,4,lift it\n4,9,go on\n", [(0.0, 4.0, "lift it"), (4.0, 9.0, "go on")]),
        ("start,duration,text\n1,20,hi\n", [(1.0, 21.0, "hi")]),
        ("\nStart,End,Text\n00:01.5,00:02,now, lift it\n", [(1.5, 2.0, "now, lift it")]),
        ("id,start,end,text,score\n7,1,2,hi,0.5\n", [(1.0, 2.0, "hi")]),
    ],
)
def test_columns_are_recognised(text: str, read: list) -> None:
    assert spans(text) == read


def test_rows_with_too_few_columns() -> None:
    text = "start,end,text\n0,4,lift the car\n4\n"
    assert problems(text) == ["here.txt:3: the row has too few columns; left out"]


def test_an_unclosed_quotation_mark() -> None:
    rows = [f"{i}.0,{i}.9,word{i}" for i in range(40)]
    rows[3] = '3.0,3.9,"word3'
    with pytest.raises(
        InputError, match=r"here\.txt:42: the table cannot be read \(unexpected end"
    ):
        parse("start,end,text\n" + "\n".join(rows) + "\n")
