"""What can be chosen about seeing, described once; plain values, nothing is loaded for them.

The three modes are :data:`MODES`; :data:`QUICK` is for who cannot wait. Mode ``default`` pools what
a network knows of each frame. The paper fixes the kinds of descriptors, the blocks and the number
of codewords; how densely it sampled is not told, so ``paper`` keeps as many as are practical.
"""

from dataclasses import dataclass, field
from typing import Any

from howsteps.task import Mode

# Two kinds of local descriptors, which a codebook quantises, and one vector for a whole frame.
MOTION, APPEARANCE, POOLED = "motion", "appearance", "pooled"
LITE0, VGG16, TIMM = "efficientnet-lite0", "vgg16", "timm:"


@dataclass(frozen=True, slots=True)
class MotionOptions:
    """How tracks are made; lengths are in pixels of the small picture, speeds in those per 1/30 s.

    Attributes
    ----------
    pixels
        Size of the picture in which motion is measured (426×240 for 16:9).
    rate
        Most frames a second that are looked at.
    seconds
        Life of a track.
    spacing, patch
        Distance of the tracks and side of the square described, at the finest scale.
    scales
        Each is √2 coarser than the one before.
    still
        Flow up to this speed counts as none.
    least_spread, most_spread
        Standard deviation of positions: less in both directions, camera removed, is a track that
        stands still; more in one is an erratic one.
    longest_step
        A step longer than this, and longer than 0.7 of the whole track, is a leap.
    least_moved
        A track none of whose steps, camera removed, is faster than this only follows the camera.
    camera
        Whether the motion of the camera is removed.
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
    """How frames are looked at.

    Attributes
    ----------
    network
        ``efficientnet-lite0``, ``vgg16``, ``timm:NAME``, or the path of a TorchScript file that
        turns B×3×H×W (ImageNet-normalised) into maps B×d×h×w or vectors B×d.
    weights
        A file of weights in place of the usual ones.
    sides
        Shorter side of the picture at each scale, in pixels.
    """

    network: str = LITE0
    weights: str | None = None
    sides: tuple[int, ...] = (224, 160)


@dataclass(frozen=True, slots=True)
class PooledOptions:
    """How frames are pooled into one vector each.

    Attributes
    ----------
    network, weights
        As for :class:`AppearanceOptions`.
    side
        Shorter side of the frame that the network is shown, in pixels.
    every
        Look at one interval in so many; those between hold what was seen last.
    sparing
        Decode as little as possible: key frames alone where they are close together or all else
        would cost too much, and no deblocking.
    """

    network: str = LITE0
    weights: str | None = None
    side: int = 224
    every: int = 1
    sparing: bool = False


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """What is looked for in a video.

    Attributes
    ----------
    motion, appearance, pooled
        Options of each; None leaves it out.
    seconds
        Length of an interval: 10 frames at 30 a second.
    most_motion, most_appearance
        Most descriptors that are kept of an interval, drawn by chance.
    seed
        One seed, one draw.
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
    """From videos to vectors.

    Attributes
    ----------
    watch
        What is looked for in the videos.
    motion_words, appearance_words
        How many words each vocabulary has at most.
    seed
        Of the vocabulary.
    """

    watch: WatchOptions = field(
        default_factory=lambda: WatchOptions(None, None, pooled=PooledOptions())
    )
    motion_words: int = 2000
    appearance_words: int = 1000
    seed: int = 0

    def words(self, kind: str) -> int:
        """How many words a kind of descriptors has at most."""
        return self.motion_words if kind == MOTION else self.appearance_words


# What the paper's text says; its authors' program is not known to differ here.
PAPER = VisionOptions(
    WatchOptions(
        MotionOptions(scales=6, flow="farneback"),
        AppearanceOptions(VGG16, sides=(224, 320)),
        most_motion=1000,
        most_appearance=1000,
    )
)
MODES: dict[Mode, VisionOptions] = {"default": VisionOptions(), "paper": PAPER, "authors": PAPER}
# Both kinds of local descriptors in little time: what ``default`` was before frames were pooled.
CODEWORDS = VisionOptions(WatchOptions())
# One interval in two, and small frames.
QUICK = VisionOptions(
    WatchOptions(None, None, pooled=PooledOptions(side=160, every=2, sparing=True))
)
# Small frames at one scale, ten a second, and fewer codewords.
QUICK_CODEWORDS = VisionOptions(
    WatchOptions(
        MotionOptions(pixels=160 * 120, rate=10.0, spacing=6.0, scales=1),
        AppearanceOptions(sides=(128,)),
    ),
    motion_words=500,
    appearance_words=500,
)


def looking_for(mode: Mode, *, quick: bool) -> VisionOptions:
    """What a mode looks for; ``quick`` looks less closely, whatever the mode."""
    if quick:
        return QUICK if mode == "default" else QUICK_CODEWORDS
    return MODES[mode]


def needs_torch(options: WatchOptions, device: str = "cpu") -> bool:
    """Whether PyTorch is needed: for all networks but the one that ships, and for every GPU."""
    looks = [look for look in (options.appearance, options.pooled) if look is not None]
    return any(device != "cpu" or (look.network, look.weights) != (LITE0, None) for look in looks)


def watch_options(values: dict[str, Any]) -> WatchOptions:
    """Options from what JSON makes of them."""
    motion, appearance, pooled = values["motion"], values["appearance"], values["pooled"]
    if motion is not None:
        motion = MotionOptions(**motion)
    if appearance is not None:
        appearance = AppearanceOptions(**{**appearance, "sides": tuple(appearance["sides"])})
    if pooled is not None:
        pooled = PooledOptions(**pooled)
    return WatchOptions(**{**values, "motion": motion, "appearance": appearance, "pooled": pooled})
