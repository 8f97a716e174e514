"""Downloads, from a local server that misbehaves on demand."""

import hashlib
import io
import json
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from howsteps.datasets import fetch as fetching
from howsteps.datasets.fetch import DOWNLOADS, RECORD, Archive, fetch_archive, unpack
from howsteps.errors import CannotWrite, HowstepsError, InputError


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


CONTENT = zipped({"NLP/tea/a.txt": "boil\n" * 5000, "NLP/tea/b.txt": "pour"})


class Server(ThreadingHTTPServer):
    """Serves ``content`` under any path, and records the requests."""

    content = CONTENT
    tag: str | None = '"one"'
    ranges = True
    cut: int | None = None  # bytes after which a connection is dropped
    status: int | None = None
    length: str | None = None  # said in place of the true one; empty: none is said
    location: str | None = None  # of a redirect

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []

    @property
    def archive(self) -> Archive:
        return Archive("tea.zip", f"http://127.0.0.1:{self.server_port}/tea.zip", "tea")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server, first = self.server, 0
        wanted = self.headers.get("Range")
        server.asked.append(wanted)
        if server.status:
            self.send_error(server.status)
            return
        if server.location:
            self.send_response(302)
            self.send_header("Location", server.location)
            self.end_headers()
            return
        if wanted and server.ranges and self.headers.get("If-Range") == server.tag:
            first = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if first >= len(server.content):
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        if server.length != "":
            self.send_header("Content-Length", server.length or str(len(server.content) - first))
        if server.tag:
            self.send_header("ETag", server.tag)
        self.end_headers()
        end = len(server.content) if server.cut is None else first + server.cut
        self.wfile.write(server.content[first:end])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSE", 0.0, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def record(folder: Path) -> dict[str, dict[str, object]]:
    return json.loads((folder / RECORD).read_text())


def test_an_archive_is_downloaded_unpacked_and_recorded(server, tmp_path):
    seen = []
    folder = tmp_path / "new" / "folder"
    assert fetch_archive(server.archive, folder, lambda done, total: seen.append((done, total)))
    assert (folder / "NLP" / "tea" / "b.txt").read_text() == "pour"
    entry = record(folder)["tea.zip"]
    assert entry["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert (entry["bytes"], entry["unpacked"]) == (len(CONTENT), ["NLP"])
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(path.name for path in folder.iterdir()) == ["NLP", RECORD, "tea.zip"]


def test_an_existing_archive_is_checked_and_not_downloaded_again(server, tmp_path):
    fetch_archive(server.archive, tmp_path)
    assert not fetch_archive(server.archive, tmp_path)
    assert server.asked == [None]


def test_a_broken_connection_is_resumed(server, tmp_path):
    server.cut = 40
    fetch_archive(server.archive, tmp_path)
    assert (tmp_path / "tea.zip").read_bytes() == CONTENT
    assert server.asked == [None, *(f"bytes={at}-" for at in range(40, len(CONTENT), 40))]


@pytest.mark.parametrize(
    ("part", "tag", "server_options", "asked"),
    [
        (CONTENT[:100], '"one"', {}, ["bytes=100-"]),  # resumed
        (CONTENT[:100], '"one"', {"ranges": False}, ["bytes=100-"]),
        (b"of the old version", '"zero"', {}, ["bytes=18-"]),  # two versions are never mixed
        (b"of who knows what", None, {"tag": None}, [None]),
        (CONTENT + b"and more", '"one"', {}, [f"bytes={len(CONTENT) + 8}-", None]),
    ],
    ids=["resumed", "no ranges", "another version", "no tag", "too long"],
)
def test_a_partial_download(server, tmp_path, part, tag, server_options, asked):
    vars(server).update(server_options)
    (tmp_path / "tea.zip.part").write_bytes(part)
    if tag:
        (tmp_path / "tea.zip.part.mark").write_text(tag)
    fetch_archive(server.archive, tmp_path)
    assert (tmp_path / "tea.zip").read_bytes() == CONTENT
    assert server.asked == asked


@pytest.mark.parametrize("tag", ['"one"', None], ids=["resumed", "anew"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_partial_download_is_a_regular_file(server, tmp_path, kind, tag):
    part, mine, folder = tmp_path / "data" / "tea.zip.part", tmp_path / "mine", tmp_path / "data"
    folder.mkdir()
    mine.write_bytes(CONTENT[:100])
    if kind == "link":
        part.symlink_to(mine)
    else:
        os.mkfifo(part)
    if tag:
        (folder / "tea.zip.part.mark").write_text(tag)
    if kind == "link" and tag:
        with pytest.raises(CannotWrite, match="is not a regular file"):
            fetch_archive(server.archive, folder)
    else:
        fetch_archive(server.archive, folder)
        assert not (folder / "tea.zip").is_symlink()
        assert (folder / "tea.zip").read_bytes() == CONTENT
    assert mine.read_bytes() == CONTENT[:100]


def test_an_archive_is_not_unpacked_into_a_linked_folder(server, tmp_path):
    (data := tmp_path / "data").mkdir()
    (home := tmp_path / "home").mkdir()
    (data / "NLP").symlink_to(home)
    with pytest.raises((HowstepsError, OSError)):
        fetch_archive(server.archive, data)
    assert not list(home.iterdir())


def test_give_up_after_attempts_without_progress(server, tmp_path):
    server.cut, server.ranges = 40, False
    with pytest.raises(HowstepsError, match=r"peer closed connection.*by hand"):
        fetch_archive(server.archive, tmp_path)
    assert not (tmp_path / "tea.zip").exists()


def test_a_server_that_never_says_the_length_is_stopped(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_LARGEST", len(CONTENT) - 1)
    server.length = ""
    with pytest.raises(HowstepsError, match="MB and does not say how much"):
        fetch_archive(server.archive, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tea.zip.part.mark"]


def test_a_file_larger_than_the_disk_is_not_downloaded(server, tmp_path):
    server.length = str(10**18)
    with pytest.raises(HowstepsError, match="MB are free"):
        fetch_archive(server.archive, tmp_path)


@pytest.mark.parametrize(
    ("location", "reason"),
    [("http://[", "cannot fetch"), ("/tea.zip", "maximum allowed redirects")],
)
def test_a_bad_redirect_is_reported_in_one_line(server, tmp_path, location, reason):
    server.location = location
    with pytest.raises(HowstepsError, match=reason) as error:
        fetch_archive(server.archive, tmp_path)
    assert str(error.value).isprintable()


def test_a_server_error_is_reported(server, tmp_path):
    server.status = 404
    with pytest.raises(HowstepsError, match="answers 404 Not Found"):
        fetch_archive(server.archive, tmp_path)


def test_without_a_network(server, tmp_path):
    archive = server.archive
    server.shutdown()
    server.server_close()
    with pytest.raises(HowstepsError, match=r"cannot fetch http.*put tea\.zip into"):
        fetch_archive(archive, tmp_path)


def test_an_archive_that_was_copied_there(server, tmp_path):
    (tmp_path / "tea.zip").write_bytes(CONTENT)
    assert fetch_archive(server.archive, tmp_path)
    assert server.asked == []
    assert (tmp_path / "NLP").is_dir()


def test_a_different_file_is_refused(server, tmp_path):
    fetch_archive(server.archive, tmp_path)
    (tmp_path / "tea.zip").unlink()
    server.content = zipped({"NLP/tea/b.txt": "something else"})
    with pytest.raises(InputError, match="is not the file that was fetched before"):
        fetch_archive(server.archive, tmp_path)
    assert (tmp_path / "NLP" / "tea" / "b.txt").read_text() == "pour"
    assert not (tmp_path / "tea.zip").exists()
    (tmp_path / RECORD).unlink()
    assert fetch_archive(server.archive, tmp_path)
    assert (tmp_path / "NLP" / "tea" / "b.txt").read_text() == "something else"


def test_the_checksum_of_a_broken_archive_is_not_recorded(server, tmp_path):
    server.content = CONTENT[:200]
    with pytest.raises(InputError, match=r"tea\.zip\.bad: cannot be unpacked"):
        fetch_archive(server.archive, tmp_path)
    assert not (tmp_path / RECORD).exists()
    server.content = CONTENT
    assert fetch_archive(server.archive, tmp_path)


@pytest.mark.parametrize("content", [bytes(10_000), zipped({})])
def test_what_is_no_archive_is_refused(server, tmp_path, content):
    server.content = content
    with pytest.raises(InputError, match=r"tea\.zip\.bad: is not an archive with files"):
        fetch_archive(server.archive, tmp_path)
    assert not (tmp_path / RECORD).exists()


def test_a_folder_that_cannot_be_created(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be created"):
        fetch_archive(server.archive, tmp_path / "file")


def test_every_known_address_is_https():
    archives = [archive for found in DOWNLOADS.values() for archive in found]
    assert all(archive.address.startswith("https://") for archive in archives)


def test_https_is_not_redirected_to_http():
    fetching._check_scheme(httpx.Request("GET", "https://b.org/a.zip"))
    with pytest.raises(HowstepsError, match="which is not https"):
        fetching._check_scheme(httpx.Request("GET", "http://example.org/a.zip"))


class TestUnpacking:
    @pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "C:\\out"])
    def test_names_outside_the_folder_are_refused_before_unpacking(self, tmp_path, name):
        path = tmp_path / "bad.zip"
        path.write_bytes(zipped({"good.txt": "", name: "out"}))
        with pytest.raises(InputError, match="outside the folder"):
            unpack(path, tmp_path / "in")
        assert list((tmp_path / "in").iterdir()) == []

    def test_a_link_is_refused(self, tmp_path):
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        path = tmp_path / "bad.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(link, "/etc")
        with pytest.raises(InputError, match="contains 'link', which is not a file or folder"):
            unpack(path, tmp_path / "in")
        tarred = tmp_path / "bad.tar.gz"
        with tarfile.open(tarred, "w:gz") as archive:
            member = tarfile.TarInfo("link")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc"
            archive.addfile(member)
        with pytest.raises(InputError, match="not a file or folder"):
            unpack(tarred, tmp_path / "in")

    def test_a_tar_is_unpacked(self, tmp_path):
        path = tmp_path / "good.tar.gz"
        with tarfile.open(path, "w:gz") as archive:
            member = tarfile.TarInfo("videos/a.mpg")
            member.size = 3
            archive.addfile(member, io.BytesIO(b"mpg"))
        assert unpack(path, tmp_path / "in") == [tmp_path / "in" / "videos"]
        assert (tmp_path / "in" / "videos" / "a.mpg").read_bytes() == b"mpg"

    @pytest.mark.parametrize("damage", ["cut", "changed", "no archive"])
    def test_a_broken_archive_leaves_nothing_behind(self, tmp_path, damage):
        path = tmp_path / "broken.zip"
        middle = len(CONTENT) // 4
        path.write_bytes(
            {
                "cut": CONTENT[:middle],
                "changed": CONTENT[: middle - 20] + bytes(40) + CONTENT[middle + 20 :],
                "no archive": b"<html>moved</html>",
            }[damage]
        )
        with pytest.raises(InputError, match=r"broken\.zip: cannot be unpacked"):
            unpack(path, tmp_path / "in")
        assert list((tmp_path / "in").iterdir()) == []

    def test_an_archive_larger_than_the_disk_is_refused(self, tmp_path, monkeypatch):
        class Full:
            free = 10

        monkeypatch.setattr("howsteps.datasets.fetch.shutil.disk_usage", lambda _: Full)
        path = tmp_path / "tea.zip"
        path.write_bytes(CONTENT)
        with pytest.raises(InputError, match="are free"):
            unpack(path, tmp_path / "in")


class TestHostileArchives:
    def test_a_zip_bomb_is_refused(self, tmp_path):
        path = tmp_path / "bomb.zip"
        path.write_bytes(zipped({"a.txt": "0" * 10**7}))
        with pytest.raises(InputError, match="claims to contain 10 MB, which is impossible"):
            unpack(path, tmp_path / "in")

    def test_an_invalid_record(self, server, tmp_path):
        fetch_archive(server.archive, tmp_path)
        (tmp_path / RECORD).write_text('{"tea.zip": 3}')
        with pytest.raises(InputError, match="is not a record of downloads"):
            fetch_archive(server.archive, tmp_path)
