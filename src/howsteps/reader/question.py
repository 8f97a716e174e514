"""The first question: what the narrators of a task say, and the steps that were found without it.

Acts have ids (``a12``), and so have the groups of a frequent one (``a12.2``) and the steps of the
script that was found (``s3``).
"""

import math
import statistics
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations, groupby

from howsteps.reader.act_groups import ActGroups, act_groups, expected_videos
from howsteps.reader.exchange import clean, estimated_tokens, template
from howsteps.script.acts import Act, act_of, talk_detector
from howsteps.script.near_duplicates import originals
from howsteps.script.text_form import act_names
from howsteps.task import Mention, Script, Sentence, SetAside, Task, Video

MIN_STEPS = 3  # of an answer
MAX_TOKENS = 16_000  # of the whole question, by an upper estimate
MAX_TITLE = 70  # characters
_TALK_WEIGHT = 0.5  # of a verb that is usually talk, in the choice of acts
_APART_SHARE, _APART_VIDEOS, _APART_PAIRS = 1 / 3, 3, 12
_MIN_TRANSCRIPTS, _MAX_TRANSCRIPTS = 3, 6
_TRANSCRIPT_SHARE, _TITLE_SHARE = 0.35, 0.08  # of the budget
# Acts, quotes for each (times the square root of their videos), and the words of a quote: the first
# size that fits is used.
_SIZES = [(140 - 7 * n, 1 - 0.06 * n, 30 - n) for n in range(11)]
_SIZES += [(count, 0.0, 15) for count in range(65, 0, -5)]


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt that can be pasted into any assistant.

    Attributes
    ----------
    script
        The script that was found without a model.
    acts
        The acts that have an id.
    mentions
        The mentions of every id: steps (``s1``), acts (``a1``) and groups (``a1.2``).
    videos
        The id of the video for each id in the prompt (``v1``) that may be of another job.
    usual
        How many steps there should be.
    """

    task: Task
    script: Script
    acts: tuple[ActGroups, ...]
    mentions: Mapping[str, tuple[Mention, ...]]
    videos: Mapping[str, str]
    text: str
    usual: str


def make_question(
    task: Task,
    script: Script,
    set_aside: Sequence[SetAside] = (),
    *,
    steps: int | None = None,
    keep: Collection[str] = (),
    max_tokens: int = MAX_TOKENS,
) -> Question:
    """Write the question on the steps of a task.

    Parameters
    ----------
    task
        With mentions.
    script
        The one that was found without a model.
    set_aside
        Videos that are not in the task, with the reason.
    steps
        The most that somebody wants; the answer need not obey.
    keep
        Videos that are of this job, whatever the answer says.
    max_tokens
        Of the question, by an upper estimate. Quotes get fewer and shorter, then acts are left out.
    """
    is_original = originals(task.videos)
    if 2 * sum(is_original) < len(is_original):  # then copies are the way in which the job is told
        is_original = [True] * len(task.videos)
    own = tuple(video for video, original in zip(task.videos, is_original, strict=True) if original)
    rows = act_groups(task, script, {video.id for video in own})
    most = max(steps, MIN_STEPS) if steps else None
    usual = f"Write at most {most} steps" if most else "Write 7 to 12 steps"
    text = template("script")
    budget = max_tokens - estimated_tokens(text) - 50
    ids = {video.id: f"v{number}" for number, video in enumerate(task.videos, 1)}
    parts = {
        "usual": usual,
        "steps": _steps(script, rows),
        "aside": _aside(set_aside, _TITLE_SHARE * budget / 2),
        "transcripts": _transcripts(own, ids, _TRANSCRIPT_SHARE * budget),
        "titles": _titles(own, ids, _TITLE_SHARE * budget),
    }
    rest = budget - sum(map(estimated_tokens, parts.values()))
    best = sorted(rows, key=_weight(task, script, own), reverse=True)
    for count, quotes, words in _SIZES:
        shown = {row.id for row in best[:count]}
        table = _table(own, [row for row in rows if row.id in shown], script, quotes, words)
        if estimated_tokens(table) <= rest:
            break
    shown.update(parts["steps"].split())
    rows = [row for row in rows if row.id in shown]
    text = text.format(title=job_name(task), count=len(task.videos), table=table, **parts)
    return Question(
        task,
        script,
        tuple(rows),
        {f"s{k}": step.mentions for k, step in enumerate(script.steps, 1)}
        | {row.id: row.mentions for row in rows}
        | {group.id: group.mentions for row in rows for group in row.groups},
        {id_: video for video, id_ in ids.items() if video not in keep},
        text,
        usual,
    )


def job_name(task: Task) -> str:
    """The name of a task in words."""
    return clean(task.name.replace("_", " "))


def excerpt(mention: Mention, sentence: Sentence, most: int) -> str:
    """The sentence of a mention; of a longer one, the words around the mention."""
    middle = bisect(sentence.words, mention.start, key=lambda word: word.start) - 1
    first = max(0, min(middle - most // 3, len(sentence.words) - most))
    return clean(" ".join(word.text for word in sentence.words[first : first + most]))


def phrase_of(act: Act) -> str:
    """An act in words."""
    return clean(" ".join(filter(None, act)))


def _weight(task: Task, script: Script, videos: Sequence[Video]) -> Callable[[ActGroups], float]:
    """How much an act deserves a row: by the videos in which it is work."""
    is_talk = talk_detector(task.name)
    of_script = {act_of(mention) for step in script.steps for mention in step.mentions}
    originals = {video.id for video in videos}

    def weight(row: ActGroups) -> float:
        mentions = [m for m in row.mentions if m.video in originals] or row.mentions
        expected = expected_videos(mentions) * statistics.mean(m.work for m in mentions)
        talk = is_talk(mentions[0]) and row.act not in of_script
        return expected * (_TALK_WEIGHT if talk else 1.0)

    return weight


def _steps(script: Script, rows: Sequence[ActGroups]) -> str:
    """The steps of the script with all of their phrases, and the ids of those in the table."""
    ids = {row.act: row.id for row in rows}
    lines = []
    for number, step in enumerate(script.steps, 1):
        videos: dict[Act, set[str]] = defaultdict(set)
        for mention in step.mentions:
            videos[act_of(mention)].add(mention.video)
        phrases = []
        for name, acts in act_names(step.mentions).items():
            known = [ids[act] for act in sorted(acts) if act in ids]
            count = len(set().union(*(videos[act] for act in acts)))
            phrases.append(" ".join([*known, clean(name), *([str(count)] if count > 1 else [])]))
        lines.append(f"s{number} | {clean(step.label)} | {step.support} | {', '.join(phrases)}")
    return "\n".join(lines)


def _aside(set_aside: Sequence[SetAside], most: float) -> str:
    """The videos that were set aside, by reason."""
    titles: dict[str, list[str]] = defaultdict(list)
    for video in set_aside:
        titles[video.reason].append(clean(video.title or video.video)[:MAX_TITLE])
    lines = [
        f"* {len(own)}: {clean(reason)} ({'; '.join(own[:4])})"
        for reason, own in sorted(titles.items(), key=lambda group: -len(group[1]))
    ]
    return "\n".join(_fitting(lines, most)) or "None."


def _fitting(lines: Sequence[str], most: float) -> list[str]:
    """The first lines, as many as have so many tokens in all."""
    tokens = accumulate(estimated_tokens(f"{line}\n") for line in lines)
    return [line for line, total in zip(lines, tokens, strict=True) if total - 1 / 3 <= most]


def _table(
    videos: Sequence[Video], rows: Sequence[ActGroups], script: Script, quotes: float, words: int
) -> str:
    """The acts with the quotes of their groups, and those that seldom share a video."""
    sentences = {video.id: video.sentences for video in videos}
    step_of = {m: k for k, step in enumerate(script.steps, 1) for m in step.mentions}
    lines = []
    for row in rows:
        own = sorted({step_of[m] for m in row.mentions if m in step_of})
        facts = [
            f"{row.videos} videos",
            f"work {statistics.mean(m.work for m in row.mentions):.0%}",
            *([f"in {' '.join(f's{k}' for k in own)}"] if own else []),
        ]
        lines.append(f"{row.id} {phrase_of(row.act)} | {', '.join(facts)}")
        for group in row.groups:
            count = max(1, round(quotes * math.sqrt(group.videos)))
            at = f", {clean(group.place)}" if group.place else ""
            head = f"  {group.id} ({group.videos}{at})" if len(row.groups) > 1 else "  "
            said = " / ".join(_quotes(group.mentions, sentences, count, words))
            lines.append(f"{head} {group.position:.0%}: {said}")
    apart = _apart(rows, len(videos)) or "none"
    return "\n".join([*lines, "", f"Pairs of frequent acts that seldom share a video: {apart}"])


def _apart(rows: Sequence[ActGroups], n_videos: int) -> str:
    """Pairs of frequent acts that seldom share a video."""
    videos = {row.id: {m.video for m in row.mentions} for row in rows}
    pairs = []
    for one, two in combinations(videos, 2):
        expected = len(videos[one]) * len(videos[two]) / max(n_videos, 1)
        both = len(videos[one] & videos[two])
        if expected >= _APART_VIDEOS and both <= _APART_SHARE * expected:
            pairs.append((both - expected, f"{one} {two}"))
    return ", ".join(pair for _, pair in sorted(pairs)[:_APART_PAIRS])


def _quotes(
    mentions: Sequence[Mention],
    sentences: Mapping[str, Sequence[Sentence]],
    most: int,
    words: int,
) -> Iterable[str]:
    """Sentences of different videos: from the likeliest work to what is rather talk."""
    first: dict[str, Mention] = {}
    for mention in sorted(mentions, key=lambda m: (-m.work, m.resolved, m.video, m.start)):
        if mention.sentence < len(sentences.get(mention.video, ())):
            first.setdefault(mention.video, mention)
    ranked = list(first.values())
    step = max(1.0, 0.8 * len(ranked) / most)
    picked = [ranked[int(n * step)] for n in range(most) if int(n * step) < len(ranked)]
    return dict.fromkeys(excerpt(m, sentences[m.video][m.sentence], words) for m in picked)


def _transcripts(videos: Sequence[Video], ids: Mapping[str, str], budget: float) -> str:
    """Three to six transcripts of different videos, those that are too long without some lines."""
    texts = {
        v.id: _shortened(_transcript(ids[v.id], v), v, budget / _MIN_TRANSCRIPTS) for v in videos
    }
    costs = {
        id_: math.ceil(max(estimated_tokens(text) + 1, budget / _MAX_TRANSCRIPTS))
        for id_, text in texts.items()
    }
    return "\n\n".join(texts[id_] for id_ in most_different(videos, costs, int(budget)))


def _transcript(id_: str, video: Video) -> list[str]:
    head = f"{id_} ({video.length / 60:.0f} min): {clean(video.title or video.id)[:MAX_TITLE]}"
    return [head] + [
        f"{int(s.start) // 60}:{int(s.start) % 60:02d} {clean(s.text)}" for s in video.sentences
    ]


def _shortened(lines: Sequence[str], video: Video, most: float) -> str:
    """A transcript without the sentences that are least likely to be work, as far as needed."""
    work = [2.0] + [0.0] * (len(lines) - 1)  # the title stays
    for mention in video.mentions:
        if mention.sentence + 1 < len(lines):
            work[mention.sentence + 1] = max(work[mention.sentence + 1], mention.work)
    by_work = sorted(range(len(lines)), key=lambda n: (-work[n], n))
    tokens = accumulate(estimated_tokens(lines[n]) for n in by_work)
    most -= len(lines) / 3  # line breaks
    kept = {n for n, total in zip(by_work, tokens, strict=True) if total <= most}
    shown = [line if number in kept else "…" for number, line in enumerate(lines)]
    return "\n".join(line for line, _ in groupby(shown))


def _titles(videos: Sequence[Video], ids: Mapping[str, str], most: float) -> str:
    """The titles of the videos, least typical first, as far as there is room."""
    acts = {video.id: {m.relation for m in video.mentions} for video in videos}
    count = Counter(act for own in acts.values() for act in own)
    order = sorted(videos, key=lambda v: sum(count[a] for a in acts[v.id]) / (len(acts[v.id]) + 1))
    lines = [f"{ids[v.id]} | {clean(v.title)[:MAX_TITLE]}" for v in order if v.title]
    return "\n".join(_fitting(lines, most)) or "They have none."


def most_different(videos: Sequence[Video], tokens: Mapping[str, int], ceiling: int) -> list[str]:
    """The videos to read if not all can be: those that together mention most of what is done.

    Each next video is the one that adds most acts that are new, each weighted by the number of
    videos that mention it, for its ``tokens``: those that reading it costs, none if it was read
    before. All together cost no more than the ``ceiling``.
    """
    if sum(tokens[video.id] for video in videos) <= ceiling:
        return [video.id for video in videos]
    acts = {v.id: {m.relation for m in v.mentions if m.is_work} for v in videos}
    weight = Counter(act for of_video in acts.values() for act in of_video)
    chosen = [video for video in acts if not tokens[video]]
    covered = set().union(*(acts[video] for video in chosen))

    def gain(video: str) -> float:
        return (sum(weight[act] for act in acts[video] - covered) + 1) / tokens[video]

    left = [video for video in acts if tokens[video]]
    while left := [video for video in left if tokens[video] <= ceiling]:
        best = max(left, key=gain)
        left.remove(best)
        chosen.append(best)
        covered |= acts[best]
        ceiling -= tokens[best]
    return chosen
