"""Tables of true steps, valid and invalid."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howsteps.datasets import registry
from howsteps.errors import InputError
from howsteps.task import Annotation

GOOD = "video,step,start,end\nu,loosen,3,9.5\nv,lift,0,4\nu,lift,10,12\n"


def write(tmp_path: Path, text: str | bytes, name: str = "job.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fault(path: Path) -> tuple[str, int | None]:
    with pytest.raises(InputError) as caught:
        registry.read_truth(path)
    return caught.value.problem.reason, caught.value.problem.line


def test_rows_become_annotations_sorted_by_time(tmp_path):
    [job] = registry.read_truth(write(tmp_path, GOOD))
    assert job.task == "job"
    assert job.steps == ("loosen", "lift")
    assert job.annotations == (
        Annotation("u", 0, 3, 9.5),
        Annotation("u", 1, 10, 12),
        Annotation("v", 1, 0, 4),
    )
    assert dict(job.durations) == {"u": None, "v": None}


def test_only_line_breaks_end_a_row(tmp_path):
    text = "video,step,start,end\nu,fill\u2028up\x0cnow,1,2\n"
    [job] = registry.read_truth(write(tmp_path, text))
    assert job.steps == ("fill\u2028up\x0cnow",)


def test_columns_may_be_in_any_order(tmp_path):
    text = "end,note,Video,start,STEP\n9,ignored,u,3,loosen\n"
    [job] = registry.read_truth(write(tmp_path, text))
    assert job.annotations == (Annotation("u", 0, 3, 9),)


def test_a_task_column_gives_several_truths(tmp_path):
    text = "task,video,step,start,end\ntea,u,boil,0,1\ncake,v,bake,0,1\ntea,w,pour,1,2\n"
    tea, cake = registry.read_truth(write(tmp_path, text)).tasks
    assert (tea.task, tea.steps, list(tea.durations)) == ("tea", ("boil", "pour"), ["u", "w"])
    assert (cake.task, cake.steps) == ("cake", ("bake",))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_byte_order_marks(tmp_path, encoding):
    text = "video,step,start,end\nu,café auflösen,0,1\n".encode(encoding)
    assert registry.read_truth(write(tmp_path, text)).tasks[0].steps == ("café auflösen",)


def test_steps_beside_videos_are_checked_against_them(tmp_path):
    for name in ("u.en.vtt", "v.mp4"):
        (tmp_path / name).touch()
    write(tmp_path, GOOD, "steps.csv")
    [job] = registry.read_truth(tmp_path)
    assert job.task == tmp_path.name
    (tmp_path / "v.mp4").unlink()
    assert fault(tmp_path) == ("video 'v' is not next to this table", None)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("u,loosen,-1,2", "-1–2 s is not a time span of a video"),
        ("u,loosen,5,2", "5–2 s is not a time span of a video"),
        ("u,loosen,5,5", "5–5 s is not a time span of a video"),
        ("u,loosen,nan,2", "nan–2 s is not a time span of a video"),
        ("u,loosen,0,inf", "0–inf s is not a time span of a video"),
        ("u,loosen,20,1e12", "20–1e+12 s is not a time span of a video"),
        ("u,loosen,soon,2", "start is 'soon', not a number"),
        ("u,loosen,1:02,90", "start is '1:02', not a number"),
        ("u,,8,20", "has no name for its video, step or task"),
        ("u,loosen,8", "has 3 columns, not 4"),
        ('u,"loosen,8,20', "is not valid CSV: unexpected end of data"),
    ],
)
def test_a_bad_row_is_reported_with_its_line(tmp_path, row, reason):
    assert fault(write(tmp_path, f"{GOOD}\n{row}\n")) == (reason, 6)


def test_different_steps_may_overlap(tmp_path):
    path = write(tmp_path, f"{GOOD}u,watch,0,12\n")
    assert len(registry.read_truth(path).tasks[0].annotations) == 4


@pytest.mark.parametrize(
    ("content", "reason", "line"),
    [
        (b"", "is empty", None),
        (b"video,step,start,end\n", "has a header but no rows", None),
        (b"video,step,start\nu,a,0\n", "has no column 'end'", 1),
        ("video,step,start,end\nu,é,0,1\n".encode() + b"u,\xe9,2,3\n", "not UTF-8", 3),
        (b"video,step,start,end\nu,a\0b,0,1\n", "is a binary file", 2),
    ],
)
def test_bad_files(tmp_path, content, reason, line):
    found, at = fault(write(tmp_path, content))
    assert reason in found
    assert at == line


class TestWholeSeconds:
    """The table of the paper's data set has rounded times, and times rounded outwards."""

    heading = (
        "video,task,order,step_id,step_name,start_round,end_round,start_floor,end_ceil_clipped"
    )

    @pytest.mark.parametrize(
        ("times", "start", "end"),
        [
            ("9,25,8,26", 9, 25),  # rounded times, as long as something lies between them
            ("6,6,5,7", 5, 7),  # else the outer ones
            (",,73,74", 73, 74),
            ("70,70,70,70", 69, 70),  # cut off by the end of the video
        ],
    )
    def test_times(self, tmp_path, times, start, end):
        path = write(tmp_path, f"{self.heading}\ntire_1,tire,0,9,lift,{times}\n")
        [job] = registry.read_truth(path)
        assert job.annotations == (Annotation("tire_1", 0, start, end),)

    def test_duplicate_rows_are_merged(self, tmp_path):
        row = "repot_1,repot,0,11,put soil,,,0,3"
        found = registry.read_truth(write(tmp_path, f"{self.heading}\n{row}\n{row}\n"))
        assert len(found.tasks[0].annotations) == 1
        [problem] = found.problems
        assert problem.harmless
        assert problem.line == 3


names = st.text(st.characters(categories=("L", "N", "P", "Zs")), min_size=1).map(str.strip)


@given(
    st.lists(
        st.tuples(names.filter(bool), names.filter(bool), st.floats(0, 1e4), st.floats(0.01, 1e3)),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("table") / "steps.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["video", "step", "start", "end"])
        table.writerows([video, step, start, start + length] for video, step, start, length in rows)
    [job] = registry.read_truth(path)
    back = {(a.video, job.steps[a.step], a.start, a.end) for a in job.annotations}
    assert back == {(video, step, start, start + length) for video, step, start, length in rows}
