"""Places by readings: ``python -m benchmarks.places_read RESULTS TRUTH… [--readings FOLDER]``.

RESULTS and TRUTH are as for :mod:`benchmarks.certainty`; the videos were read by a language model.
With ``--readings`` they are read anew: FOLDER has ``TASK.json`` with ``steps``, the names of the
steps, and ``places``, rows of step (from 1), start and end in seconds by video. Then the script is
those names, matched with the narrations, and the task has the videos that were read. Printed are F1
by the paper's protocol (precision over the places made; a second of slack on spoken spans) of

* reading alone: the middle of the first reading of each step;
* read: :func:`howsteps.localise.localise` with the readings;
* words: the same without them; even: the steps spread evenly;

the rates of absence and the calibration error, as :mod:`benchmarks.certainty` has them. The shipped
models were fitted on such tasks: :mod:`training.certainty` prints the figures with each left out.

``--part N``: N videos are read, and the others with truth are scored; all videos of RESULTS take
part. Beside it is the same without any reading.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.certainty import (
    Case,
    Outcomes,
    absence_rates,
    calibration,
    confidence_and_correctness,
    judge,
    read_cases,
    spread_evenly,
)
from benchmarks.own_script import written
from howsteps.localise import TaskLocalisation, localise
from howsteps.store import read_result
from howsteps.task import Localisation, Reading


@dataclass(frozen=True)
class ReadCase:
    """A case, what a language model read, and the ids of the videos that it read."""

    case: Case
    readings: tuple[Reading, ...]
    videos: tuple[str, ...]
    from_names: bool = False  # whether the script is names, matched with the narrations

    def of(self, videos: Sequence[str]) -> "ReadCase":
        """Return the case of only some videos."""
        chosen = tuple(video for video in self.case.task.videos if video.id in videos)
        truth = self.case.truth.of([video.id for video in chosen])
        task, script = replace(self.case.task, videos=chosen), self.case.script
        if self.from_names:
            script = written("\n".join(step.label for step in script.steps), task)
        return self.read(videos, replace(self.case, task=task, truth=truth, script=script))

    def read(self, videos: Sequence[str], case: Case | None = None) -> "ReadCase":
        """Return the case with only some videos read."""
        readings = tuple(reading for reading in self.readings if reading.video in videos)
        read = tuple(video for video in self.videos if video in videos)
        return ReadCase(case or self.case, readings, read, self.from_names)

    def localise(self, *, absent: bool = True) -> TaskLocalisation:
        """Localise the steps."""
        return localise(
            self.case.task,
            self.case.script,
            absent=absent,
            readings=self.readings,
            read_videos=self.videos,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    parser.add_argument("--readings", type=Path, help="other readings than those of the results")
    parser.add_argument("truth", type=Path, nargs="+")
    parser.add_argument("--part", type=int, help="read so many videos, and score the others")
    chosen = parser.parse_args()
    cases = read_readings(chosen.results, chosen.readings, chosen.truth)
    if chosen.part:
        in_part(cases, chosen.part)
    else:
        in_full(cases)


def in_full(cases: Iterator[ReadCase]) -> None:
    """Print the figures with every video read."""
    ways = ("reading alone", "read", "words", "even")
    print(f"| task | videos | {' | '.join(ways)} | absent | kept |\n{'|---' * (len(ways) + 4)}|")
    scores: dict[str, list[list[float]]] = {}
    read_outcomes: dict[str, list[Outcomes]] = {}
    for whole in cases:
        one = whole.of(whole.videos)
        case, located = one.case, one.localise()
        read = judge(case, located, located.localisations)
        others = (middles(one), localise(case.task, case.script).localisations, spread_evenly(case))
        alone, words, even = (judge(case, None, places).f1() for places in others)
        row = [alone, read.f1(), words, even, *absence_rates(read, read.placed)]
        cells = f"{case.name} | {len(one.videos)} | {' | '.join(f'{x:.3f}' for x in row)}"
        print(f"| {cells} |", flush=True)
        scores.setdefault(case.kind, []).append(row)
        read_outcomes.setdefault(case.kind, []).append(read)
    for kind, rows in scores.items():
        error, bins = calibration(*confidence_and_correctness(read_outcomes[kind]))
        means = " | ".join(f"{x:.3f}" for x in np.nanmean(rows, axis=0))
        print(f"| mean, {kind} | | {means} |\n\ncalibration error {error:.3f}: {'; '.join(bins)}\n")


def in_part(cases: Iterator[ReadCase], count: int) -> None:
    """Print F1 of the videos that are not read, where ``count`` others are."""
    print("| task | scored | with others read | without |\n|---|---|---|---|")
    for whole in cases:
        part = whole.read(whole.videos[:count])
        rest = [video for video in whole.case.truth.durations if video not in part.videos]
        case = replace(whole.case, truth=whole.case.truth.of(rest))
        row = [
            judge(case, None, one.localise().localisations).f1() for one in (part, whole.read(()))
        ]
        print(f"| {case.name} | {len(rest)} | {row[0]:.3f} | {row[1]:.3f} |", flush=True)


def read_readings(
    results: Path, readings: Path | None, truth: Sequence[Path]
) -> Iterator[ReadCase]:
    """Yield the tasks that have a result, a truth and readings."""
    for case in read_cases(results, truth):
        if readings is None:
            result = read_result(results / case.name)
            yield ReadCase(case, result.readings, tuple(sorted(result.read_videos)))
        elif (path := readings / f"{case.name}.json").is_file():
            raw = json.loads(path.read_text("utf-8"))
            known = {video.id for video in case.task.videos}
            read = tuple(
                Reading(video, step - 1, float(start), float(end), 0, 0)
                for video, rows in raw["places"].items()
                if video in known
                for step, start, end in rows
            )
            script = written("\n".join(raw["steps"]), case.task)
            videos = tuple(video for video in raw["places"] if video in known)
            yield ReadCase(replace(case, script=script, rules=()), read, videos, from_names=True)


def middles(one: ReadCase) -> list[Localisation]:
    """Return the middle of the first reading of each step."""
    first = {(at.video, at.step): at for at in reversed(one.readings)}
    return [Localisation(v, k, (at.start + at.end) / 2) for (v, k), at in first.items()]


if __name__ == "__main__":
    main()
