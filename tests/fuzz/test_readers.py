"""Any bytes are read or refused: no other error, no endless work, no flood of memory.

``benchmarks/fuzz.py`` does the same with a million inputs that are guided by coverage.
"""

import json
import tempfile
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_readers import NASTY, Reader, readers
from howsteps import captions
from howsteps.errors import InputError
from howsteps.task import Caption

READERS = {reader.name: reader for reader in readers()}
EDITS = st.tuples(
    st.integers(0, 2000),
    st.integers(0, 20),
    st.sampled_from(NASTY) | st.binary(min_size=1, max_size=4),
)


@pytest.fixture(scope="module")
def folders():
    with tempfile.TemporaryDirectory() as place:
        yield {name: Path(place) / str(number) for number, name in enumerate(READERS)}


@pytest.mark.parametrize("name", READERS)
def test_the_good_files_are_read(name, tmp_path):
    for good in READERS[name].seeds:
        assert READERS[name].hold(good, tmp_path)


def damaged(good: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, noise in edits:
        place %= len(good) + 1  # noqa: PLW2901 - edits fall where the file is
        good = good[:place] + noise + good[place + length :]
    return good


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused(name, folders, data):
    good = data.draw(st.sampled_from(READERS[name].seeds))
    edits = data.draw(st.lists(EDITS, min_size=1, max_size=4))
    READERS[name].hold(damaged(good, edits), folders[name])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([10**400, -1, "", "\ud800", "1:02", "NaN"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
JSON = [name for name, reader in READERS.items() if reader.file.endswith(".json")]
JSON.remove("store: key.json")  # held to its checksum before it is looked at


def replaced(value: object, path: list[int], new: object) -> object:
    """``value`` with one of its parts, found by walking ``path``, replaced."""
    if not path or not isinstance(value, list | dict) or not value:
        return new
    keys = list(range(len(value))) if isinstance(value, list) else list(value)
    key = keys[path[0] % len(keys)]
    changed = value.copy()
    changed[key] = replaced(value[key], path[1:], new)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("name", JSON)
@given(path=st.lists(st.integers(0, 5), min_size=1, max_size=6), new=VALUES)
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_json_with_something_else_in_one_place(name, folders, path, new):
    for good in READERS[name].seeds:
        value = replaced(json.loads(good), path, new)
        READERS[name].hold(json.dumps(value).encode(), folders[name])


def most_memory(reader: Reader, data: bytes, folder: Path) -> int:
    """The most memory, in bytes, that reading takes beside the data itself."""
    reader.hold(reader.seeds[0], folder)  # what the first reading loads is not meant
    tracemalloc.start()
    try:
        reader.hold(data, folder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read(text: str) -> tuple[Caption, ...]:
    return captions.parse_captions(text.encode(), "here").captions


class TestBombs:
    def test_entities_that_expand_a_billion_times(self, tmp_path):
        bomb = '<!DOCTYPE tt [<!ENTITY a "ha">' + "".join(
            f'<!ENTITY {new} "{10 * f"&{old};"}">' for old, new in pairwise("abcdefghij")
        )
        data = f'{bomb}]><tt><p begin="1s">&j;</p></tt>'.encode()
        assert most_memory(READERS["captions"], data, tmp_path) < 2**20

    @pytest.mark.parametrize("opening", ["", "WEBVTT\n\n", "{", "<tt>", "start,end,text\n"])
    def test_a_line_without_end(self, opening):
        with pytest.raises(InputError):
            read(opening + "x" * 2**20)

    @pytest.mark.parametrize("name", [*JSON, "captions", "steps table", "crosstask: videos.csv"])
    def test_a_file_larger_than_any(self, name, tmp_path):
        reader = READERS[name]
        reader.hold(reader.seeds[0], tmp_path)
        with (tmp_path / reader.file).open("wb") as file:
            file.truncate(2**30)  # a hole: it takes no room on the disk
        with pytest.raises(InputError):
            reader.read(tmp_path)

    @pytest.mark.parametrize("name", JSON)
    @pytest.mark.parametrize("deep", ["[" * 10**5, '{"database":' * 10**5, "9" * 10**5])
    def test_json_that_is_too_deep_or_a_number_that_is_too_long(self, name, deep, tmp_path):
        assert not READERS[name].hold(deep.encode(), tmp_path)
        assert not READERS[name].hold(f'{{"database": {deep}'.encode(), tmp_path)

    def test_headings_that_take_a_search_forever(self):
        assert len(read("start,text," + "_" * 100_000 + "\n1,boil,\n")) == 1

    def test_a_caption_of_a_hundred_thousand_lines_of_xml(self):
        assert len(read('<tt><p begin="1s">' + "a\n" * 100_000 + "</p></tt>")) == 1

    @pytest.mark.slow
    def test_many_videos_without_a_name(self, tmp_path):
        data = b'{"videos": [' + b",".join([b"{}"] * 30_000) + b"]}"
        assert READERS["task file"].hold(data, tmp_path)
