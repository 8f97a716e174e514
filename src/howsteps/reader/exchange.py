"""What all questions and answers have in common.

A question is a text of bounded size, in which what narrators say stands as clean quotations. An
answer is a JSON object somewhere in a reply. It is used as far as it is in form; if something is
not, the model is told why and asked once more, and what is still wrong is a remark.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from howsteps.errors import HowstepsError

MAX_REPLY = 4 << 20  # bytes
MAX_ECHOED = 2000  # characters of a reply that is sent back: small models have short contexts
_PER_TRY = 1000  # characters that are read in the time of an error in a long text
_QUESTIONS = Path(__file__).with_name("questions")

Value = TypeVar("Value")
Messages: TypeAlias = Sequence[dict[str, str]]
Schema: TypeAlias = Mapping[str, Any]
Reply: TypeAlias = Callable[[Messages], str]
"""From a conversation to the reply of the model."""


class LanguageModelError(HowstepsError):
    """The model cannot be reached or does not answer; the message never contains the key."""


class AnswerError(HowstepsError):
    """An invalid answer; the message is shown to people and sent to the model."""


class FileReply(str):
    """A reply that a person saved in a file, and can correct; ``wrong`` is why it is of no use."""

    path: Path
    wrong: str

    def __new__(cls, text: str, path: Path) -> "FileReply":
        """The text of a file."""
        reply = super().__new__(cls, text)
        reply.path, reply.wrong = path, ""
        return reply


class Answered(NamedTuple, Generic[Value]):
    """An answer, what of it cannot be used, and the reply that it is from."""

    value: Value
    wrong: Sequence[str]
    text: str


def ask(
    messages: Messages, reply: Reply, parse: Callable[[str], tuple[Value, Sequence[str]]]
) -> Answered[Value]:
    """Ask, and once more if the answer, or a part of it, cannot be used and is not in a file.

    Parameters
    ----------
    parse
        Reads a reply: the answer, and what is wrong with it. Raises ``AnswerError`` if there is no
        answer in it.

    Raises
    ------
    AnswerError
        No reply has an answer.
    LanguageModelError
        There is no reply.
    """
    text, first = reply(messages), None
    try:
        first = Answered(*parse(text), text)
        reason = "; ".join(first.wrong)
    except AnswerError as error:
        reason = str(error)
    if first and (not reason or isinstance(text, FileReply)):
        return first
    if isinstance(text, FileReply):
        text.wrong = reason
        raise AnswerError(f"{text.path} cannot be used: {reason}")
    request = f"That cannot be used: {reason}. Answer again, with one complete JSON object."
    try:
        text = reply([*messages, *turns(text[:MAX_ECHOED], request)])
        return Answered(*parse(text), text)
    except (AnswerError, LanguageModelError) as error:
        if first:
            return first
        raise AnswerError(f"{reason}; then: {error}") from None


def turns(answer: str, request: str) -> list[dict[str, str]]:
    """The next turns of a conversation: an answer, and another question."""
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": request}]


class Recorded:
    """A reply that records what it says, and first repeats what was ``known`` before."""

    def __init__(self, reply: Callable[..., str], known: Sequence[str] = ()) -> None:
        self._reply, self._known = reply, known
        self.replies: list[str] = []

    def __call__(self, messages: Messages, **more: str) -> str:
        """Reply."""
        known = self._known[len(self.replies) :]
        text = known[0] if known else self._reply(messages, **more)
        self.replies.append(str(text))  # without its file
        return text


def template(name: str) -> str:
    """The text of a question, with the names of its parts in braces."""
    return (_QUESTIONS / f"{name}.txt").read_text("utf-8")


def clean(text: str) -> str:
    """Untrusted text on one line, without characters that have a meaning in a question."""
    kept = "".join(c if c.isprintable() and c not in '|`{}<>#"' else " " for c in text)
    return " ".join(kept.split())


def estimated_tokens(text: str) -> float:
    """An upper estimate: three ASCII characters per token, one token per byte of all others."""
    n_ascii = sum(character.isascii() for character in text)
    return n_ascii / 3 + len(text.encode()) - n_ascii


def object_schema(**properties: object) -> dict[str, object]:
    """The schema of an object, as servers that enforce one want it: all fields, and no others."""
    fixed = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **fixed}


def list_schema(items: object, least: int = 0, most: int | None = None) -> dict[str, object]:
    """The schema of a list; a limit keeps a small model from going on for ever."""
    limits = {"minItems": least, "maxItems": most} if most is not None else {}
    return {"type": "array", "items": items, **limits}


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in a text: models often reason before they answer."""
    decoder = json.JSONDecoder()
    start, left = text.find("{"), 4 * MAX_REPLY
    while start >= 0 and left > 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            end = start + 1
            # Bounds the time for a page of objects in one another, or of brackets, that never end.
            left -= _PER_TRY + getattr(error, "pos", len(text)) - start
        else:
            if isinstance(value, dict):
                yield value
        start = text.find("{", end)
