"""Synthetic recordings of one job by a few people, with the difficulties of real video.

Modelled on real recordings of cooking: a handful of people, pooled network features once a second,
backgrounds that recur and look alike in all videos, steps that share objects, a domain shift by
person and room, and a narration that mentions some of the steps, early or late. The settings were
chosen so that baselines score about the same as on the real recordings.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from howsteps.task import Annotation, Mention, Script, Step, Task, Truth, Video

BACKGROUNDS, OBJECTS, WIDTH = 6, 4, 256


@dataclass(frozen=True)
class Recordings:
    """A task with a script of its mentions, features by video, and the truth."""

    task: Task
    script: Script
    features: dict[str, NDArray[np.float32]]
    truth: Truth


@dataclass(frozen=True)
class Setting:
    """Parameters of a collection; lengths in seconds, strengths relative to a background's."""

    look: float = 0.45
    instance: float = 0.8
    person: float = 1.0
    noise: float = 3.0
    lead: tuple[float, float] = (-6.0, 10.0)
    length: float = 9.0
    pause: float = 24.0
    named: float = 0.6
    missing: float = 0.15
    swapped: float = 0.12


SETTINGS = {
    "plain": Setting(),
    "people differ": Setting(look=0.6, instance=1.2, person=2.0, noise=3.75),
    "narrated closely": Setting(lead=(-2.0, 6.0), length=12.2),
}


def recordings(setting: Setting, *, videos: int = 5, steps: int = 8, seed: int = 0) -> Recordings:
    """Draw a collection."""
    rng = np.random.default_rng(seed)
    scenes = rng.normal(size=(BACKGROUNDS, WIDTH))
    objects = rng.normal(size=(OBJECTS, WIDTH))
    looks = setting.look * (
        rng.normal(size=(steps, WIDTH)) + 0.7 * objects[rng.integers(OBJECTS, size=steps)]
    )
    features, annotations, durations = {}, [], {}
    mentions: list[list[Mention]] = [[] for _ in range(steps)]
    for n in range(videos):
        name = f"v{n}"
        instance_looks = setting.instance * rng.normal(size=(steps, WIDTH))
        rows: list[NDArray[np.float64]] = []
        _pause(rng, setting.pause, scenes, rows)
        for k in _order(rng, steps, setting.swapped):
            if rng.random() < setting.missing:
                continue
            start = len(rows)
            length = int(np.clip(setting.length * rng.lognormal(0.0, 0.7), 3, 60))
            rows += [looks[k] + instance_looks[k]] * length
            annotations.append(Annotation(name, k, float(start), float(start + length)))
            if rng.random() < setting.named:
                time = max(start - rng.uniform(*setting.lead), 0.0)
                mentions[k].append(Mention(name, "do", f"s{k}", f"do s{k}", time, time + 1.5))
            _pause(rng, setting.pause, scenes, rows)
        shift = setting.person * rng.normal(size=WIDTH)
        seen = np.array(rows) + shift + 0.5 + setting.noise * _slow_noise(rng, len(rows))
        x = np.maximum(seen, 0.0)
        features[name] = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)
        durations[name] = float(len(rows))
    names = tuple(f"do s{k}" for k in range(steps))
    return Recordings(
        Task("recordings", tuple(Video(name, duration=durations[name]) for name in features)),
        Script(tuple(Step(name, tuple(m)) for name, m in zip(names, mentions, strict=True))),
        features,
        Truth("recordings", names, tuple(annotations), durations),
    )


def _order(rng: np.random.Generator, steps: int, swapped: float) -> list[int]:
    order = list(range(steps))
    for k in range(steps - 1):
        if rng.random() < swapped:
            order[k], order[k + 1] = order[k + 1], order[k]
    return order


def _pause(
    rng: np.random.Generator,
    mean: float,
    scenes: NDArray[np.float64],
    rows: list[NDArray[np.float64]],
) -> None:
    """Append background of one or several scenes."""
    remaining = max(int(rng.exponential(mean)), 1)
    while remaining > 0:
        length = min(remaining, int(rng.integers(3, 12)))
        rows += [scenes[rng.integers(len(scenes))]] * length
        remaining -= length


def _slow_noise(rng: np.random.Generator, length: int) -> NDArray[np.float64]:
    """Draw autocorrelated noise of variance one."""
    noise = rng.normal(size=(length, WIDTH))
    for t in range(1, length):
        noise[t] = 0.7 * noise[t - 1] + np.sqrt(1 - 0.7**2) * noise[t]
    return noise
