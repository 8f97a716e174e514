"""Readers that answer without a server: a person with any assistant, and an earlier run."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias

from howsteps.errors import InputError
from howsteps.io.files import Folder
from howsteps.io.text import read_text
from howsteps.reader.client import LanguageModel
from howsteps.reader.exchange import MAX_REPLY, LanguageModelError, Messages, Schema

QUESTION = ".txt"
ANSWERS = (".answer.json", ".answer.txt", ".answer.md")
_MAX_NAME = 60  # characters


class Unanswered(LanguageModelError):
    """There is no answer to a question; nothing is wrong with the model."""


@dataclass(frozen=True, slots=True)
class AnswerFolder:
    """Questions that a person hands to any assistant, and its answers.

    A question is ``NAME.txt``; its answer, with or without other text, is ``NAME.answer.json``,
    ``NAME.answer.txt`` or ``NAME.answer.md``. The name has a hash of the question, so an answer is
    never taken for that of another one.

    Parameters
    ----------
    folder
        Where both are.
    ask
        Write the questions that have no answer yet.
    """

    folder: Path
    ask: bool = False
    written: list[Path] = field(default_factory=list, init=False, repr=False, compare=False)
    address: ClassVar[str] = ""
    tokens: ClassVar[int] = 2**62
    parallel: ClassVar[int] = 1

    @property
    def model(self) -> str:
        """The name of the folder, for those who ask who answered."""
        return f"answers in {self.folder.absolute().name}"

    def reply(
        self, messages: Messages, schema: Schema | None = None, *, name: str = "script"
    ) -> str:
        """The answer in the folder.

        Raises
        ------
        Unanswered
            There is none; if asked to, the question was written.
        """
        text = _conversation(messages)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        stem = re.sub(r"[^\w-]+", "-", name)[:_MAX_NAME] + f"-{digest}"
        for ending in ANSWERS:
            if (path := self.folder / f"{stem}{ending}").is_file():
                try:
                    return read_text(path, MAX_REPLY)
                except InputError as error:
                    raise LanguageModelError(str(error)) from None
        if not self.ask:
            raise Unanswered(f"there is no '{stem}{ANSWERS[0]}' in {self.folder}")
        path = Folder(self.folder).write(f"{stem}{QUESTION}", text.encode())
        self.written.append(path)
        raise Unanswered(f"{path} has no answer yet")


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

    def reply(
        self, messages: Messages, schema: Schema | None = None, *, name: str = "script"
    ) -> str:
        """Never answer."""
        raise Unanswered(f"{self.model} did not answer this before; to ask again: `llm`")


# Whatever answers questions. ``address`` is where they are sent, empty if they stay on this
# machine; ``tokens`` is the most that may be sent, ``parallel`` the number of questions at a time.
Reader: TypeAlias = LanguageModel | AnswerFolder | Remembered
