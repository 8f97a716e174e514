"""A local chat completions server with scripted behaviour."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@dataclass
class Served:
    """The URL of the server, and the requests that it received."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def says(*texts: str) -> Behaviour:
    """Reply with these texts in turn, then with the last one."""
    left = list(texts)

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        text = left.pop(0) if len(left) > 1 else left[0]
        send(handler, 200, {"choices": [{"message": {"role": "assistant", "content": text}}]})

    return behave


def fails(status: int, times: int, then: Behaviour, **headers: str) -> Behaviour:
    """Reply with a status ``times`` times, then as ``then``."""
    count = iter(range(times))

    def behave(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        if next(count, None) is None:
            then(handler, body)
        else:
            auth = handler.headers.get("Authorization", "")
            send(handler, status, {"error": f"not now, {auth}"}, **headers)

    return behave


def send(handler: BaseHTTPRequestHandler, status: int, value: object, **headers: str) -> None:
    """Send JSON."""
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    for name, text in headers.items():
        handler.send_header(name.replace("_", "-"), text)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


@contextmanager
def serving(behave: Behaviour) -> Iterator[Served]:
    """Run a server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.requests.append(body)
            served.headers.append(dict(self.headers))
            behave(self, body)

        def do_GET(self) -> None:
            behave(self, {})

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
