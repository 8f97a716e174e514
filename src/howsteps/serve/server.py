"""Start the server of a work folder, and stop it cleanly."""

import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from howsteps.errors import HowstepsError
from howsteps.serve.app import make_app
from howsteps.serve.session import Session

ADDRESS = "127.0.0.1"
_SHUTDOWN_TIMEOUT = 2  # seconds for open connections to end
_LARGEST_HEADERS = 2**15  # bytes


def serve(folder: Path, port: int = 0, *, on_start: Callable[[str], None]) -> None:
    """Serve the page of a work folder until Ctrl-C.

    Parameters
    ----------
    folder
        A work folder with a result.
    port
        The port to listen on; 0: any free port.
    on_start
        Called with the secret address of the page.

    Raises
    ------
    HowstepsError
        There is no result, the folder is served already, or the port is taken.
    """
    with prepared(folder, port) as (server, listener, address):
        on_start(address)
        server.run(sockets=[listener])


@contextmanager
def prepared(folder: Path, port: int = 0) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """Set up a server; yield it with its listening socket and its address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((ADDRESS, port))
        except OSError as error:
            raise HowstepsError(f"port {port} cannot be used: {error.strerror}") from error
        port, token = listener.getsockname()[1], secrets.token_urlsafe(24)
        session = Session(folder)
        config = uvicorn.Config(
            make_app(session, token, port),
            log_level="warning",
            access_log=False,  # it would reveal the token
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
            h11_max_incomplete_event_size=_LARGEST_HEADERS,
            http="h11",
            ws="none",
        )
        server = uvicorn.Server(config)
        shutdown = server.shutdown

        async def close_streams_first(sockets: list[socket.socket] | None = None) -> None:
            session.close_event_streams()  # otherwise the server would wait for open pages
            await shutdown(sockets)

        server.shutdown = close_streams_first
        yield server, listener, f"http://{ADDRESS}:{port}/{token}/"
