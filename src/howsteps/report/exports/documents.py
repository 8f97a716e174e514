"""Documents for people: a CSV table of all localisations, and a how-to page in Markdown."""

import csv
import io
from collections.abc import Mapping

from howsteps.io.timestamps import format_time
from howsteps.report.agreed import duration, things_needed
from howsteps.report.content import youtube_id
from howsteps.report.exports.spans import spans
from howsteps.report.rows import localisation_rows
from howsteps.report.text import markdown, markdown_line, one_line, step_label, title_of
from howsteps.task import Localisation, Result, Video

_HEADER = (
    *("video", "number", "step", "start", "end", "time"),
    *("level", "confidence", "evidence", "presence", "supporting_videos"),
)
# Spreadsheets evaluate cells that begin with one of these as formulas.
_FORMULA = ("=", "+", "-", "@")


def csv_text(result: Result) -> str:
    """CSV: every step of every video; absent steps have no times."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for video, row in localisation_rows(result).items():
        for number, (step, place) in enumerate(zip(result.script.steps, row, strict=True), 1):
            if place is None:
                continue
            times = (place.start, place.end, place.time)
            writer.writerow(
                [
                    _safe(video),
                    number,
                    _safe(step_label(step)),
                    *("" if time is None else f"{time:.3f}" for time in times),
                    place.level or ("absent" if place.time is None else ""),
                    f"{place.confidence:.4f}",
                    _safe(place.evidence),
                    f"{place.presence:.4f}",
                    step.support,
                ]
            )
    return text.getvalue()


def best_localisations(result: Result) -> dict[int, Localisation]:
    """For each step, the localisation with the highest confidence that is not a guess."""
    found: dict[int, Localisation] = {}
    for video in result.task.videos:
        for span in spans(result, video):
            best = found.get(span.step)
            if best is None or span.place.confidence > best.confidence:
                found[span.step] = span.place
    return found


def howto_text(result: Result, thumbnails: Mapping[int, str]) -> str:
    """A how-to page in Markdown; ``thumbnails`` are image files by step."""
    steps, videos = result.script.steps, len(result.task.videos)
    best = best_localisations(result)
    lines = [f"# {markdown(title_of(result.task.name))}", ""]
    lines += [f"Steps: {len(steps)}. Videos: {videos}.", ""]
    if things := things_needed(result):
        lines += ["## What narrators use", "", *(f"* {markdown(thing)}" for thing in things), ""]
    by_id = {video.id: video for video in result.task.videos}
    sentences = {video.id: video.sentences for video in result.task.videos}
    for number, step in enumerate(steps):
        label = markdown(step_label(step) + (" (optional)" if step.optional else ""))
        lines += [f"## {number + 1}. {label}", ""]
        if number in thumbnails:
            lines += [f"![{label}]({thumbnails[number]})", ""]
        if takes := duration(step, sentences):
            lines += [f"Narrators say it takes {takes}.", ""]
        lines += [f"> {markdown_line(example)}\n" for example in step.examples[:2]]
        where = f" Clearest {_where(best[number], by_id)}." if number in best else ""
        lines += [f"Mentioned in {step.support} of {videos} videos.{where}", ""]
    return "\n".join(lines)


def _where(place: Localisation, videos: Mapping[str, Video]) -> str:
    """The place of a step, with a link if the video is on YouTube."""
    video, time = videos[place.video], place.time or 0.0
    clock = format_time(time)
    if id_ := youtube_id(video):
        clock = f"[{clock}](https://youtu.be/{id_}?t={int(time)})"
    certainty = f" ({place.level}: {markdown(place.evidence)})" if place.level else ""
    return f"in *{markdown(video.title or video.id)}* at {clock}{certainty}"


def _safe(text: str) -> str:
    """One line of text that no spreadsheet evaluates as a formula."""
    line = one_line(text) if text else ""
    return f"'{line}" if line.startswith(_FORMULA) else line
