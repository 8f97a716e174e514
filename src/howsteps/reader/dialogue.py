"""Two rounds with a model: its answer becomes a script, which goes back to it once.

The second question shows what came of the first answer, and its answer is final.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from howsteps.reader.act_groups import MIN_VIDEOS, ActGroups, relative_positions
from howsteps.reader.answer import (
    Edit,
    ids_of,
    parse_answer,
    script_of_answer,
)
from howsteps.reader.exchange import (
    AnswerError,
    LanguageModelError,
    Reply,
    ask,
    template,
    turns,
)
from howsteps.reader.names import plain_name
from howsteps.reader.question import Question, excerpt, job_name, phrase_of
from howsteps.script.acts import act_of
from howsteps.script.order import partial_order
from howsteps.script.text_mentions import LabelReader
from howsteps.task import Mention

SECOND_TOKENS = 8000  # at most, of the first answer and the second question
_MENTIONS, _WORDS = 5, 26  # of a step that are shown, and words of each
_ACTS, _LEFT_OUT, _SWAPS = 14, 25, 8


class SecondQuestion(NamedTuple):
    """What came of the first answer; ``shown`` are the mentions of the ids in it (``m1``)."""

    text: str
    shown: Mapping[str, Mention]


def edit_script(question: Question, reply: Reply, read_labels: LabelReader) -> Edit:
    """Let a model write the script of a task, in two rounds.

    If there is no second answer, the first one is final.

    Raises
    ------
    AnswerError
        No answer can be used.
    LanguageModelError
        There is none.
    """
    messages = [{"role": "user", "content": question.text}]
    first = ask(messages, reply, parse_answer)
    edit = script_of_answer(question, first.value, read_labels)
    second = second_question(question, edit)
    messages += turns(first.text, second.text)
    try:
        last = ask(messages, reply, parse_answer).value
        other = (*first.value.other_job, *last.other_job)
        wrong = _wrong_mentions(question, second.shown, last.wrong)
        answer = msgspec.structs.replace(last, other_job=other)
        return script_of_answer(question, answer, read_labels, wrong)
    except (AnswerError, LanguageModelError) as error:
        return replace(edit, failure=error)


def _wrong_mentions(
    question: Question, shown: Mapping[str, Mention], ids: Sequence[str]
) -> set[Mention]:
    """Mentions that do not belong, and their group where all that were shown of it do not."""
    wrong = {shown[id_] for id_ in ids if id_ in shown}
    found = set(wrong)
    for group in (group for row in question.acts for group in row.groups):
        of_group = {*group.mentions}.intersection(shown.values())
        if len(of_group) > 1 and of_group <= wrong:
            found.update(group.mentions)
    return found


def second_question(question: Question, edit: Edit) -> SecondQuestion:
    """Write the second question: what came of the first answer."""
    sentences = {video.id: video.sentences for video in question.task.videos}
    position = relative_positions(question.task)
    chance = np.random.default_rng(crc32(question.text.encode()))
    ids = {row.act: row.id for row in question.acts}
    left = _of_no_step(question, edit.mentions)
    shown: dict[str, Mention] = {}
    unused: set[str] = set()
    lines = []
    for number, (step, mentions) in enumerate(
        zip(edit.answer.steps, edit.mentions, strict=True), 1
    ):
        line = f"{number} {plain_name(step.name)} | {len({m.video for m in mentions})} videos"
        if mentions:
            first, last = np.quantile([position[m] for m in mentions], (0.25, 0.75))
            line += f", at {first:.0%} to {last:.0%}"
        counts = Counter(act_of(m) for m in mentions)
        acts = [
            f"{ids.get(act, '')} {phrase_of(act)} {n}".strip()
            for act, n in counts.most_common(_ACTS)
        ]
        more = f", and {len(counts) - len(acts)} others" if len(counts) > len(acts) else ""
        lines += [line, f"  has: {', '.join(acts)}{more}" if acts else "  -"]
        named = {id_.partition(".")[0] for id_ in ids_of(step)} - unused
        if out_of_order := [row for row in left if row.id in named]:
            lines.append(f"  not used, as all are said out of order: {_listed(out_of_order)}")
            unused |= named
        by_video = {m.video: m for m in chance.permutation(np.array(mentions, dtype=object))}
        for mention in [*by_video.values()][:_MENTIONS]:
            if mention.sentence < len(sentences[mention.video]):
                said = excerpt(mention, sentences[mention.video][mention.sentence], _WORDS)
                shown[id_ := f"m{len(shown) + 1}"] = mention
                lines.append(f"  {id_}: {said}")
    text = template("second").format(
        title=job_name(question.task),
        count=len(question.task.videos),
        steps="\n".join(lines),
        steps_count=len(edit.answer.steps),
        usual=question.usual,
        remarks="\n".join(f"* {line}" for line in _remarks(question, edit)) or "None.",
        left=_listed([row for row in left if row.id not in unused][:_LEFT_OUT]) or "none",
    )
    return SecondQuestion(text, shown)


def _of_no_step(question: Question, steps: Iterable[Collection[Mention]]) -> list[ActGroups]:
    """The acts that no step has, the most work first."""
    taken = {mention for own in steps for mention in own}
    left = [row for row in question.acts if taken.isdisjoint(row.mentions)]
    return sorted(left, key=lambda row: -sum(m.work for m in row.mentions))


def _listed(rows: Iterable[ActGroups]) -> str:
    """Acts with the number of videos that mention them."""
    return ", ".join(f"{row.id} {phrase_of(row.act)} {row.videos}" for row in rows)


def _remarks(question: Question, edit: Edit) -> list[str]:
    """Swapped steps, steps that were not found, and what could not be used."""
    said = (number for number, mentions in enumerate(edit.mentions, 1) if mentions)
    numbers = [next(said) if step.mentions else 0 for step in edit.script.steps]
    swaps = partial_order(question.task, edit.script).swaps
    lines = [
        f"{numbers[swap.one]} and {numbers[swap.two]}: in this order in {swap.in_order} videos, "
        f"swapped in {swap.swapped}"
        for swap in sorted(swaps, key=lambda s: s.in_order - s.swapped)[:_SWAPS]
    ]
    unsaid = [step.label for step in edit.script.steps if not step.mentions]
    lines += [f'"{label}" is said in fewer than {MIN_VIDEOS} videos' for label in unsaid]
    return [*lines, *edit.remarks]
