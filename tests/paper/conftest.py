"""Shared fixtures. Tests that need PyTorch run only if it is installed: ``make test-gpu``."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

collect_ignore = [] if find_spec("torch") else ["test_vgg16.py"]


@pytest.fixture(scope="session")
def golden():
    path = Path(__file__).parents[1] / "golden" / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def task():
    """Six videos of noise with three steps, each visible in a feature of its own."""
    rng = np.random.default_rng(7)
    videos, truth = [], []
    for _ in range(6):
        x = 0.3 * rng.random((int(rng.integers(20, 30)), 8)).astype(np.float32)
        places = np.sort(rng.choice(np.arange(1, len(x) - 1), 3, replace=False))
        for step, t in enumerate(places):
            x[t, step] += 2.0
        videos.append(x)
        truth.append(places)
    return videos, np.array(truth)
