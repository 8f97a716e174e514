"""Script editing by a language model, which selects among the acts of the narrators, nothing else.

::

    task ─► question (a prompt of one page) ─► a model, or a person with one ─► answer ─► script

The question holds the title, the most frequent acts, and the format of the answer. The answer
refers to acts by id, so that every step consists of mentions, and a name may only use words of the
narrators who mention the step. Nothing is sent anywhere unless an address is given.
"""

from howsteps.reader.client import LanguageModel, LanguageModelError
from howsteps.reader.dialogue import (
    Answer,
    AnswerError,
    Edit,
    edit_script,
    edit_with_answer,
    parse_answer,
)
from howsteps.reader.question import Question, make_question

__all__ = [
    "Answer",
    "AnswerError",
    "Edit",
    "LanguageModel",
    "LanguageModelError",
    "Question",
    "edit_script",
    "edit_with_answer",
    "make_question",
    "parse_answer",
]
