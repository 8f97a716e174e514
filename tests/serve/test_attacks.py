"""Attacks on the server and its responses (docs/reference/security.md)."""

import json
import os
import socket
import stat
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from howsteps.datasets.collection import WORK_FOLDER
from howsteps.errors import CannotWrite
from howsteps.serve.app import _MAX_CONNECTIONS, LARGEST_BODY, prepared
from howsteps.serve.edits import FILE
from howsteps.serve.session import Session
from tests.report.job import tea, with_video

from .conftest import Served, connected, running, write_work

RENAME = {"op": "rename", "step": 0, "label": "begin"}


def test_the_page_is_served_under_the_secret_address(served) -> None:
    status, headers, body = served.get()
    assert status == 200
    assert b"Make a pot of tea" in body
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert not any(name.startswith("access-control") for name in headers)
    assert "server" not in headers


def once(folder: Path, *host: str) -> Served:
    """A server that was started and stopped."""
    with running(folder, *host) as served:
        return served


def test_a_restart_keeps_the_address_which_only_this_user_can_read(work, tmp_path) -> None:
    before = once(work)
    private = tmp_path / "home" / "howsteps" / "served"
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert not any("served" in str(path) for path in work.rglob("*"))
    assert once(work).address == before.address
    private.chmod(0o755)  # others may have read it
    assert once(work).path != before.path


@pytest.mark.parametrize("kind", ["of somebody else", "a file", "a link"])
def test_an_address_is_kept_in_a_folder_of_this_user_alone(
    work, tmp_path, monkeypatch, kind
) -> None:
    private = tmp_path / "home" / "howsteps" / "served"
    private.parent.mkdir(parents=True)
    if kind == "of somebody else":
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    elif kind == "a file":
        private.touch()
    else:
        private.symlink_to(tmp_path / "elsewhere")
    with running(work) as before, running(write_work(tmp_path / "other", tea(2, 2))):
        pass
    assert once(work).path != before.path
    assert not (tmp_path / "elsewhere").exists()


def test_on_another_port_the_address_is_another(work) -> None:
    """Whoever took the port was sent the old one by a page that was still open."""
    before = once(work)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", before.port))
        taken.listen()
        after = once(work)
    assert after.path != before.path
    assert after.port != before.port


def test_what_went_over_the_network_is_not_the_address_for_this_machine(work) -> None:
    assert once(work, "0.0.0.0").path != once(work).path  # noqa: S104


def test_no_other_program_can_listen_while_the_server_starts(work) -> None:
    with prepared(work) as (_, listener, _), socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            other.bind(listener.getsockname())


def test_with_a_host_other_names_are_answered_under_the_secret_address_only(start, work) -> None:
    served = start(work, "0.0.0.0")  # noqa: S104
    assert served.get(host=f"studio.example:{served.port}")[0] == 200
    assert served.ask("GET", "/", host="studio.example")[0] == 404
    status, *_ = served.post("edits", {}, host="studio.example", origin="http://other.example")
    assert status == 403


@pytest.mark.parametrize(
    "path",
    ["/", "/content", "/x", "//", "/{short}/", "/{token}", "/{token}x/", "/{upper}/", "/%00/"],
)
def test_an_incomplete_token_gets_404(served, path) -> None:
    token = served.path.strip("/")
    asked = path.format(short=token[:-1], token=token, upper=token.swapcase())
    status, _, body = served.ask("GET", asked)
    assert status == 404
    assert b"tea" not in body


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", None, ""],
)
def test_other_host_names_are_refused(served, host) -> None:
    """As in DNS rebinding: a foreign name that points here."""
    asked = host.format(port=served.port) if host else host
    status, _, body = served.get(host=asked)
    assert status in {400, 421}
    assert b"tea" not in body


def test_two_host_headers_are_refused(served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as talk:
        lines = f"GET {served.path} HTTP/1.1\r\nHost: {served.host}\r\nHost: evil.example\r\n\r\n"
        talk.sendall(lines.encode())
        assert talk.recv(100).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": None},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://{host}"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "cross-site", "sec_fetch_dest": "document"},
    ],
)
def test_another_site_cannot_write(served, work, headers) -> None:
    given = {k: v and v.format(host=served.host) for k, v in headers.items()}
    asked = {"revision": 0, "do": RENAME}
    status, _, _ = served.post("edits", asked, **given)
    assert status == 403
    assert b"begin" not in (work / FILE).read_bytes()


@pytest.mark.parametrize(
    ("what", "site", "kind", "status"),
    [
        *(("content", "cross-site", kind, 403) for kind in (None, "empty", "document")),
        ("content", "same-origin", "empty", 200),
        ("", "cross-site", "iframe", 403),
    ],
)
def test_another_site_cannot_read_either(served, what, site, kind, status) -> None:
    assert served.get(what, sec_fetch_site=site, sec_fetch_dest=kind)[0] == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", None])
def test_a_form_cannot_write(served, kind) -> None:
    asked = {"revision": 0, "do": RENAME}
    assert served.post("edits", asked, content_type=kind)[0] == 415


@pytest.mark.parametrize(
    "path",
    [
        "report-pictures/../result.json",
        "report-pictures/..%2fresult.json",
        "report-pictures/%2e%2e/result.json",
        "report-pictures/%2fetc%2fpasswd",
        "report-pictures/result.json",
        "../result.json",
        "result.json",
        "edits.jsonl",
        "videos/0",
        "videos/-1",
        "videos/99999999999999999999",
        f"videos/{'9' * 5000}",
        "videos/x",
        "videos/0/../../result.json",
        "videos/..%2f..%2fresult.json",
        "exports/csv/../../result.json",
        "static/x",
    ],
)
def test_path_traversal_is_refused(served, path) -> None:
    status, _, body = served.get(path)
    assert status in {404, 405}
    assert b'"version"' not in body
    assert b"root:" not in body


def test_long_names_of_pictures_are_not_found(served, capfd) -> None:
    for name in (f"{'a' * 5000}-012345-1.00.webp", f"a-012345-{'1' * 5000}.00.webp"):
        status, _, body = served.ask("GET", f"{served.path}report-pictures/{name}")
        assert (status, body) == (404, b"there is no such picture\n")
    assert "Traceback" not in capfd.readouterr().err


def test_a_symlink_among_the_thumbnails_is_refused(served, work, tmp_path) -> None:
    secret = tmp_path / "secret.webp"
    secret.write_bytes(b"secret")
    folder = work / "report-pictures"
    folder.mkdir(exist_ok=True)
    (folder / "Ada-123456-1.00.webp").symlink_to(secret)
    status, _, body = served.get("report-pictures/Ada-123456-1.00.webp")
    assert (status, b"secret" in body) == (404, False)


def test_a_result_cannot_expose_arbitrary_files_as_videos(start, tmp_path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    forged = with_video(tea(2, 2), 0, media=secret)
    status, _, body = start(write_work(tmp_path / "steps", forged)).get("videos/0")
    assert (status, b"secret" in body) == (404, False)


def test_only_videos_near_the_work_folder_are_played(start, tmp_path) -> None:
    """Whatever a result from somebody else says: links are followed first."""
    (near := tmp_path / "job" / "videos").mkdir(parents=True)
    (far := tmp_path / "private").mkdir()
    for path in (near / "a.mp4", near / "notes.txt", far / "b.mp4"):
        path.write_text("secret")
    (near / "passwd.mp4").symlink_to("/etc/passwd")
    (near / "notes.mp4").symlink_to("notes.txt")
    (near / "b.mp4").symlink_to(far / "b.mp4")
    (near / "c.mp4").symlink_to("a.mp4")
    (near / "circle.mp4").symlink_to("circle.mp4")
    os.mkfifo(near / "pipe.mp4")
    names = ("a", "c", "passwd", "notes", "b", "circle", "pipe")
    media = [*(near / f"{name}.mp4" for name in names), far / "b.mp4"]
    result = tea(len(media), 2)
    for number, path in enumerate(media):
        result = with_video(result, number, media=path)
    served = start(write_work(tmp_path / "job" / "steps", result))
    assert [served.get(f"videos/{n}")[0] for n in range(8)] == [200, 200, *[404] * 6]
    shown = json.loads(served.get("content")[2])["videos"]
    assert [video["source"] for video in shown] == ["videos/0", "videos/1", *[None] * 6]


def test_videos_in_folders_that_the_user_named_are_played(tmp_path) -> None:
    (far := tmp_path / "films").mkdir()
    (far / "b.mp4").write_text("a video")
    result = with_video(tea(2, 2), 0, media=far / "b.mp4")
    work = write_work(tmp_path / "job" / "steps", result)
    for folders, plays in (([], False), ([far], True)):
        session = Session(work, folders)
        assert bool(session.playable(far / "b.mp4")) is plays
        assert len(session.remarks()) == (not plays)
        session.stop()


def test_videos_beside_the_folder_of_several_jobs_are_played(tmp_path) -> None:
    (tmp_path / "a.mp4").write_text("a video")
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / WORK_FOLDER).touch()
    work = write_work(tmp_path / "steps" / "tea", tea(2, 2))
    session = Session(work)
    assert session.playable(tmp_path / "a.mp4")
    session.stop()


def test_a_connection_without_a_request_is_closed(served, monkeypatch) -> None:
    monkeypatch.setattr("howsteps.serve.app._HEADERS_TIMEOUT", 0.2)
    for begun in (b"", b"GET / HTTP/1.1\r\nHost:"):
        with socket.create_connection(("127.0.0.1", served.port), timeout=10) as talk:
            talk.sendall(begun)
            with suppress(ConnectionResetError):
                assert talk.recv(100) == b""
    assert served.get()[0] == 200


def test_refused_requests_whose_bodies_never_come_do_not_keep_the_page_away(served) -> None:
    head = f"POST /x HTTP/1.1\r\nHost: {served.host}\r\nContent-Length: 10\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(_MAX_CONNECTIONS):
            talk = stack.enter_context(connected(("127.0.0.1", served.port)))
            talk.sendall(head.encode())
            assert talk.recv(100).startswith(b"HTTP/1.1 404")
        assert served.get()[0] == 200


@pytest.mark.slow
def test_hundreds_of_connections_do_not_keep_the_page_away(work) -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "from howsteps._cli.app import main; main()"
    )
    command = [sys.executable, "-c", code, "serve", str(work), "--no-browser"]
    with ExitStack() as stack:
        running = stack.enter_context(
            subprocess.Popen(  # noqa: S603
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        )
        stack.callback(running.kill)
        assert running.stdout is not None
        served = Served(running.stdout.readline().split()[-1])
        running.stdout.readline()
        for _ in range(400):
            stack.enter_context(connected(("127.0.0.1", served.port)))
        assert served.get()[0] == 200
        running.terminate()
        _, said = running.communicate(timeout=30)
    assert "Traceback" not in said
    assert said.count("\n") <= 2


def test_a_large_body_is_not_read_completely(served) -> None:
    status, _, body = served.post("edits", body=b" " * (LARGEST_BODY + 1))
    assert (status, body) == (413, b"more than 1,048,576 bytes\n")


def asked(**change: object) -> bytes:
    return json.dumps({"revision": 0, **change}).encode()


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b"1" * 5000),
        b'{"revision": 1e999}',
        *(asked(), asked(do=None), asked(undo=1), asked(undo=True, redo=True), asked(placed=1)),
        asked(do={"op": "rename", "step": 0, "label": "x" * 300}),
        asked(do={"op": "delete", "step": 99}),
        asked(do={"op": "gather", "step": 0, "mentions": []}),
    ],
)
def test_an_invalid_edit_gets_a_one_line_error(served, work, body) -> None:
    before = (work / FILE).read_bytes()
    status, _, answer = served.post("edits", body=body)
    assert status == 400
    assert answer.strip()
    assert answer.count(b"\n") == 1
    assert (work / FILE).read_bytes() == before


def test_other_http_methods_are_refused(served) -> None:
    origin = {"origin": f"http://{served.host}"}
    assert served.ask("PUT", served.path + "edits", b"{}", **origin)[0] == 405
    assert served.ask("DELETE", served.path, **origin)[0] == 405
    assert served.ask("OPTIONS", served.path + "edits", **origin)[0] == 405
    assert served.get("edits")[0] == 405


def test_other_sites_cannot_embed_the_page(served) -> None:
    _, headers, _ = served.get()
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_only_local_connections_are_accepted(served) -> None:
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
        socket.create_connection((own, served.port), timeout=2)


def test_a_stale_page_cannot_write(served) -> None:
    assert served.edit(0, do=RENAME)[0] == 200
    status, line = served.edit(0, do={"op": "delete", "step": 0})
    assert status == 409
    assert "changed in the meantime" in line


def test_errors_leak_nothing_about_the_machine(served: Served, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/home/me/secret")

    monkeypatch.setattr("howsteps.serve.session.Session.content", broken)
    status, _, body = served.get("content")
    assert status == 500
    assert b"secret" not in body


def reported(served: Served, kind: str) -> object:
    end = time.monotonic() + 20
    while not (message := served.status()[kind]):
        assert time.monotonic() < end
        time.sleep(0.05)
    return message


def test_messages_name_no_folders(served: Served, work, tmp_path, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise CannotWrite(f"cannot write {work / 'result.json'}: no space")

    monkeypatch.setattr("howsteps.serve.session.place_again", fail)
    monkeypatch.setattr("howsteps.serve.app.export_as_asked", fail)
    message = "cannot write result.json: no space"
    assert served.post("exports/csv", {})[2].decode() == f"{message}\n"
    served.edit(0, do=RENAME)
    assert reported(served, "error") == message
    (work / FILE).unlink()
    (work / FILE).mkdir()
    status, line = served.edit(1, do={"op": "delete", "step": 0})
    assert status == 500
    assert str(tmp_path) not in line
