"""The release of the paper, compared with what the authors' program reads."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from howsteps.datasets import authors, registry
from howsteps.errors import InputError
from howsteps.evaluate import Variant, hit_table
from howsteps.io import mat_files
from howsteps.task import Localisation
from tests.evaluate.intervals import interval_hit_table

GOLDEN = Path(__file__).parents[1] / "golden"
NUMBERS = json.loads((GOLDEN / "golden.json").read_text())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small example in the layout of the release, to be read in this process."""
    monkeypatch.setattr(authors, "run_in_worker", lambda _, job, threads: mat_files.convert(job))
    monkeypatch.setattr(mat_files, "limit_memory", lambda _: None)
    for kind in ("NLP", "VISION"):
        shutil.copytree(GOLDEN / "data" / kind, tmp_path / kind)
    return tmp_path


@pytest.fixture
def dataset(folder: Path) -> Path:
    return folder / "VISION" / "small" / "features" / "full_dataset.mat"


def fault(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        authors.read_release(folder, "small")
    return str(caught.value)


def test_narrations_equal_those_of_the_authors_program(folder):
    # The golden numbers keep the 7 most frequent of 9 relations.
    release, golden = authors.read_release(folder, "small"), NUMBERS["narration"]
    assert ["_".join(relation) for relation in release.relations[:7]] == golden["dict"]
    assert np.allclose(release.similarity[:7, :7], golden["sim"])
    frequent = {relation: k + 1 for k, relation in enumerate(release.relations[:7])}
    for n, video in enumerate(release.task.videos):
        assert golden["names"][n].startswith(video.id)
        kept = [mention for mention in video.mentions if mention.relation in frequent]
        assert [frequent[mention.relation] for mention in kept] == golden["word_1based"][n]
        assert np.allclose([[mention.start, mention.end] for mention in kept], golden["times"][n])


def test_features_and_labels_equal_those_of_the_authors_program(folder):
    release, golden = authors.read_release(folder, "small"), NUMBERS["diffrac"]
    assert [len(matrix) for matrix in release.features.values()] == golden["clips"]
    assert np.allclose(np.concatenate(list(release.features.values())), golden["X"])
    assert np.concatenate(list(release.labels.values())).tolist() == golden["Z_gt"]


@pytest.mark.parametrize("step", range(len(NUMBERS["diffrac"]["iters"])))
def test_roundings_score_as_in_the_authors_program(folder, step):
    release, golden = authors.read_release(folder, "small"), NUMBERS["diffrac"]
    found = golden["iters"][step]
    rounded = np.split(np.array(found["rounded"]), np.cumsum(golden["clips"])[:-1])
    table = interval_hit_table(rounded, list(release.labels.values()))
    score = table.score(Variant.authors)
    matched = [(k, true) for k, true in enumerate(score.matching) if true is not None]
    correct = sum(table.hits[:, k, true].sum() for k, true in matched)
    assert correct == np.sum(found["hits"])
    assert table.score().recall == pytest.approx(found["recall"], abs=1e-6)


def test_truth_in_seconds_scores_as_truth_in_intervals(folder):
    # One interval predicted for each step, on its true place and beside it.
    release = authors.read_release(folder, "small")
    rng = np.random.default_rng(0)
    marks, times = [], []
    for video, labels in release.labels.items():
        z = np.zeros_like(labels)
        for step in range(labels.shape[1]):
            at = rng.integers(len(labels))
            z[at, step] = True
            middle = (at + 0.5) * authors.FRAMES_PER_INTERVAL / release.rates[video]
            times.append(Localisation(video, step, middle))
        marks.append(z)
    on_intervals = interval_hit_table(marks, list(release.labels.values()))
    in_seconds = hit_table(times, release.truth, steps=3)
    for variant in Variant:
        assert in_seconds.score(variant) == on_intervals.score(variant)


def test_truth_without_narrations(folder):
    shutil.rmtree(folder / "NLP")
    [small] = registry.read_truth(folder)
    assert small.task == "small"
    assert small.steps == ("step 1", "step 2", "step 3")
    assert small.durations["small_0001"] == pytest.approx(376 / 30)
    assert registry.read_truth(GOLDEN / "data").tasks == (small,)


def test_an_empty_narration(folder):
    (folder / "NLP" / "small" / "simple_trlst" / "small_0001.trlst").write_text("")
    assert authors.read_release(folder, "small").task.videos[0].mentions == ()


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("simple_trlst/small_0002.trlst", "1 0 1\n9 1 2\n", "2: relation 9 is not in the dict"),
        ("simple_trlst/small_0002.trlst", "1 0 1\n1 -1 2\n", "2: -1–2 s is not a time span"),
        ("simple_trlst/small_0002.trlst", "1 3 2\n", "1: 3–2 s is not a time span"),
        ("simple_trlst/small_0002.trlst", "1 0\n", "1: is not: relation start end"),
        ("simple_trlst/small_0002.trlst", "1 0 x\n", "1: a time is 'x', not a number"),
        ("count_files/small_lem_dobj_count", "7 say thing\nsay thing\n", "2: is not: count verb"),
        ("sim_mat/small_sim_mat.txt", "1 0\n0\n", "number of columns changed from 2 to 1 at row 2"),
        ("sim_mat/small_sim_mat.txt", "1 0\n", "is 1×2, not square with at most 9 rows"),
        (
            "sim_mat/small_sim_mat.txt",
            "1 a\n0 1\n",
            "could not convert string 'a' to float64 at row 0, column 2",
        ),
    ],
)
def test_bad_text_is_reported_with_file_and_line(folder, file, text, reason):
    path = folder / "NLP" / "small" / file
    path.write_text(text)
    assert fault(folder).startswith(f"{path}:")
    assert reason in fault(folder)


def test_missing_files(folder):
    path = folder / "VISION" / "small" / "videos_info" / "small_0003.mat"
    path.unlink()
    assert fault(folder) == f"{path}: no such file"


def test_a_narration_without_a_video(folder):
    path = folder / "NLP" / "small" / "simple_trlst" / "small_0009.trlst"
    path.write_text("1 0 1\n")
    assert fault(folder).startswith(f"{path}: has no features of a video of this name")
    shutil.rmtree(path.parent)
    assert fault(folder) == f"{path.parent}: has no .trlst file"


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:0], "is not a .mat file as released"),
        (lambda data: data[:200], "is not a .mat file as released"),
        (lambda data: data[: len(data) // 2], "is not a .mat file as released"),
        (lambda data: data[:-100], "is not a .mat file as released"),
        (lambda data: data[:124] + b"\x00\x02" + data[126:], "save it with -v7"),
    ],
)
def test_a_damaged_mat_file(folder, dataset, damage, reason):
    dataset.write_bytes(damage(dataset.read_bytes()))
    assert fault(folder).startswith(f"{dataset}: ")
    assert reason in fault(folder)


def test_a_file_that_crashes_its_reader_is_refused(folder, dataset, monkeypatch):
    monkeypatch.undo()
    assert len(authors.read_release(folder, "small").features) == 4
    data = dataset.read_bytes()
    dataset.write_bytes(data[:224] + b"\x33" + data[225:])
    assert "the program that decodes it" in fault(folder)


def test_a_small_mat_file_cannot_fill_the_memory(folder, dataset, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(authors, "_MEMORY", 2**26)
    savemat(dataset, {"X": np.zeros(2**24), "Y": 0, "hw3": 0}, do_compression=True)
    assert "GiB of memory" in fault(folder)


def changed(dataset: Path, **changes: object) -> None:
    content = {key: value for key, value in loadmat(dataset).items() if not key.startswith("__")}
    savemat(dataset, {**content, **changes})


def cells(*matrices: object) -> np.ndarray:
    column = np.empty((len(matrices), 1), dtype=object)
    column[:, 0] = matrices
    return column


def test_wrong_content(folder, dataset):
    good = {key: loadmat(dataset)[key].ravel() for key in ("X", "Y")}
    twice = loadmat(dataset)["hw3"]
    twice["clipid"][0, 1] = twice["clipid"][0, 0]
    wrong = [
        ({"X": np.zeros((3, 3))}, "is not a .mat file as released"),
        ({"X": cells(*good["X"][:3])}, "is not a .mat file as released"),
        (
            {"X": cells(*good["X"][:3], good["X"][3][:-1])},
            "small_0004: X is of shape (35, 20), Y has 36 rows",
        ),
        ({"X": cells(*good["X"][:3], good["X"][3][:, :-1])}, "small_0004: X is of shape (36, 19)"),
        ({"X": cells(*good["X"][:3], good["X"][3] * np.nan)}, "X is not finite"),
        ({"X": cells(*good["X"][:3], "text")}, "is not a .mat file as released"),
        ({"Y": cells(*good["Y"][:3], good["Y"][3] * 2)}, "Y is not of 0 and 1"),
        ({"hw3": np.zeros((1, 4))}, "is not a .mat file as released"),
        ({"hw3": twice}, "names a video twice"),
    ]
    whole = dataset.read_bytes()
    for changes, reason in wrong:
        dataset.write_bytes(whole)
        changed(dataset, **changes)
        assert reason in fault(folder)


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"fps": 30.0}, "has no variable nimgs"),
        ({"fps": 0.0, "nimgs": 376.0}, "376 frames at 0 a second are no video"),
        ({"fps": 30.0, "nimgs": 500.0}, "500 frames are 50 intervals, Y has 38"),
        ({"fps": [1.0, 2.0], "nimgs": 376.0}, "is not a .mat file as released"),
    ],
)
def test_bad_video_info(folder, info, reason):
    path = folder / "VISION" / "small" / "videos_info" / "small_0001.mat"
    savemat(path, info)
    assert fault(folder).startswith(f"{path}: ")
    assert reason in fault(folder)


def test_sparse_features(folder, dataset):
    from scipy.sparse import csc_matrix

    dense = authors.read_release(folder, "small").features
    content = loadmat(dataset)["X"].ravel()
    changed(dataset, X=cells(*(csc_matrix(matrix.astype(float)) for matrix in content)))
    sparse = authors.read_release(folder, "small").features
    assert all(np.array_equal(sparse[video], dense[video]) for video in dense)
