"""A language model reads: it writes the script, and says where its steps are done in each video.

::

    task, script ─► question ─► a model, or a person with one ─► answer ─► script
                                         ▲                                   │
                                         └───────── what came of it ◄────────┘
    script and one video ─► question ─► answer ─► readings

An answer refers to acts and lines by number, and is validated. Nothing is sent anywhere unless a
model is named.
"""

from howsteps.reader.client import AnswerFolder, LanguageModel, Reader, Remembered, Unanswered
from howsteps.reader.dialogue import edit_script
from howsteps.reader.exchange import AnswerError, LanguageModelError
from howsteps.reader.question import make_question

__all__ = [
    "AnswerError",
    "AnswerFolder",
    "LanguageModel",
    "LanguageModelError",
    "Reader",
    "Remembered",
    "Unanswered",
    "edit_script",
    "make_question",
]
