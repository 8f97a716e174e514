"""A language model reads: it writes the script, and says where its steps are done in each video.

::

    task, script ─► question ─► a model, or a person with one ─► answer ─► script
                                         ▲                                   │
                                         └───────── what came of it ◄────────┘
    script and one video ─► question ─► answer ─► readings

An answer refers to acts and lines by number, and is validated. Nothing is sent anywhere unless a
model is named.
"""

from howsteps.reader.answers import AnswerFolder, Reader, Remembered, Unanswered
from howsteps.reader.client import LanguageModel, LanguageModelError
from howsteps.reader.dialogue import (
    Answer,
    Edit,
    SecondQuestion,
    edit_script,
    parse_answer,
    script_of_answer,
    second_question,
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
    "SecondQuestion",
    "Unanswered",
    "edit_script",
    "make_question",
    "parse_answer",
    "script_of_answer",
    "second_question",
]
