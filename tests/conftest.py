"""Hypothesis without deadlines, and one browser for all.

Machines are noisy, and timing is not what tests are for. CI tries every property on a hundred
examples, a run between two edits on forty.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

settings.register_profile("howsteps", deadline=None, max_examples=100 if "CI" in os.environ else 40)
settings.load_profile("howsteps")


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """The system's Chromium; Playwright's own download is never used."""
    from playwright.sync_api import sync_playwright

    from tests.report import chromium

    found = chromium.find()
    if found is None:
        pytest.fail(chromium.ADVICE, pytrace=False)
    with sync_playwright() as driver:
        running = chromium.launch(driver)
        yield running
        running.close()
