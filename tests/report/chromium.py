"""Find the Chromium of the system, or install Debian's: ``python -m tests.report.chromium``.

Playwright's own browsers are never downloaded.
"""

import os
import shutil
import subprocess
import time
from typing import Any

from playwright.sync_api import Browser, Error, Page, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
PACKAGES = ("chromium", "fonts-liberation")
ADVICE = (
    "The page is tested in a real Chromium, and there is none. Debian: apt-get install chromium, "
    "as root; elsewhere: set HOWSTEPS_CHROMIUM to its program."
)


def find() -> str | None:
    """The path of Chromium, if it is installed."""
    named = os.environ.get("HOWSTEPS_CHROMIUM")
    return next(filter(None, map(shutil.which, [named] if named else NAMES)), None)


def launch(driver: Playwright) -> Browser:
    """Start Chromium in headless mode."""
    # Chromium's sandbox refuses to run as root, as which many CI machines run everything.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    return driver.chromium.launch(executable_path=find(), args=sandbox)


def until(page: Page, truth: str, arg: Any = None, *, seconds: float = 20.0) -> None:
    """Wait until an expression is true on the page.

    Playwright's own way waits inside the page by ``eval``, which the page's policy forbids.
    """
    end = time.monotonic() + seconds
    while not _is_true(page, truth, arg):
        assert time.monotonic() < end, f"still not true after {seconds} s: {truth}"
        page.wait_for_timeout(30)


def _is_true(page: Page, truth: str, arg: Any) -> bool:
    try:
        return bool(page.evaluate(truth, arg))
    except Error as error:  # the page is loading again
        if "context was destroyed" not in error.message:
            raise
        return False


def install() -> None:
    """Install Debian's package, as root or by passwordless sudo."""
    apt, sudo = shutil.which("apt-get"), shutil.which("sudo")
    if apt is None or (os.geteuid() != 0 and sudo is None):
        return
    command = [apt] if os.geteuid() == 0 else [str(sudo), "-n", apt]
    wanted = ["install", "--yes", "--quiet", "--no-install-recommends", *PACKAGES]
    for arguments in (["update", "--quiet"], wanted):
        subprocess.run([*command, *arguments], check=False, stdout=subprocess.DEVNULL)  # noqa: S603


if __name__ == "__main__":
    if find() is None:
        print("installing Chromium for the tests of the page", flush=True)
        install()
    # The tests say the same and fail; the other tests need no browser.
    print(f"Chromium: {find() or ADVICE}")
