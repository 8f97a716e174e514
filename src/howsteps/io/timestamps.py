"""Format times."""


def format_time(seconds: float) -> str:
    """Format seconds for people: ``4:05``, or ``1:02:03`` from an hour on."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_timestamp(seconds: float, point: str = ".") -> str:
    """Format seconds as ``00:01:02.500`` (WebVTT), or with a comma as ``point`` (SubRip)."""
    minutes, rest = divmod(milliseconds(seconds), 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def milliseconds(seconds: float) -> int:
    """Convert seconds to milliseconds, rounded."""
    return round(1000 * seconds)
