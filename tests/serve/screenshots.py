"""The pictures of editing in the docs: ``python -m tests.serve.screenshots docs/images``.

The captions of the demo are read, the page is served, three edits are made in a real Chromium,
placed again, and exported.
"""

import io
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from howsteps.demo import job
from howsteps.pipeline.options import RunOptions
from howsteps.pipeline.run import run
from howsteps.serve.app import prepared
from tests.report import chromium
from tests.report.chromium import until

CAPTIONS = Path(job.__file__).parent / "fix_a_flat_bike_tire"


def main(out: Path) -> None:
    """Run on captions, edit, place again and export, with a screenshot of each."""
    with tempfile.TemporaryDirectory() as place:
        captions = Path(shutil.copytree(CAPTIONS, Path(place) / "fix a flat bike tire"))
        run(captions, Path(place) / "steps", RunOptions(vision=False))
        with prepared(Path(place) / "steps") as (server, listener, address):
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                with sync_playwright() as driver:
                    browser = chromium.launch(driver)
                    page = browser.new_page(
                        viewport={"width": 1280, "height": 860},
                        device_scale_factor=1.25,
                        reduced_motion="reduce",
                    )
                    page.goto(address)
                    _story(page, out)
                    browser.close()
            finally:
                server.should_exit = True
                thread.join()


def _story(page: Page, out: Path) -> None:
    def key(name: str):
        return page.locator(f"[data-key='{name}']")

    def go_to(section: str) -> None:
        page.evaluate("name => document.getElementById(name).scrollIntoView()", section)
        page.evaluate("scrollBy(0, -60)")

    page.wait_for_selector("textarea.label")
    go_to("steps")
    _shoot(page, out / "serve-edit.webp")
    key("split 2").click()
    page.locator("#ask .label").fill("Pull out the wheel")
    page.locator("#ask .choices li > label input").nth(0).check()
    _shoot(page, out / "serve-split.webp")
    page.keyboard.press("Escape")
    key("label 0").fill("Turn the bike onto its saddle")
    key("label 0").press("Enter")
    last = page.locator("textarea.label").count() - 1
    key(f"merge {last}").click()
    page.locator("#ask .choices button").nth(last - 1).click()
    key("new").fill("Loosen the nuts")
    key("after").select_option("1")
    key("add").click()
    until(page, "document.querySelector('.state').textContent.includes('is step')")
    go_to("grid")
    _shoot(page, out / "serve-placed.webp")
    key("export").click()
    until(page, "document.querySelector('.state').textContent.includes('in exports/')")
    go_to("timelines")
    _shoot(page, out / "serve-export.webp")


def _shoot(page: Page, path: Path) -> None:
    page.wait_for_timeout(500)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.save(path, quality=79, method=6)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
