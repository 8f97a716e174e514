"""Files are read completely, or refused in one line."""

import os
from pathlib import Path

import pytest

from howsteps import captions
from howsteps.errors import CannotWrite, InputError
from howsteps.io.files import Folder, read_bounded, write_atomically


def test_reading(tmp_path):
    (tmp_path / "a").write_bytes(b"boil")
    assert read_bounded(tmp_path / "a", 4, "captions") == b"boil"


def test_a_too_large_file_is_refused_before_reading(tmp_path):
    path = tmp_path / "large.srt"
    with path.open("wb") as file:
        file.truncate(2**34)  # a hole: nothing is written
    with pytest.raises(InputError, match=r"large\.srt: is too large to be captions \(16384 MB"):
        captions.read_captions(path)


@pytest.mark.parametrize("name", ["missing", "pipe", "folder", "a\0b"])
def test_not_a_file(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"is not a file|no such file|cannot be read"):
        read_bounded(tmp_path / name, 100, "captions")


@pytest.mark.parametrize("change", [b"", b"boil the water and pour"])
def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch, change):
    path = tmp_path / "a.srt"
    path.write_bytes(b"boil the water")

    def sized(file: int, stat=os.fstat) -> os.stat_result:
        found = stat(file)
        path.write_bytes(change)  # another program writes between the look and the reading
        return found

    monkeypatch.setattr("howsteps.io.files.os.fstat", sized)
    with pytest.raises(InputError, match=r"a\.srt: changed while it was read"):
        read_bounded(path, 100, "captions")


def test_a_device(tmp_path):
    endless = Path("/dev/zero")
    with pytest.raises(InputError, match="is not a file"):
        read_bounded(endless, 100, "captions")


class TestWriting:
    def test_content_in_parts(self, tmp_path):
        write_atomically(tmp_path / "new" / "a", (part.encode() for part in ("boil", " ", "eggs")))
        assert (tmp_path / "new" / "a").read_bytes() == b"boil eggs"

    def test_a_pipe_is_written_to_and_not_replaced(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        write_atomically(tmp_path / "pipe", b"boil eggs")
        assert os.read(reader, 99) == b"boil eggs"
        os.close(reader)
        assert (tmp_path / "pipe").is_fifo()

    def test_a_folder_is_not_replaced_either(self, tmp_path):
        with pytest.raises(CannotWrite, match="Is a directory"):
            write_atomically(tmp_path, b"boil eggs")

    @pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
    def test_an_interrupted_write_keeps_the_old_file_and_leaves_no_other(self, tmp_path, fault):
        write_atomically(tmp_path / "a", b"old")

        def parts():
            yield b"new"
            raise fault

        with pytest.raises(fault):
            write_atomically(tmp_path / "a", parts())
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert (tmp_path / "a").read_bytes() == b"old"


def test_bytes_that_are_there_are_not_written_again(tmp_path):
    folder = Folder(tmp_path)
    before = folder.write("steps.csv", b"1,2").stat().st_ino
    assert folder.write("steps.csv", b"1,2").stat().st_ino == before
    assert folder.write("steps.csv", b"1,3").read_bytes() == b"1,3"
