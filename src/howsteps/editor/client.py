"""A language model behind an address: any server that speaks OpenAI's chat completions."""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from howsteps.errors import HowstepsError, shown

KEY_VARIABLE = "HOWSTEPS_EDITOR_KEY"
_ATTEMPTS = 4
_FIRST_PAUSE = 1.0  # seconds; doubled with every attempt
_LONGEST_PAUSE = 60.0
_LARGEST_REPLY = 4 << 20  # bytes
_REASON_LETTERS = 200
_TOO_MANY, _SERVER_FAULT = 429, 500
# A small model can go on for ever; one that thinks aloud needs room.
_SETTINGS = {"temperature": 0, "max_tokens": 16_000}


class EditorError(HowstepsError):
    """The model cannot be reached, or does not answer; the message says why and names no key."""


@dataclass(frozen=True, slots=True)
class Editor:
    """A model behind an address.

    The key, where one is needed, comes from the environment variable ``HOWSTEPS_EDITOR_KEY``. It is
    no field, so that it cannot be printed or kept by accident.

    Parameters
    ----------
    url
        The base address of the server, such as ``http://localhost:11434/v1``.
    model
        The name of the model, as the server knows it.
    timeout
        Seconds without a byte after which an attempt is given up.
    """

    url: str
    model: str
    timeout: float = 300.0

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise EditorError(f"{shown(self.url)!r} is no address; say http://HOST:PORT/v1")
        if parts.username or parts.password:
            raise EditorError(f"a key does not belong in the address: set {KEY_VARIABLE}")
        if not self.model.strip():
            raise EditorError("a model needs a name (--model)")

    @property
    def address(self) -> str:
        """Where questions are sent."""
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"

    def reply(
        self,
        messages: Sequence[dict[str, str]],
        *,
        pause: Callable[[float], object] = time.sleep,
    ) -> str:
        """Send a conversation and return what the model says next.

        A server that is busy (429) or broken (5xx), or a connection that fails, is tried again with
        growing pauses; ``pause`` waits for that many seconds.

        Raises
        ------
        EditorError
            No attempt brought an answer.
        """
        key = os.environ.get(KEY_VARIABLE, "").strip()
        body = {"model": self.model, "messages": list(messages), "stream": False}
        headers = {"Content-Type": "application/json", "User-Agent": "howsteps"}
        if key:
            headers["Authorization"] = f"Bearer {key}"

        def request_with(settings: dict[str, int]) -> Request:
            content = json.dumps({**body, **settings}).encode()
            return Request(self.address, content, headers)  # noqa: S310 - checked

        request = request_with(_SETTINGS)
        wait = _FIRST_PAUSE
        for attempt in range(_ATTEMPTS):
            try:
                return _content(_sent(request, self.timeout))
            except _Transient as error:
                if attempt == _ATTEMPTS - 1:
                    reason = _without(key, str(error))
                    raise EditorError(
                        f"{self.address}: {reason}; tried {attempt + 1} times"
                    ) from None
                pause(min(max(wait, error.after), _LONGEST_PAUSE))
                wait *= 2
            except EditorError as error:
                refused = [name for name in _SETTINGS if name in str(error)]
                if not refused or request.data == request_with({}).data:
                    raise EditorError(f"{self.address}: {_without(key, str(error))}") from None
                request = request_with({})  # some models take no settings
        raise AssertionError  # the last attempt returns or raises


class _Transient(Exception):
    """What may be better in a moment."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the key to another server."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        raise EditorError("it redirects elsewhere; give the address where the server is")


def _sent(request: Request, timeout: float) -> bytes:
    try:
        with build_opener(_NoRedirects).open(request, timeout=timeout) as response:
            content: bytes = response.read(_LARGEST_REPLY + 1)
    except HTTPError as error:
        with error:
            said = error.read(2000).decode(errors="replace")
        reason = (
            f"it answers {error.code} {shown(' '.join(said.split()))[:_REASON_LETTERS]}".strip()
        )
        if error.code == _TOO_MANY or error.code >= _SERVER_FAULT:
            raise _Transient(reason, _seconds(error.headers.get("Retry-After"))) from None
        raise EditorError(reason) from None
    except TimeoutError:
        raise _Transient(f"no answer within {timeout:g} s") from None
    except URLError as error:
        raise _Transient(f"it cannot be reached ({error.reason})") from None
    except (OSError, HTTPException) as error:
        raise _Transient(f"the connection broke ({type(error).__name__})") from None
    if len(content) > _LARGEST_REPLY:
        raise EditorError(f"its reply is larger than {_LARGEST_REPLY >> 20} MiB")
    return content


def _content(reply: bytes) -> str:
    """The text of the first choice."""
    try:
        value: Any = json.loads(reply)
        content = value["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise EditorError("its reply is no chat completion") from None
    if not isinstance(content, str):
        raise EditorError("its reply has no text")
    return content


def _seconds(value: str | None) -> float:
    try:
        return max(0.0, float(value or 0))
    except ValueError:  # a date
        return 0.0


def _without(key: str, text: str) -> str:
    """A server may repeat the key in its complaint."""
    return text.replace(key, "***") if key else text
