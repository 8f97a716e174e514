"""A language model may edit the script: it chooses among what narrators said, and adds nothing.

::

    task ─► question (one page of text) ─► a model, or a person with one ─► answer ─► script

The question holds the title, the acts that most narrators mention, and the form of the answer. The
answer names acts by their ids, so a step is always made of mentions, and a name may only use words
of the narrators who mention the step. Nothing is sent anywhere unless an address is given.
"""

from howsteps.editor.answer import Answer, AnswerError, parse_answer
from howsteps.editor.client import Editor, EditorError
from howsteps.editor.dialogue import Edit, edit_script, edit_with_answer
from howsteps.editor.question import Question, make_question

__all__ = [
    "Answer",
    "AnswerError",
    "Edit",
    "Editor",
    "EditorError",
    "Question",
    "edit_script",
    "edit_with_answer",
    "make_question",
    "parse_answer",
]
