"""The table of what narrators of all kinds of jobs say."""

from tests.script import spoken
from training.background import table


def test_a_share_is_the_mean_over_tasks_and_rare_verbs_are_left_out() -> None:
    tasks = [
        spoken.task("put cat; put dog", "dry cat"),
        spoken.task("put cat; wash cat"),
        spoken.task("put cat", "put cat", "wash cat", "wash dog"),
    ]
    assert table(tasks) == {"tasks": 3, "videos": 7, "verbs": {"put": 667}}
