"""Writers of caption formats, for round-trip tests.

A narration is a list of lines; a line is a list of words with times in milliseconds.
"""

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from hypothesis import strategies as st


@dataclass(frozen=True)
class TimedWord:
    text: str
    start: int
    end: int


Line = Sequence[TimedWord]
Narration = Sequence[Line]


def spoken_texts(narration: Narration) -> list[str]:
    return [word.text for line in narration for word in line]


def line_text(line: Line) -> str:
    return " ".join(word.text for word in line)


def clock(milliseconds: int, mark: str = ".") -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{mark}{rest:03}"


# --- formats that time lines


def subrip(narration: Narration) -> str:
    return "\n".join(
        f"{number}\n{clock(line[0].start, ',')} --> {clock(line[-1].end, ',')}\n{line_text(line)}\n"
        for number, line in enumerate(narration, 1)
    )


def webvtt(narration: Narration) -> str:
    return "WEBVTT\n\n" + "\n".join(
        f"{clock(line[0].start)} --> {clock(line[-1].end)} align:start\n{line_text(line)}\n"
        for line in narration
    )


def timed_list(narration: Narration) -> str:
    return json.dumps([[x[0].start / 1000, x[-1].end / 1000, line_text(x)] for x in narration])


def timed_objects(narration: Narration) -> str:
    return json.dumps(
        [
            {
                "text": line_text(line),
                "start": line[0].start / 1000,
                "duration": (line[-1].end - line[0].start) / 1000,
            }
            for line in narration
        ]
    )


def tsv(narration: Narration) -> str:
    rows = [f"{line[0].start}\t{line[-1].end}\t{line_text(line)}" for line in narration]
    return "\n".join(["start\tend\ttext", *rows, ""])


def comma_separated(narration: Narration) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["start", "end", "text"])
    writer.writerows([x[0].start / 1000, x[-1].end / 1000, line_text(x)] for x in narration)
    return file.getvalue()


def ttml(narration: Narration) -> str:
    lines = "".join(
        f'<p begin="{clock(x[0].start)}" end="{clock(x[-1].end)}">{escape(line_text(x))}</p>\n'
        for x in narration
    )
    return f'<tt xmlns="http://www.w3.org/ns/ttml"><body><div>\n{lines}</div></body></tt>'


LINE_FORMATS: dict[str, tuple[str, Callable[[Narration], str]]] = {
    "subrip": ("SubRip", subrip),
    "webvtt": ("WebVTT", webvtt),
    "timed list": ("timed JSON list", timed_list),
    "timed objects": ("timed JSON list", timed_objects),
    "tsv": ("table", tsv),
    "csv": ("table", comma_separated),
    "ttml": ("TTML", ttml),
}

# --- formats that time words


def tagged(line: Line) -> str:
    first, *rest = line
    return first.text + "".join(f"<{clock(word.start)}><c> {word.text}</c>" for word in rest)


def tagged_webvtt(narration: Narration) -> str:
    return "WEBVTT\nKind: captions\nLanguage: en\n\n" + "\n".join(
        f"{clock(line[0].start)} --> {clock(line[-1].end)}\n{tagged(line)}\n" for line in narration
    )


def json3(narration: Narration) -> str:
    events: list[dict[str, object]] = [{"tStartMs": 0, "dDurationMs": 10**6, "id": 1}]
    for line in narration:
        start = line[0].start
        rest = [{"utf8": f" {x.text}", "tOffsetMs": x.start - start} for x in line[1:]]
        segments = [{"utf8": line[0].text}, *rest]
        events.append({"tStartMs": start, "dDurationMs": line[-1].end - start, "segs": segments})
        events.append({"tStartMs": start, "aAppend": 1, "segs": [{"utf8": "\n"}]})
    return json.dumps({"wireMagic": "pb3", "events": events})


def srv3(narration: Narration) -> str:
    lines = []
    for line in narration:
        first, *rest = line
        words = f"<s>{escape(first.text)}</s>" + "".join(
            f'<s t="{word.start - first.start}"> {escape(word.text)}</s>' for word in rest
        )
        lines.append(f'<p t="{first.start}" d="{line[-1].end - first.start}" w="1">{words}</p>')
    return '<timedtext format="3"><head/><body>\n' + "\n".join(lines) + "\n</body></timedtext>"


def _segments(narration: Narration, space: str) -> list[dict[str, object]]:
    return [
        {
            "start": line[0].start / 1000,
            "end": line[-1].end / 1000,
            "text": " " + line_text(line),
            "words": [
                {"word": space + word.text, "start": word.start / 1000, "end": word.end / 1000}
                for word in line
            ],
        }
        for line in narration
    ]


def whisper(narration: Narration) -> str:
    return json.dumps({"text": "", "segments": _segments(narration, " "), "language": "en"})


def whisperx(narration: Narration) -> str:
    return json.dumps({"segments": _segments(narration, ""), "word_segments": []})


def faster_whisper(narration: Narration) -> str:
    return json.dumps(_segments(narration, " "))


WORD_FORMATS: dict[str, tuple[str, Callable[[Narration], str]]] = {
    "webvtt": ("WebVTT", tagged_webvtt),
    "json3": ("YouTube json3", json3),
    "srv3": ("YouTube srv", srv3),
    "whisper": ("Whisper JSON", whisper),
    "whisperx": ("Whisper JSON", whisperx),
    "faster-whisper": ("Whisper JSON", faster_whisper),
}

# --- captions that roll


def rolling_webvtt(narration: Narration, *, tags: bool, flashes: bool, window: int = 2) -> str:
    """Rolling captions in YouTube's style; after a pause the top line is empty."""
    cues = ["WEBVTT\nKind: captions\n"]
    screen: list[Line] = []
    for index, line in enumerate(narration):
        follows = index > 0 and narration[index - 1][-1].end == line[0].start
        screen = [*screen[-window + 1 :], line] if follows else [line]
        top = [line_text(before) for before in screen[:-1]] or [" "]
        new = tagged(line) if tags else line_text(line)
        end = line[-1].end - (10 if flashes else 0)
        cues.append(f"{clock(line[0].start)} --> {clock(end)}\n" + "\n".join([*top, new]) + "\n")
        if flashes:
            stays = [line_text(before) for before in screen[-window + 1 :]]
            cues.append(f"{clock(end)} --> {clock(end + 10)}\n" + "\n".join([*stays, " "]) + "\n")
    return "\n".join(cues)


def overlapping(narration: Narration, overlap: int) -> str:
    """Lines that overlap in time without repeating text."""
    return json.dumps(
        [[x[0].start / 1000, (x[-1].end + overlap) / 1000, line_text(x)] for x in narration]
    )


# --- narrations to write

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = st.one_of(
    st.sampled_from(["no", "turn", "the", "so", "a", "I", "don't", "six"]),
    st.text(LETTERS, min_size=1, max_size=12),
    st.sampled_from(["sauté", "jalapeño", "über", "crème"]),
)


@st.composite
def narrations(
    draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS, line_length: int | None = None
) -> Narration:
    """Lines of words at the pace of speech, with occasional pauses."""
    now = draw(st.integers(0, 5_000))
    lines = []
    lengths = st.integers(1, 7) if line_length is None else st.just(line_length)
    for length in draw(st.lists(lengths, min_size=1, max_size=10)):
        line = []
        for text in draw(st.lists(texts, min_size=length, max_size=length)):
            end = now + 40 * len(text) + draw(st.integers(40, 400))
            line.append(TimedWord(text, now, end))
            now = end
        lines.append(line)
        now += draw(st.sampled_from([0, 0, 0, 1_500]))
    return lines
