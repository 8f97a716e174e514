"""How fast the page opens and moves: ``python -m benchmarks.page``.

Makes pages of invented results, opens them in the Chromium of the system, and prints for each how
long it took to load (navigation until the load event and the first paint, by the clock), how much
CPU time script, style and layout took of it (Chromium's own counters), and what a walk through the
whole page costs: CPU time of script, and of all work of the page's thread for each frame.
"""

import argparse
import tempfile
import time
from pathlib import Path

import av
import numpy as np
from playwright.sync_api import Browser, CDPSession, sync_playwright

from howsteps.report import write_page
from howsteps.report.page import THUMBNAILS
from howsteps.report.thumbnails import thumbnail_name
from tests.report import chromium
from tests.report.job import tea

SIZES = {30: 12, 100: 15, 1000: 12}  # steps, by the number of videos
PICTURES = 1500  # that differ; of more places, some show the same
COUNTERS = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration", "TaskDuration")
SCROLL = """() => new Promise((done) => {
  const grid = document.querySelector("[data-view=grid]");
  let frames = 0;
  const step = () => {
    frames += 1;
    scrollBy({ top: 400, behavior: "instant" });
    grid.scrollLeft += 120;
    const below = scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const right = grid.scrollLeft + grid.clientWidth >= grid.scrollWidth - 2;
    below && right ? done(frames) : requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main() -> None:
    """Measure every size and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5, help="openings; the median is printed")
    options.add_argument("--videos", type=int, nargs="+", default=list(SIZES), choices=list(SIZES))
    asked = options.parse_args()
    print(
        "| page | HTML | written in | load | first paint | script | layout, style "
        "| scroll: script | scroll: all work a frame |\n|---|---|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as place, sync_playwright() as driver:
        browser = chromium.launch(driver)
        for videos in asked.videos:
            steps = SIZES[videos]
            page, seconds = make_page(Path(place) / str(videos), videos, steps)
            opened = [measure(browser, page) for _ in range(asked.rounds)]
            middle = {key: float(np.median([one[key] for one in opened])) for key in opened[0]}
            print(
                f"| {videos} videos × {steps} steps | {page.stat().st_size / 1e6:.2f} MB "
                f"| {seconds:.2f} s | {middle['load']:.2f} s | {middle['paint']:.2f} s "
                f"| {1000 * middle['script']:.0f} ms | {1000 * middle['layout']:.0f} ms "
                f"| {1000 * middle['scroll']:.0f} ms in {middle['frames']:.0f} frames "
                f"| {1000 * middle['work'] / middle['frames']:.0f} ms |"
            )
        browser.close()


def make_page(folder: Path, videos: int, steps: int) -> tuple[Path, float]:
    """Write a page with a picture for every place; the seconds are those of the page alone."""
    result = tea(videos, steps)
    pictures = folder / THUMBNAILS
    pictures.mkdir(parents=True)
    chance = np.random.default_rng(0)
    placed = [place for place in result.localisations if place.time is not None]
    drawn = [noise(chance) for _ in placed[:PICTURES]]
    for number, place in enumerate(placed):
        name = thumbnail_name(place.video, round(place.time or 0.0, 2))
        (pictures / name).write_bytes(drawn[number % PICTURES])
    started = time.perf_counter()
    page = write_page(result, folder)
    return page, time.perf_counter() - started


def noise(chance: np.random.Generator) -> bytes:
    """A WebP of the size of a real frame that no cache can know."""
    coarse = chance.integers(0, 255, (18, 32, 3), dtype=np.uint8)
    frame = av.VideoFrame.from_ndarray(coarse, format="rgb24")
    encoder = av.CodecContext.create("libwebp", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 320, 180, "yuv420p"
    encoder.time_base = frame.time_base = 1
    frame = frame.reformat(width=320, height=180, format="yuv420p")
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def measure(browser: Browser, path: Path) -> dict[str, float]:
    """Open a page once and scroll to its end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    counters = context.new_cdp_session(page)
    # CPU time of the page's own thread: other programs on the machine do not count.
    counters.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri(), wait_until="load")
    chromium.until(page, "performance.getEntriesByName('first-contentful-paint').length")
    at_load = read(counters)
    timing = page.evaluate(
        "[performance.getEntriesByType('navigation')[0].loadEventEnd,"
        " performance.getEntriesByName('first-contentful-paint')[0].startTime]"
    )
    frames: int = page.evaluate(SCROLL)
    at_end = read(counters)
    context.close()
    return {
        "load": timing[0] / 1000,
        "paint": timing[1] / 1000,
        "script": at_load["ScriptDuration"],
        "layout": at_load["LayoutDuration"] + at_load["RecalcStyleDuration"],
        "scroll": at_end["ScriptDuration"] - at_load["ScriptDuration"],
        "work": at_end["TaskDuration"] - at_load["TaskDuration"],
        "frames": frames,
    }


def read(counters: CDPSession) -> dict[str, float]:
    """Chromium's counters, in seconds."""
    metrics = counters.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in metrics if one["name"] in COUNTERS}


if __name__ == "__main__":
    main()
