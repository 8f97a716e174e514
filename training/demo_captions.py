"""Render the demo's narrations into caption files of many formats.

::

    narrations.toml ─► sentences ─► words with times ─► captions ─► one file for each narration
                           └──────► actions ─────────────────────► steps.csv

Run ``python -m training.demo_captions`` after a change in the source. The same source always gives
the same bytes.
"""

import csv
import io
import json
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from howsteps.captions.cues import spread_words
from howsteps.task import Caption, Word

DEMO = Path(__file__).parents[1] / "src" / "howsteps" / "demo"

# Silence between two sentences, unless the source sets another.
BREATH = 0.3
# A silence longer than this ends a caption, even if it is not full.
SILENCE = 1.5
# How long YouTube's last line stays when nothing follows it.
LINGER = 1.5
# Letters in a caption: one line of automatic captions, two of those that people write.
WIDTHS = {"automatic": 36, "punctuated": 84}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A spoken sentence, the step that follows it, and the silence after it."""

    say: str
    step: str = ""
    takes: float = 0.0
    pause: float = BREATH


@dataclass(frozen=True, slots=True)
class Narration:
    """One video of the demo: its sentences, and the file that they are written to."""

    id: str
    about: str
    style: str
    file: str
    format: str
    pace: float
    says: tuple[Sentence, ...]
    lag: float = 0.0
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Action:
    """When a step is done, in seconds."""

    video: str
    step: str
    start: float
    end: float


def read_source(path: Path) -> tuple[Narration, ...]:
    """Read the narrations; an unknown key is an error."""
    source = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Narration(**{**narration, "says": tuple(map(_sentence, narration["says"]))})
        for narration in source["narration"]
    )


def _sentence(entry: str | dict[str, Any]) -> Sentence:
    return Sentence(entry) if isinstance(entry, str) else Sentence(**entry)


def spoken_sentences(narration: Narration) -> Iterator[tuple[Sentence, list[Word]]]:
    """Yield every sentence with its words, to the millisecond; n words take n / pace seconds."""
    now = BREATH
    for sentence in narration.says:
        texts = sentence.say.split()
        end = now + len(texts) / narration.pace
        words = spread_words(texts, now, end)
        yield sentence, [Word(w.text, round(w.start, 3), round(w.end, 3)) for w in words]
        now = end + sentence.pause


def actions(narration: Narration) -> list[Action]:
    """Return the steps that are done, each ``lag`` seconds after its sentence."""
    done = []
    for sentence, words in spoken_sentences(narration):
        if sentence.step:
            start = words[-1].end + narration.lag
            done.append(Action(narration.id, sentence.step, start, start + sentence.takes))
    return done


def captions(narration: Narration) -> list[Caption]:
    """Split the words into captions that fit on the screen.

    People end a caption with the sentence; a machine does not see its end and fills the line.
    """
    width = WIDTHS[narration.style]
    groups: list[list[Word]] = []
    for word in (word for _, words in spoken_sentences(narration) for word in words):
        if not groups or _ends(groups[-1], word, width):
            groups.append([])
        groups[-1].append(word)
    return [
        Caption(words[0].start, words[-1].end, " ".join(w.text for w in words), tuple(words))
        for words in groups
    ]


def _ends(line: Sequence[Word], word: Word, width: int) -> bool:
    """Whether a caption ends before ``word``."""
    letters = sum(len(said.text) + 1 for said in line) + len(word.text)
    last = line[-1]
    return letters > width or word.start - last.end > SILENCE or last.text.endswith((".", "!", "?"))


def subrip(lines: Sequence[Caption]) -> str:
    """Render numbered cues with commas in their times, and the line ends of Windows."""
    blocks = [
        f"{number}\n{_clock(line.start, ',')} --> {_clock(line.end, ',')}\n{_rows(line.text)}\n"
        for number, line in enumerate(lines, 1)
    ]
    return "\n".join(blocks).replace("\n", "\r\n")


def webvtt(lines: Sequence[Caption]) -> str:
    """Render WebVTT as an editor of captions writes it."""
    cues = [
        f"{number}\n{_clock(line.start)} --> {_clock(line.end)}\n{_rows(line.text)}\n"
        for number, line in enumerate(lines, 1)
    ]
    return "\n".join(["WEBVTT\n", "NOTE Captions by the narrator\n", *cues])


def youtube_webvtt(lines: Sequence[Caption]) -> str:
    """Render WebVTT as YouTube does: each line twice, first with word times, then above the next.

    Between two lines is a cue of 10 ms with only the line that stays. An empty row is a blank.
    """
    cues = ["WEBVTT\nKind: captions\nLanguage: en\n"]
    above = " "
    for line, until in zip(lines, _shown_until(lines), strict=True):
        first, *others = line.words
        timed = "".join(f"<{_clock(word.start)}><c> {word.text}</c>" for word in others)
        flash = until - 0.01
        cues.append(f"{_shown(line.start, flash)}\n{above}\n{first.text}{timed}\n")
        cues.append(f"{_shown(flash, until)}\n{line.text}\n \n")
        above = line.text if until < line.end + LINGER else " "
    return "\n".join(cues)


def youtube_json3(lines: Sequence[Caption]) -> str:
    """Render YouTube's json3: a window, lines with the offset of each word, and line feeds."""
    events: list[dict[str, Any]] = [
        {"tStartMs": 0, "dDurationMs": _ms(lines[-1].end), "id": 1, "wpWinPosId": 1}
    ]
    for line, until in zip(lines, _shown_until(lines), strict=True):
        start = _ms(line.start)
        segments = [{"utf8": line.words[0].text}] + [
            {"utf8": f" {word.text}", "tOffsetMs": _ms(word.start) - start}
            for word in line.words[1:]
        ]
        event = {"tStartMs": start, "dDurationMs": _ms(until) - start, "wWinId": 1}
        feed = {"tStartMs": _ms(until) - 10, "dDurationMs": 10, "wWinId": 1, "aAppend": 1}
        events += [{**event, "segs": segments}, {**feed, "segs": [{"utf8": "\n"}]}]
    return _json({"wireMagic": "pb3", "wpWinPositions": [{}, {"rcRows": 2}], "events": events})


def youtube_srv3(lines: Sequence[Caption]) -> str:
    """Render YouTube's XML: the same as json3 in elements."""
    body = []
    for line, until in zip(lines, _shown_until(lines), strict=True):
        start = _ms(line.start)
        words = f"<s>{escape(line.words[0].text)}</s>" + "".join(
            f'<s t="{_ms(word.start) - start}"> {escape(word.text)}</s>' for word in line.words[1:]
        )
        body.append(f'<p t="{start}" d="{_ms(until) - start}" w="1">{words}</p>')
        body.append(f'<p t="{_ms(until) - 10}" d="10" w="1" a="1">\n</p>')
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8" ?><timedtext format="3">',
            '<head>\n<wp id="0"/>\n<wp id="1" rc="2"/>\n</head>',
            '<body>\n<w t="0" id="1" wp="1"/>',
            *body,
            "</body>\n</timedtext>\n",
        ]
    )


def ttml(lines: Sequence[Caption]) -> str:
    """Render TTML as broadcasters do: one paragraph for each caption."""
    paragraphs = [
        f'      <p begin="{_clock(line.start)}" end="{_clock(line.end)}">{escape(line.text)}</p>'
        for line in lines
    ]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en">\n  <body>\n    <div>',
            *paragraphs,
            "    </div>\n  </body>\n</tt>\n",
        ]
    )


def whisper_json(lines: Sequence[Caption]) -> str:
    """Render the JSON of OpenAI's Whisper with word times: words include their spaces."""
    segments = [
        {
            "id": number,
            "start": line.start,
            "end": line.end,
            "text": f" {line.text}",
            "words": [_timed(word, f" {word.text}") for word in line.words],
        }
        for number, line in enumerate(lines)
    ]
    said = "".join(str(segment["text"]) for segment in segments)
    return _json({"text": said, "segments": segments, "language": "en"})


def whisperx_json(lines: Sequence[Caption]) -> str:
    """Render the JSON of WhisperX: words without spaces, and all of them once more at the end."""
    segments = [
        {
            "start": line.start,
            "end": line.end,
            "text": f" {line.text}",
            "words": [_timed(word, word.text) for word in line.words],
        }
        for line in lines
    ]
    words = [_timed(word, word.text) for line in lines for word in line.words]
    return _json({"segments": segments, "word_segments": words, "language": "en"})


def whisper_tsv(lines: Sequence[Caption]) -> str:
    """Render Whisper's table: milliseconds, and tabs between the columns."""
    rows = [f"{_ms(line.start)}\t{_ms(line.end)}\t{line.text}" for line in lines]
    return "\n".join(["start\tend\ttext", *rows, ""])


def comma_separated(lines: Sequence[Caption]) -> str:
    """Render a table in seconds, as a spreadsheet saves it."""
    return _table(
        ("start", "end", "text"),
        [(f"{line.start:.3f}", f"{line.end:.3f}", line.text) for line in lines],
    )


FORMATS: dict[str, Callable[[Sequence[Caption]], str]] = {
    "SubRip": subrip,
    "WebVTT": webvtt,
    "YouTube WebVTT": youtube_webvtt,
    "YouTube json3": youtube_json3,
    "YouTube srv3": youtube_srv3,
    "TTML": ttml,
    "Whisper JSON": whisper_json,
    "WhisperX JSON": whisperx_json,
    "Whisper TSV": whisper_tsv,
    "CSV": comma_separated,
}


def render(narrations: Sequence[Narration]) -> dict[str, bytes]:
    """Return every file that is made from the narrations, by its path under the demo."""
    files = {
        f"fix_a_flat_bike_tire/{n.file}": _encoded(FORMATS[n.format](captions(n)), n.encoding)
        for n in narrations
    }
    rows = [
        (action.video, action.step, f"{action.start:.1f}", f"{action.end:.1f}")
        for narration in narrations
        for action in actions(narration)
    ]
    table = _table(("video", "step", "start", "end"), rows)
    return files | {"steps.csv": _encoded(table, "utf-8")}


def _encoded(text: str, encoding: str) -> bytes:
    # "utf-16" alone would follow the byte order of the machine.
    if encoding == "utf-16":
        return ("\ufeff" + text).encode("utf-16-le")
    return text.encode(encoding)


def _shown_until(lines: Sequence[Caption]) -> list[float]:
    """When YouTube takes each line away: when the next one starts, or soon after its last word."""
    following = [line.start for line in lines[1:]] + [float("inf")]
    return [min(line.end + LINGER, start) for line, start in zip(lines, following, strict=True)]


def _shown(start: float, end: float) -> str:
    return f"{_clock(start)} --> {_clock(end)} align:start position:0%"


def _rows(text: str) -> str:
    """Break a caption into rows as people read them."""
    return textwrap.fill(text, WIDTHS["punctuated"] // 2)


def _timed(word: Word, text: str) -> dict[str, object]:
    return {"word": text, "start": word.start, "end": word.end}


def _ms(seconds: float) -> int:
    return round(1000 * seconds)


def _clock(seconds: float, point: str = ".") -> str:
    minutes, rest = divmod(_ms(seconds), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    return text.getvalue()


def main() -> None:
    """Write the files of the demo."""
    for name, content in render(read_source(DEMO / "narrations.toml")).items():
        path = DEMO / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
