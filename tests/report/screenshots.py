"""The pictures of the page in the docs: ``python -m tests.report.screenshots docs/images WORK``.

WORK is a work folder, such as ``steps`` in what ``howsteps demo --out`` makes. Each picture is one
look at the page in a real Chromium: light and dark, on a wide screen and on a phone.
"""

import argparse
import io
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps
from playwright.sync_api import Browser, Page, sync_playwright

from howsteps.io.files import Folder
from howsteps.report.exports import export
from howsteps.report.page import write_page
from howsteps.store import read_result

from . import chromium
from .chromium import until

WIDE, PHONE = (1440, 900), (390, 844)


def _top(page: Page) -> None:
    until(page, "[...document.querySelectorAll('.sheet img')].every(one => one.complete)")


def _at(section: str) -> Callable[[Page], None]:
    def go(page: Page) -> None:
        page.evaluate("name => document.getElementById(name).scrollIntoView()", section)
        page.wait_for_timeout(400)

    return go


def _playing(page: Page) -> None:
    page.locator(".sheet .frame:enabled").nth(3).click()
    until(page, "document.querySelector('#viewer video').currentTime > 1")
    page.mouse.move(5, 5)  # the player hides its buttons again
    page.evaluate("document.querySelectorAll('#viewer video').forEach(one => one.pause())")
    page.wait_for_timeout(600)
    page.evaluate("document.activeElement.blur()")


def _comparing(page: Page) -> None:
    page.keyboard.press("c")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    until(page, "[...document.querySelectorAll('#viewer video')].every(one => one.currentTime > 1)")
    page.wait_for_timeout(600)
    page.evaluate("document.activeElement.blur()")


def _searching(page: Page) -> None:
    page.locator("#search").fill(page.locator(".sheet h3").nth(2).inner_text().split()[-1])
    page.wait_for_selector("#results [role=option]")


def _printed(page: Page) -> None:
    page.emulate_media(media="print")


@dataclass(frozen=True)
class Shot:
    """One screenshot of the page."""

    name: str
    size: tuple[int, int]
    theme: str
    look: Callable[[Page], None]


SHOTS = (
    Shot("page-light", WIDE, "light", _top),
    Shot("grid-dark", WIDE, "dark", _at("grid")),
    Shot("timelines-light", WIDE, "light", _at("timelines")),
    Shot("words-light", WIDE, "light", _at("words")),
    Shot("search-light", WIDE, "light", _searching),
    Shot("viewer-light", WIDE, "light", _playing),
    Shot("compare-dark", WIDE, "dark", _comparing),
    Shot("phone-light", PHONE, "light", _top),
    Shot("phone-viewer-dark", PHONE, "dark", _playing),
)
HOW_TO = Shot("howto-print", (794, 860), "light", _printed)


def shoot(browser: Browser, report: Path, out: Path, shots: Sequence[Shot] = SHOTS) -> None:
    """Take all screenshots of a page."""
    out.mkdir(parents=True, exist_ok=True)
    for shot in shots:
        width, height = shot.size
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=shot.theme,
            reduced_motion="reduce",
            device_scale_factor=2 if width < 500 else 1.25,
        )
        page = context.new_page()
        page.goto(report.as_uri())
        shot.look(page)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        if shot.look is _printed:
            picture = ImageOps.expand(picture, 90, "white")  # the margins of the paper
        picture.save(out / f"{shot.name}.webp", quality=79, method=6)
        context.close()


def main() -> None:
    """Write the page and take the screenshots."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("out", type=Path)
    options.add_argument("work", type=Path)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        result = read_result(chosen.work)
        report = write_page(result, Path(place))
        [_, how_to], _ = export(result, Folder(Path(place)), ["howto"])
        browser = chromium.launch(driver)
        shoot(browser, report, chosen.out)
        shoot(browser, how_to, chosen.out, [HOW_TO])
        browser.close()


if __name__ == "__main__":
    main()
