"""Small truths for tests of protocols."""

from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from howsteps.evaluate.frame_protocols import Labels
from howsteps.task import Annotation, Localisation, Truth


def truth(
    rows: Mapping[str, Sequence[tuple[int, float, float]]],
    steps: int,
    durations: Mapping[str, float | None] | None = None,
) -> Truth:
    """A truth from rows (step, start, end) for each video."""
    annotations = tuple(Annotation(video, *row) for video, found in rows.items() for row in found)
    names = tuple(f"step {k}" for k in range(steps))
    return Truth("job", names, annotations, durations or dict.fromkeys(rows))


def placed(times: Mapping[str, Sequence[float | None]]) -> list[Localisation]:
    """One prediction of each step in each video; None where the step is predicted absent."""
    return [
        Localisation(video, step, time)
        for video, found in times.items()
        for step, time in enumerate(found)
    ]


def labels(text: str) -> Labels:
    """Frame labels from letters: ``a`` is step 0, ``.`` is background."""
    return np.array([-1 if letter == "." else ord(letter) - ord("a") for letter in text])


@st.composite
def labelled_videos(draw: st.DrawFn, steps: int = 4) -> tuple[list[Labels], list[Labels]]:
    """Predicted and true labels of up to three videos."""
    predicted, true = [], []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 20))
        label = st.lists(st.integers(-1, steps - 1), min_size=length, max_size=length)
        predicted.append(np.array(draw(label)))
        true.append(np.array(draw(label)))
    return predicted, true
