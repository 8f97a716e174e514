"""Exports: a result in the formats of other programs, by name; and its page.

``docs/guide/exports.md`` describes them, and how labels are escaped.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TypeAlias

from howsteps.datasets.names import Names, portable
from howsteps.errors import HowstepsError, InputError, Problem, unknown_name
from howsteps.io.files import Folder
from howsteps.report.decoding import Pictures, rate_of, remove_unused, run
from howsteps.report.exports.chapters import TOO_FEW, PlacedVideo, youtube_text
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
from howsteps.task import Localisation, Result

# Returns the frame rate of a video file.
RateReader: TypeAlias = Callable[[Path | None], Fraction]


@dataclass(frozen=True)
class ExportJob:
    """A result, the folder to write to, and the options."""

    result: Result
    folder: Folder
    guesses: bool = False
    unreadable: Collection[Path] = ()
    read_rate: RateReader = rate_of

    @property
    def videos(self) -> Iterator[tuple[PlacedVideo, str]]:
        """Every video and the name of its file; names are safe and unique everywhere."""
        names = Names("video")
        for video in self.result.task.videos:
            media = None if video.media in self.unreadable else video.media
            rate = partial(self.read_rate, media)
            placed = PlacedVideo.of(self.result, video, rate, guesses=self.guesses)
            yield placed, names.give(portable(video.id))[0]

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
        job = ExportJob(result, target, guesses, unreadable, read_rate)
        for found in FORMATS[name].write(job):
            if isinstance(found, Path):
                paths.append(found)
            else:
                problems.append(found)
    return paths, problems


def _texts(suffix: str, text: Callable[[PlacedVideo], str | None], missing: str = "") -> Writer:
    """A writer of one text file for each video; ``missing`` says why there may be none."""

    def write(job: ExportJob) -> Iterator[Path | Problem]:
        for placed, stem in job.videos:
            if (content := text(placed)) is not None:
                yield job.written(f"{stem}{suffix}", content)
            else:
                job.folder.remove(f"{stem}{suffix}")  # of an earlier script
                yield Problem(job.folder.path / f"{stem}{suffix}", missing, harmless=True)

    return write


def _chapters(suffix: str) -> Writer:
    """A writer of chapters, by their template."""
    return _texts(suffix, lambda placed: rendered(f"chapters{suffix}", chapters=placed.chapters))


def _page(job: ExportJob) -> Iterator[Path | Problem]:
    problems: list[Problem] = []
    folder = job.folder.path
    yield write_page(job.result, folder, unreadable=job.unreadable, on_problem=problems.append)
    yield from problems


def _csv(job: ExportJob) -> Iterator[Path]:
    yield job.written("steps.csv", csv_text(job.result))


def _label_studio(job: ExportJob) -> Iterator[Path]:
    text = label_studio_text(placed for placed, _ in job.videos)
    yield job.written("tasks.json", text)
    yield job.written("interface.xml", label_studio_interface(job.result))


def _howto(job: ExportJob) -> Iterator[Path | Problem]:
    pictures = Pictures(job.folder / "pictures", job.unreadable)
    videos = {video.id: video for video in job.result.task.videos}
    used: list[str] = []

    def picture(place: Localisation) -> str | None:
        found = pictures.make(videos[place.video], [place.time or 0.0])
        used.extend(found.values())  # none if the video file is gone
        return next((f"pictures/{name}" for name in found.values()), None)

    shown = howto(job.result, job.folder.path, picture)
    remove_unused(pictures.folder, used)
    yield from pictures.problems
    yield job.written("howto.md", rendered("howto.md", shown=shown))
    yield job.folder.write("howto.html", render_howto(shown))


def _for_each_video(
    what: str, write: Callable[[ExportJob, PlacedVideo, Path, str], Iterator[Path]]
) -> Writer:
    """A writer that handles one video file after another; a failure is a problem of that file."""

    def write_all(job: ExportJob) -> Iterator[Path | Problem]:
        for placed, stem in job.videos:
            media = placed.video.media
            if media is None:
                reason = f"has no video file to {what}"
                yield Problem(Path(placed.video.id), reason, harmless=True)
                continue
            try:
                yield from write(job, placed, media, stem)
            except InputError as error:
                yield error.problem

    return write_all


def _video(job: ExportJob, placed: PlacedVideo, media: Path, stem: str) -> Iterator[Path]:
    name = f"{stem}{suffix_for(media)}"
    run(media, "chapters", job.folder, name=name, chapters=placed.chapters)
    yield job.folder.path / name


def _clips(job: ExportJob, placed: PlacedVideo, media: Path, stem: str) -> Iterator[Path]:
    folder = job.folder / stem
    suffix = suffix_for(media, encoded=True)
    for span in placed.spans:
        name = f"{span.step + 1:02}-{_slug(span.label)}{suffix}"
        run(media, "clip", folder, name=name, start=span.start, end=span.end)
        yield folder.path / name


def _slug(label: str) -> str:
    """A label as part of a file name: only letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40] or "step"


_ALL: Sequence[ExportFormat] = (
    ExportFormat("vtt", "WebVTT chapters", _chapters(".vtt")),
    ExportFormat("srt", "the same as SubRip subtitles", _chapters(".srt")),
    ExportFormat(
        "youtube", "chapter lines for a description", _texts(".txt", youtube_text, TOO_FEW)
    ),
    ExportFormat("csv", "a table of all localisations", _csv),
    ExportFormat("edl", "CMX 3600 edit decision lists", _texts(".edl", edl_text)),
    ExportFormat("otio", "OpenTimelineIO timelines", _texts(".otio", otio_text)),
    ExportFormat(
        "label-studio", "pre-annotations to correct, and the interface for them", _label_studio
    ),
    ExportFormat("elan", "ELAN documents (.eaf)", _texts(".eaf", elan_text)),
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
