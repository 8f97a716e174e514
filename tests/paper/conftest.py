"""Tests that need PyTorch run only if it is installed: ``make test-gpu``."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["test_vgg16.py"]
