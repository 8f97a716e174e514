"""Rewording makes as many videos as are asked for, and none is a copy of another."""

from random import Random

from benchmarks.many_videos import reworded, write_videos
from howsteps.datasets import read_tasks
from howsteps.script.near_duplicates import originals
from howsteps.task import Caption, Sentence, Task, Video, Word

CHANCE = Random(0)
LINES = [
    " ".join(f"{word} w{CHANCE.randrange(400)}" for word in "you put the and in of to".split())
    for _ in range(60)
]
VIDEO = Video("ann", tuple(Caption(5.0 * n, 5.0 * n + 4, line) for n, line in enumerate(LINES)))


def heard(identity: int, captions: list[Caption]) -> Video:
    words = tuple(Word(word, 0.0, 1.0) for line in captions for word in line.text.split())
    return Video(str(identity), sentences=(Sentence(words),))


def test_no_two_narrations_are_copies() -> None:
    videos = [heard(n, reworded(VIDEO.captions, Random(n))) for n in range(12)]
    assert all(originals(videos))
    copies = [heard(n, list(VIDEO.captions)) for n in range(3)]
    assert originals(copies) == [True, False, False]


def test_they_are_one_job_of_caption_files(tmp_path) -> None:
    write_videos(Task("wash a cat", (VIDEO,)), tmp_path, 5)
    [task] = read_tasks(tmp_path / "wash a cat").tasks
    assert len(task.videos) == 5
    assert all(40 <= len(video.captions) <= 60 for video in task.videos)
