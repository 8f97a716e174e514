"""Options of the features of videos, as plain values without heavy imports.

The three modes are :data:`MODES`; :data:`QUICK` is faster and less accurate. Mode ``default`` uses
the pooled features of a network for each frame. The paper states the kinds of descriptors, the
blocks and the number of codewords, but not how densely it sampled, so ``paper`` keeps as many
descriptors as are practical.
"""

from dataclasses import dataclass, field
from typing import Any

from howsteps.task import Mode

# Two kinds of local descriptors, for a codebook, and one vector for a whole frame.
MOTION, APPEARANCE, POOLED = "motion", "appearance", "pooled"
LITE0, VGG16, TIMM = "efficientnet-lite0", "vgg16", "timm:"


@dataclass(frozen=True, slots=True)
class MotionOptions:
    """Options of dense trajectories; lengths in pixels of the small frame, speeds per 1/30 s.

    Attributes
    ----------
    pixels
        Number of pixels of the frame in which motion is measured (426×240 for 16:9).
    rate
        Maximum number of frames per second that are used.
    seconds
        Duration of a track.
    spacing, patch
        Distance of the tracks and side of the square described, at the finest scale.
    scales
        Number of scales; each is √2 coarser than the one before.
    still
        Flow up to this speed counts as no motion.
    least_spread, most_spread
        Standard deviation of the positions: a track with less in both directions, without camera
        motion, is static; one with more in any direction is erratic.
    longest_step
        A step longer than this, and longer than 0.7 of the whole track, is a jump.
    least_moved
        A track none of whose steps, without camera motion, is faster only follows the camera.
    camera
        Whether to remove camera motion.
    flow
        ``dis`` or ``farneback``.
    """

    pixels: int = 426 * 240
    rate: float = 30.0
    seconds: float = 0.5
    spacing: float = 5.0
    patch: float = 32.0
    scales: int = 3
    still: float = 0.4
    least_spread: float = 3.0**0.5
    most_spread: float = 50.0
    longest_step: float = 20.0
    least_moved: float = 1.0
    camera: bool = True
    flow: str = "dis"


@dataclass(frozen=True, slots=True)
class AppearanceOptions:
    """Options of local appearance descriptors.

    Attributes
    ----------
    network
        ``efficientnet-lite0``, ``vgg16``, ``timm:NAME``, or the path of a TorchScript file that
        turns B×3×H×W (ImageNet-normalised) into maps B×d×h×w or vectors B×d.
    weights
        A file of weights instead of the default ones.
    sides
        Shorter side of the frame at each scale, in pixels.
    """

    network: str = LITE0
    weights: str | None = None
    sides: tuple[int, ...] = (224, 160)


@dataclass(frozen=True, slots=True)
class PooledOptions:
    """Options of pooled features, one vector per frame.

    Attributes
    ----------
    network, weights
        As for :class:`AppearanceOptions`.
    side
        Shorter side of the input of the network, in pixels.
    every
        Compute the first of this many intervals; the others take the nearest one.
    sparing
        Decode as little as possible: key frames only if they are frequent or the bit rate is high,
        and no deblocking.
    """

    network: str = LITE0
    weights: str | None = None
    side: int = 224
    every: int = 1
    sparing: bool = False


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Options of the descriptors of a video.

    Attributes
    ----------
    motion, appearance, pooled
        Options of each kind; None to leave it out.
    seconds
        Duration of an interval: 10 frames at 30 per second.
    most_motion, most_appearance
        Maximum number of descriptors of an interval; a random subset is kept.
    seed
        Seed of the random subsets.
    """

    motion: MotionOptions | None = field(default_factory=MotionOptions)
    appearance: AppearanceOptions | None = field(default_factory=AppearanceOptions)
    pooled: PooledOptions | None = None
    seconds: float = 1 / 3
    most_motion: int = 200
    most_appearance: int = 150
    seed: int = 0


@dataclass(frozen=True, slots=True)
class VisionOptions:
    """Options of the features of videos.

    Attributes
    ----------
    watch
        Options of the descriptors.
    motion_words, appearance_words
        Maximum number of codewords of each codebook.
    seed
        Seed of the codebooks.
    """

    watch: WatchOptions = field(
        default_factory=lambda: WatchOptions(None, None, pooled=PooledOptions())
    )
    motion_words: int = 2000
    appearance_words: int = 1000
    seed: int = 0

    def codebook_size(self, kind: str) -> int:
        """Return the maximum number of codewords of a kind of descriptors."""
        return self.motion_words if kind == MOTION else self.appearance_words


# As in the text of the paper; the authors' program is not known to differ here.
PAPER = VisionOptions(
    WatchOptions(
        MotionOptions(scales=6, flow="farneback"),
        AppearanceOptions(VGG16, sides=(224, 320)),
        most_motion=1000,
        most_appearance=1000,
    )
)
MODES: dict[Mode, VisionOptions] = {"default": VisionOptions(), "paper": PAPER, "authors": PAPER}
# Both kinds of local descriptors, fast: the default before pooled features.
CODEWORDS = VisionOptions(WatchOptions())
# Every second interval, and small frames.
QUICK = VisionOptions(
    WatchOptions(None, None, pooled=PooledOptions(side=160, every=2, sparing=True))
)
# Small frames at one scale, ten per second, and fewer codewords.
QUICK_CODEWORDS = VisionOptions(
    WatchOptions(
        MotionOptions(pixels=160 * 120, rate=10.0, spacing=6.0, scales=1),
        AppearanceOptions(sides=(128,)),
    ),
    motion_words=500,
    appearance_words=500,
)


def vision_options(mode: Mode, *, quick: bool) -> VisionOptions:
    """Return the options of a mode; ``quick`` ones are faster and less accurate."""
    if quick:
        return QUICK if mode == "default" else QUICK_CODEWORDS
    return MODES[mode]


def needs_torch(options: WatchOptions, device: str = "cpu") -> bool:
    """Return whether PyTorch is needed: for every network but the shipped one, and for GPUs."""
    networks = [
        (kind.network, kind.weights)
        for kind in (options.appearance, options.pooled)
        if kind is not None
    ]
    return any(device != "cpu" or network != (LITE0, None) for network in networks)


def watch_options(values: dict[str, Any]) -> WatchOptions:
    """Return options from their JSON form."""
    motion, appearance, pooled = values["motion"], values["appearance"], values["pooled"]
    if motion is not None:
        motion = MotionOptions(**motion)
    if appearance is not None:
        appearance = AppearanceOptions(**{**appearance, "sides": tuple(appearance["sides"])})
    if pooled is not None:
        pooled = PooledOptions(**pooled)
    return WatchOptions(**{**values, "motion": motion, "appearance": appearance, "pooled": pooled})
