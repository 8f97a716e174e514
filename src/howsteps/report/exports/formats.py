"""The formats by name, and what writes each."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from howsteps.datasets.names import Names
from howsteps.errors import HowstepsError, InputError, MissingExtra, Problem
from howsteps.io.files import write_atomically
from howsteps.report.exports import (
    edl,
    elan,
    ffmetadata,
    howto,
    label_studio,
    subrip,
    table,
    timeline,
    video_copies,
    webvtt,
    youtube,
)
from howsteps.report.exports.spans import apart, chapters, length, spans
from howsteps.task import Result, Video


@dataclass(frozen=True)
class Export:
    """What is to be exported, where to, and how."""

    result: Result
    folder: Path
    guesses: bool = False
    precise: bool = False

    def files(self, suffix: str) -> Iterator[tuple[Video, Path]]:
        """Every video and its file; no name leads out of the folder, and no two are the same."""
        names = Names("video")
        for video in self.result.task.videos:
            yield video, self.folder / f"{names.give(video.id)[0]}{suffix}"


# Yields the files that it wrote, and problems with those that it could not write.
Writer: TypeAlias = Callable[[Export], Iterator[Path | Problem]]


@dataclass(frozen=True)
class Format:
    """One format: its name on the command line, what it is, and who writes it."""

    name: str
    about: str
    write: Writer


def export(
    result: Result,
    folder: Path,
    names: Iterable[str],
    *,
    guesses: bool = False,
    precise: bool = False,
) -> tuple[list[Path], list[Problem]]:
    """Write a result in some formats, each into its own folder under ``folder``.

    Parameters
    ----------
    names
        Keys of :data:`FORMATS`.
    guesses
        Also write steps that are neither named nor seen in a video, and only fit in by their order.
    precise
        Cut clips at the frame, which encodes the picture anew.

    Returns
    -------
    The files, and what could not be written, with its reason.
    """
    paths: list[Path] = []
    problems: list[Problem] = []
    for name in dict.fromkeys(names):
        if name not in FORMATS:
            raise HowstepsError(f"there is no format {name!r}; known are {', '.join(FORMATS)}")
        for found in FORMATS[name].write(Export(result, folder / name, guesses, precise)):
            if isinstance(found, Path):
                paths.append(found)
            else:
                problems.append(found)
    return paths, problems


def _chapters(suffix: str, text_of: Callable[..., str]) -> Writer:
    def write(job: Export) -> Iterator[Path | Problem]:
        for video, path in job.files(suffix):
            found = chapters(job.result, video, guesses=job.guesses)
            try:
                yield _written(path, text_of(found))
            except youtube.NoChapters as reason:
                yield Problem(path, str(reason), harmless=True)

    return write


def _table(job: Export) -> Iterator[Path]:
    yield _written(job.folder / "steps.csv", table.text_of(job.result))


def _edl(job: Export) -> Iterator[Path]:
    for video, path in job.files(".edl"):
        found = apart(spans(job.result, video, guesses=job.guesses))
        rate = video_copies.frame_rate(video.media)
        clip = video.id if video.media is None else video.media.name
        yield _written(path, edl.text_of(video.id, clip, found, rate))


def _timeline(job: Export) -> Iterator[Path]:
    for video, path in job.files(".otio"):
        found = apart(spans(job.result, video, guesses=job.guesses))
        media = None if video.media is None else video.media.absolute().as_uri()
        rate = float(video_copies.frame_rate(video.media))
        text = timeline.text_of(video.id, media, length(job.result, video), found, rate)
        yield _written(path, text)


def _label_studio(job: Export) -> Iterator[Path]:
    text = label_studio.text_of(job.result, guesses=job.guesses)
    yield _written(job.folder / "tasks.json", text)
    yield _written(job.folder / "interface.xml", label_studio.interface_of(job.result))


def _elan(job: Export) -> Iterator[Path]:
    for video, path in job.files(".eaf"):
        found = apart(spans(job.result, video, guesses=job.guesses))
        yield _written(path, elan.text_of(video, found))


def _howto(job: Export) -> Iterator[Path | Problem]:
    from howsteps.report.thumbnails import take_thumbnails  # noqa: PLC0415 - decodes videos

    page = job.folder / "howto.md"
    pictures: dict[int, str] = {}
    videos = {video.id: video for video in job.result.task.videos}
    for step, place in howto.best_places(job.result).items():
        times = [] if place.time is None else [place.time]
        try:
            names = take_thumbnails(videos[place.video], times, job.folder / "pictures")
        except InputError as error:
            yield error.problem
            continue
        except MissingExtra as error:
            yield Problem(page, f"has no pictures: {error}", harmless=True)
            break
        for name in names.values():  # none of a video that is gone
            pictures[step] = f"pictures/{name}"
    yield _written(page, howto.text_of(job.result, pictures))


def _of_films(what: str, write: Callable[[Export, Video, Path, Path], Iterator[Path]]) -> Writer:
    """A writer that goes from film to film; what cannot be done with one is named."""

    def write_all(job: Export) -> Iterator[Path | Problem]:
        for video, path in job.files(""):
            if video.media is None:
                yield Problem(Path(video.id), f"has no video file to {what}", harmless=True)
                continue
            try:
                yield from write(job, video, video.media, path)
            except InputError as error:
                yield error.problem

    return write_all


def _video(job: Export, video: Video, media: Path, stem: Path) -> Iterator[Path]:
    path = stem.with_name(stem.name + video_copies.suffix_for(media))
    video_copies.with_chapters(media, chapters(job.result, video, guesses=job.guesses), path)
    yield path


def _clips(job: Export, video: Video, media: Path, folder: Path) -> Iterator[Path]:
    suffix = ".mp4" if job.precise else video_copies.suffix_for(media)
    for span in spans(job.result, video, guesses=job.guesses):
        path = folder / f"{span.step + 1:02}-{_slug(span.label)}{suffix}"
        video_copies.cut(media, span.start, span.end, path, precise=job.precise)
        yield path


def _slug(label: str) -> str:
    """A label as part of a file name: letters, digits and hyphens alone."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")[:40] or "step"


def _written(path: Path, text: str) -> Path:
    write_atomically(path, text.encode("utf-8", "replace"))
    return path


_ALL: Sequence[Format] = (
    Format("vtt", "WebVTT chapters", _chapters(".vtt", webvtt.text_of)),
    Format("srt", "the same as SubRip subtitles", _chapters(".srt", subrip.text_of)),
    Format("youtube", "chapter lines for a description", _chapters(".txt", youtube.text_of)),
    Format("ffmetadata", "chapters for FFmpeg", _chapters(".ffmetadata", ffmetadata.text_of)),
    Format("csv", "a table of all places", _table),
    Format("edl", "CMX 3600 edit decision lists", _edl),
    Format("otio", "OpenTimelineIO timelines", _timeline),
    Format("label-studio", "pre-annotations to correct, and the interface for them", _label_studio),
    Format("elan", "ELAN documents (.eaf)", _elan),
    Format("markdown", "a how-to page with pictures", _howto),
    Format(
        "video",
        "copies of the videos with chapters inside, not re-encoded",
        _of_films("put chapters into", _video),
    ),
    Format("clips", "one clip for each step of each video", _of_films("cut", _clips)),
)
FORMATS = {each.name: each for each in _ALL}
# What costs nothing, and goes into every work folder.
TEXT = ("vtt", "srt", "youtube", "ffmetadata", "csv", "edl", "otio", "label-studio", "elan")
