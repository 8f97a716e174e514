"""Helpers of the page tests: a cell of the grid, a place of the result, the player."""

from .chromium import until


def wait_to_play_from(page, time: float, pane: int = 0) -> None:
    """Wait until a pane has started to play at a time."""
    until(
        page,
        """([pane, time]) => {
          const { played } = document.querySelectorAll("#viewer video")[pane];
          const begun = Array.from({ length: played.length }, (_, one) => played.start(one));
          return begun.some((start) => Math.abs(start - time) < 0.4);
        }""",
        arg=[pane, time],
    )


def place(result, video: int, step: int):
    name = result.task.videos[video].id
    return next(p for p in result.localisations if (p.video, p.step) == (name, step))


def cell(page, video: int, step: int):
    return page.locator(f".grid button[data-video='{video}'][data-step='{step}']")


def absent_places(result) -> list[tuple[int, int]]:
    names = [video.id for video in result.task.videos]
    return [(names.index(p.video), p.step) for p in result.localisations if p.time is None]
