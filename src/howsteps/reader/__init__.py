"""A language model reads: it edits the script, and says where its steps are done in each video.

::

    task ─► question (a prompt of one page) ─► a model, or a person with one ─► answer ─► script
    script and one video ─► question ─► answer ─► readings

An answer refers to acts and lines by number, and is validated. Nothing is sent anywhere unless a
model is named.
"""

from howsteps.reader.answers import AnswerFolder, Reader, Remembered, Unanswered
from howsteps.reader.client import LanguageModel, LanguageModelError
from howsteps.reader.dialogue import (
    Answer,
    Edit,
    edit_script,
    edit_with_answer,
    parse_answer,
)
from howsteps.reader.question import AnswerError, Question, make_question

__all__ = [
    "Answer",
    "AnswerError",
    "AnswerFolder",
    "Edit",
    "LanguageModel",
    "LanguageModelError",
    "Question",
    "Reader",
    "Remembered",
    "Unanswered",
    "edit_script",
    "edit_with_answer",
    "make_question",
    "parse_answer",
]
