"""Times as people write them under a video."""


def format_time(seconds: float) -> str:
    """``4:05``, or ``1:02:03`` from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
