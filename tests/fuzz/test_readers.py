"""Any bytes are read or refused, without other errors, long run times or high memory.

``benchmarks/fuzz.py`` does the same with a million coverage-guided inputs.
"""

import json
import tempfile
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz import shards
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
    with tempfile.TemporaryDirectory() as temporary:
        yield {name: Path(temporary) / str(number) for number, name in enumerate(READERS)}


@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_read(name, tmp_path):
    for good in READERS[name].seeds:
        assert READERS[name].check(good, tmp_path)


def damaged(good: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for position, length, noise in edits:
        position %= len(good) + 1  # noqa: PLW2901 - inside the file
        good = good[:position] + noise + good[position + length :]
    return good


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_file_is_read_or_refused(name, folders, data):
    good = data.draw(st.sampled_from(READERS[name].seeds))
    edits = data.draw(st.lists(EDITS, min_size=1, max_size=4))
    READERS[name].check(damaged(good, edits), folders[name])


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
JSON.remove("store: key.json")  # its checksum is verified before it is parsed


def replaced(value: object, path: list[int], new: object) -> object:
    """Replace the part of ``value`` that is found by walking ``path``."""
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
def test_json_with_one_value_replaced(name, folders, path, new):
    for good in READERS[name].seeds:
        value = replaced(json.loads(good), path, new)
        READERS[name].check(json.dumps(value).encode(), folders[name])


def peak_memory(reader: Reader, data: bytes, folder: Path) -> int:
    """The peak memory of reading, in bytes, without the data itself."""
    reader.check(reader.seeds[0], folder)  # modules that are loaded at the first call do not count
    tracemalloc.start()
    try:
        reader.check(data, folder)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read(text: str) -> tuple[Caption, ...]:
    return captions.parse_captions(text.encode(), "here").captions


class TestBombs:
    def test_xml_entity_expansion(self, tmp_path):
        bomb = '<!DOCTYPE tt [<!ENTITY a "ha">' + "".join(
            f'<!ENTITY {new} "{10 * f"&{old};"}">' for old, new in pairwise("abcdefghij")
        )
        data = f'{bomb}]><tt><p begin="1s">&j;</p></tt>'.encode()
        assert peak_memory(READERS["captions"], data, tmp_path) < 2**20

    @pytest.mark.parametrize("opening", ["", "WEBVTT\n\n", "{", "<tt>", "start,end,text\n"])
    def test_very_long_lines(self, opening):
        with pytest.raises(InputError):
            read(opening + "x" * 2**20)

    @pytest.mark.parametrize("name", [*JSON, "captions", "steps table", "crosstask: videos.csv"])
    def test_very_large_files(self, name, tmp_path):
        reader = READERS[name]
        reader.check(reader.seeds[0], tmp_path)
        with (tmp_path / reader.file).open("wb") as file:
            file.truncate(2**30)  # a sparse file
        with pytest.raises(InputError):
            reader.read(tmp_path)

    @pytest.mark.parametrize("name", JSON)
    @pytest.mark.parametrize("deep", ["[" * 10**5, '{"database":' * 10**5, "9" * 10**5])
    def test_deeply_nested_json_and_long_numbers(self, name, deep, tmp_path):
        assert not READERS[name].check(deep.encode(), tmp_path)
        assert not READERS[name].check(f'{{"database": {deep}'.encode(), tmp_path)

    def test_long_column_names_take_linear_time(self):
        assert len(read("start,text," + "_" * 100_000 + "\n1,boil,\n")) == 1

    def test_a_caption_of_many_lines_of_xml(self):
        assert len(read('<tt><p begin="1s">' + "a\n" * 100_000 + "</p></tt>")) == 1

    @pytest.mark.slow
    def test_many_videos_without_a_name(self, tmp_path):
        data = b'{"videos": [' + b",".join([b"{}"] * 30_000) + b"]}"
        assert READERS["task file"].check(data, tmp_path)


def test_the_inputs_are_divided_among_processes():
    alone = shards(["captions", "archive"], 1100, processes=1, seed=5)
    assert alone == [("captions", 1000, 5), ("archive", 100, 5)]
    several = shards(["captions", "archive"], 1100, processes=3, seed=5)
    assert several == [*(("captions", 334, 5 + n) for n in range(3)), ("archive", 100, 5)]
