"""CMX 3600: the steps of a video as an edit decision list, for editing programs.

One event for each step, taken from the video and recorded one after another: the list is a cut of
the steps. Labels stand in comments. Time codes count frames, non-drop, at the rate of the video
where it is near one that editing programs know (29.97 counts as 30), and else at 25 a second.
"""

from fractions import Fraction

from howsteps.report.exports.spans import Span
from howsteps.report.exports.video_copies import USUAL_RATE
from howsteps.report.wording import one_line

_MOST_EVENTS = 999
_LONGEST_COMMENT = 70
# Frames a second that editing programs know, those of NTSC among them.
_KNOWN = [
    Fraction(base * slower, 1001)
    for base in (24, 25, 30, 48, 50, 60)
    for slower in ((1000, 1001) if base % 25 else (1001,))
]
_NEAR = Fraction(1, 100)  # phones film at 29.8 or 30.1 frames a second, as there is light


def text_of(title: str, clip: str, found: list[Span], rate: Fraction) -> str:
    """The list for one video; ``clip`` is the name of its file, ``rate`` its frames a second."""
    known = min(_KNOWN, key=lambda one: abs(one - rate))
    rate = known if abs(known - rate) <= _NEAR * known else USUAL_RATE
    lines = [f"TITLE: {_comment(title)}", "FCM: NON-DROP FRAME", ""]
    recorded = 0
    for number, span in enumerate(found[:_MOST_EVENTS], 1):
        first, last = (round(Fraction(time) * rate) for time in (span.start, span.end))
        frames = max(1, last - first)
        times = [first, first + frames, recorded, recorded + frames]
        codes = " ".join(_code(frame, round(rate)) for frame in times)
        lines += [
            f"{number:03}  AX       V     C        {codes}",
            f"* FROM CLIP NAME: {_comment(clip)}",
            f"* COMMENT: {_comment(span.label)}",
            "",
        ]
        recorded += frames
    return "\n".join(lines)


def _code(frame: int, base: int) -> str:
    """``00:01:02:12``: hours, minutes, seconds and frames."""
    whole, frames = divmod(frame, base)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}:{frames:02}"


def _comment(text: str) -> str:
    return one_line(text)[:_LONGEST_COMMENT]
