"""Client of a language model: any server with OpenAI's chat completions API."""

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from threading import Thread
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from howsteps.errors import HowstepsError, shown

KEY_VARIABLE = "HOWSTEPS_EDITOR_KEY"
_ATTEMPTS = 4
_FIRST_PAUSE = 1.0  # seconds; doubled after every attempt
_MAX_PAUSE = 60.0
_MAX_REPLY = 4 << 20  # bytes
_MAX_TRANSFER = 300.0  # seconds for a reply, after the time that the model may take to begin it
_MAX_REASON = 200
_TOO_MANY_REQUESTS, _SERVER_ERROR = 429, 500
# A limit because small models may never stop; a high one because reasoning takes tokens.
_SETTINGS = {"temperature": 0, "max_tokens": 16_000}
_ENDPOINT = "/chat/completions"
_HOST = re.compile(r"[A-Za-z0-9._~-]+|[0-9A-Fa-f:.]+(%\w+)?")  # a name, or an IP address
_URL_CHARACTERS = "/%:@!$&'()*+,;=?"  # not percent-encoded, besides letters, digits and _.-~


class EditorError(HowstepsError):
    """The model cannot be reached or does not answer; the message never contains the key."""


@dataclass(frozen=True, slots=True)
class Editor:
    """A language model on a server.

    The API key, if needed, comes from the environment variable ``HOWSTEPS_EDITOR_KEY``. It is not a
    field, so that it cannot be printed or stored by accident.

    Parameters
    ----------
    url
        The base URL of the server, such as ``http://localhost:11434/v1``.
    model
        The name of the model on the server.
    timeout
        Seconds without data after which an attempt fails.
    """

    url: str
    model: str
    timeout: float = 300.0

    def __post_init__(self) -> None:
        _ = self.address  # validates the URL
        if not self.model.strip():
            raise EditorError("a model needs a name (--model)")

    @property
    def address(self) -> str:
        """The URL that requests are sent to, in ASCII: names by IDNA, paths percent-encoded."""
        try:
            parts = urlsplit(self.url)
            port = "" if parts.port is None else f":{parts.port}"
            host = (parts.hostname or "").encode("idna").decode("ascii")
            path = quote(parts.path.rstrip("/"), safe=_URL_CHARACTERS)
            query = quote(parts.query, safe=_URL_CHARACTERS)
        except ValueError:  # brackets, ports, labels and characters that no URL has
            raise self._not_an_address() from None
        if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
            raise self._not_an_address()
        if parts.username or parts.password:
            raise EditorError(f"a key must not be in the address: set {KEY_VARIABLE}")
        if not path.endswith(_ENDPOINT):
            path += _ENDPOINT
        host = f"[{host}]" if ":" in host else host
        return urlunsplit((parts.scheme, f"{host}{port}", path, query, ""))

    def _not_an_address(self) -> EditorError:
        # The part before an @ may be a key.
        given = "this" if "@" in self.url else repr(shown(self.url))
        return EditorError(f"{given} is not an address; use http://HOST:PORT/v1")

    def reply(
        self,
        messages: Sequence[dict[str, str]],
        *,
        pause: Callable[[float], object] = time.sleep,
    ) -> str:
        """Send a conversation and return the reply of the model.

        If the server is busy (429) or fails (5xx), or the connection fails, the request is retried
        with exponential backoff; ``pause`` waits for that many seconds.

        Raises
        ------
        EditorError
            The key is invalid, or no attempt succeeded.
        """
        key = _key()
        body = {"model": self.model, "messages": list(messages), "stream": False}
        headers = {"Content-Type": "application/json", "User-Agent": "howsteps"}
        if key:
            headers["Authorization"] = f"Bearer {key}"

        def request_with(settings: dict[str, int]) -> Request:
            content = json.dumps({**body, **settings}).encode()
            return Request(self.address, content, headers)  # noqa: S310 - checked

        request = request_with(_SETTINGS)
        failures = 0
        while True:
            try:
                return _content(_send_in_time(request, self.timeout))
            except _Transient as error:
                failures += 1
                if failures == _ATTEMPTS:
                    reason = _redacted(key, str(error))
                    raise EditorError(f"{self.address}: {reason}; tried {failures} times") from None
                pause(min(max(_FIRST_PAUSE * 2 ** (failures - 1), error.after), _MAX_PAUSE))
            except EditorError as error:
                refused = [name for name in _SETTINGS if name in str(error)]
                if not refused or request.data == request_with({}).data:
                    raise EditorError(f"{self.address}: {_redacted(key, str(error))}") from None
                request = request_with({})  # some models accept no settings


class _Transient(Exception):
    """An error that a retry may resolve; ``after`` is the delay that the server asks for."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class _NoRedirects(HTTPRedirectHandler):
    """Refuses redirects, which would send the key to another server."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        raise EditorError("it redirects elsewhere; use the address of the server itself")


def _key() -> str:
    """The API key; empty if there is none."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise EditorError(
            f"{KEY_VARIABLE} contains a line break or a non-ASCII character; copy the key again"
        )
    return key


def _send_in_time(request: Request, timeout: float) -> bytes:
    """Send one request; give up on a server that sends a byte now and then, for ever."""
    outcome: list[bytes | Exception] = []

    def send() -> None:
        try:
            outcome.append(_send(request, timeout))
        except Exception as error:  # raised below
            outcome.append(error)

    # A thread, because the time limit of a socket starts anew with every byte.
    thread = Thread(target=send, daemon=True)
    thread.start()
    thread.join(timeout + _MAX_TRANSFER)
    if not outcome:
        raise EditorError(f"its reply is not complete after {timeout + _MAX_TRANSFER:g} s")
    [found] = outcome
    if isinstance(found, Exception):
        raise found
    return found


def _send(request: Request, timeout: float) -> bytes:
    """Send one request and return the body of the response."""
    try:
        with build_opener(_NoRedirects).open(request, timeout=timeout) as response:
            content: bytes = response.read(_MAX_REPLY + 1)
    except HTTPError as error:
        body = ""
        with error, suppress(OSError, HTTPException):  # it may break off here too
            body = error.read(2000).decode(errors="replace")
        details = shown(" ".join(body.split()))[:_MAX_REASON]
        reason = f"it answers {error.code} {details}".strip()
        if error.code == _TOO_MANY_REQUESTS or error.code >= _SERVER_ERROR:
            raise _Transient(reason, _retry_after(error.headers.get("Retry-After"))) from None
        raise EditorError(reason) from None
    except TimeoutError:
        raise _Transient(f"no answer within {timeout:g} s") from None
    except URLError as error:
        raise _Transient(f"it cannot be reached ({shown(str(error.reason))})") from None
    except (OSError, HTTPException) as error:
        raise _Transient(f"the connection broke ({type(error).__name__})") from None
    except ValueError as error:  # from a proxy or redirect URL; its text may contain the key
        raise EditorError(f"no request can be sent ({type(error).__name__})") from None
    if len(content) > _MAX_REPLY:
        raise EditorError(f"its reply is larger than {_MAX_REPLY >> 20} MiB")
    return content


def _content(reply: bytes) -> str:
    """The text of the first choice."""
    try:
        value: Any = json.loads(reply)
        content = value["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise EditorError("its reply is not a chat completion") from None
    if not isinstance(content, str):
        raise EditorError("its reply has no text")
    return content.encode(errors="replace").decode()  # half a character (\ud800) is no UTF-8


def _retry_after(value: str | None) -> float:
    """The seconds of a Retry-After header; 0 for a date."""
    try:
        return max(0.0, float(value or 0))
    except ValueError:
        return 0.0


def _redacted(key: str, text: str) -> str:
    """The text without the key, which a server may repeat in an error message."""
    return text.replace(key, "***") if key else text
