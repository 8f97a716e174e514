"""Work folders to edit, and servers for them."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from howsteps.datasets.collection import WORK_FOLDER
from howsteps.pipeline.options import RunOptions, write_options
from howsteps.serve.app import ADDRESS, prepared
from howsteps.serve.session import Asked, Session
from howsteps.store import converted, text_of
from howsteps.task import Result
from tests.report.job import tea


def write_work(folder: Path, result: Result) -> Path:
    """A work folder with a result, without use of video frames."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WORK_FOLDER).touch()
    write_options(RunOptions(vision=False), folder)
    (folder / "result.json").write_text(text_of(result, folder), "utf-8")
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Addresses are not remembered in the home of the person who tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work folder of narrations alone."""
    return write_work(tmp_path / "steps", tea(5, 5))


def edit(session: Session, revision: int, change: dict[str, object]) -> dict[str, object]:
    """Ask for a change, as the page does."""
    return session.edit(converted({"revision": revision, **change}, Asked))


@pytest.fixture
def session(work: Path) -> Iterator[Session]:
    """A session with a running thread."""
    made = Session(work)
    made.start()
    yield made
    made.stop()


@dataclass
class Served:
    """A running server, and a client for it."""

    address: str

    @property
    def port(self) -> int:
        return int(urlsplit(self.address).port or 0)

    @property
    def path(self) -> str:
        return urlsplit(self.address).path

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; return status, headers and body. Headers that are None are not sent."""
        given = {"host": self.host} | {k.replace("_", "-"): v for k, v in headers.items()}
        talk = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        talk.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for key, value in given.items():
            if value is not None:
                talk.putheader(key, value)
        if body is not None:
            talk.putheader("content-length", str(len(body)))
        talk.endheaders(body)
        answer = talk.getresponse()
        found = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
        talk.close()
        return found

    def get(self, what: str = "", **headers: str | None) -> tuple[int, dict[str, str], bytes]:
        return self.ask("GET", self.path + what, **headers)

    def post(
        self, what: str, value: object = None, *, body: bytes | None = None, **headers: str | None
    ) -> tuple[int, dict[str, str], bytes]:
        usual = {"origin": f"http://{self.host}", "content_type": "application/json"}
        sent = json.dumps(value).encode() if body is None else body
        return self.ask("POST", self.path + what, sent, **{**usual, **headers})

    def edit(self, revision: int, **change: object) -> tuple[int, str]:
        asked = {"revision": revision, **change}
        status, _, answer = self.post("edits", asked)
        return status, answer.decode()

    def status(self) -> dict[str, object]:
        return json.loads(self.get("status")[2])

    def until_placed(self, seconds: float = 60.0) -> dict[str, object]:
        end = time.monotonic() + seconds
        while (now := self.status())["placed"] != now["revision"]:
            assert time.monotonic() < end, now
            assert not now["error"], now
            time.sleep(0.05)
        return now


def connected(address: tuple[str, int]) -> socket.socket:
    """Connect to a server that is just starting."""
    until = time.monotonic() + 30
    while True:
        try:
            return socket.create_connection(address, 30)
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.02)


@contextmanager
def running(folder: Path, host: str = ADDRESS) -> Iterator[Served]:
    """A server that is stopped at the end."""
    with prepared(folder, host=host) as (server, listener, address):
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Served(address)
        finally:
            server.should_exit = True
            thread.join(timeout=30)
            assert not thread.is_alive()


@pytest.fixture
def start() -> Iterator[Callable[..., Served]]:
    """A function that starts servers; all are stopped at the end."""
    with ExitStack() as stack:
        yield lambda *where: stack.enter_context(running(*where))


@pytest.fixture
def served(start: Callable[[Path], Served], work: Path) -> Served:
    """A server of narrations alone."""
    return start(work)
