"""Downloads, from a local server that misbehaves on demand."""

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import httpx
import pytest

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
    """Serves ``content`` under any path, and counts the requests."""

    content = CONTENT
    cut: int | None = None  # bytes after which a connection is dropped
    status: int | None = None
    length: str | None = None  # said in place of the true one; empty: none is said
    location: str | None = None  # of a redirect
    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def archive(self) -> Archive:
        return Archive("tea.zip", f"http://127.0.0.1:{self.server_port}/tea.zip", "tea")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.asked += 1
        if server.status:
            self.send_error(server.status)
            return
        self.send_response(302 if server.location else 200)
        if server.location:
            self.send_header("Location", server.location)
        if server.length != "":
            self.send_header("Content-Length", server.length or str(len(server.content)))
        self.end_headers()
        self.wfile.write(server.content[: server.cut])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_an_archive_is_downloaded_unpacked_and_recorded(server, tmp_path):
    seen = []
    folder = tmp_path / "new" / "folder"
    assert fetch_archive(server.archive, folder, lambda done, total: seen.append((done, total)))
    assert (folder / "NLP" / "tea" / "b.txt").read_text() == "pour"
    recorded = json.loads((folder / RECORD).read_text())
    assert recorded == {"tea.zip": hashlib.sha256(CONTENT).hexdigest()}
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert sorted(path.name for path in folder.iterdir()) == ["NLP", RECORD, "tea.zip"]


def test_an_existing_archive_is_checked_and_not_downloaded_again(server, tmp_path):
    fetch_archive(server.archive, tmp_path)
    assert not fetch_archive(server.archive, tmp_path)
    assert server.asked == 1


@pytest.mark.parametrize(
    ("server_options", "reason"),
    [
        ({"cut": 40}, r"peer closed connection.*by hand"),
        ({"length": ""}, "an unknown number of bytes may not fit into"),
        ({"length": str(10**18)}, f"{10**18} bytes may not fit into"),
        ({"location": "http://["}, "cannot fetch"),
        ({"location": "/tea.zip"}, "maximum allowed redirects"),
        ({"location": "data:,"}, "cannot fetch"),
        ({"status": 404}, "404 Not Found"),
    ],
    ids=["breaks off", "endless", "too large", "bad redirect", "circle", "no server", "error"],
)
def test_a_bad_server_is_reported_in_one_line(server, tmp_path, server_options, reason):
    vars(server).update(server_options)
    with pytest.raises(HowstepsError, match=reason) as error:
        fetch_archive(server.archive, tmp_path)
    assert str(error.value).isprintable()
    assert list(tmp_path.iterdir()) == []


def test_without_a_network(server, tmp_path):
    archive = server.archive
    server.shutdown()
    server.server_close()
    with pytest.raises(HowstepsError, match=r"cannot fetch http.*put tea\.zip into"):
        fetch_archive(archive, tmp_path)


def test_an_archive_that_was_copied_there(server, tmp_path):
    (tmp_path / "tea.zip").write_bytes(CONTENT)
    assert fetch_archive(server.archive, tmp_path)
    assert server.asked == 0
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
    with pytest.raises(CannotWrite):
        fetch_archive(server.archive, tmp_path / "file")


def test_every_known_address_is_https():
    archives = [archive for found in DOWNLOADS.values() for archive in found]
    assert all(archive.address.startswith("https://") for archive in archives)


def test_https_is_not_redirected_to_http(tmp_path, monkeypatch):
    def redirected(request: httpx.Request) -> httpx.Response:
        if request.url.scheme == "http":
            return httpx.Response(200, content=CONTENT)
        return httpx.Response(302, headers={"Location": "http://b.org/tea.zip"})

    client = httpx.Client(transport=httpx.MockTransport(redirected))
    monkeypatch.setattr("howsteps.datasets.fetch.httpx.stream", client.stream)
    with pytest.raises(HowstepsError, match="is redirected from https to http"):
        fetch_archive(Archive("tea.zip", "https://a.org/tea.zip", "tea"), tmp_path)


def test_an_invalid_record(server, tmp_path):
    fetch_archive(server.archive, tmp_path)
    (tmp_path / RECORD).write_text('{"tea.zip": 3}')
    with pytest.raises(InputError, match=r"fetched\.json: .*expected str"):
        fetch_archive(server.archive, tmp_path)


def tarred(path: str, content: bytes = b"", **changes: object) -> bytes:
    """A compressed tar with one member."""
    member = tarfile.TarInfo(path)
    member.size = len(content)
    for name, value in changes.items():
        setattr(member, name, value)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def linked() -> bytes:
    """A zip with a link."""
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(link, "/etc")
    return buffer.getvalue()


MIDDLE = len(CONTENT) // 4


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (tarred("../out.txt", b"out"), "outside the destination"),
        (tarred("link", type=tarfile.SYMTYPE, linkname="/etc"), "link to an absolute path"),
        (tarred("device", type=tarfile.CHRTYPE), "is a special file"),
        (CONTENT[:MIDDLE], "cannot be unpacked"),
        (CONTENT[: MIDDLE - 20] + bytes(40) + CONTENT[MIDDLE + 20 :], "cannot be unpacked"),
        (b"<html>moved</html>", "cannot be unpacked"),
        (zipped({"a": ""}).replace(b"a", b"\0"), "cannot be unpacked"),
        (zipped({"a.txt": "0" * 10**7}), "would unpack to 10 MB, which is too much"),
    ],
    ids=[
        "a folder above",
        "a link",
        "a device",
        "cut",
        "changed",
        "no archive",
        "no name",
        "a bomb",
    ],
)
def test_a_bad_archive_is_refused(tmp_path, content, reason):
    (path := tmp_path / "bad").write_bytes(content)
    with pytest.raises(InputError, match=f"bad: .*{reason}"):
        unpack(path, tmp_path / "in")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["bad", "in"]


@pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out"])
def test_nothing_of_a_zip_is_written_outside_the_folder(tmp_path, name):
    (path := tmp_path / "bad").write_bytes(zipped({name: "out"}))
    unpack(path, tmp_path / "in")
    assert sorted(found.name for found in tmp_path.iterdir()) == ["bad", "in"]
    assert len([found for found in (tmp_path / "in").rglob("*") if found.is_file()]) == 1


def test_a_link_in_a_zip_becomes_a_file(tmp_path):
    (path := tmp_path / "bad").write_bytes(linked())
    unpack(path, tmp_path / "in")
    assert not (tmp_path / "in" / "link").is_symlink()


def test_a_tar_is_unpacked(tmp_path):
    (path := tmp_path / "good.tar.gz").write_bytes(tarred("videos/a.mpg", b"mpg"))
    unpack(path, tmp_path / "in")
    assert (tmp_path / "in" / "videos" / "a.mpg").read_bytes() == b"mpg"


def test_an_archive_larger_than_the_disk_is_refused(tmp_path, monkeypatch):
    full = SimpleNamespace(free=10)
    monkeypatch.setattr("howsteps.datasets.fetch.shutil.disk_usage", lambda _: full)
    (path := tmp_path / "tea.zip").write_bytes(CONTENT)
    with pytest.raises(InputError, match="would unpack to"):
        unpack(path, tmp_path / "in")
