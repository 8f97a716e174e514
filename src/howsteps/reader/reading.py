"""Reading a video: a language model says in which lines of its transcript each step is done.

::

    video ─► numbered lines ─► a question per piece ─► answer ─► readings (seconds)

Every question is about one video alone, so what is said in it can change nothing else.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import ceil
from threading import Lock
from typing import NamedTuple

import numpy as np

from howsteps.io.text import format_time
from howsteps.reader.client import Reader, Unanswered, question_name
from howsteps.reader.exchange import (
    AnswerError,
    LanguageModelError,
    Messages,
    Recorded,
    Schema,
    ask,
    clean,
    estimated_tokens,
    json_objects,
    list_schema,
    object_schema,
    template,
)
from howsteps.reader.question import job_name
from howsteps.task import Reading, Script, Task, Video, Word

MAX_PIECE = 4000  # tokens of a transcript, by an upper estimate: fits the 4,096 of Ollama
MAX_RANGES = 4  # of a step in a piece
_MAX_DONE = 60  # ranges of an answer
_ARTICLE = re.compile(r"\b(?:the|an?) ")  # a tenth of a name, and nothing is lost
ANSWER_TOKENS = 150  # of a usual answer
_LINE = (4, 8)  # words: a sentence ends a line of so many; no line has more
_PAUSE = 2.0  # seconds: a silence that ends a line
_CONTEXT = 3  # lines of the piece before
_MAX_WRONG = 5  # faults of an answer that are told
_MAX_FAILURES = 5  # in a row, after which a server is left alone
# Readings of a large model have .42 to .61 if the steps are names (seven jobs), and .68 to .83 with
# a script of its own (five). With random ones in half of their places they have .17 to .31 and .32
# to .55, and the places are no better than without any.
MIN_AGREEMENT, _MIN_PAIRS = 0.3, 10
MIN_READ = 0.3  # of what is mentioned; .74 to .94 in those readings of a large model

_RANGE = list_schema({"type": "integer"}, 3, 3)
SCHEMA: Schema = object_schema(done=list_schema(_RANGE, most=_MAX_DONE))


class Line(NamedTuple):
    """A line of a transcript, about six words; times in seconds."""

    start: float
    end: float
    text: str


class Range(NamedTuple):
    """Lines in which a step is done, all counted from 1."""

    step: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class VideoReading:
    """What was read in a video; ``remarks`` say what of the answers could not be used."""

    readings: tuple[Reading, ...]
    remarks: tuple[str, ...] = ()


def lines_of(video: Video) -> list[Line]:
    """The transcript in lines, which end with a sentence where they can, and at every pause."""
    words = [(word, word is s.words[-1]) for s in video.sentences for word in s.words]
    lines: list[list[Word]] = [[]]
    for (word, at_end), (following, _) in pairwise([*words, *words[-1:]]):
        lines[-1].append(word)
        count, pause = len(lines[-1]), following.start - word.end
        if count >= _LINE[1] or (at_end and count >= _LINE[0]) or pause >= _PAUSE:
            lines.append([])
    return [
        Line(line[0].start, max(word.end for word in line), clean(" ".join(w.text for w in line)))
        for line in lines
        if line
    ]


class VideoQuestions:
    """The questions about one video: one for each piece of its transcript."""

    def __init__(self, task: Task, script: Script, video: Video) -> None:
        self.video = video
        self.lines = lines_of(video)
        self.n_steps = len(script.steps)
        self._parts = {
            "job": job_name(task),
            "steps": "\n".join(
                f"{n} {_ARTICLE.sub('', clean(step.label))}"
                for n, step in enumerate(script.steps, 1)
            ),
        }
        self.pieces = _pieces(self.lines)

    @property
    def texts(self) -> list[str]:
        """All questions, as they are if nothing was found in the pieces before."""
        return [self.text(number) for number in range(len(self.pieces))]

    @property
    def tokens(self) -> int:
        """Tokens of the questions and of usual answers, by an upper estimate."""
        return sum(ceil(estimated_tokens(text)) + ANSWER_TOKENS for text in self.texts)

    def name(self, number: int) -> str:
        """The name of a question, with a hash of what its answer rests on: steps and lines."""
        text = "".join([self._parts["steps"], "\n", *self._numbered(self.pieces[number])])
        return question_name(f"video-{self.video.id}", text)

    def text(self, number: int, found: Sequence[Range] = ()) -> str:
        """One question; ``found`` are the ranges of the pieces before."""
        piece = self.pieces[number]
        parts = [template("video").format(**self._parts)]
        if number:
            known = "; ".join(f"{r.step}: {r.first}-{r.last}" for r in found)
            parts.append(f"Found before line {piece.start}: {known or 'nothing'}. ")
            before = range(max(1, piece.start - _CONTEXT), piece.start)
            parts.append(f"It was just said: {' '.join(self.lines[n - 1].text for n in before)}\n")
        parts += self._numbered(piece)
        if len(self.pieces) > 1:
            parts.append(f"(piece {number + 1} of {len(self.pieces)}; answer for these lines)\n")
        return "".join(parts)

    def _numbered(self, piece: range) -> list[str]:
        """The lines of a piece; the first one and those after a pause have their time."""
        shown, end = [], -_PAUSE
        for number in piece:
            line = self.lines[number - 1]
            time = f"[{format_time(line.start)}] " if line.start - end >= _PAUSE else ""
            shown.append(f"{number} {time}{line.text}\n")
            end = line.end
        return shown


def _pieces(lines: Sequence[Line]) -> list[range]:
    """Split a transcript into as few pieces of similar size as possible, by line numbers."""
    sizes = [estimated_tokens(line.text) + 4 for line in lines]
    count = max(1, -(-round(sum(sizes)) // MAX_PIECE))
    pieces: list[range] = []
    first, total = 1, 0.0
    for number, size in enumerate(sizes, 1):
        total += size
        if total >= (len(pieces) + 1) * sum(sizes) / count - 1e-6 or number == len(sizes):
            pieces.append(range(first, number + 1))
            first = number + 1
    return pieces


def read_video(questions: VideoQuestions, reply: Callable[..., str]) -> VideoReading:
    """Ask where the steps are done in a video, piece by piece, each with what was found so far.

    ``reply`` takes a conversation and its name. What is wrong in the last answer about a piece is
    left out with a remark; without any, there is an ``AnswerError``.
    """
    found: list[Range] = []
    remarks: list[str] = []
    for number, piece in enumerate(questions.pieces):
        text = questions.text(number, found)
        answer = ask(
            [{"role": "user", "content": text}],
            partial(reply, name=questions.name(number)),
            partial(parse_reading, piece=piece, n_steps=questions.n_steps),
        )
        found += answer.value
        remarks += answer.wrong
    lines = questions.lines
    readings = tuple(
        Reading(
            questions.video.id,
            r.step - 1,
            round(lines[r.first - 1].start, 3),
            round(max(line.end for line in lines[r.first - 1 : r.last]), 3),
            r.first,
            r.last,
        )
        for r in joined(found)
    )
    return VideoReading(readings, tuple(remarks))


def parse_reading(text: str, piece: range, n_steps: int) -> tuple[list[Range], list[str]]:
    """Parse the answer about some lines of a transcript; also return what is wrong with it.

    An answer half of which cannot be true, as of a model that only counts up, is not used.
    """
    found = [value for value in json_objects(text) if isinstance(value.get("done"), list)]
    if not found:
        raise AnswerError('there is no complete JSON object with "done" in the answer')
    ranges: dict[int, list[Range]] = defaultdict(list)
    wrong: list[str] = []
    for entry in found[-1]["done"]:
        if not (isinstance(entry, list) and len(entry) == 3 and all(type(n) is int for n in entry)):
            wrong.append(f"{str(entry)[:40]} is not [step, first line, last line]")
            continue
        given = Range(*entry)
        if not 1 <= given.step <= n_steps:
            wrong.append(f"there is no step {given.step}")
        elif not piece.start <= given.first <= given.last < piece.stop:
            lines = f"{piece.start} to {piece.stop - 1}"
            wrong.append(f"{given.first} to {given.last} is not a range in the lines {lines}")
        else:
            ranges[given.step].append(given)
    usable = sum(map(len, ranges.values()))
    if wrong and (not usable or len(wrong) >= max(2, usable)):
        raise AnswerError(f"half of the answer cannot be true: {'; '.join(wrong[:2])}")
    kept = []
    for step, of_step in sorted(ranges.items()):
        if len(of_step) > MAX_RANGES:
            wrong.append(f"step {step} has {len(of_step)} ranges; at most {MAX_RANGES} are allowed")
        kept += joined(sorted(of_step, key=lambda r: r.first - r.last)[:MAX_RANGES])
    return kept, wrong[:_MAX_WRONG]


def joined(ranges: Sequence[Range]) -> list[Range]:
    """The ranges by step, then line; those of one step that touch or overlap become one."""
    found: list[Range] = []
    for given in sorted(ranges):
        if found and found[-1].step == given.step and given.first <= found[-1].last + 1:
            found[-1] = given._replace(first=found[-1].first, last=max(found[-1].last, given.last))
        else:
            found.append(given)
    return found


def contradiction(script: Script, readings: Sequence[Reading], read_videos: Collection[str]) -> str:
    """How readings contradict the mentions of the steps; empty if they do not.

    They do if mentions fall into readings of their step hardly more often than into those of other
    steps in the video, which is what chance would give, or if hardly any step was read.
    """
    read: dict[str, dict[int, list[Reading]]] = defaultdict(lambda: defaultdict(list))
    for reading in readings:
        read[reading.video][reading.step].append(reading)
    # Means over pairs of video and step, so that no narrator can outweigh the others.
    pairs: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    mentions = [(k, m) for k, step in enumerate(script.steps) for m in step.mentions]
    for step, mention in mentions:
        if step in (steps := read[mention.video]):
            inside = {k for k, of_step in steps.items() if any(r.has(mention) for r in of_step)}
            others = len(inside - {step}) / max(len(steps) - 1, 1)
            pairs[mention.video, step].append((float(step in inside), others))
    mentioned = len({(m.video, step) for step, m in mentions if m.video in read_videos})
    if mentioned >= _MIN_PAIRS and len(pairs) < MIN_READ * mentioned:
        return f"it read {len(pairs)} of {mentioned} steps that are mentioned"
    if len(pairs) < max(_MIN_PAIRS / 2, MIN_READ * mentioned):
        return ""  # too few to tell
    own, others = np.mean([np.mean(values, axis=0) for values in pairs.values()], axis=0)
    # Of few pairs chance could make a model look poor: less is asked of them.
    if own - others < MIN_AGREEMENT * min(len(pairs) / _MIN_PAIRS, 1.0):
        return (
            f"{own:.0%} of the mentions of a step are where it read that step, {others:.0%} where "
            "it read another one"
        )
    return ""


class Asker:
    """Asks about videos within a ceiling of tokens, and no more when the reader fails repeatedly.

    May be called by several threads.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._left = float(reader.tokens)
        self._failures = 0  # one after the other
        self._lock = Lock()

    def read(
        self, questions: VideoQuestions, known: Sequence[str]
    ) -> tuple[VideoReading, list[str]]:
        """Read a video; also return all replies, of which the first may be ``known``.

        Raises
        ------
        AnswerError
            There is no answer in what the model says.
        LanguageModelError
            The model cannot be reached, or may not be asked any more.
        """
        reply = Recorded(self._reply, known)
        return read_video(questions, reply), reply.replies

    def _reply(self, messages: Messages, name: str) -> str:
        cost = sum(estimated_tokens(message["content"]) for message in messages) + ANSWER_TOKENS
        with self._lock:
            if self._failures >= _MAX_FAILURES:
                raise LanguageModelError(f"not asked, after {self._failures} failures in a row")
            if cost > self._left:
                raise LanguageModelError("the ceiling is reached (`llm_tokens`)")
            self._left -= cost
        try:
            text = self._reader.reply(messages, SCHEMA, name=name)
        except Unanswered:
            raise
        except LanguageModelError:
            self._failures += 1
            raise
        self._failures = 0
        return text
