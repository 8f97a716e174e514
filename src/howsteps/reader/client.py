"""Whatever answers questions.

A language model on any server with OpenAI's chat completions API; a folder, for a person with an
assistant; an earlier run.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from howsteps.errors import InputError, Problem, shown
from howsteps.io.files import Folder
from howsteps.io.text import read_text
from howsteps.reader.exchange import (
    MAX_REPLY,
    FileReply,
    LanguageModelError,
    Messages,
    Schema,
)

if TYPE_CHECKING:
    import httpx

KEY_VARIABLE, OPENAI_KEY_VARIABLE = "HOWSTEPS_LLM_KEY", "OPENAI_API_KEY"  # the first that is set
URL_VARIABLE = "OPENAI_BASE_URL"
OLLAMA = "http://localhost:11434/v1"
MAX_TOKENS = 2_000_000
PARALLEL = 4
_ATTEMPTS = 4
_FIRST_PAUSE = 1.0  # seconds; doubled after every attempt
_MAX_PAUSE = 60.0
_MAX_TRANSFER = 300.0  # seconds for a reply, after the time that the model may take to begin it
_MAX_DETAILS = 2000  # bytes of an error that are read
_MAX_REASON = 200  # characters of it that are shown
_SECRETIVE = (401, 403, 407)  # such an answer may repeat the key in any form, so it is not shown
_FRAGMENT = 6  # characters of a key that no message may contain
# A limit because small models may never stop; a high one because reasoning takes tokens.
_SETTINGS = {"temperature": 0, "max_tokens": 16_000}
_ENDPOINT, _MODELS = "/chat/completions", "/models"
_REFUSED = (400, 422)  # of a request that the server understands only in part
_SECRET_PARAMETER = re.compile(r"key|token|secret|password|auth|sig", re.IGNORECASE)
QUESTION = ".txt"
ANSWERS = (".answer.json", ".answer.txt", ".answer.md")
_NAME = re.compile(rf"((?:script|video-.*)-[0-9a-f]{{8}}){re.escape(QUESTION)}")
BEGINNINGS = ("# The steps of a job", "# Question", "Job: ")  # of the questions
_MAX_NAME = 60  # characters


class Unanswered(LanguageModelError):
    """There is no answer to a question; nothing is wrong with the model."""


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A language model on a server.

    The API key, if needed, comes from the environment: ``HOWSTEPS_LLM_KEY``, else
    ``OPENAI_API_KEY``. It is not a field, so that it cannot be printed or stored by accident.

    Parameters
    ----------
    model
        The name of the model on the server.
    url
        The base URL of the server; by default ``OPENAI_BASE_URL`` of the environment, else that of
        Ollama on this machine.
    timeout
        Seconds without data after which an attempt fails.
    tokens
        The most that reading the videos of a job may send and receive, by an upper estimate.
    parallel
        How many questions are asked at a time.
    """

    model: str
    url: str = field(default_factory=lambda: os.environ.get(URL_VARIABLE, "").strip() or OLLAMA)
    timeout: float = 300.0
    tokens: int = MAX_TOKENS
    parallel: int = PARALLEL

    def __post_init__(self) -> None:
        _ = self.address  # validates the URL
        if not self.model.strip():
            raise LanguageModelError("the language model needs a name: `llm`")

    @property
    def address(self) -> str:
        """The URL that requests are sent to, in ASCII: names by IDNA, paths percent-encoded."""
        import httpx  # noqa: PLC0415 - slow to import, and most runs ask no model

        try:
            url = httpx.URL(self.url).copy_with(fragment=None)
            usable = url.scheme in ("http", "https") and url.host and "%" not in url.host
        except (httpx.InvalidURL, ValueError):
            usable = False
        if not usable or (url.port or 0) >= 1 << 16:
            # The part before an @ and the query may be secret.
            given = "this" if {"@", "?"} & {*self.url} else repr(shown(self.url))
            raise LanguageModelError(f"{given} is not an address; use http://HOST:PORT/v1")
        if url.userinfo or any(_SECRET_PARAMETER.search(name) for name in url.params):
            raise LanguageModelError(f"a key must not be in the address: set {KEY_VARIABLE}")
        path = url.path.rstrip("/")
        return str(url.copy_with(path=path if path.endswith(_ENDPOINT) else path + _ENDPOINT))

    def reply(
        self,
        messages: Messages,
        schema: Schema | None = None,
        *,
        name: str = "",
        pause: Callable[[float], object] = time.sleep,
    ) -> str:
        """Send a conversation and return the reply of the model.

        If the server is busy (429) or fails (5xx), or the connection fails, the request is retried
        with exponential backoff; ``pause`` waits for that many seconds.

        Parameters
        ----------
        schema
            The JSON schema of the answer, for servers that can enforce one. Others ignore or
            refuse it, so the reply must be validated in any case.
        name
            Of the question, for answers in files.

        Raises
        ------
        LanguageModelError
            The key is invalid, or no attempt succeeded.
        """
        key, address = self._key(), self.address
        options: list[dict[str, Any]] = [_SETTINGS, {}]  # some models accept no settings
        if schema is not None:
            form = {"name": "answer", "strict": True, "schema": schema}
            form = {"type": "json_schema", "json_schema": form}
            options.insert(0, {**_SETTINGS, "response_format": form})
        failures = 0
        while True:
            body = {"model": self.model, "messages": list(messages), "stream": False, **options[0]}
            try:
                return _content(_sent("POST", address, body, key, self.timeout))
            except _Failed as error:
                if error.is_refused and len(options) > 1:
                    options = options[1:]
                    continue
                failures += 1
                if failures >= error.attempts:
                    tried = f"; tried {failures} times" if failures > 1 else ""
                    raise LanguageModelError(f"{address}: {error}{tried}") from None
                pause(min(max(_FIRST_PAUSE * 2 ** (failures - 1), error.after), _MAX_PAUSE))

    def models(self) -> list[str]:
        """The names of the models that the server has.

        Raises
        ------
        LanguageModelError
            It does not say.
        """
        address = self.address.replace(_ENDPOINT, _MODELS)
        try:
            found = json.loads(_sent("GET", address, None, self._key(), self.timeout))
            return sorted(shown(str(entry["id"])) for entry in found["data"])
        except (_Failed, ValueError, KeyError, TypeError, RecursionError):
            raise LanguageModelError(f"{address} does not list its models") from None

    def _key(self) -> str:
        """The API key; empty if there is none."""
        # One of OpenAI's is not for Ollama, nor for another program at its port.
        names = [KEY_VARIABLE] if self.url == OLLAMA else [KEY_VARIABLE, OPENAI_KEY_VARIABLE]
        for name in names:
            if key := os.environ.get(name, "").strip():
                if key.isascii() and key.isprintable():
                    return key
                raise LanguageModelError(
                    f"{name} contains a line break or a non-ASCII character; copy the key again"
                )
        return ""


class _Failed(Exception):
    """A request that failed.

    ``attempts`` are as many as may help, ``after`` is the delay in seconds that the server asks
    for; if the request itself ``is_refused``, it may succeed with fewer settings.
    """

    def __init__(
        self, reason: str, attempts: int = 1, *, after: float = 0.0, is_refused: bool = False
    ) -> None:
        super().__init__(reason)
        self.attempts, self.after, self.is_refused = attempts, after, is_refused


def _sent(method: str, address: str, body: object, key: str, timeout: float) -> bytes:
    """Send one request and return the body of the response."""
    import httpx  # noqa: PLC0415 - slow to import, and most runs ask no model

    headers = {"Content-Type": "application/json", "User-Agent": "howsteps"}
    headers |= {"Accept-Encoding": "identity"}  # so that the size of a reply is what is read
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    content = b"" if body is None else json.dumps(body).encode()
    try:
        with (
            httpx.Client(timeout=timeout) as client,
            client.stream(method, address, content=content, headers=headers) as response,
        ):
            if response.is_success:
                return _read(response, MAX_REPLY, timeout + _MAX_TRANSFER)
            details = b""
            with suppress(httpx.TransportError, _Failed):  # it may break off here too
                details = _read(response, _MAX_DETAILS, timeout)
    except httpx.TimeoutException:
        raise _Failed(f"no answer within {timeout:g} s", 2) from None
    except httpx.ConnectError as error:
        raise _Failed(f"it cannot be reached ({shown(str(error))})", _ATTEMPTS) from None
    except httpx.TransportError as error:
        raise _Failed(f"the connection broke ({type(error).__name__})", _ATTEMPTS) from None
    except (httpx.InvalidURL, ValueError, ImportError) as error:  # of a proxy; it may have secrets
        raise _Failed(f"no request can be sent ({type(error).__name__})") from None
    if response.is_redirect:  # to follow it would send the key to another server
        raise _Failed("it redirects elsewhere; use the address of the server itself")
    status = response.status_code
    reason = f"it answers {status} {_shown_details(status, details, key)}".strip()
    if status == httpx.codes.TOO_MANY_REQUESTS or response.is_server_error:
        after = 0.0
        with suppress(ValueError):  # it may be a date
            after = float(response.headers.get("Retry-After", 0))
        raise _Failed(reason, _ATTEMPTS, after=after)
    raise _Failed(reason, is_refused=status in _REFUSED)


def _read(response: "httpx.Response", largest: int, seconds: float) -> bytes:
    """Read a body; give up on one without end, or of which a byte comes now and then."""
    content, end = b"", time.monotonic() + seconds
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > largest:
            if response.is_error:
                return content[:largest]
            raise _Failed(f"its reply is larger than {largest >> 20} MiB")
        if time.monotonic() > end:
            raise _Failed(f"its reply is not complete after {seconds:g} s")
    return content


def _shown_details(status: int, body: bytes, key: str) -> str:
    """The text of an error in one line, unless it may contain a part of the key."""
    if status in _SECRETIVE:
        return f"(is {KEY_VARIABLE} or {OPENAI_KEY_VARIABLE} set, and right?)"
    text = body.decode(errors="replace")
    with suppress(ValueError):
        text += str(json.loads(text))  # where escaped characters are plain
    letters, secret = (re.sub(r"[\W_]", "", part) for part in (text, key))
    starts = range(max(0, len(secret) - _FRAGMENT) + 1)
    if secret and any(secret[n : n + _FRAGMENT] in letters for n in starts):
        return ""
    return shown(" ".join(body.decode(errors="replace").split()))[:_MAX_REASON]


def _content(reply: bytes) -> str:
    """The text of the first choice."""
    try:
        value: Any = json.loads(reply)
        content = value["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise _Failed("its reply is not a chat completion") from None
    if not isinstance(content, str):
        raise _Failed("its reply has no text")
    return content.encode(errors="replace").decode()  # unpaired surrogates are not valid UTF-8


@dataclass(frozen=True, slots=True)
class AnswerFolder:
    """Questions that a person hands to any assistant, and its answers.

    A question is ``NAME.txt``; its answer, with or without other text, is ``NAME.answer.json``,
    ``NAME.answer.txt`` or ``NAME.answer.md``. The name has a hash of what the answer rests on, so
    it is never taken for that to another question.

    Parameters
    ----------
    folder
        Where both are.
    ask
        Write the questions that have no answer yet.

    Attributes
    ----------
    asked
        The names of the questions of this run, with their answers.
    """

    folder: Path
    ask: bool = False
    asked: dict[str, FileReply | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    address: ClassVar[str] = ""
    tokens: ClassVar[int] = 2**62
    parallel: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", Path(self.folder))

    @property
    def model(self) -> str:
        """The name of the folder, for those who ask who answered."""
        return f"answers in {self.folder.absolute().name}"

    @property
    def waiting(self) -> list[Path]:
        """The questions without an answer that can be used."""
        stems = [stem for stem, reply in self.asked.items() if reply is None or reply.wrong]
        return [self.folder / f"{stem}{QUESTION}" for stem in stems]

    def reply(self, messages: Messages, schema: Schema | None = None, *, name: str = "") -> str:
        """The answer in the folder.

        Raises
        ------
        Unanswered
            There is none; if asked to, the question was written.
        """
        text = _conversation(messages)
        stem = name or question_name("script", text)
        self.asked[stem] = None
        if path := self._answer(stem):
            try:
                self.asked[stem] = reply = FileReply(read_text(path, MAX_REPLY), path)
            except InputError as error:
                raise LanguageModelError(str(error)) from None
            return reply
        if self.ask:
            Folder(self.folder).write(f"{stem}{QUESTION}", text.encode())
        raise Unanswered(f"'{stem}{QUESTION}' has no answer (to write the questions: `ask`)")

    def _answer(self, stem: str) -> Path | None:
        paths = (self.folder / f"{stem}{ending}" for ending in ANSWERS)
        return next((path for path in paths if path.is_file()), None)

    def tidy(self) -> list[Problem]:
        """Remove questions that nobody answered and that are not asked any more; return remarks.

        They would take somebody's time for nothing.
        """
        files = Folder(self.folder).names() if self.ask and self.asked else ()
        gone = [file for file in files if self._is_old(file)]
        for file in gone:
            Folder(self.folder).remove(file)
        reason = "removed, as it is not asked any more"
        return [Problem(self.folder / file, reason, harmless=True) for file in gone]

    def _is_old(self, file: str) -> bool:
        """Whether a file is a question of before without an answer, and not a person's own text."""
        name = _NAME.fullmatch(file)
        if not name or name[1] in self.asked or self._answer(name[1]):
            return False
        with suppress(InputError):
            return read_text(self.folder / file, MAX_REPLY).startswith(BEGINNINGS)
        return False


def question_name(subject: str, text: str) -> str:
    """The name of a question, with a hash of the text that its answer rests on."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return re.sub(r"[^\w-]+", "-", subject)[:_MAX_NAME] + f"-{digest}"


def _conversation(messages: Messages) -> str:
    """A conversation as one text; the first question stands alone."""
    if len(messages) == 1:
        return messages[0]["content"]
    heads = {"user": "Question", "assistant": "Your answer"}
    return "\n".join(f"# {heads[m['role']]}\n\n{m['content']}\n" for m in messages)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A model that was asked in an earlier run: its answers are in the cache, and no more come."""

    model: str
    address: ClassVar[str] = ""
    tokens: ClassVar[int] = 2**62
    parallel: ClassVar[int] = 1

    def reply(self, messages: Messages, schema: Schema | None = None, *, name: str = "") -> str:
        """Never answer."""
        raise Unanswered(f"{self.model} did not answer this before; to ask again: `llm` or `ask`")


# Whatever answers questions. ``address`` is where they are sent, empty if they stay on this
# machine; ``tokens`` is the most that may be sent, ``parallel`` the number of questions at a time.
Reader: TypeAlias = LanguageModel | AnswerFolder | Remembered
