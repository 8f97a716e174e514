"""Load and scroll performance of the page: ``python -m benchmarks.page``.

Writes pages of synthetic results, opens them in the system's Chromium, and prints for each the
load time (wall-clock time from navigation to the load event and to the first paint), the CPU time
of script, style and layout (Chromium's counters), and the cost of scrolling through the page: CPU
time of scripts, and of all work of the page's main thread per frame.
"""

import argparse
import tempfile
import time
from pathlib import Path

import av
import numpy as np
from playwright.sync_api import Browser, CDPSession, sync_playwright

from howsteps.report.decoding import thumbnail_name
from howsteps.report.page import THUMBNAILS, write_page
from tests.report import chromium
from tests.report.job import tea

SIZES = {30: 12, 100: 15, 1000: 12}  # steps, by the number of videos
PICTURES = 1500  # distinct thumbnails; further localisations reuse them
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
    options.add_argument(
        "--rounds", type=int, default=5, help="loads of each page; the median is printed"
    )
    options.add_argument("--videos", type=int, nargs="+", default=list(SIZES), choices=list(SIZES))
    asked = options.parse_args()
    print(
        "| page | HTML | written in | load | first paint | script | layout, style "
        "| scroll: script | scroll: all work a frame |\n|---|---|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as driver:
        browser = chromium.launch(driver)
        for videos in asked.videos:
            steps = SIZES[videos]
            page, seconds = make_page(Path(temporary) / str(videos), videos, steps)
            loads = [measure(browser, page) for _ in range(asked.rounds)]
            medians = {key: float(np.median([load[key] for load in loads])) for key in loads[0]}
            print(
                f"| {videos} videos × {steps} steps | {page.stat().st_size / 1e6:.2f} MB "
                f"| {seconds:.2f} s | {medians['load']:.2f} s | {medians['paint']:.2f} s "
                f"| {1000 * medians['script']:.0f} ms | {1000 * medians['layout']:.0f} ms "
                f"| {1000 * medians['scroll']:.0f} ms in {medians['frames']:.0f} frames "
                f"| {1000 * medians['work'] / medians['frames']:.0f} ms |"
            )
        browser.close()


def make_page(folder: Path, videos: int, steps: int) -> tuple[Path, float]:
    """Write a page with thumbnails; return its path, and the time to write the page alone."""
    result = tea(videos, steps)
    pictures = folder / THUMBNAILS
    pictures.mkdir(parents=True)
    rng = np.random.default_rng(0)
    placed = [found for found in result.localisations if found.time is not None]
    drawn = [noise(rng) for _ in placed[:PICTURES]]
    for index, localisation in enumerate(placed):
        name = thumbnail_name(localisation.video, round(localisation.time or 0.0, 2))
        (pictures / name).write_bytes(drawn[index % PICTURES])
    started = time.perf_counter()
    page = write_page(result, folder)
    return page, time.perf_counter() - started


def noise(rng: np.random.Generator) -> bytes:
    """Return a random WebP image of the size of a real thumbnail, which no cache can contain."""
    coarse = rng.integers(0, 255, (18, 32, 3), dtype=np.uint8)
    frame = av.VideoFrame.from_ndarray(coarse, format="rgb24")
    encoder = av.CodecContext.create("libwebp", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 320, 180, "yuv420p"
    encoder.time_base = frame.time_base = 1
    frame = frame.reformat(width=320, height=180, format="yuv420p")
    frame.pts = 0
    return b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)])


def measure(browser: Browser, path: Path) -> dict[str, float]:
    """Load a page once, scroll to its end, and return the measurements."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    counters = context.new_cdp_session(page)
    # CPU time of the page's main thread: other processes do not count.
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
    """Read Chromium's counters, in seconds."""
    metrics = counters.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in metrics if one["name"] in COUNTERS}


if __name__ == "__main__":
    main()
