"""Exports: a result in the formats of other programs, by name; and its page.

``docs/guide/exports.md`` describes them, and how labels are escaped.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias

from howsteps.datasets.names import Names, portable
from howsteps.errors import HowstepsError, InputError, MissingExtra, Problem, unknown_name
from howsteps.io.files import Folder
from howsteps.report.content import video_length
from howsteps.report.decoding import (
    make_thumbnails,
    rate_of,
    remove_unused,
    run,
)
from howsteps.report.exports.chapters import (
    TOO_FEW,
    Chapter,
    Span,
    chapters,
    spans,
    without_overlap,
    youtube_text,
)
from howsteps.report.exports.documents import (
    csv_text,
    elan_text,
    howto,
    label_studio_interface,
    label_studio_text,
)
from howsteps.report.exports.timelines import edl_text, otio_text
from howsteps.report.exports.video_copies import suffix_for
from howsteps.report.page import render_howto, rendered, write_page
from howsteps.task import Localisation, Result, Video

# Returns the frame rate of a video file.
RateReader: TypeAlias = Callable[[Path | None], Fraction]


@dataclass(frozen=True)
class ExportJob:
    """A result, the folder to write to, and the options."""

    result: Result
    folder: Folder
    guesses: bool = False
    precise: bool = False
    unreadable: Collection[Path] = ()
    read_rate: RateReader = rate_of

    def rate(self, video: Video) -> Fraction:
        """The frame rate of a video, or the default if it cannot be read."""
        return self.read_rate(None if video.media in self.unreadable else video.media)

    def length(self, video: Video) -> float:
        """The length of a video, in seconds."""
        return video_length(video, self.result.by_video[video.id])

    def cut(self, video: Video) -> list[Span]:
        """The steps of a video, none of which overlaps the next."""
        return without_overlap(spans(self.result, video, guesses=self.guesses))

    def files(self, suffix: str) -> Iterator[tuple[Video, str]]:
        """Yield every video and the name of its file; names are safe and unique everywhere."""
        names = Names("video")
        for video in self.result.task.videos:
            yield video, f"{names.give(portable(video.id))[0]}{suffix}"

    def written(self, name: str, text: str) -> Path:
        """Write a text file, and return its path."""
        return self.folder.write(name, text.encode("utf-8", "replace"))


# Yields the written files, and a problem for each file that could not be written.
Writer: TypeAlias = Callable[[ExportJob], Iterator[Path | Problem]]


@dataclass(frozen=True)
class ExportFormat:
    """One format: its name on the command line, a description, and its writer.

    ``own_folder``: it is written into a folder of its own below the exports. The page is not: it
    lies in the work folder itself.
    """

    name: str
    about: str
    write: Writer
    own_folder: bool = True


def export(
    result: Result,
    folder: Folder,
    names: Iterable[str],
    *,
    guesses: bool = False,
    precise: bool = False,
    unreadable: Collection[Path] = (),
    read_rate: RateReader = rate_of,
) -> tuple[list[Path], list[Problem]]:
    """Write a result in some formats, each into its own folder under ``folder``.

    The page is written into ``folder`` itself.

    Parameters
    ----------
    names
        Keys of :data:`FORMATS`.
    guesses
        Include guesses for which there is no mention.
    precise
        Cut clips at the exact frame, which re-encodes the video.
    unreadable
        Video files that could not be decoded before; they are not opened for their frame rate.
    read_rate
        Returns the frame rate of a video file, for instance from a cache.

    Returns
    -------
    The files, and the problems with those that could not be written.
    """
    paths: list[Path] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        if name not in FORMATS:
            raise HowstepsError(unknown_name("format", name, FORMATS))
        target = folder / name if FORMATS[name].own_folder else folder
        job = ExportJob(result, target, guesses, precise, unreadable, read_rate)
        for found in FORMATS[name].write(job):
            if isinstance(found, Path):
                paths.append(found)
            else:
                problems.append(found)
    return paths, problems


def _texts(
    suffix: str, text: Callable[[ExportJob, Video], str | None], missing: str = ""
) -> Writer:
    """A writer of one text file for each video; ``missing`` says why there may be none."""

    def write(job: ExportJob) -> Iterator[Path | Problem]:
        for video, name in job.files(suffix):
            if (content := text(job, video)) is not None:
                yield job.written(name, content)
            else:
                job.folder.remove(name)  # of an earlier script
                yield Problem(job.folder.path / name, missing, harmless=True)

    return write


def _chapters(job: ExportJob, video: Video) -> list[Chapter]:
    return chapters(spans(job.result, video, guesses=job.guesses), job.length(video))


def _vtt(job: ExportJob, video: Video) -> str:
    return rendered("chapters.vtt", chapters=_chapters(job, video))


def _srt(job: ExportJob, video: Video) -> str:
    return rendered("chapters.srt", chapters=_chapters(job, video))


def _youtube(job: ExportJob, video: Video) -> str | None:
    return youtube_text(_chapters(job, video))


def _edl(job: ExportJob, video: Video) -> str:
    return edl_text(video, job.cut(video), job.rate(video))


def _otio(job: ExportJob, video: Video) -> str:
    return otio_text(video, job.length(video), job.cut(video), float(job.rate(video)))


def _elan(job: ExportJob, video: Video) -> str:
    return elan_text(video, job.cut(video))


def _page(job: ExportJob) -> Iterator[Path | Problem]:
    problems: list[Problem] = []
    folder = job.folder.path
    yield write_page(job.result, folder, unreadable=job.unreadable, on_problem=problems.append)
    yield from problems


def _csv(job: ExportJob) -> Iterator[Path]:
    yield job.written("steps.csv", csv_text(job.result))


def _label_studio(job: ExportJob) -> Iterator[Path]:
    text = label_studio_text(job.result, guesses=job.guesses)
    yield job.written("tasks.json", text)
    yield job.written("interface.xml", label_studio_interface(job.result))


def _howto(job: ExportJob) -> Iterator[Path | Problem]:
    pictures = job.folder / "pictures"
    videos = {video.id: video for video in job.result.task.videos}
    used: list[str] = []
    problems: dict[str, Problem] = {}  # by video, or without PyAV one for all

    def picture(place: Localisation) -> str | None:
        if place.time is None or not problems.keys().isdisjoint({place.video, ""}):
            return None
        try:
            found = make_thumbnails(videos[place.video], [place.time], pictures)
        except InputError as error:
            problems[place.video] = error.problem
            return None
        except MissingExtra as error:
            page = job.folder.path / "howto.md"
            problems[""] = Problem(page, f"has no thumbnails: {error}", harmless=True)
            return None
        used.extend(found.values())  # none if the video file is gone
        return next((f"pictures/{name}" for name in found.values()), None)

    shown = howto(job.result, job.folder.path, picture)
    remove_unused(pictures, used)
    yield from problems.values()
    yield job.written("howto.md", rendered("howto.md", shown=shown))
    yield job.folder.write("howto.html", render_howto(shown))


def _for_each_video(
    what: str, write: Callable[[ExportJob, Video, Path, str], Iterator[Path]]
) -> Writer:
    """A writer that handles one video file after another; a failure is a problem of that file."""

    def write_all(job: ExportJob) -> Iterator[Path | Problem]:
        for video, name in job.files(""):
            if video.media is None:
                yield Problem(Path(video.id), f"has no video file to {what}", harmless=True)
                continue
            try:
                yield from write(job, video, video.media, name)
            except InputError as error:
                yield error.problem

    return write_all


def _video(job: ExportJob, video: Video, media: Path, stem: str) -> Iterator[Path]:
    name = f"{stem}{suffix_for(media)}"
    found = [(each.start, each.end, each.title) for each in _chapters(job, video)]
    run(media, "chapters", job.folder, name=name, chapters=found)
    yield job.folder.path / name


def _clips(job: ExportJob, video: Video, media: Path, stem: str) -> Iterator[Path]:
    folder = job.folder / stem
    suffix = ".mp4" if job.precise else suffix_for(media)
    for span in spans(job.result, video, guesses=job.guesses):
        name = f"{span.step + 1:02}-{_slug(span.label)}{suffix}"
        times = {"start": span.start, "end": span.end, "precise": job.precise}
        run(media, "clip", folder, name=name, **times)
        yield folder.path / name


def _slug(label: str) -> str:
    """A label as part of a file name: only letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40] or "step"


_ALL: Sequence[ExportFormat] = (
    ExportFormat("vtt", "WebVTT chapters", _texts(".vtt", _vtt)),
    ExportFormat("srt", "the same as SubRip subtitles", _texts(".srt", _srt)),
    ExportFormat("youtube", "chapter lines for a description", _texts(".txt", _youtube, TOO_FEW)),
    ExportFormat("csv", "a table of all localisations", _csv),
    ExportFormat("edl", "CMX 3600 edit decision lists", _texts(".edl", _edl)),
    ExportFormat("otio", "OpenTimelineIO timelines", _texts(".otio", _otio)),
    ExportFormat(
        "label-studio", "pre-annotations to correct, and the interface for them", _label_studio
    ),
    ExportFormat("elan", "ELAN documents (.eaf)", _texts(".eaf", _elan)),
    ExportFormat("howto", "a how-to for a wiki (Markdown) and to print (HTML)", _howto),
    ExportFormat("page", "the page, report.html, in the work folder", _page, own_folder=False),
    ExportFormat(
        "video",
        "copies of the videos with chapters inside, not re-encoded",
        _for_each_video("put chapters into", _video),
    ),
    ExportFormat("clips", "one clip for each step of each video", _for_each_video("cut", _clips)),
)
FORMATS = {each.name: each for each in _ALL}
# The formats that are cheap, and written into every work folder.
TEXT_FORMATS = ("vtt", "srt", "youtube", "csv", "edl", "otio", "label-studio", "elan")
# Once somebody asked for it, the how-to is written again with them.
KEPT_UP_TO_DATE = (*TEXT_FORMATS, "howto")
