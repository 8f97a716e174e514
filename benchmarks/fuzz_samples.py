"""Small valid files of every format that howsteps reads, as seeds of fuzzing."""

import hashlib
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from howsteps.reader import make_question
from howsteps.serve.changes import Change, Move, Rename
from howsteps.serve.edits import Journal
from howsteps.store import read_result, text_of
from howsteps.task import (
    Localisation,
    Mention,
    Result,
    Script,
    Sentence,
    Step,
    Task,
    Video,
    Word,
)


def as_json(value: object) -> bytes:
    """Encode a value as JSON."""
    return json.dumps(value).encode()


def npz(**arrays: NDArray[Any]) -> bytes:
    """Encode arrays with ``np.savez``."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


_WORDS = [{"word": " boil", "start": 1.0, "end": 1.5}, {"word": " water"}]
_LINES = [[1, 2.5, "boil the water"], [2.5, 4, "pour the tea"]]

CAPTIONS = (
    b"1\n00:00:01,000 --> 00:00:02,500\nboil the water\n\n"
    b"2\n00:00:02,500 --> 00:00:04\n<i>pour</i>\n",
    b"WEBVTT\n\nNOTE by hand\n\nintro\n00:01.000 --> 00:02.500 line:90%\n"
    b"boil<00:00:01.500><c> the</c><00:00:02.000><c> water</c>\n",
    b'<tt xmlns="x"><body><p begin="0.5s" dur="10ms">boil<br/>water</p>'
    b'<p begin="0:01" end="0:02"><span>pour</span> tea</p></body></tt>',
    b'<timedtext format="3"><body><p t="1000" d="1500">boil<s t="500"> water</s></p></body>'
    b"</timedtext>",
    b'<transcript><text start="1.5" dur="2">it&amp;#39;s on</text></transcript>',
    as_json(
        {"events": [{"tStartMs": 1, "dDurationMs": 9, "segs": [{"utf8": "a", "tOffsetMs": 1}]}]}
    ),
    as_json({"segments": [{"start": 1, "end": 2.5, "text": "boil", "words": _WORDS}]}),
    as_json(_LINES),
    as_json([{"start": "0:01", "duration": 2, "text": "boil"}]),
    b"start\tend\ttext\n1000\t2500\tboil the water\n2500\t4000\tpour\n",
    b'start,end,text\n1,2.5,"boil, then pour"\n2.5,0:04,stir\n',
)

_VIDEO = {"duration": 60.0, "asr": _LINES, "steps": [[1, 3, 9], [2, 30.5, 40]]}
TASK = {"task": "Tea", "step_names": ["boil", "pour"], "videos": {"u": _VIDEO, "v": {"asr": []}}}
TASK_LIST = [{"id": "u", "title": "Tea for two", "duration": 9, "asr": _LINES}]
_SEGMENT = {"id": "7", "label": "boil", "segment": [3, 9.5]}
COIN = {"database": {"u": {"class": "Tea", "duration": 60.0, "annotation": [_SEGMENT]}}}
JUDGEMENT = {"rules": {"boil water": [{"verbs": ["boil"], "nouns": ["water"]}], "pour tea": []}}
SCRIPT = (
    b"# Tea\n\n1. boil water\n   also: heat the water, fill a pot and 3 more\n2. pour (optional)\n"
    b"3. or stir\n   + add sugar\n\n<!-- a note -->\n",
    "\ufeffboil the water\r\n• **pour** the [tea](https://example.org). Wait.\r\n".encode(),
)
INFO = {
    "id": "dQw4w9WgXcQ",
    "title": "Tea",
    "duration": 61.5,
    "language": "en",
    "extractor_key": "Youtube",
    "chapters": [{"start_time": 0, "title": "Boil"}, {"start_time": 9.5, "title": "Pour"}],
}
STEPS = (
    b"video,step,start,end,task\nu,boil,1,2.5,tea\nu,pour,3,4,tea\nv,boil,0.5,9,tea\n",
    b"video,task,step_name,start_round,end_round,start_floor,end_ceil_clipped\nu,tea,boil,1,3,1,3\n",
)
CROSSTASK = {
    "tasks_primary.txt": b"16\nMake Tea\nhttps://example.org\n2\nboil water,pour tea\n",
    "videos.csv": b"16,u,https://example.org/u\n16,v,https://example.org/v\n",
    "annotations/16_u.csv": b"1,3.5,9\n2,30,40\n",
}


_PHRASES = ("boil the water", "pour the tea", "stir the sugar")


def narrated_task() -> Task:
    """Return a task of two videos with sentences and mentions."""
    return Task("Tea", tuple(_narrated_video(name) for name in "uv"))


def _narrated_video(name: str) -> Video:
    lines = [line.split() for line in _PHRASES]
    sentences = [
        Sentence(tuple(Word(w, 9.0 * n + k, 9.0 * n + k + 1) for k, w in enumerate(words)))
        for n, words in enumerate(lines)
    ]
    mentions = [
        Mention(name, words[0], words[2], " ".join(words), 9.0 * n, 9.0 * n + 3, sentence=n)
        for n, words in enumerate(lines)
    ]
    return Video(name, sentences=tuple(sentences), mentions=tuple(mentions), duration=40.0)


def script() -> Script:
    """Return the script of that task."""
    mentions_by_video = [video.mentions for video in narrated_task().videos]
    steps = zip(_PHRASES, zip(*mentions_by_video, strict=True), strict=True)
    return Script(tuple(Step(label, mentions, (label,)) for label, mentions in steps))


def result() -> bytes:
    """Return a small ``result.json``."""
    localisations = tuple(
        Localisation(v, k, 9.0 * k + 1, 9.0 * k, 9.0 * k + 3) for v in "uv" for k in (0, 2)
    )
    return text_of(Result(narrated_task(), script(), localisations), Path()).encode()


def answer() -> bytes:
    """Return a valid answer of a language model."""
    question = make_question(narrated_task(), script())
    steps = [
        {"name": label, "acts": [row.id]}
        for label, row in zip(_PHRASES, question.acts, strict=True)
    ]
    more = {"any_order": [[1, 2]], "alternatives": [], "other_job": []}
    return b"Here it is:\n" + as_json({"steps": steps, **more})


PROJECT = b'title = "tea"\nsteps = 3\nkeep-all = true\ndrop = ["a"]\nspeech = "tiny.en"\n'
READING = b'It is {"done": [[1, 1, 2], [2, 3, 3]], "other_job": false}'


def journal() -> dict[str, bytes]:
    """Return the edits of a result, and the result."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "result.json").write_bytes(result())
        edits = Journal.resume(folder, read_result(folder))
        for change in (
            Change(do=Rename(0, "heat water")),
            Change(do=Move(0, 1)),
            Change(undo=True),
        ):
            edits.change(change)
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def feature_folder() -> dict[str, bytes]:
    """Return frame-wise labels and features of one video."""
    buffer = io.BytesIO()
    np.save(buffer, np.ones((4, 3), np.float32))
    return {
        "mapping/mapping.txt": b"0 background\n1 boil\n2 pour\n",
        "groundTruth/u.txt": b"boil\nboil\nbackground\npour\n",
        "features/u.npy": buffer.getvalue(),
    }


def release() -> dict[str, bytes]:
    """Return one task of two videos in the layout of the paper's release."""
    labels, features = (np.empty((1, 2), object) for _ in range(2))
    clips = np.array([[("u", 1), ("v", 2)]], [("clipid", object), ("actid", object)])
    for n in range(2):
        labels[0, n] = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.uint8)
        features[0, n] = np.full((3, 2), n / 2)
    content = {"X": features, "Y": labels, "hw3": clips}
    info = {"fps": 25.0, "nimgs": 28.0}
    return {
        "NLP/tea/count_files/tea_lem_dobj_count": b"2 boil water\n1 pour tea\n",
        "NLP/tea/sim_mat/tea_sim_mat.txt": b"1 0.5\n0.5 1\n",
        "NLP/tea/simple_trlst/u.trlst": b"0 0.1 0.4\n1 0.5 0.9\n",
        "VISION/tea/features/full_dataset.mat": _mat(content, compressed=False),
        "VISION/tea/videos_info/u.mat": _mat(info, compressed=True),
        "VISION/tea/videos_info/v.mat": _mat(info, compressed=False),
    }


def _mat(content: Mapping[str, Any], *, compressed: bool) -> bytes:
    from scipy.io import savemat  # noqa: PLC0415 - slow to import

    buffer = io.BytesIO()
    savemat(buffer, dict(content), do_compression=compressed)
    return buffer.getvalue()


def model() -> dict[str, bytes]:
    """Return a saved model of two steps and three features."""
    options = {"mode": "default", "regularisation": 0.1, "learnt_from": "words"}
    text = {"version": 4, "steps": ["boil", "pour"], "options": options}
    arrays = npz(weights=np.ones((3, 2)), bias=np.zeros(2))
    return {"model.json": as_json(text), "model.npz": arrays}


def learnt() -> bytes:
    """Return the ``steps.json`` of a model of two steps."""
    act = {"verb": "boil", "particle": "", "noun": "water", "around": ["pot"]}
    steps = [{"label": name, "support": 3, "acts": [act]} for name in ("boil", "pour")]
    return as_json({"version": 1, "job": "make tea", "steps": steps})


def archives() -> tuple[bytes, bytes]:
    """Return a zip and a tar with a file in a folder."""
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("NLP/a.txt", "boil the water")
    with tarfile.open(fileobj=tarred, mode="w") as archive:
        member = tarfile.TarInfo("NLP/a.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"boil"))
    return zipped.getvalue(), tarred.getvalue()[:2048]


def store_entry(kind: str) -> dict[str, bytes]:
    """Return an entry of the cache with its checksum."""
    content = as_json({"a": [1, "b"]}) if kind == "json" else npz(x=np.arange(4))
    checksum = hashlib.sha256(content).hexdigest().encode()
    return {f"stage/key.{kind}": content, f"stage/key.{kind}.sha256": checksum}
