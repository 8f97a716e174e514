"""The web application: a few routes under a secret path, on this machine only; and its server."""

import asyncio
import json
import logging
import os
import re
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from howsteps.errors import HowstepsError, shown
from howsteps.io.files import Folder, key_of
from howsteps.pipeline.cache import user_cache
from howsteps.pipeline.work_folder import EXPORTS, export_as_asked
from howsteps.report.decoding import THUMBNAIL
from howsteps.report.exports import FORMATS
from howsteps.report.page import THUMBNAILS, render, security_policy
from howsteps.serve.edits import Refused
from howsteps.serve.session import Asked, Session, without_folders
from howsteps.store import decoded

_T = TypeVar("_T")

ADDRESS = "127.0.0.1"
LOOPBACK = (ADDRESS, "localhost")
LARGEST_BODY = 2**20  # bytes of an edit
_POLL_INTERVAL = 0.1  # seconds
_HEARTBEAT = 15.0  # seconds
_NUMBER = re.compile(r"[0-9]{1,6}")
_LONGEST_NAME = 255  # bytes of a file
_HEADERS = {
    "content-security-policy": f"{security_policy(served=True)}; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}


def make_app(session: Session, token: str, hosts: Collection[str]) -> ASGIApp:
    """Make the application that serves one session under ``/TOKEN/``.

    ``hosts`` are the names with port that it answers to; without any, it answers to all.
    """

    async def page(_: Request) -> Response:
        shown = await asyncio.to_thread(session.content)
        return Response(render(shown), media_type="text/html")

    async def content(_: Request) -> Response:
        return _json(await asyncio.to_thread(session.content))

    async def status(_: Request) -> Response:
        return _json(session.status())

    async def events(_: Request) -> Response:
        return StreamingResponse(_event_stream(session), media_type="text/event-stream")

    async def edit(request: Request) -> Response:
        asked = await _json_body(request, Asked)
        return _json(await asyncio.to_thread(session.edit, asked))

    async def picture(request: Request) -> Response:
        name = request.path_params["name"]
        path = session.folder / THUMBNAILS / name
        is_name = len(name) <= _LONGEST_NAME and THUMBNAIL.fullmatch(name)
        if not is_name or path.is_symlink() or not path.is_file():
            raise Refused("there is no such picture", 404)
        return FileResponse(path, media_type="image/webp")

    async def video(request: Request) -> Response:
        videos, number = session.result.task.videos, request.path_params["number"]
        known = _NUMBER.fullmatch(number) and int(number) < len(videos)
        media = videos[int(number)].media if known else None
        file = media and session.playable(media)
        if file is None:
            raise Refused("there is no such video", 404)
        return FileResponse(file)

    async def exports(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in FORMATS or not FORMATS[name].own_folder:
            raise Refused(f"there is no format {name!r:.40}", 404)
        await _json_body(request, dict)
        return _json(await asyncio.to_thread(_exported, session, name))

    async def howsteps_error(_: Request, error: HowstepsError) -> Response:
        message = without_folders(error, session.folder)
        return PlainTextResponse(f"{message}\n", getattr(error, "status", 500))

    routes = [
        Route("/", page),
        Route("/content", content),
        Route("/status", status),
        Route("/events", events),
        Route("/edits", edit, methods=["POST"]),
        Route(f"/{THUMBNAILS}/{{name}}", picture),
        Route("/videos/{number}", video),
        Route("/exports/{name}", exports, methods=["POST"]),
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        asyncio.get_running_loop().set_exception_handler(_log_in_one_line)
        for remark in session.remarks():
            _LOG.warning("%s", remark)
        session.start()
        yield
        await asyncio.to_thread(session.stop)

    inner = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HowstepsError: howsteps_error},
    )
    return _RequestFilter(inner, token, hosts)


class _RequestFilter:
    """Rejects requests that this server's page would not send, and strips the secret path."""

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self._app, self._token, self._hosts = app, token, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets
        try:
            self._check(scope)
        except Refused as error:
            # The rest of the request is not awaited, or strangers could take all connections.
            headers = {**_HEADERS, "connection": "close"}
            answer = PlainTextResponse(f"{error}\n", error.status, headers=headers)
            await answer(scope, receive, send)
            return
        path = scope["path"].removeprefix(f"/{self._token}")
        inner = {**scope, "path": path, "raw_path": path.encode(), "root_path": ""}

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                added = [(key.encode(), value.encode()) for key, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(inner, receive, with_headers)

    def _check(self, scope: Scope) -> None:
        """Refuse requests that this server's page would not send."""
        headers = Headers(scope=scope)
        for name in ("host", "origin", "content-length"):
            if len(headers.getlist(name)) > 1:
                raise Refused(f"two headers {name!r}", 400)
        host = headers.get("host", "")
        if self._hosts and host not in self._hosts:
            raise Refused("this server only answers to its own address", 421)
        first, slash, _ = scope["path"].removeprefix("/").partition("/")
        if not (slash and secrets.compare_digest(first.encode(), self._token.encode())):
            raise Refused("open the full address that 'howsteps serve' printed", 404)
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            raise Refused("requests from other sites are refused", 403)
        if scope["method"] not in {"GET", "HEAD"} and headers.get("origin") != f"http://{host}":
            raise Refused("only the page of this server may write", 403)


async def _event_stream(session: Session) -> AsyncIterator[bytes]:
    """Send the status whenever it changes."""
    sent, silent = "", 0.0
    while not session.is_closing:
        status = json.dumps(session.status())
        if status != sent:
            sent, silent = status, 0.0
            yield f"data: {status}\n\n".encode()
        elif silent >= _HEARTBEAT:
            silent = 0.0
            yield b": still here\n\n"
        await asyncio.sleep(_POLL_INTERVAL)
        silent += _POLL_INTERVAL


async def _json_body(request: Request, kind: type[_T]) -> _T:
    """The JSON object in the body of a request, which follows a description."""
    content_type = request.headers.get("content-type", "").partition(";")[0]
    if content_type.strip().lower() != "application/json":
        raise Refused("send JSON", 415)
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_BODY:
                raise Refused(f"more than {LARGEST_BODY:,} bytes", 413)
        return decoded(bytes(body), kind)
    except ClientDisconnect as error:
        raise Refused("the request ended early", 400) from error
    except ValueError as error:
        raise Refused(shown(str(error)), 400) from error


def _exported(session: Session, name: str) -> dict[str, Any]:
    """Write an export into the work folder; return how many files it has."""
    exports = Folder(session.folder) / EXPORTS
    paths, problems = export_as_asked(session.result, exports, [name])
    if not paths:
        reason = problems[0] if problems else "there is nothing to write"
        raise Refused(without_folders(reason, session.folder), 409)
    return {"files": len(paths), "folder": f"{EXPORTS}/{name}"}


def _json(value: Mapping[str, Any]) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


_SHUTDOWN_TIMEOUT = 2  # seconds for open connections to end
_HEADERS_TIMEOUT = 10  # seconds from a connection, or the first byte, to the end of the headers
_LARGEST_HEADERS = 2**15  # bytes
_MAX_CONNECTIONS = 64  # far below the usual limits on open files; a browser uses six
_ACCEPTED_AT_ONCE = 16
_LOG = logging.getLogger("uvicorn.error")


class _Connection(H11Protocol):  # type: ignore[misc]
    """A connection that is closed if no request arrives in time, or others need its place."""

    waiting: asyncio.TimerHandle | None = None  # for the headers of a request

    def connection_made(self, transport: asyncio.Transport) -> None:
        """If there are too many connections, close the one that has waited longest."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > _MAX_CONNECTIONS:
            waiting = [(one.waiting.when(), one) for one in self.connections if one.waiting]
            _, oldest = min(waiting, key=itemgetter(0))
            self.connections.discard(oldest)
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Process bytes; the headers of a request must be complete in time."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self.waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waiting = self.loop.call_later(_HEADERS_TIMEOUT, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None


def _log_in_one_line(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Log an error outside of requests, such as that of a connection."""
    _LOG.error("%s", ": ".join(str(context[k]) for k in ("message", "exception") if k in context))


def serve(
    folder: Path,
    port: int = 0,
    *,
    host: str = ADDRESS,
    videos: Sequence[Path] = (),
    on_start: Callable[[str], None],
) -> None:
    """Serve the page of a work folder until Ctrl-C.

    Parameters
    ----------
    port
        The port to listen on; 0: that of the last server of this folder, else any free one.
    host
        The address to listen on; other machines can reach any but the default.
    videos
        Folders with videos that may be played, besides the one that holds the work folder.
    on_start
        Called with the secret address of the page.
    """
    with prepared(folder, port, videos, host) as (server, listener, address):
        on_start(address)
        server.run(sockets=[listener])


class _Address(msgspec.Struct):
    """Where a folder is served, so that an open page goes on after a restart."""

    port: int
    token: str


@contextmanager
def _remembered(
    folder: Path, host: str
) -> Iterator[tuple[_Address | None, Callable[[_Address], object]]]:
    """The address of the last server of a folder, and a function that replaces it.

    It is kept in a folder of this user alone; one in the work folder could be somebody else's.
    """
    # What other machines were sent, without encryption, is not used for this one alone.
    key = key_of(1, served=str(folder.resolve()), host=host)
    with user_cache() as cache:
        private = cache.folder / "served"
        is_private = _is_private(private)
        known = cache.get(private.name, key, _Address) if is_private else None
        yield known, lambda new: is_private and cache.put(private.name, key, new)


def _is_private(folder: Path) -> bool:
    """Make a folder that only this user can read; False if there is another one."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        return not found.st_mode & 0o077 and found.st_uid == os.getuid()
    except (OSError, AttributeError):  # it is a file; Windows has no owners
        return False


def _listen(listener: socket.socket, host: str, port: int, usual: int) -> None:
    """Listen on a port, or, if any will do, on the usual one if it is free."""
    for candidate in [port] if port else [usual, 0]:
        try:
            listener.bind((host, candidate))
            listener.listen(_ACCEPTED_AT_ONCE)  # until then, another program may do so too
        except OSError as error:
            if candidate == port:
                where = f"port {port}" if host == ADDRESS else f"port {port} of {host}"
                raise HowstepsError(f"{where} cannot be used: {error.strerror}") from error
        else:
            return


@contextmanager
def prepared(
    folder: Path, port: int = 0, videos: Sequence[Path] = (), host: str = ADDRESS
) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    """Set up a server; yield it with its listening socket and its address."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener,
        _remembered(folder, host) as (known, remember),
    ):
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _listen(listener, host, port, known.port if known else 0)
        port = listener.getsockname()[1]
        # Whoever has taken the usual port may have been sent the address by an open page.
        is_usual = known is not None and known.port == port
        token = known.token if known and is_usual else secrets.token_urlsafe(24)
        session = Session(folder, videos)
        remember(_Address(port, token))
        names = {host, ADDRESS, "localhost"} if host in LOOPBACK else ()
        config = uvicorn.Config(
            make_app(session, token, {f"{name}:{port}" for name in names}),
            log_level="warning",
            access_log=False,  # it would reveal the token
            server_header=False,
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT,
            h11_max_incomplete_event_size=_LARGEST_HEADERS,
            backlog=_ACCEPTED_AT_ONCE,
            loop="asyncio",
            http=_Connection,
            ws="none",
        )
        server = uvicorn.Server(config)
        shutdown = server.shutdown

        async def close_streams_first(sockets: list[socket.socket] | None = None) -> None:
            session.is_closing = True  # otherwise the server would wait for open pages
            await shutdown(sockets)

        server.shutdown = close_streams_first
        shown = "localhost" if host == "0.0.0.0" else host  # noqa: S104
        yield server, listener, f"http://{shown}:{port}/{token}/"
