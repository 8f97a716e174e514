"""Two rounds with a model: its answer becomes a script, which goes back to it once.

The second question shows what came of the first answer, and its answer is final.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from zlib import crc32

import msgspec
import numpy as np

from howsteps.reader.act_groups import MIN_VIDEOS, ActGroups, relative_positions
from howsteps.reader.answer import (
    MAX_STEPS,
    Answer,
    AnsweredStep,
    Edit,
    ids_of,
    parse_answer,
    script_changes,
    script_of_answer,
    without_unsaid,
)
from howsteps.reader.client import Unanswered
from howsteps.reader.exchange import (
    AnswerError,
    LanguageModelError,
    Reply,
    ask,
    clean,
    template,
    turns,
)
from howsteps.reader.names import plain_name
from howsteps.reader.question import MIN_STEPS, Question, excerpt, job_name, phrase_of
from howsteps.script.acts import act_of
from howsteps.script.order import partial_order
from howsteps.script.text_mentions import LabelReader
from howsteps.task import Mention, Script

SECOND_TOKENS = 8000  # at most, of the first answer and the second question
_MENTIONS, _WORDS = 5, 26  # of a step that are shown, and words of each
_ACTS, _LEFT_OUT, _SWAPS = 14, 25, 8
_OUTLINE_LINE = re.compile(r"^\W*\d+[.):]\s*(\S.*)$", re.M)


@dataclass(frozen=True, slots=True)
class SecondQuestion:
    """What came of the first answer.

    ``shown`` are the mentions of every id: one that is shown (``m1``), or all of an act that the
    answer does not name for the step (``x1``). ``other_job`` are the ids of the videos that the
    first answer says are of another job.
    """

    text: str
    shown: Mapping[str, tuple[Mention, ...]] = field(repr=False)
    other_job: tuple[str, ...] = ()


def edit_script(question: Question, reply: Reply, read_labels: LabelReader) -> Edit:
    """Let a model write the script of a task, in two rounds.

    If there is no second answer, the first one is final. A model that cannot answer in form is
    asked for the names of the steps alone, of which those that two narrators say are the script.

    Raises ``LanguageModelError`` if there is no answer at all.
    """
    messages = [{"role": "user", "content": question.text}]
    plain = _outline_question(question), partial(_parse_outline, question)
    try:
        first = ask(messages, reply, _parse, plain)
    except AnswerError as error:
        return Edit(None, refused=(str(error),))
    edit = script_of_answer(question, first.value, read_labels)
    refused = [*filter(None, [first.again]), *edit.refused]
    if edit.script is not None and first.is_plain:
        edit = replace(edit, script=without_unsaid(edit.script, ())[0])
    elif edit.script is not None:
        second = second_question(question, edit)
        messages += turns(first.text, second.text)
        try:
            last = ask(messages, reply, _parse)
        except Unanswered:
            pass  # whoever answers says so
        except (AnswerError, LanguageModelError) as error:
            refused.append(f"no second answer: {error}")
        else:
            wrong = _wrong_mentions(question, second, last.value.wrong)
            other = last.value.other_job + second.other_job
            answer = msgspec.structs.replace(last.value, other_job=other)
            final = script_of_answer(question, answer, read_labels, wrong)
            refused += [*filter(None, [last.again]), *final.refused]
            edit = edit if final.script is None else final
    return replace(edit, refused=tuple(refused))


def _parse(text: str) -> tuple[Answer, tuple[str, ...]]:
    return parse_answer(text), ()


def _of_no_step(question: Question, steps: Iterable[Iterable[Mention]]) -> list[ActGroups]:
    """The acts that no step has, the most work first."""
    taken = {mention for own in steps for mention in own}
    left = [row for row in question.acts if taken.isdisjoint(row.mentions)]
    return sorted(left, key=lambda row: -sum(m.work for m in row.mentions))


def _outline_question(question: Question) -> str:
    """The question of a model that cannot answer in form: only the names of the steps."""
    others = _of_no_step(question, (step.mentions for step in question.script.steps))
    steps = enumerate(question.script.steps, 1)
    return template("outline").format(
        title=job_name(question.task),
        count=len(question.task.videos),
        steps="\n".join(f"{number}. {clean(step.label)}" for number, step in steps),
        acts=", ".join(phrase_of(row.act) for row in others[:_LEFT_OUT]) or "nothing else",
        usual=question.usual,
    )


def _parse_outline(question: Question, text: str) -> tuple[Answer, tuple[str, ...]]:
    """The answer in numbered lines; a step of the first script keeps its mentions."""
    lines = dict.fromkeys(filter(None, map(plain_name, _OUTLINE_LINE.findall(text))))
    if not MIN_STEPS <= len(lines) <= MAX_STEPS:
        raise AnswerError(f"there are {len(lines)} numbered lines in the answer")
    known = {clean(s.label).lower(): f"s{k}" for k, s in enumerate(question.script.steps, 1)}
    ids = {line: [known[line.lower()]] if line.lower() in known else [] for line in lines}
    return Answer(tuple(AnsweredStep(line, tuple(own)) for line, own in ids.items())), ()


def _wrong_mentions(question: Question, second: SecondQuestion, ids: Sequence[str]) -> set[Mention]:
    """Mentions that do not belong, and their group where all that were shown of it do not."""
    samples = {own[0] for id_, own in second.shown.items() if id_.startswith("m")}
    found = {mention for id_ in ids for mention in second.shown.get(id_, ())}
    wrong = found & samples
    for row in question.acts:
        for group in row.groups:
            of_group = {*group.mentions} & samples
            if len(of_group) > 1 and of_group <= wrong:
                found.update(group.mentions)
    return found


def second_question(question: Question, edit: Edit) -> SecondQuestion:
    """Write the second question: what came of the first answer."""
    answer = edit.answer
    if answer is None or edit.script is None:
        raise AnswerError("there is no script to ask about")
    sentences = {video.id: video.sentences for video in question.task.videos}
    position = relative_positions(question.task)
    chance = np.random.default_rng(crc32(question.text.encode()))
    shown: dict[str, tuple[Mention, ...]] = {}
    ids = {row.act: row.id for row in question.acts}

    def id_of(kind: str, mentions: Iterable[Mention]) -> str:
        shown[id_ := f"{kind}{len(shown) + 1}"] = tuple(mentions)
        return id_

    left = _of_no_step(question, edit.mentions)
    refused: set[str] = set()
    lines = []
    for number, (step, mentions) in enumerate(zip(answer.steps, edit.mentions, strict=True), 1):
        line = f"{number} {plain_name(step.name)} | {len({m.video for m in mentions})} videos"
        if mentions:
            first, last = np.quantile([position[m] for m in mentions], (0.25, 0.75))
            line += f", at {first:.0%} to {last:.0%}"
        counts = Counter(act_of(m) for m in mentions)
        given = ids_of(step)
        named = {id_.partition(".")[0] for id_ in given}
        # A step of the first script names all of its acts.
        of_steps = (question.mentions.get(id_, ()) for id_ in given if id_.startswith("s"))
        named |= {ids[act_of(m)] for own in of_steps for m in own if act_of(m) in ids}
        acts = [
            f"{id_ if id_ in named else id_of('x', (m for m in mentions if act_of(m) == act))} "
            f"{phrase_of(act)} {n}"
            for act, n in counts.most_common(_ACTS)
            for id_ in [ids.get(act)]
        ]
        more = f", and {len(counts) - len(acts)} others" if len(counts) > len(acts) else ""
        lines += [line, f"  has: {', '.join(acts)}{more}" if acts else "  -"]
        if unused := [row for row in left if row.id in named - refused]:
            lines.append(f"  not used, as all are said out of order: {_listed(unused)}")
            refused.update(row.id for row in unused)
        by_video = {m.video: m for m in chance.permutation(np.array(mentions, dtype=object))}
        for mention in [*by_video.values()][:_MENTIONS]:
            if mention.sentence < len(sentences[mention.video]):
                said = excerpt(mention, sentences[mention.video][mention.sentence], _WORDS)
                lines.append(f"  {id_of('m', [mention])}: {said}")
    text = template("second").format(
        title=job_name(question.task),
        count=len(question.task.videos),
        steps="\n".join(lines),
        steps_count=len(answer.steps),
        usual=question.usual,
        remarks="\n".join(f"* {line}" for line in _remarks(question, edit.script, edit)) or "None.",
        left=_listed([row for row in left if row.id not in refused][:_LEFT_OUT]) or "none",
    )
    return SecondQuestion(text, shown, answer.other_job)


def _listed(rows: Iterable[ActGroups]) -> str:
    """Acts with the number of videos that mention them."""
    return ", ".join(f"{row.id} {phrase_of(row.act)} {row.videos}" for row in rows)


def _remarks(question: Question, script: Script, edit: Edit) -> list[str]:
    """Swapped steps, steps that were not found, and what could not be used."""
    said = (number for number, mentions in enumerate(edit.mentions, 1) if mentions)
    numbers = [next(said) if step.mentions else 0 for step in script.steps]
    swaps = sorted(partial_order(question.task, script).swaps, key=lambda s: s.in_order - s.swapped)
    lines = [
        f"{numbers[swap.one]} and {numbers[swap.two]}: in this order in {swap.in_order} videos, "
        f"swapped in {swap.swapped}"
        for swap in swaps[:_SWAPS]
    ]
    unsaid = [step.label for step in script.steps if not step.mentions]
    lines += [f'"{label}" is said in fewer than {MIN_VIDEOS} videos' for label in unsaid]
    changed = {*script_changes(question.script, script)}
    ids = {clean(video): id_ for id_, video in question.videos.items()}  # as in the first question
    for line in edit.changes:
        if line not in changed:
            first, space, rest = line.partition(" ")
            lines.append(ids.get(first, first) + space + rest)
    return lines
