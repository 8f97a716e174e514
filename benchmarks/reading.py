"""Where steps are done, as a language model reads it: ``python -m benchmarks.reading ask|score``.

``ask CAPTIONS FOLDER`` finds the steps of a job (or takes those of ``--script``) and writes a
question for every video, or for those of ``--reference``: ``FOLDER/VIDEO.txt``. Whoever answers
writes ``FOLDER/VIDEO.answer.json`` and sees nothing else. ``score FOLDER REFERENCE`` prints F1 in
the paper's protocol, with precision over the places made: of the readings alone, and of the places
that howsteps makes of them. REFERENCE has ``{"spans": {video: [[step, start, end], …]}}``.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from howsteps.evaluate import paper_f1
from howsteps.io.text import read_text
from howsteps.localise import localise
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.reader.question import estimated_tokens
from howsteps.reader.reading import VideoQuestions, VideoReading, read_video
from howsteps.store import read_result
from howsteps.task import Localisation, Reading, Result

SLACK = 1.0  # seconds around a spoken span
WORK = "work"  # the work folder, in the folder of the questions


def main() -> None:
    """Write questions, or score their answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    asking = commands.add_parser("ask")
    asking.add_argument("captions", type=Path)
    asking.add_argument("folder", type=Path)
    asking.add_argument("--script", type=Path, help="the steps, instead of those that are found")
    asking.add_argument("--reference", type=Path, help="write the questions of its videos only")
    scoring = commands.add_parser("score")
    scoring.add_argument("folder", type=Path)
    scoring.add_argument("reference", type=Path)
    given = parser.parse_args()
    if given.command == "ask":
        only = spans(given.reference) if given.reference else None
        ask(given.captions, given.folder, given.script, only)
    else:
        score(given.folder, spans(given.reference))


def spans(reference: Path) -> dict[str, list[list[float]]]:
    """The true spans of the videos: step (from 1), start and end."""
    found: dict[str, list[list[float]]] = json.loads(reference.read_text())["spans"]
    return found


def ask(captions: Path, folder: Path, script: Path | None, only: Iterable[str] | None) -> None:
    """Write the questions, and print their tokens next to those of the transcripts."""
    options = RunOptions(vision=False)
    result = run(captions, folder / WORK, options, script=script, pages=False).result
    sent = spoken = 0.0
    for video, questions in _questions(result, only):
        for number, text in enumerate(questions.texts, 1):
            name = video if number == 1 else f"{video}-{number}"
            (folder / f"{name}.txt").write_text(text)
            sent += estimated_tokens(text)
        spoken += sum(estimated_tokens(line.text) for line in questions.lines)
    print(f"{result.task.name}: {sent:,.0f} tokens, {sent / max(1, spoken):.2f} of the transcripts")


def _questions(result: Result, only: Iterable[str] | None) -> Iterable[tuple[str, VideoQuestions]]:
    videos = {video.id: video for video in result.task.videos if video.sentences}
    for name in videos if only is None else only:
        if name in videos:
            yield name, VideoQuestions(result.task, result.script, videos[name])


def score(folder: Path, truth: dict[str, list[list[float]]]) -> None:
    """Print F1 of the readings alone and of the places, beside the places without readings."""
    result = read_result(folder / WORK)
    read = dict(_answers(folder, result, truth))
    readings = [reading for found in read.values() for reading in found.readings]
    with_readings = localise(
        result.task, result.script, readings=readings, read_videos=frozenset(read)
    ).localisations
    print(f"{result.task.name}: {len(read)} of {len(truth)} videos read")
    steps = len(result.steps)
    for name, places in (
        ("read alone", alone(readings)),
        ("placed with readings", with_readings),
        ("placed without", result.localisations),
    ):
        found = f1(places, truth, steps)
        print(f"  {name:20} F1 {found:.3f}")


def _answers(
    folder: Path, result: Result, only: Iterable[str]
) -> Iterable[tuple[str, VideoReading]]:
    """What the answers say, by video."""
    for video, questions in _questions(result, only):
        names = [video, *(f"{video}-{n}" for n in range(2, len(questions.pieces) + 1))]
        paths = [folder / f"{name}.answer.json" for name in names]
        if all(path.exists() for path in paths):
            answers = iter([read_text(path) for path in paths])
            yield video, read_video(questions, lambda _, a=answers: next(a, ""), alone=True)


def alone(readings: Sequence[Reading]) -> list[Localisation]:
    """The middle of the longest reading of each step in each video."""
    longest: dict[tuple[str, int], Reading] = {}
    for reading in sorted(readings, key=lambda r: r.end - r.start):
        longest[reading.video, reading.step] = reading
    return [
        Localisation(r.video, r.step, (r.start + r.end) / 2, r.start, r.end)
        for r in longest.values()
    ]


def f1(places: Iterable[Localisation], truth: dict[str, list[list[float]]], steps: int) -> float:
    """F1 of the paper's protocol in the videos with spans, precision over the places made."""
    known = {
        video: [(int(step), start - SLACK, end + SLACK) for step, start, end in of_video]
        for video, of_video in truth.items()
    }
    there = [place for place in places if place.video in known]
    return paper_f1(there, known, steps=steps, variant="made").f1


if __name__ == "__main__":
    main()
