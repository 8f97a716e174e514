"""A how-to page in Markdown: every step with a picture, and what narrators say at it."""

import re
from collections.abc import Mapping

from howsteps.clock import clock
from howsteps.report.exports.spans import one_line, spans
from howsteps.task import Localisation, Result

# Every sign that Markdown or HTML could take for markup.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|&~])")


def title_of(result: Result) -> str:
    """``fix_a_flat_bike_tire`` as people write it."""
    name = one_line(result.task.name.replace("_", " "))
    return name[:1].upper() + name[1:]


def best_places(result: Result) -> dict[int, Localisation]:
    """For each step the place that shows it best: named before guessed, then most confident."""
    found: dict[int, Localisation] = {}
    for video in result.task.videos:
        for span in spans(result, video):
            best = found.get(span.step)
            if best is None or _worth(span.place) > _worth(best):
                found[span.step] = span.place
    return found


def text_of(result: Result, pictures: Mapping[int, str]) -> str:
    """The page; ``pictures`` are the files of the steps that have one."""
    videos = len(result.task.videos)
    best = best_places(result)
    lines = [f"# {escaped(title_of(result))}", ""]
    lines += [f"{len(result.script.steps)} steps, found in {videos} videos.", ""]
    for number, step in enumerate(result.script.steps):
        label = one_line(step.label)
        lines += [f"## {number + 1}. {escaped(label[:1].upper() + label[1:])}", ""]
        if number in pictures:
            lines += [f"![{escaped(label)}]({pictures[number]})", ""]
        lines += [f"> {escaped(one_line(example))}\n" for example in step.examples[:2]]
        seen = best.get(number)
        where = (
            f"; well seen in *{escaped(seen.video)}* at {clock(seen.time)}"
            if seen is not None and seen.time is not None
            else ""
        )
        lines += [f"Named in {step.support} of {videos} videos{where}.", ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKUP.sub(r"\\\1", text)


def _worth(place: Localisation) -> tuple[bool, float]:
    return place.evidence == "named and seen", place.confidence
