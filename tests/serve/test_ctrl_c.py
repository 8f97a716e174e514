"""Ctrl-C while the page is served: one line, and the folder and the port are free again."""

import os
import signal
import socket
import sys
import threading
import time
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Iterator
from pathlib import Path

import pytest

from howsteps._cli.app import INTERRUPTED, main
from howsteps.serve.server import ADDRESS
from howsteps.serve.session import Session


@pytest.fixture(autouse=True)
def attentive() -> Iterator[None]:
    """What a shell starts in the background is deaf to Ctrl-C, and so are the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    # Playwright's event loop counts as running in this thread, between its tests too.
    loop = _get_running_loop()
    _set_running_loop(None)
    yield
    _set_running_loop(loop)
    signal.signal(signal.SIGINT, before)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind((ADDRESS, 0))
        return int(listener.getsockname()[1])


def press_when_served(port: int, connected: list[socket.socket]) -> None:
    """Press Ctrl-C when the server answers; the connection stays open, as that of a page does."""
    until = time.monotonic() + 60
    while not connected and time.monotonic() < until:
        try:
            connected.append(socket.create_connection((ADDRESS, port), 1))
            connected[0].sendall(
                b"GET / HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (ADDRESS.encode(), port)
            )
            connected[0].recv(1)
        except OSError:
            time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def test_while_the_page_is_served(work: Path, capsys, monkeypatch) -> None:
    port, connected = free_port(), list[socket.socket]()
    call = ["howsteps", "serve", str(work), "--no-browser", "--port", str(port)]
    monkeypatch.setattr(sys, "argv", call)
    threads = threading.active_count()
    pressing = threading.Thread(target=press_when_served, args=(port, connected))
    pressing.start()
    with pytest.raises(SystemExit) as ended:
        main()
    pressing.join()
    assert connected
    for connection in connected:
        connection.close()
    assert ended.value.code == INTERRUPTED
    assert capsys.readouterr().err.strip() == "howsteps: stopped by Ctrl-C"
    assert threading.active_count() == threads
    Session(work).stop()  # the folder is free, or this would be refused
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
