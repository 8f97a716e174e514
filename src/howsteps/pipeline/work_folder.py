"""The files of a work folder: how they are named, written and, for a model, read."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from howsteps.datasets.collection import WORK_FOLDER, holds_videos
from howsteps.errors import VISION, CannotWrite, HowstepsError, InputError, Problem
from howsteps.io.files import Folder, check_exists, key_of, sha256_of_file
from howsteps.io.text import read_text
from howsteps.pipeline.context import Context
from howsteps.pipeline.earlier import ASIDE, parts_of, read_whole
from howsteps.pipeline.options import FILE as OPTIONS
from howsteps.script.matching import acts_of, find_known_steps
from howsteps.script.names import examples
from howsteps.script.text_form import VideoChoices, script_text, without_choices
from howsteps.store import (
    FILE,
    ActRecord,
    Choices,
    Decisions,
    LearntStep,
    LearntSteps,
    PlacedByHand,
    WantedExport,
    read_record,
    read_result,
    text_parts,
    write_record,
)
from howsteps.task import Mention, Place, Result, Script, Step, Task, Video

CACHE = "cache"
SCRIPT_TEXT = "script.md"  # the script as text, for people to edit
KEPT_TEXT = "script.edited.md"  # backup of a person's script.md before it is replaced
DECISIONS = "decisions.json"
MODEL = "model"
EXPORTS = "exports"
OWN_NAMES = (CACHE, OPTIONS, WORK_FOLDER, "index.html")  # beside the folders of several jobs
_PARTS = (CACHE, MODEL, EXPORTS, "report-pictures")
PATIENCE = 5.0  # seconds to wait for another process that writes: a placed edit, or an export
_WRITTEN = ".written.json"  # in the exports: the names of those that howsteps wrote
_LARGEST_TEXT = 2**24  # bytes
# The last line of script.md has its author, howsteps or a person, and hashes of steps and text.
_FOUND, _PLACED = "<!-- as howsteps found it: ", "<!-- as you gave it: "
_EDITED = "<!-- as you edited it here: "  # there is no other copy
_UNWRITTEN = Path(SCRIPT_TEXT)  # of a page that is in no file
_AUTHORS = (_FOUND, _PLACED, _EDITED)  # each may replace what those before it wrote


class WrittenResults(Mapping[str, Result]):
    """Results by task name, each read from its file on access to save memory."""

    def __init__(
        self, folders: Mapping[str, Path], problems: Mapping[str, tuple[Problem, ...]] | None = None
    ) -> None:
        self._folders = folders
        self._problems = problems or {}

    def __repr__(self) -> str:
        return f"<the results of {', '.join(self)}>"

    def __getitem__(self, task: str) -> Result:
        return replace(read_result(self._folders[task]), problems=self._problems.get(task, ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


def check_folders(out: Path, *sources: Path) -> None:
    """Check that the sources exist, and that the work folder is a folder of its own.

    Raises ``CannotWrite`` if a part of the work folder is a link. Raises ``HowstepsError`` if a
    source does not exist, or is the work folder; or the work folder is a file, or holds videos.
    """
    if out.is_file():
        raise HowstepsError(f"{out} is a file, not a folder")
    check_parts(out)
    for source in sources:
        check_exists(source)
        if out.resolve() == source.resolve():
            reason = f"{out} holds the videos; write to another folder, or to one inside it"
            raise HowstepsError(reason)
    if not ((out / WORK_FOLDER).exists() or (out / FILE).exists()) and holds_videos(out):
        # It could not be read as an input any more.
        reason = f"{out} holds other videos or captions; write to another folder"
        raise HowstepsError(reason)


def check_parts(folder: Path) -> None:
    """Check that no part of a work folder is a link.

    Raises ``CannotWrite`` if one is.
    """
    for part in _PARTS:
        (Folder(folder) / part).check()


def root_of(work: Path) -> Path:
    """The work folder that holds the cache and the options: with several jobs, the one above."""
    is_inside = (work.parent / WORK_FOLDER).is_file() and not (work / WORK_FOLDER).is_file()
    return work.parent if is_inside else work


@contextmanager
def writing_to(out: Path) -> Iterator[None]:
    """Mark a work folder, which is then not read as captions, and lock it against other processes.

    Raises ``CannotWrite`` if another process is writing to it, or it cannot be written.
    """
    busy = f"another howsteps is writing to {out}; wait until it is done, or use another folder"
    with Folder(out).lock(WORK_FOLDER, busy, PATIENCE) as mark:
        if not os.fstat(mark.fileno()).st_size:
            try:
                os.write(mark.fileno(), b"What howsteps computed. cache/ may be deleted.\n")
            except OSError as error:
                raise CannotWrite(f"cannot write to {out}: {error.strerror}") from error
        yield


def write_work(
    whole: Result,
    folder: Path,
    model: Mapping[str, bytes],
    *,
    decisions: Decisions,
    keep: Sequence[str],
    edited: bool,
    given: Path | None,
    continues: "Page | None",
) -> tuple[Result, list[Problem]]:
    """Write what a person decided, ``script.md``, the result and its model.

    ``keep`` are the videos that a person wants to keep; the rest is as for ``write_script``.

    Returns
    -------
    The part of the whole that is about the videos that are used, and remarks.
    """
    decide(folder, decisions.videos, decisions.places)
    problems = write_script(
        whole.task,
        whole.script,
        folder,
        edited=edited,
        given=given,
        continues=continues,
        choices=VideoChoices(whole.set_aside, keep),
    )
    return write_result(whole, folder, model), problems


def write_result(whole: Result, folder: Path, model: Mapping[str, bytes] | None = None) -> Result:
    """Write ``result.json``, the videos that were set aside, and the files of the model if any.

    Returns the result: the part of the whole that is about the videos that are used.
    """
    if model is not None:
        _write_model(model, folder)
    used, aside = parts_of(whole)
    if aside.task.videos:
        Folder(folder).write(ASIDE, (part.encode() for part in text_parts(aside, folder)))
    else:
        Folder(folder).remove(ASIDE)
    Folder(folder).write(FILE, (part.encode() for part in text_parts(used, folder)))
    return used


def read_decisions(folder: Path) -> Decisions:
    """What a person decided about a work folder; nothing if there is no file."""
    path = folder / DECISIONS
    return read_record(path, Decisions, _LARGEST_TEXT) if path.exists() else Decisions()


def decide(
    folder: Path,
    videos: Choices,
    places: Sequence[PlacedByHand] | None = None,
    exports: dict[str, WantedExport] | None = None,
) -> None:
    """Remember what a person decides: videos and exports, and all ``places`` unless None."""
    before = read_decisions(folder)
    now = Decisions(
        before.videos | videos,
        before.places if places is None else [*places],
        before.exports | (exports or {}),
    )
    if now != before:
        write_record(Folder(folder), DECISIONS, now)


class Page(NamedTuple):
    """A script as text, and the file that it was read from."""

    text: str
    path: Path

    @classmethod
    def of(cls, given: Path | str) -> "Page":
        """The page in a file, or a given one; raises ``InputError`` if it cannot be read."""
        return cls(read_text(given), given) if isinstance(given, Path) else cls(given, _UNWRITTEN)

    @property
    def is_as_found(self) -> bool:
        """Whether the steps are those that howsteps found; videos may be chosen otherwise."""
        return _author_of(self.text) == _FOUND

    @property
    def is_as_written(self) -> bool:
        """Whether howsteps wrote it, and nobody has changed anything since."""
        return _author_of(self.text, whole=True) is not None


def write_script(
    task: Task,
    script: Script,
    folder: Path,
    *,
    edited: bool = False,
    given: Path | None = None,
    continues: Page | None = None,
    choices: VideoChoices | None = None,
) -> list[Problem]:
    """Write ``script.md``, the script as text for people to edit.

    One that a person edited is kept under another name, with a remark, unless it is still the page
    that this script ``continues``. ``edited`` means that this script is a person's too; it may
    replace one that was placed before and is elsewhere too (the ``given`` file), or that it
    continues.
    """
    path = folder / SCRIPT_TEXT
    is_copy = given is not None and given.resolve() != path.resolve()
    author = _FOUND if not edited else _PLACED if is_copy else _EDITED
    if is_copy and continues and _author_of(continues.text, whole=True) == _EDITED:
        author = _EDITED  # what was kept aside comes back as it was
    replaceable = _AUTHORS[: _AUTHORS.index(author) + 1]
    problems = _keep_edited(path, replaceable, continues)
    signed = _signed(script_text(task.name, script, choices), author)
    Folder(folder).write(SCRIPT_TEXT, signed.encode())
    return problems


def _author_of(text: str, *, whole: bool = False) -> str | None:
    """Who wrote a ``script.md``; None if its steps, or anything, were changed since."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    for author in _AUTHORS:
        body, found, _ = text.rpartition(author)
        if found and (_signed(body, author) == text if whole else _mark(text, author) in text):
            return author
    return None


def _keep_edited(path: Path, replaceable: Sequence[str], continues: Page | None) -> list[Problem]:
    """Rename a ``script.md`` unless it is unchanged since one of the ``replaceable`` wrote it."""
    if not path.is_file():
        return []
    with suppress(InputError):
        text = read_text(path)
        is_continued = continues is not None and text == continues.text
        if is_continued or _author_of(text, whole=True) in replaceable:
            return []
    number, kept = 1, path.with_name(KEPT_TEXT)
    while kept.exists():
        number += 1
        kept = path.with_name(KEPT_TEXT.replace(".md", f"-{number}.md"))
    with suppress(InputError):  # the result that it was made from, so that it can come back
        parts = text_parts(read_whole(path.parent), path.parent)
        Folder(path.parent).write(kept.with_suffix(".json").name, map(str.encode, parts))
    path.replace(kept)
    reason = f"was edited, so it is kept as {kept.name}; to place its steps, pass it as `script`"
    return [Problem(path, reason, harmless=True)]


def _signed(text: str, author: str) -> str:
    """Append the hashes of a text, which reveal later edits."""
    return f"{text}{_mark(text, author)}, {_hash(text)} -->\n"


def _mark(text: str, author: str) -> str:
    return f"{author}{_hash(without_choices(text))}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _write_model(model: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of a model into the work folder; modes of the paper have none."""
    own = Folder(folder) / MODEL
    for name, content in model.items():
        own.write(name, content)
    for name in own.names() if not model else ():  # the model of an earlier run has other steps
        own.remove(name)


def write_report(
    result: Result, folder: Path, context: Context, unreadable: Collection[Path] = ()
) -> list[Problem]:
    """Write the page and the text exports.

    ``unreadable`` video files are not opened again.
    """
    from howsteps.report.page import write_page  # noqa: PLC0415 - not needed for the result alone

    name = result.task.name
    problems: list[Problem] = []
    filmed = {video.id for video in result.task.videos if video.media}
    with context.stage("page", name, len(filmed)) if filmed else nullcontext() as progress:

        def show(video: Video) -> None:
            if progress and video.id in filmed:
                progress.done(video.id, cached=False)

        write_page(result, folder, unreadable=unreadable, progress=show, on_problem=problems.append)
    broken = {*unreadable, *(problem.path for problem in problems)}
    problems += write_exports(result, folder, broken, read_rate=partial(_rate, context))
    return with_what_is_used(problems, result.task)


def write_exports(
    result: Result,
    folder: Path,
    unreadable: Collection[Path] = (),
    *,
    before_each: Callable[[], None] = lambda: None,
    **settings: Any,
) -> list[Problem]:
    """Write the exports of a work folder: texts, and what a person asked for, as they asked.

    What takes long is not made again: a remark says that it is out of date. ``settings`` are those
    of :func:`howsteps.report.exports.export`; ``before_each`` is called before each format.
    """
    from howsteps.report.exports import (  # noqa: PLC0415 - not needed for the result alone
        FORMATS,
        KEPT_UP_TO_DATE,
        TEXT_FORMATS,
        export,
    )

    exports = Folder(folder) / EXPORTS
    asked = read_decisions(folder).exports
    wanted = {
        name: asked[name] for name in FORMATS if name in asked and (exports / name).path.is_dir()
    }
    texts = [name for name in KEPT_UP_TO_DATE if name in TEXT_FORMATS or name in wanted]
    written: list[Path] = []
    problems: list[Problem] = []
    for name in texts:
        before_each()
        guesses = name in wanted and wanted[name].guesses
        paths, unwritten = export(
            result, exports, [name], guesses=guesses, unreadable=unreadable, **settings
        )
        written += paths
        # A format that nobody requested by name may be one that a video is too short for.
        problems += [problem for problem in unwritten if not problem.harmless]
    _remove_stale_exports(exports, written)
    shown = sha256_of_file(folder / FILE) if wanted.keys() - {*texts} else ""
    problems += [
        Problem((exports / name).path, "is of an earlier result; export it again", harmless=True)
        for name, each in wanted.items()
        if name not in texts and each.shows != shown
    ]
    return problems


def export_as_asked(
    result: Result,
    exports: Folder,
    names: Iterable[str],
    *,
    guesses: bool = False,
) -> tuple[list[Path], list[Problem]]:
    """Write exports that a person asks for; those of a work folder are wanted from now on."""
    from howsteps.report.exports import export  # noqa: PLC0415 - not needed for the result alone

    names = list(names)
    found = export(result, exports, names, guesses=guesses)
    work = exports.path.parent
    if exports.path.name == EXPORTS and (work / FILE).is_file():
        shown = sha256_of_file(work / FILE)
        decide(work, {}, exports=dict.fromkeys(names, WantedExport(guesses, shown)))
    return found


def with_what_is_used(problems: Iterable[Problem], task: Task) -> list[Problem]:
    """The problems; those of video files say if the captions of the video are used."""
    captioned = {video.media for video in task.videos if video.media and video.sentences}
    return [
        replace(problem, reason=f"{problem.reason}; its captions are used")
        if problem.path in captioned and not problem.harmless
        else problem
        for problem in problems
    ]


def write_overview(folders: Mapping[str, Path], out: Path) -> None:
    """Write the page over several jobs, by the folder of each; nothing without a job."""
    from howsteps.report.page import write_index  # noqa: PLC0415 - not needed for the result alone

    if folders:
        write_index(WrittenResults(folders), folders, out)


def _remove_stale_exports(exports: Folder, written: Collection[Path]) -> None:
    """Remove the exports of an earlier run, for videos that are no longer there."""
    names = {path.relative_to(exports.path).as_posix() for path in written}
    try:
        earlier = read_record(exports.path / _WRITTEN, set[str], _LARGEST_TEXT)
    except InputError:
        earlier = set()
    folders = {name.partition("/")[0] for name in names}
    for name in earlier - names:
        parent, _, file = name.partition("/")
        # A single name below the folder of a format: nothing leads out of the exports.
        if parent in folders and file == Path(file).name:
            (exports / parent).remove(file)
    write_record(exports, _WRITTEN, sorted(names))


def _rate(context: Context, media: Path | None) -> Fraction:
    """The frame rate of a video file, cached so that it is not opened for every edit."""
    from howsteps.report.decoding import rate_of  # noqa: PLC0415 - not needed for the result alone

    if media is None or VISION.missing or not media.is_file():
        return rate_of(media)
    stat = media.stat()
    key = key_of(1, media=str(media), modified=stat.st_mtime_ns, size=stat.st_size)
    known = context.cached("rate", key, tuple[int, int])
    if known is None:
        known = rate_of(media).as_integer_ratio()
        context.cache.put("rate", key, known)
    return Fraction(*known)


STEPS_VERSION: Literal[1] = 1
STEPS_FILE = "steps.json"


def learnt_steps(task: Task, script: Script) -> LearntSteps:
    """What the videos of a task say about its steps: their most frequent acts."""
    steps = []
    for step in script.steps:
        # Places that are fixed have no words.
        said = replace(step, mentions=tuple(m for m in step.mentions if m.verb))
        acts = [ActRecord(*act) for act in acts_of(said.mentions)]
        steps.append(LearntStep(step.label, said.support, acts))
    return LearntSteps(STEPS_VERSION, task.name, steps)


def script_of_learnt(learnt: LearntSteps, task: Task) -> Script:
    """The script of learnt steps, with their mentions in new videos."""
    found = find_known_steps(
        [[_act_mention(act) for act in step.acts] for step in learnt.steps], task
    )
    return Script(
        tuple(
            Step(step.label, mentions, examples(task, mentions), learnt_from=step.support)
            for step, mentions in zip(learnt.steps, found, strict=True)
        )
    )


def _act_mention(act: ActRecord) -> Mention:
    """An act as a mention without video, time and phrase."""
    places = tuple(Place("", noun) for noun in act.around)
    return Mention("", act.verb, act.noun, "", 0.0, 0.0, particle=act.particle, places=places)


def load_steps(folder: Path, labels: tuple[str, ...]) -> LearntSteps:
    """Read the steps next to a model; raise ``InputError`` if they are of another one."""
    found = read_record(folder / STEPS_FILE, LearntSteps)
    if tuple(step.label for step in found.steps) != labels:
        raise InputError(folder / STEPS_FILE, "has other steps than the model next to it")
    return found
