"""A how-to page in Markdown: every step with a picture, and what narrators say at it."""

from collections.abc import Mapping

from howsteps.io.timestamps import format_time
from howsteps.report.exports.spans import spans
from howsteps.report.wording import label_of, markdown, markdown_line, title_of
from howsteps.task import Localisation, Result


def best_places(result: Result) -> dict[int, Localisation]:
    """For each step the place that shows it best: the surest that is no guess."""
    found: dict[int, Localisation] = {}
    for video in result.task.videos:
        for span in spans(result, video):
            best = found.get(span.step)
            if best is None or span.place.confidence > best.confidence:
                found[span.step] = span.place
    return found


def text_of(result: Result, pictures: Mapping[int, str]) -> str:
    """The page; ``pictures`` are the files of the steps that have one."""
    steps, videos = result.script.steps, len(result.task.videos)
    best = best_places(result)
    lines = [f"# {markdown(title_of(result.task.name))}", ""]
    lines += [f"Steps: {len(steps)}. Videos: {videos}.", ""]
    for number, step in enumerate(steps):
        label = markdown(label_of(step))
        lines += [f"## {number + 1}. {label}", ""]
        if number in pictures:
            lines += [f"![{label}]({pictures[number]})", ""]
        lines += [f"> {markdown_line(example)}\n" for example in step.examples[:2]]
        seen = best.get(number)
        where = (
            f"; well seen in *{markdown(seen.video)}* at {format_time(seen.time)}"
            if seen is not None and seen.time is not None
            else ""
        )
        lines += [f"Videos that name it: {step.support} of {videos}{where}.", ""]
    return "\n".join(lines)
