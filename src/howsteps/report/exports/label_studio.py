"""Label Studio: the steps as predictions that annotators correct, and the set-up that fits them.

Its video timeline counts frames, at a rate that the set-up gives; ours is 25 a second, whatever the
video's own.
"""

import json
import os
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from howsteps.report.exports.spans import spans
from howsteps.report.wording import label_of
from howsteps.task import Result

RATE = 25
NAME, VIDEO = "steps", "video"
LOCAL_FILES = "/data/local-files/?d="


def text_of(result: Result, *, guesses: bool = False) -> str:
    """Tasks to import, one for each video, each with one prediction."""
    tasks = []
    for video in result.task.videos:
        found = spans(result, video, guesses=guesses)
        regions = [
            {
                "id": f"{span.step:03}",
                "type": "timelinelabels",
                "from_name": NAME,
                "to_name": VIDEO,
                "score": round(span.place.confidence, 4),
                "value": {
                    "ranges": [{"start": _frame(span.start), "end": _frame(span.end)}],
                    "timelinelabels": [span.label],
                },
            }
            for span in found
        ]
        # Where there is only a narration, the name stands for a video that is yet to be put there.
        file = video.id if video.media is None else video.media.name
        address = f"{LOCAL_FILES}{quote(os.fsencode(file))}"
        data = {"video": address, "id": video.id, "title": video.title}
        score = _mean([span.place.confidence for span in found])
        prediction = {"model_version": "howsteps", "score": score, "result": regions}
        tasks.append({"data": data, "predictions": [prediction]})
    return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"


def interface_of(result: Result) -> str:
    """The labelling interface: a video, and a timeline with the steps."""
    labels = dict.fromkeys(label_of(step) for step in result.script.steps)
    rows = "\n".join(f"    <Label value={quoteattr(label)}/>" for label in labels)
    return (
        "<View>\n"
        f'  <Video name="{VIDEO}" value="$video" framerate="{RATE}"/>\n'
        f'  <TimelineLabels name="{NAME}" toName="{VIDEO}">\n{rows}\n  </TimelineLabels>\n'
        "</View>\n"
    )


def _frame(seconds: float) -> int:
    return 1 + round(seconds * RATE)


def _mean(scores: list[float]) -> float:
    return round(sum(scores) / len(scores), 4) if scores else 0.0
