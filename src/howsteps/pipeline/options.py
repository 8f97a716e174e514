"""What a run may be asked for."""

from dataclasses import dataclass

from howsteps.task import Mode

# In the order in which they run. A stage's results are kept under its name.
STAGES = ("transcribe", "narration", "script", "features", "localise")

INTERVAL = 1 / 3  # seconds: ten frames at thirty a second


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The choices that change what comes out.

    Parameters
    ----------
    steps
        The most steps to keep; chosen by stability when None.
    mode
        ``default``, ``paper`` or ``authors``, in every stage.
    seed
        One seed, one answer.
    parser
        A spaCy pipeline by name or folder in place of the one that ships.
    speech
        The Whisper model that transcribes videos without captions; None leaves them silent.
    vision
        Whether to look at the pictures: True, False, or None for "where the extra is installed".
    quick
        Look less closely, whatever the mode: small pictures at one scale. Several times faster, and
        enough where the steps look different at a glance.
    device
        ``cpu`` or ``cuda``, for what can use it.
    title
        What the job is called, in place of the name of its folder. To do the job is no step of it,
        so a good title makes a better script.
    """

    steps: int | None = None
    mode: Mode = "default"
    seed: int = 0
    parser: str | None = None
    speech: str | None = None
    vision: bool | None = None
    quick: bool = False
    device: str = "cpu"
    title: str | None = None
