"""Formats are detected from the content; any file is read or refused; English is recognised."""

import json
import tracemalloc
from pathlib import Path

import pytest

from howsteps.captions import read_captions
from howsteps.captions.cues import MOST_CUES
from howsteps.captions.reading import MOST_PARTS, looks_english
from howsteps.errors import InputError
from howsteps.task import Word
from tests.captions.texts import parse, spans
from tests.captions.writers import (
    LINE_FORMATS,
    WORD_FORMATS,
    TimedWord,
)

NARRATION = [
    [TimedWord("take", 1000, 1400), TimedWord("off", 1400, 1700)],
    [TimedWord("the", 1700, 1900), TimedWord("wheel", 1900, 2500)],
]
WRITERS = {**LINE_FORMATS, **{f"{name} with words": pair for name, pair in WORD_FORMATS.items()}}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("suffix", [".srt", ".txt", ".json", ""])
def test_the_file_name_is_ignored(tmp_path: Path, name: str, suffix: str) -> None:
    expected, write = WRITERS[name]
    path = tmp_path / f"captions{suffix}"
    path.write_text("\ufeff" + write(NARRATION), "utf-8")
    reading = read_captions(path)
    assert reading.format == expected
    assert [line.text.split() for line in reading.captions] == [["take", "off"], ["the", "wheel"]]


def test_one_endless_cue() -> None:
    endless = "word " * 100_000
    for text in (f'[[0, 1, "{endless}"]]', f'<tt><p begin="1s">{endless}</p></tt>'):
        with pytest.raises(InputError, match=r"contains no captions: .*is too long to be"):
            parse(text)
    assert spans(f'[[0, 1, "{endless}"], [1, 2, "lift it"]]') == [(1.0, 2.0, "lift it")]


@pytest.mark.parametrize("text", ["just some prose", "{not json", "a,b,c\n1,2,3\n", "WEBVTT\n"])
def test_files_without_captions(text: str) -> None:
    with pytest.raises(InputError, match=r"^here\.txt"):
        parse(text)


ENGLISH = [
    "first you want to loosen the nuts just a little before you jack the car up and then you can "
    "take them all the way off with your hand and put them somewhere safe",
    "Preheat oven 350 degrees. Mix flour, sugar, salt and baking powder. Add eggs, milk, melted "
    "butter. Stir until smooth. Pour into pan. Bake thirty minutes. Let it cool before serving.",
]
OTHERS = {
    "German": "zuerst lösen wir die Muttern ein wenig und dann heben wir das Auto mit dem Heber "
    "an so dass man das Rad ganz leicht abnehmen kann und in den Kofferraum legt",
    "Dutch": "eerst draaien we de bouten een beetje los en dan krikken we de auto op zodat je het "
    "wiel er makkelijk af kan halen en het in de kofferbak legt of over de grond rolt",
    "French": "d'abord on va desserrer les écrous un petit peu avant de lever la voiture avec le "
    "cric et ensuite on peut enlever la roue et la mettre dans le coffre",
    "Spanish": "primero vamos a aflojar las tuercas un poco antes de levantar el coche con el gato "
    "y luego ya podemos quitar la rueda y ponerla en el maletero sin más",
    "Italian": "prima di tutto allentiamo un po' i dadi e poi alziamo la macchina con il cric così "
    "si può togliere la ruota e metterla nel bagagliaio insieme agli attrezzi",
    "Indonesian": "pertama kita longgarkan dulu mur rodanya sedikit lalu kita angkat mobilnya "
    "dengan dongkrak supaya bannya bisa dilepas dan disimpan di bagasi belakang mobil itu",
    "Japanese": "ナットを 緩めて 車を 上げます",
    "Russian": "сначала немного ослабим гайки а потом поднимем машину домкратом чтобы можно было "
    "снять колесо и положить его в багажник вместе с инструментами которые нам больше не нужны",
}


def words(text: str) -> list[Word]:
    return [Word(word, 0.0, 0.0) for word in text.split()]


@pytest.mark.parametrize("text", ENGLISH)
def test_english(text: str) -> None:
    assert looks_english(words(text))


@pytest.mark.parametrize("name", OTHERS)
def test_other_languages(name: str) -> None:
    assert not looks_english(words(OTHERS[name]))


@pytest.mark.parametrize("text", ["", "lug nuts", "whisk two eggs, sugar, milk; bake 40 minutes"])
def test_a_few_words_pass(text: str) -> None:
    assert looks_english(words(text))


N = MOST_CUES + 1
TOO_MANY_CUES = {
    "srv3": "<timedtext><body>" + '<p t="1">a</p>' * N + "</body></timedtext>",
    "ttml": "<tt><body>" + '<p begin="1s">a</p>' * N + "</body></tt>",
    "json3": json.dumps({"events": [{"tStartMs": 1, "segs": [{"utf8": "a"}]}] * N}),
    "no events": json.dumps({"events": [1] * N}),
    "whisper": json.dumps({"segments": [{"start": 0, "end": 1, "text": "a"}] * N}),
    "rows": json.dumps([[0, 1, "a"]] * N),
    "srt": "0:00 --> 0:01\na\n" * N,
    "tsv": "start\tend\ttext\n" + "0\t1\ta\n" * N,
}
TOO_MANY_PARTS = {
    "lists": f"[{'[],' * MOST_PARTS}0]",
    "objects": f'{{"events": [{{"segs": [{"{}," * MOST_PARTS}0]}}]}}',
    "elements": f"<tt>{'<a/>' * MOST_PARTS}</tt>",
    "tags": "WEBVTT\n\n0:01 --> 0:02\n" + "<0:01>" * MOST_PARTS,
    "lines": "WEBVTT" + "\n" * (MOST_PARTS + 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_MANY_CUES)
def test_too_many_cues(name: str) -> None:
    with pytest.raises(InputError, match="more than 100,000 cues cannot be captions"):
        parse(TOO_MANY_CUES[name])


@pytest.mark.parametrize("name", TOO_MANY_PARTS)
def test_too_many_parts_are_refused_before_they_are_parsed(name: str) -> None:
    text = TOO_MANY_PARTS[name]
    assert peak_memory(text) < 5 * len(text)
    with pytest.raises(InputError, match=r"1,000,00\d lines, tags and lists cannot be captions"):
        parse(text)


def peak_memory(text: str) -> int:
    """The peak memory of reading or refusing a text, in bytes."""
    tracemalloc.start()
    try:
        parse(text)
    except InputError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak
